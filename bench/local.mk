# SPDX-License-Identifier: Apache-2.0
#
# Measuring programs: built by make, run on a GPU by bench/gpu.sh; results are kept as text, a folder a machine:
#
#   EXTRA_DIST += bench/results/MACHINE/bandwidth.txt

tileptx_bench_sources = \
  bench/program.c bench/program.h \
  bench/workloads.c bench/workloads.h bench/workloads.def \
  tools/device.c tools/device.h tools/traffic.c tools/traffic.h

noinst_PROGRAMS += bench/bandwidth bench/compile bench/dispatch bench/small
bench_bandwidth_SOURCES = bench/bandwidth.c bench/comparison.c $(tileptx_bench_sources)
bench_bandwidth_LDADD = libtileptx.la
bench_compile_SOURCES = bench/compile.c $(tileptx_bench_sources)
bench_compile_LDADD = libtileptx.la
bench_dispatch_SOURCES = bench/dispatch.c $(tileptx_bench_sources)
bench_dispatch_LDADD = libtileptx.la
bench_small_SOURCES = bench/small.c $(tileptx_bench_sources)
bench_small_LDADD = libtileptx.la

EXTRA_DIST += bench/README.md bench/copy_vectors.ptx bench/gpu.sh bench/instructions.expected bench/kernels.cu bench/plot \
  bench/peers.py bench/peer_cupy.py bench/peer_torch.py bench/peer_triton.py bench/tileptx_library.py

EXTRA_DIST += bench/results/2026-11-30-h200-bandwidth.txt bench/results/2026-11-30-h200-experiments-1.txt \
  bench/results/2026-11-30-h200-experiments-2.txt bench/results/2026-11-30-h200-first.txt \
  bench/results/2026-11-30-h200-experiments-3.txt bench/results/2026-11-30-h200-peers.txt \
  bench/results/2026-11-30-h200-experiments-4.txt \
  bench/results/2026-11-30-h200-experiments-5.txt \
  bench/results/2026-11-30-h200-experiments-6.txt \
  bench/results/2026-11-30-h200-second/bandwidth.txt \
  bench/results/2026-11-30-h200-second/compile.txt \
  bench/results/2026-11-30-h200-second/dispatch.txt \
  bench/results/2026-11-30-h200-second/peers.txt \
  bench/results/2026-11-30-h200/bandwidth-2.txt \
  bench/results/2026-11-30-h200/bandwidth.txt \
  bench/results/2026-11-30-h200/compile-2.txt \
  bench/results/2026-11-30-h200/compile-3.txt \
  bench/results/2026-11-30-h200/compile.txt \
  bench/results/2026-11-30-h200/dispatch-2.txt \
  bench/results/2026-11-30-h200/dispatch.txt \
  bench/results/2026-11-30-h200/dispatch_many.txt \
  bench/results/2026-11-30-h200/peers-2.txt \
  bench/results/2026-11-30-h200/peers.json \
  bench/results/2026-11-30-h200/peers.txt \
  bench/results/2026-11-30-h200/sizes.txt \
  bench/results/2026-11-30-h200/small.txt
