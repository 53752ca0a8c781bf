#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where results go: -o, and an output that cannot be written.
. "${top_srcdir:?}/tests/tool/harness.sh"

# A tool that replaced the device it should write would, run by root, do harm: root writes to nodes of its
# own. What cannot be had is passed over.
null=/dev/null
full=/dev/full
if [ "$(id -u)" = 0 ]; then
  null=$scratch/null
  full=$scratch/full
  mknod "$null" c 1 3 2>err
  mknod "$full" c 1 7 2>err
fi

usable() { # DEVICE
  test -c "$1" && (: >"$1") 2>err
}

signature=strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan
tool emit $signature
cp out text

# ---- A file, whole or not at all ----

mkdir work
tool emit $signature -o work/a.ptx
check "-o writes the file" cmp -s text work/a.ptx
check "-o prints nothing" test ! -s out
check "nothing else is left" test "$(echo work/*)" = work/a.ptx
umask 027
tool emit --output=work/b.ptx $signature
umask 022
check "--output= writes the file" cmp -s text work/b.ptx
check "the file has the mode of any new file" test "$(find work/b.ptx -perm 640)" = work/b.ptx
echo old >work/a.ptx
tool emit nonsense -o work/a.ptx
check "a refusal ends with 1" test "$status" = 1
check "the old file is still there" test "$(cat work/a.ptx)" = old
tool emit nonsense -o work/c.ptx
check "a refusal makes no file" test "$(echo work/*)" = "work/a.ptx work/b.ptx"
ln -s a.ptx work/link
tool emit $signature -o work/link
check "a link is followed" test -L work/link
check "the file behind the link is written" cmp -s text work/a.ptx
tool emit $signature -o -
check "-o - is standard output" cmp -s text out
if usable "$null"; then
  tool emit $signature -o "$null"
  check "a device is written" test "$status" = 0
  check "the device is still one" test -c "$null"
fi
mkfifo fifo
cat fifo >arrived &
reader=$!
tool emit $signature -o fifo
for _ in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 $reader 2>err && sleep 0.2
done
kill $reader 2>err # it still waits if nobody wrote
wait
check "-o writes into a pipe" cmp -s text arrived
check "the pipe is still one" test -p fifo

expect_refusal "a folder that is not there" 4 "nowhere/a.ptx cannot be written" emit $signature -o nowhere/a.ptx
expect_refusal "a folder in the place of a file" 4 "work cannot be written" emit $signature -o work
expect_refusal "a name without letters" 2 "--output needs" emit $signature -o ''

# ---- Every command takes it ----

for command in explain info "run --device=emu"; do
  operand=$signature
  test "$command" = info && operand=
  # shellcheck disable=SC2086
  tool $command $operand
  cp out expected
  # shellcheck disable=SC2086
  tool $command $operand -o work/result
  check "$command takes -o" cmp -s expected work/result
done

# ---- Full and closed ----

for command in --help --version "emit $signature" "emit --json $signature" "explain $signature" info \
  "run --device=emu $signature"; do
  if [ -e /dev/full ]; then
    # shellcheck disable=SC2086
    "$tileptx" $command >/dev/full 2>err
    status=$?
    check "a full output of ${command%%:*}" test "$status" = 4
    err_has "it is said" "cannot be written"
  fi
  # shellcheck disable=SC2086
  "$tileptx" $command >&- 2>err
  status=$?
  check "a closed output of ${command%%:*}" test "$status" = 4
done
if usable "$full"; then
  tool emit $signature -o "$full"
  check "-o to a full device" test "$status" = 4
fi
"$tileptx" emit $signature -o work/d.ptx >&- 2>err
check "with -o a closed standard output is not missed" cmp -s text work/d.ptx
"$tileptx" emit - <&- >out 2>err
status=$?
check "a closed input" test "$status" = 4
"$tileptx" emit - <work >out 2>err
status=$?
check "an input that cannot be read" test "$status" = 4
"$tileptx" emit nonsense 2>&- >out
status=$?
check "a closed standard error" test "$status" = 1
check "messages go nowhere then" test ! -s out
finish
