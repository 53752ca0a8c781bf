# SPDX-License-Identifier: Apache-2.0
# Read by the tests of the tool: runs it, compares, counts. POSIX sh.

: "${top_srcdir:?}" "${top_builddir:?}"

# libtool's wrapper of an unfinished program costs more than the program does.
if [ -x "$top_builddir/.libs/tileptx" ]; then
  tileptx=$top_builddir/.libs/tileptx
  LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export LD_LIBRARY_PATH
else
  tileptx=$top_builddir/tileptx
fi
unset TILEPTX_TARGET TILEPTX_TRACE TILEPTX_DUMP_DIR TILEPTX_TIMEOUT POSIXLY_CORRECT

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
passed=0
failed=0

# Leaves what the tool printed in out and err, and its exit status in $status.
tool() {
  "$tileptx" "$@" >out 2>err
  status=$?
}

pass() {
  passed=$((passed + 1))
}

fail() { # NAME REASON
  failed=$((failed + 1))
  echo "FAIL: $1: $2"
  sed 's/^/  out: /' out 2>/dev/null | head -n 20
  sed 's/^/  err: /' err 2>/dev/null | head -n 20
}

# A condition of the shell's, as `check "a file is left" test -e file`.
check() { # NAME COMMAND...
  name=$1
  shift
  if "$@"; then pass; else fail "$name" "not so: $*"; fi
}

# Lines of text, given with / between them.
lines() {
  printf '%s\n' "$1" | tr / '\n'
}

# The tool ends with 0 and prints these lines; an empty line is two slashes.
expect_rows() { # NAME ROWS ARGUMENT...
  name=$1
  lines "$2" >expected
  shift 2
  tool "$@"
  if [ "$status" != 0 ]; then
    fail "$name" "exit status $status"
  elif ! cmp -s expected out; then
    fail "$name" "expected $(tr '\n' / <expected)"
  else
    pass
  fi
}

expect_nothing() { # NAME ARGUMENT...
  name=$1
  shift
  tool "$@"
  if [ "$status" = 0 ] && [ ! -s out ]; then pass; else fail "$name" "exit status $status, or output"; fi
}

# The tool ends with this status, prints nothing, and its message holds a text.
expect_refusal() { # NAME STATUS TEXT ARGUMENT...
  name=$1
  wanted=$2
  text=$3
  shift 3
  tool "$@"
  if [ "$status" != "$wanted" ]; then
    fail "$name" "exit status $status, expected $wanted"
  elif [ -s out ]; then
    fail "$name" "there is output"
  elif ! grep -qF -- "$text" err; then
    fail "$name" "the message does not say \"$text\""
  else
    pass
  fi
}

# Something of the last output.
out_has() { # NAME TEXT
  if grep -qF -- "$2" out; then pass; else fail "$1" "the output does not have \"$2\""; fi
}

err_has() { # NAME TEXT
  if grep -qF -- "$2" err; then pass; else fail "$1" "the message does not have \"$2\""; fi
}

# Every line of the last output is a JSON value. Where there is no reader of JSON nothing is checked.
out_is_json() { # NAME
  if command -v jq >/dev/null; then
    reader="jq -e ."
  elif command -v python3 >/dev/null; then
    reader="python3 json_lines.py"
    printf 'import json, sys\nfor line in sys.stdin:\n    json.loads(line)\n' >json_lines.py
  else
    return 0
  fi
  if [ -s out ] && $reader <out >/dev/null 2>&1; then pass; else fail "$1" "the output is no JSON"; fi
}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}
