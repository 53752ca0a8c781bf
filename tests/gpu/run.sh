#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The tests that need a GPU, on a machine with a C compiler and a driver and nothing else: no libtool, no
# Check, no xxhash. The shared library is taken as it was built elsewhere.
#
#   tests/gpu/run.sh [LIBRARY_FOLDER [CASES [FIRST]]]
#
# LIBRARY_FOLDER  where `make` left libtileptx.so.0 (default: build/.libs)
# CASES           random cases of the meaning net (default 2000), from seed FIRST on (default 1)
#
# With compute-sanitizer in the path, 200 cases and the small ones of large_offsets run under memcheck.
# Exit 0: all passed; 77: no GPU; anything else: failed. The last line counts programs.
set -u
cd "$(dirname "$0")/../.." || exit 1
library=${1:-build/.libs}
cases=${2:-2000}
first=${3:-1}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
CC=${CC:-gcc}
passed=0
failed=0
skipped=0

# A copy, because links may not have survived the journey.
found=$(find "$library" -name 'libtileptx.so*' -type f | sed 1q)
if [ -z "$found" ]; then
  echo "run.sh: there is no libtileptx.so in $library" >&2
  exit 1
fi
cp "$found" "$work/libtileptx.so.0"
ln -s libtileptx.so.0 "$work/libtileptx.so"
TILEPTX_DRIVER=cuda
export TILEPTX_DRIVER

compile() { # NAME SOURCE ...
  name=$1
  shift
  $CC -std=c11 -O2 -Wall -Wextra -Iinclude -Itests "$@" tools/device.c -o "$work/$name" \
    -L"$work" -ltileptx -Wl,-rpath,"$work" -ldl
}

run() { # NAME COMMAND ...
  printf '== %s\n' "$1"
  shift
  "$@"
  case $? in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *) failed=$((failed + 1)) ;;
  esac
}

compile meaning_test tests/net/meaning_test.c tests/net/plan_values.c \
  tests/reference.c tests/reference_values.c tests/outcome.c \
  tests/random_case.c tests/random_operands.c tests/random_refusal.c tests/random_values.c || exit 1
compile large_offsets tests/gpu/large_offsets.c || exit 1
compile conversions tests/gpu/conversions.c tests/gpu/rig.c tests/reference_values.c || exit 1
compile lost_updates tests/gpu/lost_updates.c tests/gpu/rig.c || exit 1
compile dropped_in_flight tests/gpu/dropped_in_flight.c tests/gpu/rig.c || exit 1

run "large offsets" "$work/large_offsets"
run "conversions" "$work/conversions"
run "lost updates" "$work/lost_updates"
run "dropped in flight" "$work/dropped_in_flight"
run "meaning, $cases cases" "$work/meaning_test" --cases "$cases" --seed "$first"
if command -v compute-sanitizer >/dev/null 2>&1; then
  run "large offsets, memcheck" compute-sanitizer --tool memcheck --error-exitcode 1 \
    "$work/large_offsets" --small
  run "lost updates, memcheck" compute-sanitizer --tool memcheck --error-exitcode 1 \
    "$work/lost_updates" --small
  run "meaning, memcheck" compute-sanitizer --tool memcheck --error-exitcode 1 \
    "$work/meaning_test" --cases 200 --seed 100001
else
  echo "== memcheck: no compute-sanitizer here"
  skipped=$((skipped + 1))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
