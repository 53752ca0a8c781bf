# SPDX-License-Identifier: Apache-2.0
#
# libtileptx, shared and static, and its static twin for the unit tests.
#
# A new source file goes into one of the two lists, by the rule of the layers: the pure half (descriptors,
# plan, key, template, text) includes nothing of the driver half. scripts/check-style reads the first list
# and enforces that. Headers and .def tables stand in the lists too, so that tarballs carry them.

tileptx_pure_sources = \
  lib/alloc.c lib/alloc.h \
  lib/arithmetic.def \
  lib/bind.c lib/bind.h \
  lib/conversions.def \
  lib/desc.c lib/desc.h \
  lib/emit.c \
  lib/explain.c \
  lib/fields.def \
  lib/injective.c lib/injective.h \
  lib/key.c lib/key.h \
  lib/layout.c lib/layout.h \
  lib/model.c lib/model.h \
  lib/model_access.c \
  lib/model_records.c lib/model_records.h \
  lib/names.def lib/names.h \
  lib/notes.def \
  lib/operands.c lib/operands.h \
  lib/operations.def \
  lib/plan.c lib/plan.h \
  lib/plan_fields.def \
  lib/plan_quantities.c lib/plan_quantities.h \
  lib/ptx.h \
  lib/quantities.def \
  lib/render.c \
  lib/rows.c lib/rows.h \
  lib/rules.c lib/rules.h \
  lib/scopes.def \
  lib/signature.c lib/signature.h \
  lib/spelling.c lib/spelling.h \
  lib/status.c lib/status.h lib/status.def \
  lib/strbuf.c lib/strbuf.h \
  lib/structs.c lib/structs.h \
  lib/target.c lib/target.h \
  lib/targets.def \
  lib/template.c lib/template.h \
  lib/types.def \
  lib/updates.def \
  lib/widths.def \
  lib/words.def

tileptx_driver_sources = \
  lib/cache.c lib/cache.h \
  lib/context.c lib/context.h \
  lib/driver.c lib/driver.h lib/driver.def \
  lib/driver_status.c lib/driver_status.h lib/driver_status.def \
  lib/fork_guard.c lib/fork_guard.h \
  lib/holders.c lib/holders.h \
  lib/kernel.c lib/kernel.h \
  lib/launch.c \
  lib/prepare.c \
  lib/runtime.c \
  lib/runtime_state.h \
  lib/shortcut.c lib/shortcut.h \
  lib/thread_shard.h \
  lib/trace.c lib/trace.h

lib_LTLIBRARIES += libtileptx.la
libtileptx_la_SOURCES = $(tileptx_pure_sources) $(tileptx_driver_sources)
nodist_libtileptx_la_SOURCES = lib/templates.c
libtileptx_la_CPPFLAGS = $(AM_CPPFLAGS) $(tileptx_cppflags)
libtileptx_la_CFLAGS = $(AM_CFLAGS) $(VISIBILITY_CFLAGS)
libtileptx_la_LDFLAGS = $(AM_LDFLAGS) -version-info $(tileptx_version_info) $(tileptx_exports)
EXTRA_libtileptx_la_DEPENDENCIES = lib/libtileptx.map
EXTRA_DIST += lib/libtileptx.map

# The generated templates.c includes template.h from the source tree; the emulated driver is looked for
# at this path when TILEPTX_EMU_PATH names no other.
tileptx_cppflags = -I$(top_srcdir)/lib -DTILEPTX_EMU_INSTALLED='"$(pkglibdir)/libtileptx-emu.so"'

# The same sources once more, for programs that test private functions; compiled once, for static linking.
check_LTLIBRARIES += libtileptx-test.la
libtileptx_test_la_SOURCES = $(libtileptx_la_SOURCES)
nodist_libtileptx_test_la_SOURCES = $(nodist_libtileptx_la_SOURCES)
libtileptx_test_la_CPPFLAGS = $(libtileptx_la_CPPFLAGS)
libtileptx_test_la_LIBTOOLFLAGS = --tag=disable-shared

# libtool's CURRENT:REVISION:AGE, changed at a release and only here:
#   only code changed                    REVISION + 1
#   functions were added                 CURRENT + 1, REVISION 0, AGE + 1
#   functions were removed or changed    CURRENT + 1, REVISION 0, AGE 0
tileptx_version_info = 0:0:0

if VERSION_SCRIPT
tileptx_exports = -Wl,--version-script=$(top_srcdir)/lib/libtileptx.map
else
tileptx_exports = -export-symbols-regex '^tptx_'
endif
