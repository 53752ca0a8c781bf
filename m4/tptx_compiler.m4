# SPDX-License-Identifier: Apache-2.0

# TPTX_TRY_FLAG(VARIABLE, FLAG): appends FLAG to VARIABLE if the compiler takes it. -Werror, since clang
# only warns about a flag that it does not know.
AC_DEFUN([TPTX_TRY_FLAG], [
  AC_MSG_CHECKING([whether $CC takes $2])
  tptx_saved_cflags=$CFLAGS
  CFLAGS="$CFLAGS -Werror $2"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes]); AS_VAR_APPEND([$1], [" $2"])],
    [AC_MSG_RESULT([no])])
  CFLAGS=$tptx_saved_cflags
])

# TPTX_C11_AND_WARNINGS: sets STANDARD_CFLAGS, WARNING_CFLAGS and VISIBILITY_CFLAGS.
# Strict C11 on purpose: a file that needs POSIX or GNU interfaces says so with its feature macro.
AC_DEFUN([TPTX_C11_AND_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
    [], [enable_werror=no])
  STANDARD_CFLAGS=
  TPTX_TRY_FLAG([STANDARD_CFLAGS], [-std=c11])
  AS_IF([test -z "$STANDARD_CFLAGS"], [AC_MSG_ERROR([tileptx needs a C11 compiler: $CC does not take -std=c11])])
  WARNING_CFLAGS=
  m4_foreach_w([tptx_flag],
    [-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla],
    [TPTX_TRY_FLAG([WARNING_CFLAGS], tptx_flag)])
  AS_IF([test "$enable_werror" = yes], [AS_VAR_APPEND([WARNING_CFLAGS], [" -Werror"])])
  VISIBILITY_CFLAGS=
  TPTX_TRY_FLAG([VISIBILITY_CFLAGS], [-fvisibility=hidden])
  AC_SUBST([STANDARD_CFLAGS])
  AC_SUBST([WARNING_CFLAGS])
  AC_SUBST([VISIBILITY_CFLAGS])
])

# TPTX_SANITIZERS: --enable-sanitizers=LIST; sets SANITIZER_CFLAGS, for compiling and linking alike.
AC_DEFUN([TPTX_SANITIZERS], [
  AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers=LIST],
      [build with sanitizers: address,undefined or thread (default: none)])],
    [], [enable_sanitizers=no])
  AS_IF([test "$enable_sanitizers" = yes], [enable_sanitizers=address,undefined])
  SANITIZER_CFLAGS=
  AS_IF([test "$enable_sanitizers" != no], [
    SANITIZER_CFLAGS="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
    tptx_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [],
      [AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizers])])
    CFLAGS=$tptx_saved_cflags])
  AC_SUBST([SANITIZER_CFLAGS])
  AM_CONDITIONAL([SANITIZERS], [test "$enable_sanitizers" != no])
])

# TPTX_VERSION_SCRIPT: the conditional VERSION_SCRIPT says whether the linker takes lib/libtileptx.map.
AC_DEFUN([TPTX_VERSION_SCRIPT], [
  AC_MSG_CHECKING([whether the linker takes a version script])
  tptx_saved_ldflags=$LDFLAGS
  LDFLAGS="$LDFLAGS -Wl,--version-script=$srcdir/lib/libtileptx.map"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [tptx_version_script=yes], [tptx_version_script=no])
  LDFLAGS=$tptx_saved_ldflags
  AC_MSG_RESULT([$tptx_version_script])
  AM_CONDITIONAL([VERSION_SCRIPT], [test "$tptx_version_script" = yes])
])

# TPTX_XXHASH: the one header that the library is built with and that the system must bring.
AC_DEFUN([TPTX_XXHASH], [
  AC_MSG_CHECKING([for xxhash.h with XXH3, 0.8 or newer])
  AC_COMPILE_IFELSE(
    [AC_LANG_PROGRAM([[#define XXH_INLINE_ALL
#include <xxhash.h>
#if XXH_VERSION_NUMBER < 800
#error "XXH3 is not stable before 0.8"
#endif]], [[return (int)XXH3_64bits("", 0);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([xxhash.h is needed to build tileptx (Debian package: libxxhash-dev)])])
])
