#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command run: every option of it, on the emulated driver.
. "${top_srcdir:?}/tests/tool/harness.sh"
TILEPTX_DRIVER=emu
export TILEPTX_DRIVER

# ---- Which chunks ----

pairs=strided_view:s32:4:shape=2:load
expect_rows "every chunk is the default" "0 1//2 3" run $pairs
expect_rows "--all" "0 1//2 3" run $pairs --all
expect_rows "--at" "2 3" run $pairs --at 1
expect_rows "--at of rank 0" "0" run strided_view:s32:scalar:shape=scalar:load --at ''
expect_rows "slices and tiles have an empty line between them" "0 1/2 3//4 5/6 7//8 9/10 11//12 13/14 15" \
  run strided_view:s32:4x2x2:shape=2x2x2:load
expect_nothing "a span without elements has no chunk" run strided_view:s32:0:shape=2:load
expect_refusal "--at and --all" 2 "give one of them" run $pairs --at 1 --all
expect_refusal "--at of another rank" 2 "--at has 2 entries, the rank is 1" run $pairs --at 1,0
expect_refusal "--at with a word" 2 '--at: "x" at axis 0' run $pairs --at x
expect_refusal "--at below 0" 2 '--at: "-1" at axis 0' run $pairs --at -1
expect_refusal "--at with _ on a strided view" 2 "axis 0 needs a number" run $pairs --at _
expect_refusal "--at past the last chunk" 1 "TPTX_ERROR_BOX" run $pairs --at 2
expect_refusal "--at past 64 bits" 2 "--at" run $pairs --at 9223372036854775808
expect_refusal "--at that would wrap around" 2 "--at" run $pairs --at 18446744073709551617
expect_refusal "a partial chunk without mask" 1 "TPTX_ERROR_PARTIAL_CHUNK" run strided_view:s32:3:shape=2:load --at 1

# ---- The index array ----

picks=gather_scatter_view:s32:10:shape=3:dim=0:load_masked
expect_rows "--indices" "7 1 4" run $picks --indices 7,1,4
expect_rows "--indices of several tiles, the last short" "7 1 4//9 0 0" run $picks --indices 7,1,4,9
expect_rows "--indices outside" "7 0 0" run $picks --indices 7,-1,10
expect_nothing "--indices without entries" run $picks --indices ''
for stride in 2 -1 -3; do
  expect_rows "--indices-stride $stride" "7 1 4" run $picks --indices 7,1,4 --indices-stride $stride
done
expect_rows "--indices-stride 0" "7 7 7" run $picks --indices 7,7,7 --indices-stride 0
for type in s8 u8 s16 u16 s32 u32 s64 u64; do
  expect_rows "--indices of $type" "7 1 4" run $picks:indices=$type --indices 7,1,4 --indices-stride 2
done
expect_rows "--at with _ at the gather dimension" "53 54/3 4" \
  run gather_scatter_view:s32:8x10:shape=2x2:dim=0:load --at _,3 --indices 5,0
expect_rows "--step" "6 7/0 1//10 11/4 5" \
  run gather_scatter_view:s32:2x6:shape=2x2:dim=0:load --indices 1,0 --step 1x4
expect_rows "--step with _" "6 7/0 1//10 11/4 5" \
  run gather_scatter_view:s32:2x6:shape=2x2:dim=0:load --indices 1,0 --step _x4
expect_refusal "no --indices" 2 "needs --indices" run $picks
expect_refusal "--indices that are no numbers" 2 "--indices, entry 1" run $picks --indices 1,,2
expect_refusal "--indices that the type cannot hold" 2 "no u8" run $picks:indices=u8 --indices -1
expect_refusal "--indices that differ at stride 0" 2 "entry 2: entries differ" run $picks --indices 7,7,8 --indices-stride 0
expect_refusal "--indices-stride that is no number" 2 "--indices-stride" run $picks --indices 1 --indices-stride 1.5
expect_refusal "--indices-stride that is too large" 1 "the index array is too large" \
  run $picks --indices 1,2 --indices-stride 9223372036854775807
expect_refusal "--at with more than one index tile" 2 "at most 3 of --indices" run $picks --indices 1,2,3,4 --at _
expect_refusal "--at with a number at the gather dimension" 2 "write _ there" run $picks --indices 1,2,3 --at 0
expect_refusal "--indices on a strided view" 2 "go with gather_scatter_view" run $pairs --indices 1
expect_refusal "--step on a strided view" 2 "go with gather_scatter_view" run $pairs --step 1
expect_refusal "--step 0" 2 '--step: "0" at axis 0' run $picks --indices 1 --step 0

# ---- Extents and strides that the signature leaves open ----

