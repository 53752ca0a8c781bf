# SPDX-License-Identifier: Apache-2.0

# TPTX_CUDA_TOOL(VARIABLE, PROGRAM, USE): sets VARIABLE to the program's path, or to nothing, and
# PROGRAM_summary to a line for the end of configure.
AC_DEFUN([TPTX_CUDA_TOOL], [
  AC_ARG_VAR([$1], [path of $2, ][$3])
  AS_IF([test "$with_cuda" = no], [AS_VAR_SET_IF([$1], [], [AS_VAR_SET([$1], [])])],
    [AC_PATH_PROG([$1], [$2], [], [$tptx_cuda_path])])
  AS_VAR_COPY([tptx_tool], [$1])
  AS_IF([test -n "$tptx_tool"],
    [tptx_release=`"$tptx_tool" --version 2>/dev/null | sed -n 's/.*release.*, V//p'`
     $2_summary="$tptx_tool, version ${tptx_release:-unknown}"],
    [$2_summary="no"])
])

# TPTX_CUDA_TOOLS: looks for ptxas, nvdisasm and cuobjdump and for the driver. Nothing here is an error:
# the library and the tool look again at run time.
AC_DEFUN([TPTX_CUDA_TOOLS], [
  AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=DIR],
      [CUDA toolkit whose tools the tests may use; no: none (default: PATH, $CUDA_HOME, /usr/local/cuda)])],
    [], [with_cuda=])
  tptx_cuda_path="$PATH$PATH_SEPARATOR${CUDA_HOME:+$CUDA_HOME/bin$PATH_SEPARATOR}/usr/local/cuda/bin"
  AS_CASE([$with_cuda],
    [/*], [tptx_cuda_path="$with_cuda/bin$PATH_SEPARATOR$tptx_cuda_path"],
    [''|yes|no], [],
    [AC_MSG_ERROR([--with-cuda takes the absolute path of a toolkit, or no; it was given $with_cuda])])
  TPTX_CUDA_TOOL([PTXAS], [ptxas], [which assembles every emitted text in the tests])
  TPTX_CUDA_TOOL([NVDISASM], [nvdisasm], [for the command sass of the tool])
  TPTX_CUDA_TOOL([CUOBJDUMP], [cuobjdump], [for the command sass of the tool])
  AC_MSG_CHECKING([for libcuda.so.1])
  AC_RUN_IFELSE(
    [AC_LANG_PROGRAM([[#include <dlfcn.h>]], [[return dlopen("libcuda.so.1", RTLD_LAZY) == 0;]])],
    [libcuda_summary="yes"],
    [libcuda_summary="no: programs run on the emulated driver here"],
    [libcuda_summary="not looked for, since this is a cross build"])
  AC_MSG_RESULT([$libcuda_summary])
])
