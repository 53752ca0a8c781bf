#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Command lines with slips in them: the tool refuses each or carries it out, and never crashes.
. "${top_srcdir:?}/tests/tool/harness.sh"
TILEPTX_DRIVER=emu
export TILEPTX_DRIVER
rounds=400
test "${TILEPTX_LONG-0}" != 1 || rounds=4000
seed=${TILEPTX_SEED-1}

# Prints ROUNDS command lines, the arguments of each with a tab between them.
mutate() {
  awk -v rounds="$rounds" -v seed="$seed" '
    function pick(n) { return int(rand() * n) + 1 }
    # A word with one to three slips.
    function spoil(word, i, at, what) {
      for (i = pick(3); i > 0; i--) {
        at = pick(length(word) + 1)
        what = pick(5)
        if (what == 1) word = substr(word, 1, at - 1) substr(word, at + 1)
        else if (what == 2) word = substr(word, 1, at - 1) piece[pick(pieces)] substr(word, at)
        else if (what == 3) word = substr(word, 1, at - 1) piece[pick(pieces)] substr(word, at + 1)
        else if (what == 4) word = substr(word, 1, at)
        else if (match(word, /[0-9]+/)) word = substr(word, 1, RSTART - 1) number[pick(numbers)] substr(word, RSTART + RLENGTH)
      }
      return word
    }
    BEGIN {
      srand(seed)
      # No slash: a slip in the name of a file stays in the folder of the test.
      pieces = split("0 1 9 - + _ x , : = . ? % \\ \" ; * [ \033 \177 \200 \377 nan inf 0x e scalar :: -- load value shape=", piece, " ")
      numbers = split("0 1 7 255 65536 2147483647 2147483648 4294967296 9223372036854775807 9223372036854775808 18446744073709551616 99999999999999999999999999 -1 -9223372036854775808 00 1e9 0x10", number, " ")
      lines = split("run|strided_view:s32:5x10:shape=2x2:strides=3x4:load|--at|0,1\n" \
        "run|strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan|--at=1,8|--json\n" \
        "run|strided_view:s32:4x8:shape=2x2:strides=2x3:store|--at|1,2|--tile|60,70,80,90\n" \
        "run|gather_scatter_view:s32:8x10:shape=4x4:dim=0:load|--at|_,3|--indices|5,0,3,5\n" \
        "run|gather_scatter_view:f32:6x10:shape=4x4:dim=1:load_masked:pad=negative_inf|--indices|5,6,10,1|--indices-stride|2|--step|2x2\n" \
        "run|strided_view:f16:_x_:shape=2x3:load_masked:pad=value:layout=_x1|--extents|5x7|--layout-strides|9x1|--pad-value|-2.5|--span-offset|1\n" \
        "run|strided_view:u8:2x2x3:shape=1x2x2:load_masked:tiles=array:tile_layout=_x_x1|--tile-extents|2x2x4|--tile-layout-strides|8x4x1|--tile-offset|3|--bits\n" \
        "run|strided_view:e4m3:8:shape=4:store_masked|--span|zeros|--tile|1,2,nan,0x7e,-0,4,5,6|--device|emu|--all\n" \
        "emit|strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan:target=sm_90|--json\n" \
        "emit|gather_scatter_view:bf16:_x_:shape=16x256:dim=0:load_masked:tiles=array:indices=s64|-o|file\n" \
        "explain|strided_view:s64:scalar:shape=scalar:store\n" \
        "explain|strided_view:bool:_x64:shape=4x64:load:layout=left:align=16:arith=32:latency=3:allow_tma=0:ptx=8.1|--json", line, "\n")
      for (round = 1; round <= rounds; round++) {
        words = split(line[pick(lines)], word, "|")
        for (slips = pick(3); slips > 0; slips--) {
          at = pick(words)
          what = pick(8)
          if (what == 1 && words > 1) { for (i = at; i < words; i++) word[i] = word[i + 1]; words-- }
          else if (what == 2) { word[words + 1] = word[at]; words++ }
          else if (what == 3) { swap = word[at]; other = pick(words); word[at] = word[other]; word[other] = swap }
          else if (what == 4) word[at] = number[pick(numbers)]
          else word[at] = spoil(word[at])
        }
        for (i = 1; i <= words; i++) printf "%s%s", word[i], i < words ? "\t" : "\n"
      }
    }'
}

mutate >commands
check "there are as many command lines as asked for" test "$(wc -l <commands)" = "$rounds"
limit=
command -v timeout >/dev/null && limit="timeout 60"
done_well=0
tab=$(printf '\t')
set -f
mkdir scratch
while IFS= read -r line; do
  IFS=$tab
  # Split at tabs only.
  # shellcheck disable=SC2086
  set -- $line
  unset IFS
  (cd scratch && exec $limit "$tileptx" "$@") >out 2>err </dev/null
  status=$?
  if [ "$status" -le 4 ]; then
    pass
  else
    fail "$(printf '%s' "$line" | tr '\t' ' ' | cat -v)" "exit status $status"
  fi
  test "$status" != 0 || done_well=$((done_well + 1))
  if [ "$status" != 0 ] && [ ! -s err ]; then
    fail "$(printf '%s' "$line" | tr '\t' ' ' | cat -v)" "exit status $status without a message"
  fi
done <commands
check "some of them are carried out" test "$done_well" -gt $((rounds / 50))
check "most of them are refused" test "$done_well" -lt $((rounds * 4 / 5))
finish
