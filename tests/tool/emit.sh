#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The commands emit and explain, and how signatures reach them.
. "${top_srcdir:?}/tests/tool/harness.sh"

signature=strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan
canonical=$signature:target=sm_80

# ---- emit ----

tool emit $signature
check "emit ends with 0" test "$status" = 0
check "emit says nothing on standard error" test ! -s err
out_has "the text begins with the canonical line" "// $canonical"
out_has "the text has a version" ".version"
out_has "the text has a kernel" ".visible .entry tptx_"
cp out text
LC_ALL=de_DE.UTF-8 "$tileptx" emit $signature >out 2>err
check "the text does not depend on the locale" cmp -s text out
tool emit $canonical
check "the canonical line gives the same text" cmp -s text out

tool emit --json $signature
check "emit --json ends with 0" test "$status" = 0
out_is_json "emit --json is JSON"
check "emit --json is one line" test "$(wc -l <out)" = 1
out_has "it has the schema" '"schema": 1'
out_has "it has the signature" "\"signature\": \"$canonical\""
out_has "it has the entry" '"entry": "tptx_'
out_has "it has the text's target" '"target": "sm_'
out_has "it has the text's version" '"version": "'
if command -v jq >/dev/null; then
  jq -j .ptx out >ptx
  check "it has the text" cmp -s text ptx
fi

# ---- explain ----

tool explain $signature
check "explain ends with 0" test "$status" = 0
out_has "explain has the canonical line" "$canonical"
out_has "explain has the entry" "tptx_"
out_has "explain has the launch" "threads"
check "explain sets its three lists apart" test "$(grep -c '^$' out)" = 3
tool explain --json $signature
out_is_json "explain --json is JSON"
out_has "explain --json has the schema" '"schema": 1'
out_has "explain --json has the signature" "\"signature\": \"$canonical\""
out_has "explain --json says why" '"notes"'

# ---- The target of a signature that names none ----

for command in emit explain; do
  tool $command $signature
  out_has "$command is for sm_80" ":target=sm_80"
  TILEPTX_TARGET=sm_90 "$tileptx" $command $signature >out 2>err
  out_has "$command takes TILEPTX_TARGET" ":target=sm_90"
  TILEPTX_TARGET=sm_90 "$tileptx" $command $canonical >out 2>err
  out_has "$command takes target= before it" ":target=sm_80"
  TILEPTX_TARGET='' "$tileptx" $command $signature >out 2>err
  out_has "$command takes an empty TILEPTX_TARGET for none" ":target=sm_80"
done
for wrong in 90 sm_ sm_90a sm_-1 sm_99999999999999999999; do
  TILEPTX_TARGET=$wrong "$tileptx" emit $signature >out 2>err
  status=$?
  check "TILEPTX_TARGET=$wrong is wrong usage" test "$status" = 2
  err_has "TILEPTX_TARGET=$wrong is named" "TILEPTX_TARGET"
done
TILEPTX_TARGET=sm_42 "$tileptx" emit $signature >out 2>err
status=$?
check "a target that is none is refused" test "$status" = 1

# ---- Several signatures, standard input ----

second=strided_view:s32:_:shape=256:load
tool emit $signature $second
cp out both
tool emit $second
cat text out >expected
check "two signatures give two texts" cmp -s expected both
printf '%s\n\n%s\n' $signature $second | "$tileptx" emit - >out 2>err
check "signatures come from standard input, empty lines are passed over" cmp -s expected out
printf '%s' $signature | "$tileptx" emit - >out 2>err
check "the last line needs no newline" cmp -s text out
"$tileptx" emit - </dev/null >out 2>err
status=$?
check "no line gives nothing" test "$status" = 0 -a ! -s out
printf '%s\n' $second | "$tileptx" emit $signature - >out 2>err
check "operands and standard input mix" cmp -s expected out
printf '%s\n%s\n' $signature $second | "$tileptx" emit --json - >out 2>err
check "with --json there is one line each" test "$(grep -c '^{.*}$' out)" = 2

printf 'nonsense\n%s\n' $signature | "$tileptx" emit - >out 2>err
status=$?
check "a refused line is a failure" test "$status" = 1
check "the lines after it are done" cmp -s text out
err_has "the line is named" "standard input, line 1"
printf '%s\n\0hidden\n' $signature | "$tileptx" emit - >out 2>err
status=$?
check "a NUL byte is refused" test "$status" = 1
err_has "the NUL byte is named" "line 2: byte 0 is NUL"
head -c 100000 /dev/zero | tr '\0' x >long
"$tileptx" emit - <long >out 2>err
status=$?
check "a line of 100,000 bytes is refused" test "$status" = 1
check "its message is short" test "$(wc -c <err)" -lt 2000
tool emit "$(head -c 5000 long)"
check "an operand of 5,000 bytes is refused" test "$status" = 1

# ---- Refusals name the field and the place ----

expect_refusal "a field that is none" 1 "TPTX_ERROR_SYNTAX" emit strided_view:f32:4x11:shap=2x4:load
printf '%s\n' '  strided_view:f32:4x11:shap=2x4:load' '                        ^' >expected
tail -n 2 err >place
check "the place is shown by a caret" cmp -s expected place
expect_refusal "bytes that a terminal would act on" 1 "TPTX_ERROR_SYNTAX" emit "strided_view:$(printf '\033[31m'):4:shape=2:load"
check "they are not sent to the terminal" test "$(tail -n 2 err | tr -d '[:print:]\n' | wc -c)" = 0
expect_refusal "a field and an axis" 1 "TPTX_ERROR_SHAPE, shape, axis 1" emit strided_view:f32:4x11:shape=2x0:load
expect_refusal "padding on integers" 1 "TPTX_ERROR_PADDING" emit strided_view:s32:4:shape=2:load_masked:pad=nan
expect_refusal "a dimension out of range" 1 "dim" explain gather_scatter_view:s32:4x4:shape=2x2:dim=2:load
finish
