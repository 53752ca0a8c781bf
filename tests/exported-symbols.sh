#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The shared library exports exactly the functions that tests/exported-symbols.txt lists.
# After adding or removing a function: edit that list, and the version numbers in lib/local.mk at a release.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}"

library=$top_builddir/.libs/libtileptx.so
if [ ! -e "$library" ]; then
  echo "SKIP: there is no shared library in this build"
  exit 77
fi
# Defined dynamic symbols; a version node is a symbol of type A and no function.
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
if foreign=$(grep -v '^tptx_' <<<"$exported" | grep .); then
  echo "FAIL: symbols without the prefix tptx_:"
  echo "$foreign"
  exit 1
fi
if ! difference=$(diff "$top_srcdir/tests/exported-symbols.txt" - <<<"$exported"); then
  echo "FAIL: exported symbols differ from tests/exported-symbols.txt (< listed, > exported):"
  echo "$difference"
  exit 1
fi
echo "$(wc -l <<<"$exported") exported functions, all listed"
