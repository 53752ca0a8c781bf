#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A new target is one row of lib/targets.def: adds one to a copy of the library, emits for it, and picks
# it for a device that had to take an older one before.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/lib"
cp "$top_srcdir"/lib/*.[ch] "$top_srcdir"/lib/*.def "$work/lib"
cp "$top_builddir/lib/templates.c" "$work/lib"
sed -i 's/^TARGET(121, 88, 1536)$/&\nTARGET(130, 94, 2048)/' "$work/lib/targets.def"
cat > "$work/main.c" <<'PROGRAM'
#include "target.h"
#include <stdio.h>
#include <tileptx/emit.h>
int main(void) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_ptx *ptx = NULL;
  tptx_signature_parse("strided_view:f32:8:shape=4:load:target=sm_130", &view, &op, &target, NULL);
  printf("%s ", tptx_status_name(tptx_emit(&view, &op, &target, &ptx, NULL)));
  printf("%d %d\n", target_of_device(13, 1), target_lowest_ptx(130));
  tptx_ptx_free(ptx);
  return 0;
}
PROGRAM

answer() { # FOLDER OF THE SOURCES
  pure=$(awk '/^tileptx_pure_sources/ { on = 1 } on { print } on && !/\\$/ { exit }' "$top_srcdir/lib/local.mk" |
    grep -o '[a-z_]*\.c')
  # shellcheck disable=SC2086
  (cd "$1" && $CC -std=c11 -O0 -I. -I"$top_srcdir/include" -I"$top_builddir/include" \
    "$work/main.c" $pure templates.c -o "$work/program") && "$work/program"
}

passed=0 failed=0
expect() { # WHAT WANTED GOT
  if [ "$2" = "$3" ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "$1: expected \"$2\", got \"$3\""
  fi
}
expect 'with the row' 'TPTX_OK 130 94' "$(answer "$work/lib")"
cp "$top_srcdir/lib/targets.def" "$work/lib"
expect 'without the row' 'TPTX_ERROR_TARGET 121 0' "$(answer "$work/lib")"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
