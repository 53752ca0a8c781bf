#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the text of an atomic operation says is part of the contract: a reduction is red.relaxed.gpu or .cta
# as its scope is, with old values atom.relaxed, never both, never .sys, never a compare-and-swap; strong
# loads and stores carry order and scope; acquire and release are one fence. Looked for in every signature
# of signatures-atomic.txt and in every golden of such an operation.
#
#   atomic_test.sh              checks
#   atomic_test.sh --create     makes NAME.ptx of each line, for golden_test.sh --update and local.mk
set -u
LC_ALL=C
export LC_ALL
folder=${top_srcdir:-.}/tests/golden
tool=${top_builddir:-.}/tileptx
passed=0
failed=0
reductions=0
fetches=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

grep -v '^#' "$folder/signatures-atomic.txt" >"$work/list"
for golden in "$folder"/*atomic*.ptx; do
  [ -f "$golden" ] && sed -n "1s,^// ,$(basename "$golden" .ptx) ,p" "$golden" >>"$work/list"
done

if [ "${1-}" = --create ]; then
  while read -r name signature; do
    [ -f "$folder/$name.ptx" ] || printf '// %s\n' "$signature" >"$folder/$name.ptx"
  done <"$work/list"
  exit 0
fi

wrong() { # WORDS
  printf 'FAILED %s: %s\n' "$name" "$1"
  good=no
}

# An instruction that begins so, guarded or not, stands in the text.
has() { # PATTERN
  grep -Eq "^ *(@!?%[a-z_0-9]+ +)?$1" "$work/text"
}

wants() { # PATTERN
  has "$1" || wrong "no \"$1\""
}

wants_not() { # PATTERN
  if has "$1"; then wrong "there is a \"$1\""; fi
}

check_update() { # SCOPE
  wants_not 'atom.*\.cas'
  wants_not '(red|atom).*\.sys'
  wants_not 'bar\.'
  case :$signature: in
  *:fetch:*)
    fetches=$((fetches + 1))
    wants "atom\\.relaxed\\.$1\\.global"
    wants_not 'red\.'
    wants 'st\.global'
    ;;
  *)
    reductions=$((reductions + 1))
    wants "red\\.relaxed\\.$1\\.global"
    wants_not 'atom\.'
    wants_not 'st\.'
    ;;
  esac
  # Every one of them carries order and scope.
  if grep -E '(red|atom)\.' "$work/text" | grep -vE '^ *//' | grep -vq "\\.relaxed\\.$1\\.global\\."; then
    wrong "a read-modify-write of another order or scope"
  fi
}

check_strong() { # INSTRUCTION SCOPE
  wants "$1\\.relaxed\\.$2\\.global"
  wants_not "$1\\.global"
  fences=$(grep -cE '^ *fence\.' "$work/text")
  case :$signature: in
  *:order=acquire:* | *:order=release:*)
    wants "fence\\.acq_rel\\.$2;"
    [ "$fences" = 1 ] || wrong "$fences fences"
    ;;
  *) [ "$fences" = 0 ] || wrong "a fence of a relaxed operation" ;;
  esac
}

while read -r name signature; do
  good=yes
  if ! printf '%s\n' "$signature" | "$tool" emit - >"$work/text" 2>"$work/errors"; then
    wrong "not emitted: $(cat "$work/errors")"
  else
    [ "$(sed 1q "$work/text")" = "// $signature" ] ||
      wrong "the signature is not canonical: $(sed 1q "$work/text")"
    case :$signature: in
    *:scope=block:*) scope=cta ;;
    *:scope=device:*) scope=gpu ;;
    *) scope=sys ;;
    esac
    case :$signature: in
    *:atomic_load:* | *:atomic_load_masked:*) check_strong ld $scope ;;
    *:atomic_store:* | *:atomic_store_masked:*) check_strong st $scope ;;
    *:atomic_*) check_update $scope ;;
    esac
  fi
  if [ $good = yes ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done <"$work/list"

if [ $reductions -lt 10 ] || [ $fetches -lt 3 ]; then
  echo "FAILED only $reductions reductions and $fetches with old values"
  failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
