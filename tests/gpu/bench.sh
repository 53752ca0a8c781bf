#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: tests/gpu/bench.sh RESULTS [LIBRARY_FOLDER] [BANDWIDTH_OPTION...]
#
# Measures bandwidth and records the driver's answers on a machine with a GPU, into the folder RESULTS:
#
#   bandwidth.txt           bench/results/ keeps these
#   driver_answers.txt      becomes tests/gpu/driver_answers.expected
#   driver_answers.diff     where the answers differ from that file
#
# Needs a C compiler and nothing else of the build: the library is taken ready-made from LIBRARY_FOLDER
# (default: build/.libs), where `make` on another machine left libtileptx.so.0.
set -euo pipefail

[ $# -ge 1 ] || {
  sed -n 's/^# Usage: /Usage: /p' "$0" >&2
  exit 2
}
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
results=$(cd "$1" && pwd)
library=${2:-$top/build/.libs}
shift $(($# < 2 ? $# : 2))

# Copies, because links may not have survived the journey.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=$(find "$library" -name 'libtileptx.so*' -type f | head -n 1)
[ -n "$found" ] || {
  echo "bench.sh: there is no libtileptx.so in $library" >&2
  exit 1
}
cp "$found" "$scratch/libtileptx.so.0"
ln -s libtileptx.so.0 "$scratch/libtileptx.so"

build() { # PROGRAM SOURCE...
  local program=$1
  shift
  ${CC:-cc} -std=c11 -O2 -Wall -Wextra -I "$top/include" "$@" "$top/tools/device.c" "$top/tools/traffic.c" \
    -L "$scratch" -ltileptx -ldl -lpthread -Wl,-rpath,"$scratch" -o "$scratch/$program"
}
build bandwidth "$top/bench/bandwidth.c" "$top/bench/comparison.c" "$top/bench/program.c" "$top/bench/workloads.c"
build driver_answers "$top/tests/gpu/driver_answers.c"

machine() {
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 | sed 's/, /, driver /'
}

status=0
echo "# Recorded on: $(machine)" >"$results/driver_answers.txt"
"$scratch/driver_answers" >>"$results/driver_answers.txt" || status=$?
[ "$status" != 77 ] || exit 77
diff <(sed "/^#/d" "$top/tests/gpu/driver_answers.expected") <(sed "/^#/d" "$results/driver_answers.txt") \
  >"$results/driver_answers.diff" || true

{
  echo "# $(machine)"
  "$scratch/bandwidth" "$@"
} >"$results/bandwidth.txt" || status=$?

cat "$results/driver_answers.diff" "$results/bandwidth.txt"
exit "$status"
