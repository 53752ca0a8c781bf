#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bandwidth program's workloads give right results, at a small size on the emulated driver.
set -euo pipefail

# Set by tests/local.mk.
: "${top_builddir:?}" "${TILEPTX_EMU_PATH:?}"

bandwidth=$top_builddir/bench/bandwidth
status=0
out=$("$bandwidth" --driver "$TILEPTX_EMU_PATH" --mib 1 --rounds 1) || status=$?
[ "$status" = 0 ] || printf '%s\n' "$out"

listed=$("$bandwidth" --list | wc -l)
right=$(grep -c '^[a-z0-9_]* *yes ' <<<"$out" || true)
[ "$right" = "$listed" ] || echo "FAIL: $right of $listed workloads are right"

usage=0
"$bandwidth" --only no_such_workload >/dev/null 2>&1 || usage=$?
[ "$usage" = 2 ] || echo "FAIL: an unknown workload ends with $usage, not with 2"

failed=$((listed - right + (usage != 2)))
echo "$((listed + 1 - failed)) passed, $failed failed"
[ "$failed" = 0 ] && [ "$status" = 0 ]
