#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The template language, construct by construct, and its errors: what scripts/embed-templates refuses, and what
# lib/template.c makes of the rest.
# shellcheck disable=SC2016 # the templates' holes are not the shell's
set -euo pipefail

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:?}"

library=$top_builddir/.libs/libtileptx-test.a
if [ ! -e "$library" ]; then
  echo "SKIP: $library is not built"
  exit 77
fi
embed=$(cd "$top_srcdir" && pwd)/scripts/embed-templates
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

verdict() { # STATUS WHAT
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAIL: $2"
  fi
}

# ---- A model, and a program that renders with it the templates that it is linked to ----

cp "$top_srcdir/lib/names.h" "$scratch"
cat >"$scratch/names.def" <<'EOF'
RECORD(KERNEL)
FIELD(KERNEL, NAME) FIELD(KERNEL, THREADS) FIELD(KERNEL, YES) FIELD(KERNEL, NO) FIELD(KERNEL, NOT_GIVEN)
FACT(KERNEL, KERNEL)
RECORD(AXIS)
FIELD(AXIS, K)
LIST(AXIS, AXIS) LIST(NONE, AXIS) LIST(VIEW_AXIS, AXIS)
RECORD(LANE)
FIELD(LANE, N)
LIST(LANE, LANE)
EOF
cat >"$scratch/render.c" <<'EOF'
#include "names.h"

#include <stdio.h>

static void fill(struct template_model *model, struct record *kernel, struct record *axes,
                 struct record *lanes) {
  record_text(kernel, KERNEL_NAME, "move");
  record_number(kernel, KERNEL_THREADS, 256);
  record_number(kernel, KERNEL_YES, 1);
  record_number(kernel, KERNEL_NO, 0);
  for (int i = 0; i < 3; i++) record_number(&axes[i], AXIS_K, i);
  record_number(&axes[3], AXIS_K, 7);
  for (int i = 0; i < 2; i++) record_number(&lanes[i], LANE_N, i);
  model_list(model, LIST_KERNEL, kernel, 1);
  model_list(model, LIST_AXIS, axes, 3);
  model_list(model, LIST_VIEW_AXIS, &axes[3], 1);
  model_list(model, LIST_LANE, lanes, 2);
  model_list(model, LIST_NONE, axes, 0);
}

int main(void) {
  static char text[16384];
  struct record kernel = {0}, axes[4] = {{0}}, lanes[2] = {{0}};
  struct template_model model = {0};
  struct strbuf out;
  tptx_error error;
  tptx_error_init(&error);
  strbuf_fixed(&out, text, sizeof text);
  fill(&model, &kernel, axes, lanes);
  tptx_status status = template_render(&model, &out, &error);
  fputs(status == TPTX_OK ? text : error.message, stdout);
  return status != TPTX_OK;
}
EOF
options=(-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Werror
  "-I$scratch" "-I$top_srcdir/lib" "-I$top_srcdir/include" "-I$top_builddir/include")
# $CC may carry options: unquoted on purpose
$CC "${options[@]}" -c "$scratch/render.c" -o "$scratch/render.o"

rendered() { # of main.ptx and the fragments that are arguments
  (cd "$scratch" && sh "$embed" names.def main.ptx "$@" >templates.c) &&
    $CC "${options[@]}" "$scratch/templates.c" "$scratch/render.o" "$library" -lpthread -ldl \
      -o "$scratch/program" && "$scratch/program"
}

# ---- Constructs ----

sample() { # TEMPLATE RENDERED
  printf '%s\n' "$1" >>"$scratch/main.ptx"
  printf '%s' "${2:+$2$'\n'}" >>"$scratch/wanted"
}

sample plain plain
sample '${kernel.name} has ${kernel.threads}' 'move has 256'
sample $'$if kernel.yes\na\n$else\nb\n$end' a
sample $'$if !kernel.yes\nc\n$else\nd\n$end' d
sample $'$if kernel.no\ne\n$end' ''
sample $'$if kernel.no\n$if kernel.no\n$else\n$end\n$else\nf\n$end' f
sample $'$each axis\n${axis.k}${axis.comma}\n$end' $'0,\n1,\n2'
sample $'$each axis\n$if axis.first\nfirst\n$end\n$if axis.last\nlast\n$end\n$end' $'first\nlast'
sample $'$each axis\n$each lane\n${axis.k}${lane.n}\n$end\n$end' $'00\n01\n10\n11\n20\n21'
sample $'$each axis\n$each view.axis\n${axis.k}\n$end\n${axis.k}\n$end' $'7\n0\n7\n1\n7\n2'
sample '{${lane: %x${lane.n}}}' '{%x0, %x1}'
sample $'$each axis\n{${lane: %x${lane.n}_${axis.k}}}\n$end' $'{%x0_0, %x1_0}\n{%x0_1, %x1_1}\n{%x0_2, %x1_2}'
sample $'$each none\nx\n$end\n{${none: x}}' '{}'
sample $'$each view.axis\n${axis.k}\n$end' 7
sample $'$use other\n$each axis\n$use other\n$end' $'from other: move\nfrom other: move\nfrom other: move\nfrom other: move'
sample $'$use empty\n$if kernel.yes\n$end' ''
sample 'ab${@8}// c' 'ab      // c'
sample 'abcdefgh${@4}c' 'abcdefgh c'
sample $'$each lane\n${lane.n}${@4}c${@8}d\n$end' $'0   c   d\n1   c   d'
sample 'cost: $5' 'cost: $5'
# Everything that C could trip over: quotes, backslashes, trigraphs, comment marks, an empty line, 5,000 characters.
odd=$'\'"\\n\\0??/ /* */ // %s {}\n\n'$(printf '%5000s' '' | tr ' ' x)$'\n end'
sample "$odd" "$odd"

