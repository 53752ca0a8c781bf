#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The worked examples of the two views, carried out by `tileptx run`: as text, and as JSON.
. "${top_srcdir:?}/tests/tool/harness.sh"

field() { # NAME, of $line
  printf '%s\n' "$line" | sed -n "s/.*\"$1\": \"\\([^\"]*\\)\".*/\\1/p"
}

# 4 5/14 nan -> 4, 5, 14, "nan"
flat() {
  printf '%s\n' "$1" | sed 's/[ /]/, /g; s/-inf/"-inf"/g; s/nan/"nan"/g'
}

grep '"id"' "$top_srcdir/tests/data/examples.json" >examples
while read -r line; do
  id=$(field id)
  signature=$(field signature)
  rows=$(field rows)
  set -f
  # The arguments are words without spaces.
  # shellcheck disable=SC2046
  set -- "$signature" $(field arguments)
  set +f
  expect_rows "$id, $(field what)" "$rows" run "$@"
  expect_rows "$id on the device that is named" "$rows" run "$@" --device=emu
  tool run --json "$@"
  if [ "$(field result)" = tiles ]; then
    out_has "$id as JSON" "\"tiles\": [[$(flat "$rows")]]"
  else
    out_has "$id as JSON" "\"span\": [$(flat "$rows")]"
  fi
  out_has "$id names its kernel" "\"signature\": \"${signature%%:*}:"
  out_is_json "$id is JSON"
done <examples
check "all fourteen examples were there" test "$(grep -c . examples)" = 14
finish
