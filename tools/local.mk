# SPDX-License-Identifier: Apache-2.0
#
# The tool tileptx. It uses the public headers of the library only. tools/device.c is shared with the tests
# and the benchmarks: a host's own context and memory.

bin_PROGRAMS += tileptx
tileptx_SOURCES = \
  tools/tileptx.c \
  tools/commands.h tools/commands.def \
  tools/command_bench.c \
  tools/command_emit.c \
  tools/command_info.c \
  tools/command_report.c \
  tools/command_run.c \
  tools/batch.c tools/batch.h \
  tools/complain.c tools/complain.h \
  tools/device.c tools/device.h \
  tools/floats.c tools/floats.h \
  tools/json.c tools/json.h \
  tools/numbers.c tools/numbers.h \
  tools/operand.c tools/operand.h \
  tools/options.c tools/options.h tools/options.def \
  tools/output.c tools/output.h \
  tools/session.c tools/session.h \
  tools/signatures.c tools/signatures.h \
  tools/subprocess.c tools/subprocess.h \
  tools/traffic.c tools/traffic.h \
  tools/values.c tools/values.h
tileptx_CPPFLAGS = $(AM_CPPFLAGS) -DTILEPTX_PKGLIBDIR='"$(pkglibdir)"'
tileptx_LDADD = libtileptx.la -lm