echo 'from other: ${kernel.name}' >"$scratch/other.ptx"
: >"$scratch/empty.ptx"
rendered other.ptx empty.ptx >"$scratch/got" || true
diff "$scratch/wanted" "$scratch/got" >"$scratch/difference" || true
verdict "$([ ! -s "$scratch/difference" ]; echo $?)" "constructs: wanted (<) and got (>) differ:
$(cat "$scratch/difference")"

# ---- Mistakes ----

refused() { # TEMPLATE MESSAGE [FRAGMENT...]
  local text=$1 message=$2 got
  shift 2
  printf '%s\n' "$text" >"$scratch/main.ptx"
  got=$(cd "$scratch" && sh "$embed" names.def main.ptx "$@" 2>&1 >templates.c) && got="taken: $got"
  verdict "$([ "$got" = "embed-templates: $message" ]; echo $?)" "$text: $got"
}

refused $'a\n${kernel.nothing}' 'main.ptx:2: unknown name: "kernel.nothing"'
refused '${nobody.k}' 'main.ptx:1: unknown name: "nobody.k"'
refused '${axis.k}' 'main.ptx:1: unknown name: "axis.k"' # three records, none of them chosen
refused $'$each axis\n$end\n${axis.k}' 'main.ptx:3: unknown name: "axis.k"'
refused $'$each axis\n${AXIS.k}\n$end' 'main.ptx:2: unknown name: "AXIS.k"'
refused '${kernel.first}' 'main.ptx:1: unknown name: "kernel.first"'
refused '${kernel}' 'main.ptx:1: unknown name: "kernel"'
refused $'$if kernel.nothing\n$end' 'main.ptx:1: unknown name: "kernel.nothing"'
refused $'$each nothing\n$end' 'main.ptx:1: unknown list: "nothing"'
refused $'$each kernel\n$end' 'main.ptx:1: unknown list: "kernel"'
refused $'$each axis\n$each axis\n$end\n$end' 'main.ptx:2: a list within itself: "axis"'
refused '${nothing: x}' 'main.ptx:1: unknown list: "nothing"'
refused '$use nothing' 'main.ptx:1: unknown template: "nothing"'
refused '$use main' 'main.ptx:1: a template within itself: "main"'
refused $'a\n$if kernel.yes\na' 'main.ptx:2: $if without $end'
refused $'$if kernel.yes\na\n$else\nb' 'main.ptx:1: $else without $end'
refused $'$each axis\na' 'main.ptx:1: $each without $end'
refused $'a\n$end' 'main.ptx:2: $end out of place'
refused '$else' 'main.ptx:1: $else out of place'
refused $'$each axis\n$else\n$end' 'main.ptx:2: $else out of place'
refused $'$if kernel.yes\n$else\n$else\n$end' 'main.ptx:3: $else out of place'
refused $'$iff kernel.yes' 'main.ptx:1: unknown directive: "$iff kernel.yes"'
refused '${kernel.name' 'main.ptx:1: a hole without end: "kernel.name"'
refused '${@x}' 'main.ptx:1: a column is a number below 1,000: "@x"'
refused $'one\ntab\there' 'main.ptx:2: only printable ASCII and newlines are allowed'
refused $'caf\303\251' 'main.ptx:1: only printable ASCII and newlines are allowed'
refused a 'other.ptx: no template uses it' other.ptx
refused a 'Bad-Name.ptx: a template is named in at most 23 lower-case letters, digits and _' Bad-Name.ptx
refused '$use missing' 'missing.ptx: cannot be read' missing.ptx
echo '$end' >"$scratch/closes.ptx"
refused $'$if kernel.yes\n$use closes' 'closes.ptx:1: $end out of place' closes.ptx
echo '$if kernel.yes' >"$scratch/opens.ptx"
refused $'$use opens\n$end' 'opens.ptx:1: $if without $end' opens.ptx
echo '$use main' >"$scratch/back.ptx"
refused '$use back' 'back.ptx:1: a template within itself: "main"' back.ptx

# ---- A field that the model leaves out ----

not_given() { # TEMPLATE MESSAGE [FRAGMENT...]
  local text=$1 message=$2 got
  shift 2
  printf '%s\n' "$text" >"$scratch/main.ptx"
  got=$(rendered "$@") && got="rendered: $got"
  verdict "$([ "$got" = "$message" ]; echo $?)" "$text: $got"
}

not_given $'a\n${kernel.not_given}\nb' 'template main, line 2: the model does not give "kernel.not_given"'
echo $'\n$if !kernel.not_given\n$end' >"$scratch/asks.ptx"
not_given $'$use asks' 'template asks, line 2: the model does not give "kernel.not_given"' asks.ptx

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