open=strided_view:s32:_x_:shape=1x2:load
expect_rows "--extents" "0 1//2 3" run $open --extents 2x2
expect_rows "--extents beside a number" "0 1//2 3" run strided_view:s32:_x2:shape=1x2:load --extents 2x_
expect_rows "--extents that repeats a number" "0 1//2 3" run strided_view:s32:_x2:shape=1x2:load --extents 2x2
expect_refusal "no --extents" 2 "--extents must give its number" run $open
expect_refusal "--extents with _ where a number is needed" 2 "axis 1 is _ in the signature" run $open --extents 2x_
expect_refusal "--extents that contradicts the signature" 2 "axis 1 is 2 in the signature, not 3" \
  run strided_view:s32:_x2:shape=1x2:load --extents 2x3
expect_refusal "--extents of another rank" 2 "--extents has 1 entries" run $open --extents 2
expect_refusal "--extents below 0" 2 '--extents: "-2" at axis 0' run $open --extents -2x2
expect_refusal "--extents of more than there is" 1 "the span is too large" run $open --extents 999999999x999999999
expect_refusal "--extents of more than 2^63" 1 "the span is too large" run $open --extents 9223372036854775807x9223372036854775807
expect_refusal "--extents of 1 GiB and one element" 1 "at most 1073741824 bytes" run $open --extents 1x268435457

rows=strided_view:s32:2x3:shape=2x3:load
expect_rows "--layout-strides" "0 1 2/10 11 12" run $rows:layout=_x1 --layout-strides 10x1
expect_rows "--layout-strides below 0" "3 4 5/0 1 2" run $rows:layout=_x1 --layout-strides -3x1
expect_rows "--layout-strides=0" "0 1 2/0 1 2" run $rows:layout=_x1 --layout-strides 0x1
expect_rows "static strides below 0" "5 4 3/2 1 0" run $rows:layout=-3x-1
expect_rows "layout=left" "0 2 4/1 3 5" run $rows:layout=left
expect_refusal "no --layout-strides" 2 "--layout-strides must give its number" run $rows:layout=_x1
expect_refusal "--layout-strides without need" 2 "--layout-strides goes with" run $rows --layout-strides 3x1

# ---- Contents ----

expect_rows "--span iota" "0 1//2 3" run $pairs --span iota
expect_rows "--span zeros" "0 0//0 0" run $pairs --span zeros
expect_rows "--span ones" "1 1//1 1" run $pairs --span ones
expect_rows "--span LIST" "-5 7//15 -1" run $pairs --span=-5,7,0xf,0xffffffff
expect_rows "--span LIST in memory order, gaps included" "3 4//0 1" run strided_view:s32:2x2:shape=1x2:layout=-3x1:load --span 0,1,2,3,4
printf '\001\000\000\000\377\377\377\377\000\001\000\000\000\000\000\200' >words
expect_rows "--span file:" "1 -1//256 -2147483648" run $pairs --span file:words
expect_refusal "--span of too few" 2 "--span gives 3 elements, the span has 4 in memory" run $pairs --span 1,2,3
expect_refusal "--span of too many" 2 "--span gives 5 elements" run $pairs --span 1,2,3,4,5
expect_refusal "--span with a word" 2 '--span, element 1: "x" is no s32' run $pairs --span 1,x,3,4
expect_refusal "--span past the type" 2 '"2147483648" is no s32: expected a whole number from -2147483648 to 2147483647' \
  run $pairs --span 1,2147483648,3,4
expect_refusal "--span without text" 2 "--span gives 0 elements" run $pairs --span ''
expect_refusal "--span from a file that is not there" 4 "nothing cannot be read" run $pairs --span file:nothing
expect_refusal "--span from a folder" 4 "cannot be read" run $pairs --span file:.
head -c 15 words >short
{ cat words && printf x; } >long
expect_refusal "--span from a file that is too short" 2 "short has less than the 16 bytes" run $pairs --span file:short
expect_refusal "--span from a file that is too long" 2 "long has more than the 16 bytes" run $pairs --span file:long

expect_rows "--tile LIST" "0 60 70 3" run strided_view:s32:4:shape=2:strides=1:store --at 1 --tile 60,70
expect_rows "--tile is iota by default" "9 0 1 9" run strided_view:s32:4:shape=2:strides=1:store --at 1 --span 9,9,9,9
expect_rows "--tile file:" "1 -1 256 -2147483648" run strided_view:s32:4:shape=2:store --tile file:words
expect_rows "--tile of several chunks" "1 2 3 4" run strided_view:s32:4:shape=2:store --tile 1,2,3,4
expect_rows "a masked store skips what lies outside" "0 1 5" run strided_view:s32:3:shape=2:store_masked --at 1 --tile 5,6
expect_refusal "--tile for a load" 2 "--tile goes with operations that write the span" run $pairs --tile 1,2,3,4
expect_refusal "--tile of too few" 2 "--tile gives 1 elements" run strided_view:s32:4:shape=2:store --tile 1
expect_refusal "a store through a layout that is not injective" 1 "TPTX_ERROR_NOT_INJECTIVE" \
  run strided_view:s32:2x2:shape=2x2:layout=0x1:store

