#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library keeps no global state: no object of it lies in a section that can be written.
set -euo pipefail

# Set by tests/local.mk.
: "${top_builddir:?}"

# objdump -t: address, flags (O is an object), section, size, name
state=$(objdump -t "$top_builddir/.libs/libtileptx-test.a" | awk '
  / file format / { file = $1 }
  / O / && $(NF - 2) ~ /^(\.t?data|\.t?bss|\*COM\*)/ && $(NF - 2) !~ /^\.data\.rel\.ro/ { print file, $NF }')
if [ -n "$state" ]; then
  echo "FAIL: writable objects of the library:"
  echo "$state"
  exit 1
fi
