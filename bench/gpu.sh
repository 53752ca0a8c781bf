#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bench/gpu.sh RESULTS LIBRARY_FOLDER [PART...]
#
# Measures on a machine with a GPU, into text files in the folder RESULTS, one a part:
#
#   bandwidth   every workload beside a copy             bandwidth.txt
#   sizes       two of them from 64 KiB to 8 GiB         sizes.txt
#   small       launch plus synchronise of little work   small.txt
#   peers       beside PyTorch, Triton and CUDA C++      peers.txt, peers.json
#   dispatch    what a call costs                        dispatch.txt; dispatch_many.txt: 100,000 kernels
#   compile     what a kernel costs to build             compile.txt
#
# All of them without PART, in under eight minutes. Needs a C compiler, for peers python3 with the peers, and
# nothing else of the build: the library is taken ready-made from LIBRARY_FOLDER, where `make` on another machine
# left libtileptx.so.0. PEERS_OPTIONS and BANDWIDTH_OPTIONS are passed on; REVISION names the library's revision.
set -euo pipefail

[ $# -ge 2 ] || {
  sed -n 's/^# Usage: /Usage: /p' "$0" >&2
  exit 2
}
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
results=$(cd "$1" && pwd)
library=$2
shift 2
[ $# -gt 0 ] || set -- bandwidth sizes small peers dispatch compile

# Copies, because links may not have survived the journey.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
found=$(find "$library" -name 'libtileptx.so*' -type f | head -n 1)
[ -n "$found" ] || {
  echo "gpu.sh: there is no libtileptx.so in $library" >&2
  exit 1
}
cp "$found" "$scratch/libtileptx.so.0"
ln -s libtileptx.so.0 "$scratch/libtileptx.so"

build() { # PROGRAM SOURCE...
  local program=$1
  shift
  ${CC:-cc} -std=c11 -O2 -Wall -Wextra -I "$top/include" "$@" "$top/bench/program.c" \
    "$top/tools/device.c" "$top/tools/traffic.c" \
    -L "$scratch" -ltileptx -ldl -lpthread -Wl,-rpath,"$scratch" -o "$scratch/$program"
}

machine=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 | sed 's/, /, driver /' || true)
revision=${REVISION:-$(git -C "$top" rev-parse --short HEAD 2>/dev/null || echo unknown)}
cd "$top"

part() { # NAME SECONDS COMMAND... ; runs it into NAME.txt
  local name=$1 seconds=$2 code=0
  shift 2
  {
    echo "# $(date -u +%F), ${machine:-no GPU found}; library at revision $revision"
    timeout "$seconds" "$@" 2>&1 || code=$?
    [ "$code" != 124 ] || echo "# stopped after $seconds seconds"
  } >"$results/$name.txt"
  cat "$results/$name.txt"
  echo "# $name: $SECONDS seconds after the start, exit status $code"
  [ "$code" = 0 ] || status=$code
}

workloads="$top/bench/workloads.c $top/bench/comparison.c"
status=0
for chosen; do
  case $chosen in
  bandwidth | sizes | peers) [ -e "$scratch/bandwidth" ] || build bandwidth "$top/bench/bandwidth.c" $workloads ;;
  small | dispatch | compile) build "$chosen" "$top/bench/$chosen.c" $workloads ;;
  *)
    echo "gpu.sh: there is no part '$chosen'" >&2
    exit 2
    ;;
  esac
  case $chosen in
  bandwidth) part bandwidth 150 "$scratch/bandwidth" ${BANDWIDTH_OPTIONS:-} ;;
  sizes) part sizes 90 "$scratch/bandwidth" --sizes --rounds 3 ;;
  small) part small 30 "$scratch/small" ;;
  peers)
    part peers 260 python3 "$top/bench/peers.py" --library "$scratch/libtileptx.so.0" --bandwidth "$scratch/bandwidth" \
      --json "$results/peers.json" ${PEERS_OPTIONS:-}
    ;;
  dispatch)
    part dispatch 60 "$scratch/dispatch"
    # As many kernels as no GPU builds in a minute: the emulated driver's, on this machine's processor.
    emulator=$(find "$library" -name 'libtileptx-emu.so' -type f | head -n 1)
    [ -z "$emulator" ] || TILEPTX_EMU_PATH=$emulator part dispatch_many 90 "$scratch/dispatch" --driver emu --rounds 5
    ;;
  compile) part compile 90 "$scratch/compile" ;;
  esac
done
exit "$status"
