#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Golden PTX: each file NAME.ptx begins with its signature and is what the tool emits for it, byte for
# byte. Every masked load has a predicated ld and a selp of the padding, every masked store a predicated st.
#
#   golden_test.sh              compares; says which files changed and by how many lines
#   golden_test.sh --update     rewrites the files. A new golden is a file NAME.ptx with one line in it,
#                               "// SIGNATURE"; list it in local.mk
set -u
LC_ALL=C
export LC_ALL
folder=${top_srcdir:-.}/tests/golden
tool=${top_builddir:-.}/tileptx
least=24
passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() { # NAME WORDS
  printf 'FAILED %s: %s\n' "$1" "$2"
  failed=$((failed + 1))
}

# The lines of FILE that hold both a guard and the instruction.
guarded() { # INSTRUCTION FILE
  grep -Eq "^ *@%[a-z_0-9]+ +$1\\." "$2"
}

for golden in "$folder"/*.ptx; do
  name=$(basename "$golden" .ptx)
  signature=$(sed -n '1s,^// ,,p' "$golden")
  emitted=$work/$name.ptx
  if ! printf '%s\n' "$signature" | "$tool" emit - >"$emitted" 2>"$work/errors"; then
    fail "$name" "not emitted: $(cat "$work/errors")"
    continue
  fi
  before=$(wc -l <"$golden")
  after=$(wc -l <"$emitted")
  if [ "${1-}" = --update ]; then
    cmp -s "$emitted" "$golden" || echo "$name: $before -> $after lines"
    cp "$emitted" "$golden"
  elif [ "$(sed 1q "$emitted")" != "// $signature" ]; then
    fail "$name" "the signature is not canonical: $(sed 1q "$emitted")"
    continue
  elif ! cmp -s "$emitted" "$golden"; then
    fail "$name" "text changed, $before -> $after lines (golden_test.sh --update)"
    diff "$golden" "$emitted" | sed 20q
    continue
  fi
  case :$signature: in
  *:load_masked:*)
    if ! guarded ld "$emitted"; then fail "$name" 'no "@%p ld"'; continue; fi
    if ! grep -Eq '^ *selp\.b(32|64) ' "$emitted"; then fail "$name" 'no "selp"'; continue; fi
    ;;
  *:store_masked:*)
    if ! guarded st "$emitted"; then fail "$name" 'no "@%p st"'; continue; fi
    ;;
  esac
  passed=$((passed + 1))
done

[ "$((passed + failed))" -ge "$least" ] || fail "all" "fewer than $least goldens"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
