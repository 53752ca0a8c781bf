# SPDX-License-Identifier: Apache-2.0
#
# The emulated driver: a module that is opened with dlopen(), never linked. It shares nothing with lib/.

pkglib_LTLIBRARIES += libtileptx-emu.la

libtileptx_emu_la_SOURCES = \
  emu/access.c \
  emu/arithmetic.c \
  emu/arithmetic.h \
  emu/capture.c \
  emu/capture.h \
  emu/codes.h \
  emu/context.c \
  emu/context.h \
  emu/control.c \
  emu/control.h \
  emu/copy.c \
  emu/device.c \
  emu/entry_points.def \
  emu/error_codes.def \
  emu/formats.c \
  emu/image.c \
  emu/image.h \
  emu/interpret.c \
  emu/interpret.h \
  emu/launch.c \
  emu/link.c \
  emu/machine.h \
  emu/memory.c \
  emu/memory.h \
  emu/module.c \
  emu/module.h \
  emu/objects.c \
  emu/objects.h \
  emu/program.h \
  emu/ptx_decode.c \
  emu/ptx_forms.c \
  emu/ptx_forms.def \
  emu/ptx_header.c \
  emu/ptx_lexer.c \
  emu/ptx_lexer.h \
  emu/ptx_modifiers.def \
  emu/ptx_operands.c \
  emu/ptx_reader.c \
  emu/ptx_reader.h \
  emu/ptx_specials.def \
  emu/ptx_symbols.c \
  emu/ptx_targets.def \
  emu/ptx_types.def \
  emu/ptx_versions.def \
  emu/race.c \
  emu/race.h \
  emu/settings.def \
  emu/stream.c \
  emu/stream.h \
  emu/tileptx_emu.h \
  emu/transfer.c \
  emu/work.h
libtileptx_emu_la_CFLAGS = $(AM_CFLAGS) $(VISIBILITY_CFLAGS)
libtileptx_emu_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined
libtileptx_emu_la_LIBADD = -lpthread -lm
