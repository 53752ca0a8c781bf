#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The C programs of README.md, each a ```c block below a line `<!-- compile -->`: strict compilers take
# them, and they print what the ```text block after them says.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
libraries=$top_builddir/.libs
if [ ! -e "$libraries/libtileptx.so" ]; then
  echo "SKIP: there is no shared library in this build"
  exit 77
fi

# Example N becomes N.c and N.expected.
awk -v folder="$scratch" '
  /^```/ {
    if (file) { close(file); file = "" }
    else if (marked && $0 == "```c") { printf "" > (file = folder "/" ++n ".c"); wanted = 1 }
    else if (wanted && $0 == "```text") { printf "" > (file = folder "/" n ".expected"); wanted = 0 }
    marked = 0
    next
  }
  file { print > file; next }
  NF { marked = $0 == "<!-- compile -->" }' "$top_srcdir/README.md"

passed=0 failed=0
for program in "$scratch"/*.c; do
  name=${program%.c}
  if [ ! -e "$name.expected" ]; then
    echo "FAIL: README.md has no \`\`\`text block after a program"
    failed=$((failed + 1))
  # $CC may carry options: unquoted on purpose
  elif ! $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$top_srcdir/include" -I"$top_builddir/include" \
    "$program" -L"$libraries" -ltileptx -o "$name"; then
    echo "FAIL: a program of README.md does not compile"
    failed=$((failed + 1))
  elif ! LD_LIBRARY_PATH=$libraries "$name" >"$name.out" || ! diff "$name.expected" "$name.out"; then
    echo "FAIL: a program of README.md prints something else (< promised, > printed)"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
