#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measuring programs run, on the emulated driver and at tiny sizes, and print what other programs read.
# tests/bandwidth.sh has the results that bandwidth compares.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${TILEPTX_EMU_PATH:?}"

bench=$top_builddir/bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

check() { # NAME COMMAND... ; the command succeeds
  local name=$1
  shift
  if "$@" >"$scratch/out" 2>&1; then
    passed=$((passed + 1))
  else
    echo "FAIL: $name"
    tail -n 5 "$scratch/out"
    failed=$((failed + 1))
  fi
}

out_has() { # NAME PATTERN LINES
  local lines
  lines=$(grep -cE -- "$2" "$scratch/out" || true)
  if [ "$lines" = "$3" ]; then
    passed=$((passed + 1))
  else
    echo "FAIL: $1: $lines lines, not $3, match $2"
    failed=$((failed + 1))
  fi
}

refuses() { # NAME COMMAND... ; the command line is wrong
  local name=$1 code=0
  shift
  "$@" >"$scratch/out" 2>&1 || code=$?
  [ "$code" = 2 ] || echo "FAIL: $name ends with $code, not with 2"
  if [ "$code" = 2 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

keep() { # NAME ; the last output is what gpu.sh would leave in NAME.txt
  mkdir -p "$scratch/results"
  { echo "# a day, a machine; library at revision 0"; cat "$scratch/out"; } >"$scratch/results/$1.txt"
}

check "small" "$bench/small" --driver emu --times 1 --copy-kernel "$top_srcdir/bench/copy_vectors.ptx"
out_has "small" '^(partition|gather)_' 10
keep small
check "dispatch" "$bench/dispatch" --driver emu --kernels 2,20 --rounds 1
out_has "dispatch" '^tptx_emit \(' 2
keep dispatch
out_has "dispatch has no launches to time here" '^cuLaunchKernel' 0
check "dispatch --call" "$bench/dispatch" --driver emu --call hit --calls 3
check "dispatch --call run" "$bench/dispatch" --driver emu --call run --calls 3
check "dispatch --call bare_launch" "$bench/dispatch" --driver emu --call bare_launch --calls 3
refuses "a call that is none" "$bench/dispatch" --driver emu --call no_such_call
check "compile" "$bench/compile" --driver emu --times 1 --source "$top_srcdir/bench/kernels.cu"
out_has "compile" '1\.60' 12
keep compile

# What peers.py and the page of results read. Emulated runs have no rates, so some are put in their place.
if command -v python3 >/dev/null; then
  check "the workloads are JSON" "$bench/bandwidth" --list --json
  cp "$scratch/out" "$scratch/workloads.json"
  check "the workloads are read" python3 "$top_srcdir/bench/peers.py" --list --bandwidth "$bench/bandwidth"
  out_has "every workload is read" 'shape=' "$("$bench/bandwidth" --list | wc -l)"
  check "the results are JSON" "$bench/bandwidth" --driver emu --mib 0.01 --only line --json
  cp "$scratch/out" "$scratch/results.json"
  check "the JSON is whole" python3 -c 'import json, sys; [json.load(open(name)) for name in sys.argv[1:]]' \
    "$scratch/workloads.json" "$scratch/results.json"

  check "bandwidth" "$bench/bandwidth" --driver emu --mib 0.01 --only partition
  sed -i 's/     -      -      - / 4.100  4.200  0.976 /' "$scratch/out"
  keep bandwidth
  keep sizes
  python3 - "$scratch/workloads.json" >"$scratch/results/peers.json" <<'END'
import json, sys
rates = {"ours": 4.1, "copy": 4.2, "triton": 4.0, "torch": 2.0}
ratios = {name: 4.1 / rate for name, rate in rates.items()}
print(json.dumps({"schema": 1, "results": [{"workload": work["name"], "rates": rates, "ratios": ratios}
                                           for work in json.load(open(sys.argv[1]))["workloads"]]}))
END
  cp "$top_srcdir/doc/performance.md" "$scratch/page.md"
  chmod u+w "$scratch/page.md"
  check "plot" python3 "$top_srcdir/bench/plot" "$scratch/results" "$scratch/page.md"
  cp "$scratch/page.md" "$scratch/first.md"
  cp "$scratch/page.md" "$scratch/out"
  out_has "the page has the machine" '^A day, a machine' 1
  out_has "the page has the rates, and what missed" '^\| `partition_f32_64x64` \| 4.100 \| 4.200 \| 0.976 \| 1.00 \*\*missed' 1
  out_has "the page has the peers" '`partition_.*1.0[0-9] \(Triton\)' 9
  out_has "the page has little work" '^\| `gather_rows_bf16_256_2m` \| [0-9]+ \| [0-9.]+ \| [0-9.]+ \|' 5
  out_has "the page has the builds" '^\| `odd_pitch_bf16` .* 1.60' 1
  out_has "the page has the calls" '^\| tptx_emit \| [0-9.]+ us \| 25.00 us' 1
  check "plot once more" python3 "$top_srcdir/bench/plot" "$scratch/results" "$scratch/page.md"
  check "plot twice is plot once" cmp "$scratch/page.md" "$scratch/first.md"
  cp "$scratch/page.svg" "$scratch/out"
  out_has "the picture has the workloads" 'text-anchor="end"' "$("$bench/bandwidth" --list | wc -l)"
  check "the picture is XML" python3 -c 'import sys, xml.dom.minidom as xml; xml.parse(sys.argv[1])' "$scratch/page.svg"
  refuses_plot=0
  python3 "$top_srcdir/bench/plot" "$scratch/none" "$scratch/page.md" 2>/dev/null || refuses_plot=$?
  [ "$refuses_plot" = 1 ] || { echo "FAIL: plot of no folder ends with $refuses_plot"; failed=$((failed + 1)); }
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
