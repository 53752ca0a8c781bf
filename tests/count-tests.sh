#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/count-tests: what each kind of log counts for, and that no failure is lost.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

counts() { # RESULT LOG-TEXT EXPECTED
  local got
  rm -rf "$scratch/build"
  mkdir -p "$scratch/build/tests"
  echo ":test-result: $1" >"$scratch/build/tests/one.trs"
  printf '%b' "$2" >"$scratch/build/tests/one.log"
  got=$(bash "$top_srcdir/scripts/count-tests" "$scratch/build")
  if [ "$got" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $1 with '$2' counts as '$got', not '$3'"
  fi
}

counts PASS '' '1 passed, 0 failed, 0 skipped'
counts PASS '100%: Checks: 12, Failures: 0, Errors: 0\nPASS x (exit status: 0)\n' '12 passed, 0 failed, 0 skipped'
counts PASS '100%: Checks: 2, Failures: 0, Errors: 0\n100%: Checks: 3, Failures: 0, Errors: 0\n' '5 passed, 0 failed, 0 skipped'
counts FAIL '83%: Checks: 12, Failures: 1, Errors: 1\n' '10 passed, 2 failed, 0 skipped'
counts FAIL '100%: Checks: 12, Failures: 0, Errors: 0\n' '12 passed, 1 failed, 0 skipped'
counts PASS '7 passed, 0 failed\n' '7 passed, 0 failed, 0 skipped'
counts PASS '7 passed, 0 failed, 2 skipped\n' '7 passed, 0 failed, 2 skipped'
counts FAIL '7 passed, 3 failed\n' '7 passed, 3 failed, 0 skipped'
counts FAIL 'all is well\n' '0 passed, 1 failed, 0 skipped'
counts ERROR '' '0 passed, 1 failed, 0 skipped'
counts XPASS '' '0 passed, 1 failed, 0 skipped'
counts SKIP 'SKIP: no ptxas\n' '0 passed, 0 failed, 1 skipped'

# Two tests, one of them without a log and without a result, as after a power cut.
: >"$scratch/build/tests/two.trs"
both=$(bash "$top_srcdir/scripts/count-tests" "$scratch/build")
if [ "$both" = '0 passed, 1 failed, 1 skipped' ]; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo "FAIL: an empty result counts as '$both'"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
