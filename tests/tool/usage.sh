#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command line itself: help, version, wrong usage, and that help and manual tell the same.
. "${top_srcdir:?}/tests/tool/harness.sh"

signature=strided_view:f32:4x11:shape=2x4:load_masked
try="Try 'tileptx --help' for more information."
manual=$top_srcdir/doc/tileptx.1

# ---- Help and version ----

tool --help
check "--help ends with 0" test "$status" = 0
check "--help says nothing on standard error" test ! -s err
out_has "--help begins with the usage" "Usage: tileptx COMMAND"
cp out help
tool -h
check "-h is --help" cmp -s help out
tool run --help
check "a command's --help is the same" cmp -s help out
check "help lines fit a terminal" test "$(awk 'length($0) > 100' help | wc -l)" = 0
tool --version
check "--version ends with 0" test "$status" = 0
check "--version names the program and a version" grep -qE '^tileptx [0-9]+\.[0-9]+\.[0-9]+' out
cp out version
tool -V
check "-V is --version" cmp -s version out

# ---- Help and manual ----

grep -oE -e '--[a-z][a-z-]+' help | sort -u >help-options
sed 's/\\-/-/g' "$manual" | grep -oE -e '--[a-z][a-z-]+' | sort -u >manual-options
check "help and manual have the same options" cmp -s help-options manual-options
check "there are options at all" test "$(grep -c . help-options)" -ge 18
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' help >help-commands
while read -r command; do
  check "the manual has the command $command" grep -qE "^\.BR? .*\b$command\b" "$manual"
done <help-commands
check "there are seven commands" test "$(grep -c . help-commands)" = 7
cat "$top_srcdir"/tools/*.c "$top_srcdir/lib/runtime.c" | grep -oE '"TILEPTX_[A-Z_]+"' | tr -d '"' | sort -u >variables
while read -r variable; do
  check "the manual has the variable $variable" grep -q "$variable" "$manual"
done <variables
check "there are variables at all" test "$(grep -c . variables)" -ge 6
sed -n 's/^FIELD([A-Z_]*, "\([a-z_]*\)",.*/\1/p' "$top_srcdir/lib/fields.def" | grep . >fields
sed 's/\\f[BIR]//g' "$manual" >plain-manual
while read -r field; do
  check "the manual has the field $field" grep -qE "^\.B[IR] .*\b$field\b" plain-manual
done <fields
check "there are fields at all" test "$(grep -c . fields)" -ge 20
sed -n 's/^\.TH [^"]*"[^"]*" "tileptx \([0-9.]*\)".*/\1/p' "$manual" >manual-version
check "the manual is of this version" test "tileptx $(cat manual-version)" = "$(head -n 1 version)"

# ---- Wrong usage ----

expect_refusal "no command" 2 "a command is missing"
err_has "a usage error says where help is" "$try"
expect_refusal "an unknown command" 2 'no command "fly"' fly
expect_refusal "an unknown option" 2 "--fast" emit --fast "$signature"
err_has "an unknown option says where help is" "$try"
expect_refusal "an option without its value" 2 "output" emit "$signature" --output
expect_refusal "a value for a flag" 2 "json" emit --json=1 "$signature"
expect_refusal "no signature for emit" 2 "emit needs a signature" emit
expect_refusal "no signature for explain" 2 "explain needs a signature" explain
expect_refusal "no signature for report" 2 "report needs a signature" report
expect_refusal "no signature for run" 2 "run needs a signature" run
expect_refusal "a signature for info" 2 "info takes no signature" info "$signature"
expect_refusal "an option of run for emit" 2 "--at goes with the command run" emit --at 0,0 "$signature"
expect_refusal "an empty command" 2 'no command ""' ''
for command in sass; do
  expect_refusal "$command comes later" 1 "$command is not in this version" $command "$signature"
done

# ---- What GNU programs do ----

tool emit "$signature"
cp out text
tool --json emit "$signature"
out_is_json "options may come before the command"
tool emit -- "$signature"
check "-- ends the options" cmp -s text out
expect_refusal "after -- a dash begins a signature" 1 "SYNTAX" emit -- --json
tool emit "$signature" --js
out_is_json "a long option may be cut short"
finish
