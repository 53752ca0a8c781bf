#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bench/instructions.sh [--update]
#
# Counts the instructions of one call of the library with valgrind, and compares them with
# bench/instructions.expected: more than 3 % above fails, more than 3 % below asks for an update. No quiet machine
# is needed, and what the emulated driver takes to carry a launch out is left out. The counts hold for one compiler,
# named in that file; with another one there is nothing to compare.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:=cc}"

expected=$top_srcdir/bench/instructions.expected
tolerance=3 # per cent

skip() {
  echo "SKIP: $1"
  exit 77
}

command -v valgrind >/dev/null || skip "valgrind is not here"
[ "${1-}" = --update ] || [ "${TILEPTX_LONG:-1}" = 1 ] || skip "counting takes a while; TILEPTX_LONG=1 does it"
compiler="$($CC --version | head -n 1), $(uname -m)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

collected() { # CALL CALLS
  "$top_builddir/libtool" --silent --mode=execute \
    valgrind --tool=callgrind --callgrind-out-file="$scratch/out" --toggle-collect=cuLaunchKernel --collect-atstart=yes \
    "$top_builddir/bench/dispatch" --driver emu --kernels 10 --call "$1" --calls "$2" 2>"$scratch/log" ||
    { cat "$scratch/log" >&2; exit 1; }
  sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$scratch/log"
}

measure() {
  local call calls few many
  for call in plan_check emit hit launch run; do
    calls=2000
    [ "$call" != emit ] || calls=100
    few=$(collected "$call" 10) # what is made once is made by then
    many=$(collected "$call" $((10 + calls)))
    echo "$call $(((many - few) / calls))"
  done
}

if [ "${1-}" = --update ]; then
  {
    echo "# Instructions of one call. Written by bench/instructions.sh --update with:"
    echo "# $compiler"
    measure
  } >"$scratch/expected"
  cp "$scratch/expected" "$expected"
  cat "$expected"
  exit 0
fi

grep -qxF "# $compiler" "$expected" || skip "the counts of $expected are another compiler's"
passed=0
failed=0
while read -r call count; do
  wanted=$(awk -v call="$call" '$1 == call { print $2 }' "$expected")
  if [ -z "$wanted" ] || [ $((count * 100)) -gt $((wanted * (100 + tolerance))) ]; then
    echo "FAIL: $call takes $count instructions, ${wanted:-none} are expected"
    failed=$((failed + 1))
    continue
  fi
  passed=$((passed + 1))
  [ $((count * 100)) -ge $((wanted * (100 - tolerance))) ] ||
    echo "note: $call takes $count instructions, well below $wanted: bench/instructions.sh --update keeps the gain"
done < <(measure)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
