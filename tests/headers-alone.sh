#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every public header compiles as the first and only include: as C99, as C11, as C++.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
strict=(-Wall -Wextra -pedantic -Werror -fsyntax-only -I"$top_srcdir/include" -I"$top_builddir/include")
passed=0 failed=0

compile() { # LANGUAGE-AND-STANDARD... : compiles $scratch/alone with the header named in it
  if "$@" "${strict[@]}"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $header does not compile alone: $*"
  fi
}

cxx=$(command -v "${CXX:-g++}" || command -v clang++ || true)
[ -n "$cxx" ] || echo "no C++ compiler: the C++ third is left out"

for header in tileptx.h $(cd "$top_srcdir/include" && ls tileptx/*.h) tileptx/version.h; do
  printf '#include <%s>\nint main(void);\nint main(void) { return 0; }\n' "$header" >"$scratch/alone.c"
  printf '#include <%s>\nint main() { return 0; }\n' "$header" >"$scratch/alone.cc"
  # $CC may carry options: unquoted on purpose
  compile $CC -std=c99 "$scratch/alone.c"
  compile $CC -std=c11 "$scratch/alone.c"
  [ -z "$cxx" ] || compile "$cxx" -std=c++11 "$scratch/alone.cc"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
