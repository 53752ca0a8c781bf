# SPDX-License-Identifier: Apache-2.0
#
# Public headers. version.h is made by configure from version.h.in.

include_HEADERS = include/tileptx.h
tileptxincludedir = $(includedir)/tileptx
tileptxinclude_HEADERS = \
  include/tileptx/emit.h \
  include/tileptx/runtime.h
nodist_tileptxinclude_HEADERS = include/tileptx/version.h
