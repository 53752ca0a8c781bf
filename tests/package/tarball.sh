#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tarball carries every file that git knows: a file that no local.mk lists is found here, in the clone.
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}"

if ! git -C "$top_srcdir" rev-parse --show-cdup >/dev/null 2>&1 || [ ! -e "$top_srcdir/.git" ]; then
  echo "SKIP: this is no git clone"
  exit 77
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs this test
"${MAKE:-make}" -s -C "$top_builddir" distdir distdir="$scratch/tarball" >"$scratch/log" 2>&1 || {
  cat "$scratch/log"
  exit 1
}
# Files that git does not know yet count too, except in a build inside the tree, which makes files of its own.
which=(--cached)
[ "$top_srcdir" = "$top_builddir" ] || which+=(--others --exclude-standard)
git -C "$top_srcdir" ls-files "${which[@]}" >"$scratch/known"
missing=0
while read -r file; do
  if [ -e "$top_srcdir/$file" ] && [ ! -e "$scratch/tarball/$file" ]; then
    echo "FAIL: $file would be missing from the tarball: list it in the local.mk of its folder"
    missing=$((missing + 1))
  fi
done <"$scratch/known"
[ "$missing" = 0 ]
