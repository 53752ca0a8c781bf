#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# ptx_templates/README.md names every fact and list that a model (lib/model.c) offers, with its fields, and no other;
# and the fragments that there are. The model is asked, not read: whatever the signatures below make it list. Between
# them they make it give every field of lib/names.def.
set -euo pipefail
export LC_ALL=C

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:?}"

manual=$top_srcdir/ptx_templates/README.md
library=$top_builddir/.libs/libtileptx-test.a
if [ ! -e "$library" ]; then
  echo "SKIP: $library is not built"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Between them they give every list at least one record.
cat >"$scratch/signatures" <<'EOT'
strided_view:f32:_x_:shape=64x64:load_masked
strided_view:f32:_x_:shape=4x65536:load_masked:tiles=array:align=16
strided_view:f32:_x_:shape=64x64:load_masked:layout=left
strided_view:u8:_x_:shape=64x64:load_masked:tile_align=16
gather_scatter_view:bf16:_x_:shape=16x256:dim=0:atomic_add_masked:order=relaxed:scope=device:tiles=array:align=16:target=sm_90
EOT

cat >"$scratch/names.c" <<'EOT'
#include "desc.h"
#include "model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define RECORD(record)
#define FIELD(record, field) {#record, #field, record##_##field, 0},
#define LIST(list, record)
#define FACT(list, record)
static struct {
  const char *record, *name;
  int field, given;
} fields[] = {
#include "names.def"
};
#undef FIELD
#undef LIST
#undef FACT
#define FIELD(record, field)
#define LIST(list, record) {#list, #record},
#define FACT(list, record) {#list, #record},
static const struct {
  const char *name, *record;
} lists[] = {
#include "names.def"
};
enum { FIELDS = sizeof fields / sizeof *fields, LISTS = sizeof lists / sizeof *lists };

/* A name as templates have it; the dots of a list's name are _ in C. */
static void print(const char *name, char underscore, char end) {
  for (; *name; name++) putchar(*name == '_' ? underscore : tolower(*name));
  putchar(end);
}

static void print_given(int list, const struct record *record) {
  for (int f = 0; f < FIELDS; f++) {
    if (strcmp(fields[f].record, lists[list].record) || !(record->given >> fields[f].field & 1)) continue;
    fields[f].given = 1;
    print(lists[list].name, '.', ' ');
    print(fields[f].name, '_', '\n');
  }
}

/* A line "NAME FIELD" for every field of every record; a list without records is a line "NAME". */
static void print_names(const struct template_model *model) {
  for (int l = 0; l < LISTS; l++) {
    if (model->lists[l].count == 0) print(lists[l].name, '.', '\n');
    for (int r = 0; r < model->lists[l].count; r++) print_given(l, &model->lists[l].records[r]);
  }
}

/* "NAME FIELD" of the table that no model gave. */
static void print_left_over(void) {
  for (int f = 0; f < FIELDS; f++) {
    if (fields[f].given) continue;
    printf("unset "); /* no line of the manual looks like that */
    print(fields[f].record, '_', '.');
    print(fields[f].name, '_', '\n');
  }
}

int main(void) {
  static struct model model;
  char line[TPTX_MAX_SIGNATURE + 2];
  while (fgets(line, sizeof line, stdin)) {
    tptx_view view;
    tptx_op op;
    tptx_target target;
    struct signature signature;
    struct plan plan;
    struct key key;
    line[strcspn(line, "\n")] = 0;
    if (tptx_signature_parse(line, &view, &op, &target, NULL) != TPTX_OK ||
        describe(&view, &op, &target, &signature, NULL) != TPTX_OK ||
        plan_make(&signature, &plan, NULL) != TPTX_OK ||
        key_make(&signature, &key, NULL) != TPTX_OK || !model_make(&model, &plan, &key)) {
      fprintf(stderr, "refused: %s\n", line);
      return 1;
    }
    print_names(&model.lists);
  }
  print_left_over();
  return 0;
}
EOT
# $CC may carry options: unquoted on purpose
$CC -std=gnu11 -I"$top_srcdir/lib" -I"$top_srcdir/include" -I"$top_builddir/include" "$scratch/names.c" \
  "$library" -lpthread -ldl -o "$scratch/names"
# A line "NAME" where no signature gave the list a record stays only if no line "NAME FIELD" is there.
"$scratch/names" <"$scratch/signatures" | sort -u |
  awk 'NF == 2 { fields[$1] = 1; print; next } { bare[$1] } END { for (n in bare) if (!(n in fields)) print n }' |
  sort >"$scratch/offered"

# The tables of the section "Names": the first column names records, the last one their fields. Words in
# parentheses explain.
awk -F '|' '
  /^## / { on = $0 == "## Names" }
  on && /^\| *`/ {
    fields = $(NF - 1)
    while (sub(/\([^()]*\)/, "", fields)) continue
    names = $2
    gsub(/`/, " ", names); gsub(/`/, " ", fields)
    n = split(names, name, " "); m = split(fields, field, " ")
    for (i = 1; i <= n; i++) for (k = 1; k <= m; k++) print name[i], field[k]
  }' "$manual" | sort >"$scratch/named"
# The table of fragments: one row each.
sed -n 's/^| `\([a-z_]*\)\.ptx` .*/fragment \1/p' "$manual" | sort >>"$scratch/named"
for template in "$top_srcdir"/ptx_templates/*.ptx; do
  echo "fragment $(basename "$template" .ptx)"
done | sort >>"$scratch/offered"

if repeated=$(uniq -d "$scratch/named" | grep .); then
  echo "FAIL: ptx_templates/README.md names these twice:"
  echo "$repeated"
  exit 1
fi
if ! diff "$scratch/named" "$scratch/offered" >"$scratch/difference"; then
  echo "FAIL: ptx_templates/README.md (<) and the model (>) differ; a line without a field is a list that no"
  echo "signature of this test fills:"
  grep '^[<>]' "$scratch/difference"
  exit 1
fi
echo "$(wc -l <"$scratch/offered") names, all in the manual"