pad=strided_view:f16:3:shape=2:load_masked:pad=value
expect_rows "--pad-value" "0 1//2 -2.5" run $pad --pad-value -2.5
expect_rows "--pad-value as bits" "0 1//2 inf" run $pad --pad-value 0x7c00
expect_refusal "no --pad-value" 2 "pad=value needs --pad-value" run $pad
expect_refusal "--pad-value that the type cannot hold" 2 '--pad-value: "70000" is no f16' run $pad --pad-value 70000
expect_refusal "--pad-value without need" 2 "--pad-value goes with pad=value" run $pairs --pad-value 1

# ---- Tile operands that are arrays ----

array=strided_view:s32:4:shape=3:load_masked:tiles=array
expect_rows "an array holds all tiles by default" "0 1 2//3 0 0" run $array
expect_rows "--tile-extents" "0 1 2//3 0 -" run $array --tile-extents 5
expect_rows "--tile-extents with _" "0 1 2//3 0 0" run $array --tile-extents _
expect_rows "--tile-layout-strides" "0 1/2 3" \
  run strided_view:s32:2x2:shape=2x2:load:tiles=array:tile_layout=_x1 --tile-layout-strides 7x1
expect_rows "--tile-layout-strides below 0" "0 1/2 3" \
  run strided_view:s32:2x2:shape=2x2:load:tiles=array:tile_layout=_x1 --tile-layout-strides -7x1
expect_rows "a store from an array" "3 4 5/0 1 2" \
  run strided_view:s32:2x3:shape=2x3:store:tiles=array:tile_layout=-3x1
expect_refusal "no --tile-layout-strides" 2 "--tile-layout-strides must give" \
  run strided_view:s32:2x2:shape=2x2:load:tiles=array:tile_layout=_x1
expect_refusal "--tile-extents of packed tiles" 2 "go with tiles=array" run $pairs --tile-extents 4
expect_refusal "--tile-layout-strides of packed tiles" 2 "go with tiles=array" run $pairs --tile-layout-strides 1
expect_refusal "--tile-extents that are too large" 1 "the tile operand is too large" run $array --tile-extents 99999999999

# ---- Addresses ----

vectors=strided_view:f32:64:shape=32:load
tool run $vectors
cp out plain
tool run --json $vectors
out_has "aligned operands give wide vectors" ":align=16"
for moved in "--span-offset 1" "--tile-offset 3" "--span-offset=2 --tile-offset=1"; do
  # shellcheck disable=SC2086
  tool run $vectors $moved
  check "$moved gives the same values" cmp -s plain out
  # shellcheck disable=SC2086
  tool run --json $vectors $moved
  check "$moved gives another kernel" test "$status" = 0 -a "$(grep -c ':align=16' out)" = 0
done
expect_refusal "--span-offset below 0" 2 "--span-offset" run $vectors --span-offset -1
expect_refusal "--span-offset that is too large" 2 "--span-offset" run $vectors --span-offset 1048577
expect_refusal "--tile-offset that is no number" 2 "--tile-offset" run $vectors --tile-offset one

# ---- Elements of every type ----

expect_rows "--bits" "0x00000000 0x00000001//0x00000002 0x00000003" run --bits $pairs
expect_rows "--bits of one byte" "0x00 0xff" run --bits strided_view:s8:2:shape=2:load --span 0,-1
for type in bool s8 u8 s16 u16 s32 u32 s64 u64 f16 bf16 tf32 f32 f64 e4m3 e5m2; do
  expect_rows "zeros and ones of $type" "0 1" run strided_view:$type:2:shape=2:load --span 0,1
  expect_rows "ones of $type" "1 1" run strided_view:$type:2:shape=2:load --span ones
  expect_rows "a store of $type" "1 0" run strided_view:$type:2:shape=2:store --tile 1,0 --span zeros
done
for type in f16 bf16 tf32 f32 f64 e5m2; do
  expect_rows "words of $type" "nan inf -inf -0 -1.5" run strided_view:$type:5:shape=5:load --span nan,inf,-inf,-0,-1.5
