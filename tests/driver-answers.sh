#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The emulated driver answers as the recorded real one.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${TILEPTX_EMU_PATH:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A compiler's log is its own: the text counts only where the call succeeded.
codes() {
  sed '/^#/d; /: 0 CUDA_SUCCESS "/!s/ ".*//' "$1"
}

status=0
"$top_builddir/tests/gpu/driver_answers" --driver "$TILEPTX_EMU_PATH" >"$scratch/answers" || status=$?
[ "$status" = 0 ] || echo "FAIL: driver_answers ended with $status"
codes "$top_srcdir/tests/gpu/driver_answers.expected" >"$scratch/expected"
codes "$scratch/answers" >"$scratch/given"

# A recorded answer is one test; an answer that no record has fails, too.
total=$(wc -l <"$scratch/expected")
failed=0
if ! diff "$scratch/expected" "$scratch/given" >"$scratch/differences"; then
  sed -n 's/^< /FAIL: a real driver:   /p; s/^> /      the emulated one: /p' "$scratch/differences"
  failed=$(grep -c '^<' "$scratch/differences" || true)
  [ "$failed" != 0 ] || failed=1
fi
echo "$((total - failed)) passed, $failed failed"
[ "$failed" = 0 ] && [ "$status" = 0 ]
