#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library keeps no global state: no object of it lies in a section that can be written.
set -euo pipefail

# Set by tests/local.mk.
: "${top_builddir:?}"

# objdump -t: address, flags (F is a function, O an object), section, size, name
archive=$top_builddir/.libs/libtileptx-test.a
symbols=$(objdump -t "$archive")

# Where link-time optimization is on, for one, the files hold no symbols yet, and nothing could be found.
mute=$(awk '
  / file format / { file = $1; shows[file] += 0 }
  / [FO] / && $NF !~ /^__gnu_lto/ { shows[file]++; any = 1 }
  END {
    for (file in shows) if (!shows[file]) print file
    if (!any) print "(no symbol at all)"
  }' <<<"$symbols")
if [ -n "$mute" ]; then
  echo "FAIL: these files of $archive show neither a function nor an object:"
  echo "$mute"
  exit 1
fi

state=$(awk '
  / file format / { file = $1 }
  / O / && $(NF - 2) ~ /^(\.t?data|\.t?bss|\*COM\*)/ && $(NF - 2) !~ /^\.data\.rel\.ro/ { print file, $NF }' <<<"$symbols")
if [ -n "$state" ]; then
  echo "FAIL: writable objects of the library:"
  echo "$state"
  exit 1
fi