done
expect_rows "iota of u8 wraps" "254 255 0 1" run strided_view:u8:258:shape=4:strides=2:load --at 127
expect_rows "iota of bool" "0 1 0" run strided_view:bool:3:shape=3:load
expect_rows "iota of e4m3 rounds to even" "16 16 18 20 20" run strided_view:e4m3:21:shape=5:strides=1:load --at 16
expect_rows "iota of e4m3 saturates" "448" run strided_view:e4m3:600:shape=1:load --at 599
expect_rows "iota of f16 rounds to even" "2048 2048 2050 2052" run strided_view:f16:2052:shape=4:strides=1:load --at 2048
expect_rows "64-bit integers are exact" "-9223372036854775808 9223372036854775807" \
  run strided_view:s64:2:shape=2:load --span -9223372036854775808,9223372036854775807
expect_rows "64-bit integers without sign are exact" "18446744073709551615" \
  run strided_view:u64:1:shape=1:load --span 18446744073709551615
expect_rows "decimals are the shortest that read back" "0.1 1e-45 3.4028235e+38 16777216" \
  run strided_view:f32:4:shape=4:load --span 0.1,1e-45,340282346638528859811704183484516925440,16777217

# ---- JSON ----

tool run --json strided_view:f32:2x3:shape=2x2:load_masked:pad=nan
out_is_json "a load gives JSON"
out_has "it has the schema" '"schema": 1'
out_has "it has the device" '"device": "'
out_has "it has a flat list for each chunk" '"tiles": [[0, 1, 3, 4], [2, "nan", 5, "nan"]]'
check "it has no span" test "$(grep -c '"span"' out)" = 0
check "it is one line" test "$(wc -l <out)" = 1
tool run --json strided_view:f64:2x2:shape=2x2:store --tile -inf,1e300,0,-1
out_is_json "a store gives JSON"
out_has "it has one flat list of the span" '"span": ["-inf", 1e+300, 0, -1]'
check "it has no tiles" test "$(grep -c '"tiles"' out)" = 0
tool run --json --bits $pairs --at 0
out_has "--bits gives strings" '"tiles": [["0x00000000", "0x00000001"]]'
tool run --json strided_view:u64:1:shape=1:load --span 18446744073709551615
out_has "64-bit integers are numbers" '[[18446744073709551615]]'
tool run --json $array --tile-extents 5
out_has "a position that the array lacks is null" '[[0, 1, 2], [3, 0, null]]'
tool run --json strided_view:s32:0:shape=2:load
out_has "no chunk gives an empty list" '"tiles": []'

# ---- Several signatures ----

printf '%s\n' $pairs strided_view:s32:2:shape=2:load | "$tileptx" run - >out 2>err
lines "0 1//2 3//0 1" >expected
check "signatures come from standard input" cmp -s expected out
expect_refusal "a signature that cannot be planned" 1 "TPTX_ERROR_PADDING" run strided_view:s32:4:shape=2:load_masked:pad=nan

# ---- Devices ----

expect_rows "--device emu" "2 3" run $pairs --at 1 --device emu
check "a device that was named is not said" test ! -s err
expect_rows "--device auto" "2 3" run $pairs --at 1 --device auto
err_has "it says which" "tileptx: running on "
expect_rows "--device 0 of the driver that is named" "2 3" run $pairs --at 1 --device 0
expect_refusal "--device of a number that is not there" 3 "there is no device 999" run $pairs --device 999
expect_refusal "--device that is a word" 2 "--device is \"gpu\"" run $pairs --device gpu
expect_refusal "--device below 0" 2 "--device" run $pairs --device -1
TILEPTX_DRIVER=$scratch/none
expect_refusal "a driver that is not there" 3 "$scratch/none" run $pairs
expect_refusal "its device 0" 3 "$scratch/none" run $pairs --device 0
expect_rows "--device emu does not need it" "2 3" run $pairs --at 1 --device emu
unset TILEPTX_DRIVER
tool run $pairs --at 1
check "without a driver named there is a GPU or the emulated driver" test "$status" = 0
err_has "and it says which" "tileptx: running on "
saved=$TILEPTX_EMU_PATH
TILEPTX_EMU_PATH=$scratch/none
expect_refusal "an emulated driver that is not there" 3 "$scratch/none" run $pairs --device emu
TILEPTX_EMU_PATH=$saved

# ---- Environment of the library ----

TILEPTX_DRIVER=emu
TILEPTX_TRACE=build "$tileptx" run $pairs >out 2>err
err_has "TILEPTX_TRACE traces" "$pairs"
mkdir dump
TILEPTX_DUMP_DIR=dump "$tileptx" run $pairs >out 2>err
check "TILEPTX_DUMP_DIR has the text" test -n "$(ls dump)"
finish
