#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every row of doc/conformance.md is shown by a test that passed in this run, or says why there is none.
# Runs after the tests whose logs it reads: tests/local.mk makes its log depend on theirs.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}"

table=$top_srcdir/doc/conformance.md
logs=$top_builddir/tests

# Prints what is wrong with TABLE, and as its last line "N rows, N by tests, N without meaning".
check() { # TABLE
  awk -v logs="$logs" '
    function say(text) { print "row " row ": " text }

    # What a log proves. Of a Check suite each test has a line, FILE:LINE:P:CASE:TEST:NUMBER: Passed.
    function read_suite(suite, file,  line, field, name) {
      while ((getline line < file) > 0) {
        if (split(line, field, ":") < 6 || field[3] !~ /^[PFE]$/) continue
        name = suite ":" field[4] ":" field[5]
        if (field[3] == "P") passed[name] = 1
        else broken[name] = 1
      }
      close(file)
    }

    function read_log(name, file,  line, lines) {
      while ((getline line < file) > 0) {
        said[name ": " line] = 1
        last = line
      }
      close(file)
      if (index(last, "PASS tests/" name) == 1) passed[name] = 1
      last = ""
    }

    function shown(label,  part, name) {
      if (split(label, part, ":") == 3 && label !~ /^[a-z]+\//) {
        if (!(part[1] in read)) read_suite(part[1], logs "/unit/" part[1] ".log")
        read[part[1]] = 1
        return (label in passed) && !(label in broken)
      }
      name = label
      sub(/: .*/, "", name)
      if (!(name in read)) read_log(name, logs "/" name ".log")
      read[name] = 1
      return (name in passed) && (name == label || (label in said))
    }

    # | N1 | why |   | D1 | what |
    /^\| [ND][0-9]+ \|/ { defined[$2] = 1; next }

    /^\| [0-9]+ \|/ {
      row = $2
      if (row in seen) say("stands twice")
      seen[row] = 1
      rows++
      count = split($0, cell, /\|/)
      text = cell[count - 1]
      labels = reasons = 0
      while (match(text, /`[^`]*`/)) {
        label = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
        labels++
        if (!shown(label)) say("no test passed that is called " label)
      }
      words = split(text, word, " ")
      for (i = 1; i <= words; i++) {
        if (!(word[i] in defined)) say("what is " word[i] "?")
        used[word[i]] = 1
        reasons += word[i] ~ /^N/
      }
      if (!labels && !reasons) say("neither a test nor a reason")
      if (labels) tested++
      else if (reasons) meaningless++
    }

    END {
      for (row = 1; row <= 725; row++) if (!(row in seen)) say("is missing")
      for (row in seen) if (row + 0 < 1 || row + 0 > 725) say("is none of 1 to 725")
      for (name in defined) if (!(name in used)) print name " is used by no row"
      printf "%d rows, %d by tests, %d without meaning\n", rows, tested, meaningless
    }' "$1"
}

passed=0 failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The check finds what this sed script breaks.
finds() { # WHAT SED-SCRIPT
  sed "$2" "$table" >"$scratch/table"
  check "$scratch/table" | sed '$d' >"$scratch/found"
  if grep -q "$1" "$scratch/found"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAIL: \"$1\" is not found after sed '$2'"
  fi
}

check "$table" >"$scratch/problems"
summary=$(tail -n 1 "$scratch/problems")
sed '$d' "$scratch/problems"
failed=$(sed '$d' "$scratch/problems" | wc -l)
passed=$((${summary%% *} > failed ? ${summary%% *} - failed : 0))
finds 'row 100: is missing' '/^| 100 |/d'
finds 'row 100: stands twice' 's/^| 101 |/| 100 |/'
finds 'row 726: is none of' 's/^| 725 |/| 726 |/'
finds 'row 43: no test passed' '/^| 43 |/s/C1_as/C1_has/'
finds 'row 43: no test passed' '/^| 43 |/s/view load:/view reload:/'
finds 'row 49: no test passed' '/^| 49 |/s,net/meaning_test,net/no_test,'
finds 'row 49: no test passed' '/^| 49 |/s,net/meaning_test,&: 0 passed,'
finds 'row 43: neither' '/^| 43 |/s/C1 |.*/C1 | |/'
finds 'row 45: neither' '/^| 45 |/s/D1 .*/D1 |/'
finds 'row 44: what is N9' '/^| 44 |/s/N1/N9/'
finds 'N4 is used by no row' '/^| [0-9]/s/N4/N2/'
echo "$summary"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
