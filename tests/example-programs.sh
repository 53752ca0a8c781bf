#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples do what their first lines say, on the emulated driver.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${TILEPTX_EMU_PATH:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

verdict() { # NAME STATUS
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: $1"
    head -n 20 "$scratch/out" "$scratch/err"
  fi
}

run() { # PROGRAM ARGUMENT...
  "$@" >"$scratch/out" 2>"$scratch/err"
}

holds() { # PATTERN...
  local pattern
  for pattern; do grep -qE -- "$pattern" "$scratch/out" || return 1; done
}

status=0
run "$top_builddir/examples/load_tile" &&
  holds '^\.visible \.entry tptx_strided_load_masked_f32_r2_64x64_' '^// strided_view:f32:_x_:shape=64x64' \
    '^//  0: view ' '^ *@%[a-z_0-9]+ ld\.global' || status=$?
verdict 'load_tile prints the kernel, its signature and its parameters' "$status"

status=0
run "$top_builddir/examples/run_tile" "$TILEPTX_EMU_PATH" &&
  printf '19 20 21 nan\n30 31 32 nan\n' | cmp - "$scratch/out" || status=$?
verdict 'run_tile prints the tile of chunk (1, 8)' "$status"

status=0
run "$top_builddir/examples/run_tile" "$scratch/no-driver.so" || status=$?
[ "$status" = 77 ] && grep -q 'no CUDA driver' "$scratch/err" && status=0
verdict 'run_tile says that there is no driver' "$status"

# An interpreter that is no sanitizer's cannot load a library that is.
library=$(find "$top_builddir/.libs" -name 'libtileptx.so*' 2>/dev/null | head -n 1)
if ! command -v python3 >/dev/null; then
  echo 'note: load_tile.py was not run: there is no python3'
elif [ -z "$library" ] || grep -qE '__(asan|tsan)_init' "$library"; then
  echo 'note: load_tile.py was not run: there is no shared library that Python could load'
else
  export TILEPTX_LIBRARY=$library PYTHONDONTWRITEBYTECODE=1
  status=0
  run python3 "$top_srcdir/examples/load_tile.py" &&
    holds '^// tptx_strided_load_masked_f32_r2_2x4_[0-9a-f]{8}$' 'selp\.b32' || status=$?
  verdict 'load_tile.py prints the kernel of a signature' "$status"

  status=0
  run python3 "$top_srcdir/examples/load_tile.py" strided_view:f32:4x11 || status=$?
  [ "$status" = 1 ] && grep -q '^TPTX_ERROR_SYNTAX: .*shape=' "$scratch/err" && status=0
  verdict 'load_tile.py says what is wrong with a signature' "$status"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
