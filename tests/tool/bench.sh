#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command bench, on the emulated driver: what it counts and says; its rates mean nothing there.
. "${top_srcdir:?}/tests/tool/harness.sh"
TILEPTX_DRIVER=emu
export TILEPTX_DRIVER

# bench ends well and counts so many bytes.
expect_bytes() { # NAME BYTES ARGUMENT...
  name=$1
  bytes=$2
  shift 2
  tool bench --json --rounds 1 "$@"
  if [ "$status" != 0 ]; then
    fail "$name" "exit status $status"
  elif ! grep -qF -- "\"bytes\": $bytes," out; then
    fail "$name" "expected $bytes bytes: $(cat out)"
  else
    pass
  fi
}

signature=strided_view:f32:_x_:shape=8x8:load_masked
tool bench $signature --extents 16x20 --rounds 1
for line in 'signature  strided_view:f32:_x_:shape=8x8:load_masked:align=16:arith=32:target=sm_90' \
  'moved      0.003 MB, median of 1 rounds' 'kernel     ' 'copy       ' 'ratio      '; do
  out_has "bench says: $line" "$line"
done
check "bench says nothing else on a file" test "$(grep -c . err)" = 1

# ---- Bytes ----

expect_bytes "a load writes whole tiles" $((4 * (16 * 20 + 6 * 64))) $signature --extents 16x20
expect_bytes "one chunk" $((4 * (8 * 4 + 64))) $signature --extents 16x20 --at 1,2
expect_bytes "overlap is read once" $((4 * (16 * 16 + 16 * 64))) \
  strided_view:f32:_x_:shape=8x8:strides=4x4:load_masked --extents 16x16
expect_bytes "a store reads what it writes" $((4 * 2 * 16 * 20)) strided_view:f32:_x_:shape=8x8:store_masked --extents 16x20
expect_bytes "a conversion" $((2 * 16 * 16 + 4 * 16 * 16)) strided_view:f16:_x_:shape=8x8:load:value=f32 --extents 16x16
add=atomic_add_masked:order=relaxed:scope=device
expect_bytes "a sum moves an element three times" $((4 * 3 * 7 * 64)) \
  strided_view:f32:_:shape=64:$add --extents 448
expect_bytes "with fetch four times" $((4 * 4 * 64)) strided_view:f32:_:shape=64:$add:fetch --extents 64
rows=gather_scatter_view:f32:_x_:shape=4x8:dim=0
expect_bytes "rows of an index array" $((4 * (5 * 8 + 8 * 8 + 5))) $rows:load_masked --extents 20x8 --indices 1,3,5,7,9
expect_bytes "sums of rows, overlap counts" $((4 * (3 * 33 * 8 + 33))) $rows:$add --extents 20x8 --indices random:33
expect_bytes "a step" $((4 * (4 * 14 + 3 * 4 * 8 + 4))) $rows:load_masked --extents 20x14 --indices 0,1,2,3 --step _x6

# ---- Index arrays ----

expect_bytes "every row at random is the default" $((4 * 20 * 8 * 2 + 4 * 20)) $rows:load_masked --extents 20x8
expect_bytes "random rows" $((4 * (12 * 8 * 2 + 12))) $rows:load_masked --extents 20x8 --indices random:12
expect_bytes "rows in order" $((4 * (12 * 8 * 2 + 12))) $rows:load_masked --extents 20x8 --indices iota:12
expect_bytes "more rows than there are" $((4 * (64 * 8 * 2 + 64))) $rows:load_masked --extents 20x8 --indices iota:64
expect_bytes "no row" 0 $rows:load_masked --extents 0x8
expect_refusal "a number of rows that is none" 2 "random:N" bench $rows:load_masked --extents 20x8 --indices random:x
expect_refusal "a list that is none" 2 "--indices, entry 1" bench $rows:load_masked --extents 20x8 --indices 1,x

# ---- The tuner ----

tool bench --tune --rounds 1 $signature --extents 16x16
check "--tune ends well" test "$status" = 0
check "--tune tries all" test "$(grep -c 'threads=[0-9]*:flight=[1248]$' out)" -ge 12
tail -n 1 out >winner
cp out tuned
tool emit "$(cat winner)"
check "--tune ends with a signature" test "$status" = 0
tool bench --tune --json --rounds 1 $signature --extents 16x16
out_has "--tune --json names the best" '"tuned": "strided_view:f32:_x_:shape=8x8:load_masked:'
out_is_json "bench --json"

# ---- Refusals ----

expect_refusal "no signature" 2 "bench needs a signature" bench
expect_refusal "no extents" 2 "--extents must give its number" bench $signature
expect_refusal "no rounds" 2 "--rounds" bench $signature --extents 16x16 --rounds 0
expect_refusal "--bits" 2 "--bits goes with run" bench $signature --extents 16x16 --bits
expect_refusal "--rounds with run" 2 "--rounds goes with the command bench" run $signature --extents 16x16 --rounds 1
expect_refusal "--tune with emit" 2 "--tune goes with the command bench" emit $signature --tune
expect_refusal "an operation that is refused" 1 "TPTX_ERROR_PARTIAL_CHUNK" bench strided_view:f32:_:shape=8:load --extents 9
expect_refusal "no such device" 3 "device" bench $signature --extents 16x16 --device 77

finish
