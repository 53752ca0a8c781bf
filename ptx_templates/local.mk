# SPDX-License-Identifier: Apache-2.0
#
# The first one is the kernel, the others are fragments of it; they become C constants in the library.

tileptx_templates = \
  ptx_templates/kernel.ptx \
  ptx_templates/box.ptx \
  ptx_templates/convert.ptx \
  ptx_templates/coordinate.ptx \
  ptx_templates/move.ptx \
  ptx_templates/pick.ptx \
  ptx_templates/read_edge.ptx \
  ptx_templates/read_shifted.ptx \
  ptx_templates/row_ends.ptx \
  ptx_templates/split.ptx \
  ptx_templates/stage.ptx \
  ptx_templates/tile.ptx \
  ptx_templates/turn.ptx \
  ptx_templates/update.ptx \
  ptx_templates/update_pairs.ptx \
  ptx_templates/values.ptx \
  ptx_templates/write.ptx \
  ptx_templates/write_edge.ptx

EXTRA_DIST += $(tileptx_templates) scripts/embed-templates

BUILT_SOURCES += lib/templates.c
CLEANFILES += lib/templates.c
lib/templates.c: scripts/embed-templates lib/names.def $(tileptx_templates)
	$(AM_V_GEN)$(MKDIR_P) lib && rm -f $@ $@.tmp && \
	(cd $(srcdir) && $(SHELL) scripts/embed-templates lib/names.def $(tileptx_templates)) > \
	 $@.tmp && mv $@.tmp $@
