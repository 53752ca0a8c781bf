#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tables of doc/atomics.md say what the library says: which target an operation of a type needs at each
# scope, and which types convert into which. Every combination is put to tptx_plan_check.
#
#   atomics-manual.sh              compares
#   atomics-manual.sh --update     writes the tables
set -euo pipefail
export LC_ALL=C

# Set by tests/local.mk.
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:?}"

manual=$top_srcdir/doc/atomics.md
libraries=$top_builddir/.libs
if [ ! -e "$libraries/libtileptx.so" ]; then
  echo "SKIP: there is no shared library in this build"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/tables.c" <<'EOT'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tileptx.h>

/* What there is; what is refused is asked of the library. */
static const char *const operations[] = {
#define OPERATION(name, word, effect, atomic) [TPTX_##name] = #word,
#include "operations.def"
};
static const char *const scopes[] = {"", "block", "device", "system"};
static const int targets[] = {
#define TARGET(sm, ptx, threads) sm,
#include "targets.def"
};
enum {
#define TYPE(name, word, bytes, family, infinity, quiet_nan) TYPE_##name,
#include "types.def"
  TYPES,
  OPERATIONS = sizeof operations / sizeof *operations,
  SCOPES = sizeof scopes / sizeof *scopes
};

/* The lowest target that takes it; 0 where none does. Higher ones must, too. */
static int lowest(const tptx_view *view, const tptx_op *op) {
  int found = 0;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    tptx_target target;
    tptx_target_init(&target);
    target.sm = targets[i];
    int taken = tptx_plan_check(view, op, &target, NULL) == TPTX_OK;
    if (taken && !found) found = targets[i];
    if (!taken && found) exit(2);
  }
  return found;
}

static void make_view(tptx_view *view, int gathers, int type) {
  const int64_t extents[] = {TPTX_DYNAMIC, TPTX_DYNAMIC}, shape[] = {16, 64};
  if (gathers)
    tptx_view_gather_scatter(view, (tptx_type)type, 2, extents, NULL, shape, 0);
  else
    tptx_view_strided(view, (tptx_type)type, 2, extents, NULL, shape, NULL);
}

/* Both views, masked or not, every order, with and without old values give the same answer. */
static int ask(int operation, int type, int scope) {
  int answer = -1;
  for (int form = 0; form < 16; form++) {
    tptx_view view;
    tptx_op op;
    make_view(&view, form & 1, type);
    tptx_op_init(&op);
    op.operation = (tptx_operation)operation;
    op.masked = form >> 1 & 1;
    op.scope = (tptx_scope)scope;
    op.order = TPTX_ORDER_RELAXED;
    if (form & 4 && operation == TPTX_ATOMIC_LOAD) op.order = TPTX_ORDER_ACQUIRE;
    if (form & 4 && operation == TPTX_ATOMIC_STORE) op.order = TPTX_ORDER_RELEASE;
    op.fetch = form & 8 && operation >= TPTX_ATOMIC_AND;
    int now = lowest(&view, &op);
    if (answer >= 0 && now != answer) exit(3);
    answer = now;
  }
  return answer;
}

static int same(const int *a, const int *b) {
  return memcmp(a, b, TYPES * sizeof *a) == 0;
}

/* One column for operations and scopes that agree in every type. */
static void print_operations(void) {
  static int answers[OPERATIONS][SCOPES][TYPES], columns[OPERATIONS * SCOPES][TYPES];
  int column_count = 0;
  char heads[OPERATIONS * SCOPES][400];
  for (int o = TPTX_ATOMIC_LOAD; o < OPERATIONS; o++)
    for (int s = TPTX_SCOPE_BLOCK; s < SCOPES; s++)
      for (int t = 0; t < TYPES; t++) answers[o][s][t] = ask(o, t, s);
  for (int o = TPTX_ATOMIC_LOAD; o < OPERATIONS; o++)
    for (int s = TPTX_SCOPE_BLOCK; s < SCOPES; s++) {
      int c = 0;
      while (c < column_count && !same(columns[c], answers[o][s])) c++;
      if (c < column_count) continue;
      memcpy(columns[column_count], answers[o][s], sizeof columns[0]);
      char *head = heads[column_count++];
      *head = 0;
      /* The operations of the column, each group of them with its scopes. */
      char scopes_before[100] = "";
      for (int p = o; p < OPERATIONS; p++) {
        char own[100] = "";
        for (int q = TPTX_SCOPE_BLOCK; q < SCOPES; q++)
          if (same(columns[column_count - 1], answers[p][q])) {
            if (*own) strcat(own, ", ");
            strcat(own, scopes[q]);
          }
        if (!*own) continue;
        if (*scopes_before && strcmp(scopes_before, own) != 0) exit(4);
        if (*head) strcat(head, " ");
        sprintf(head + strlen(head), "`%s`", operations[p]);
        strcpy(scopes_before, own);
      }
      sprintf(head + strlen(head), "; %s", scopes_before);
    }
  printf("| type |");
  for (int c = 0; c < column_count; c++) printf(" %s |", heads[c]);
  printf("\n|---|");
  for (int c = 0; c < column_count; c++) printf("---|");
  for (int t = 0; t < TYPES; t++) {
    printf("\n| `%s` |", tptx_type_name((tptx_type)t));
    for (int c = 0; c < column_count; c++)
      if (columns[c][t])
        printf(" sm_%d |", columns[c][t]);
      else
        printf(" refused |");
  }
  printf("\n");
}

/* A store converts the operand's type to the view's, a load the view's to the operand's: the same. */
static int conversion(int from, int to) {
  int answers[2];
  for (int stores = 0; stores < 2; stores++) {
    tptx_view view;
    tptx_op op;
    make_view(&view, 0, stores ? to : from);
    tptx_op_init(&op);
    op.operation = stores ? TPTX_STORE : TPTX_LOAD;
    op.tile.type = stores ? from : to;
    answers[stores] = lowest(&view, &op);
  }
  if (answers[0] != answers[1]) exit(5);
  return answers[0];
}

static void print_conversions(void) {
  printf("| from | to | lowest target |\n|---|---|---|\n");
  for (int from = 0; from < TYPES; from++) {
    char into[400] = "";
    int target = 0;
    for (int to = 0; to < TYPES; to++) {
      int answer = from == to ? 0 : conversion(from, to);
      if (!answer) continue;
      if (target && answer != target) exit(6);
      target = answer;
      sprintf(into + strlen(into), "%s`%s`", *into ? " " : "", tptx_type_name((tptx_type)to));
    }
    printf("| `%s` | %s |", tptx_type_name((tptx_type)from), *into ? into : "nothing");
    if (target)
      printf(" sm_%d |\n", target);
    else
      printf(" |\n");
  }
}

int main(int count, char **words) {
  if (count != 2) return 1;
  if (strcmp(words[1], "operations") == 0)
    print_operations();
  else
    print_conversions();
  return 0;
}
EOT
# $CC may carry options: unquoted on purpose
$CC -std=c11 -I"$top_srcdir/lib" -I"$top_srcdir/include" -I"$top_builddir/include" "$scratch/tables.c" -L"$libraries" -ltileptx \
  -o "$scratch/tables"

for table in operations conversions; do
  status=0
  LD_LIBRARY_PATH=$libraries "$scratch/tables" "$table" >"$scratch/$table" || status=$?
  if [ "$status" != 0 ]; then
    echo "FAIL: the table of $table cannot be written as it is (exit status $status, see the program in this test)"
    exit 1
  fi
done

# The manual with the tables between its marks.
awk -v folder="$scratch" '
  /^<!-- end / { inside = 0 }
  !inside
  /^<!-- begin / { inside = 1; file = folder "/" $3; while ((getline line < file) > 0) print line; n++ }
  END { exit n != 2 }' "$manual" >"$scratch/manual" || {
  echo "FAIL: doc/atomics.md lacks the marks of a table"
  exit 1
}
if [ "${1-}" = --update ]; then
  cp "$scratch/manual" "$manual"
elif ! diff "$manual" "$scratch/manual"; then
  echo "FAIL: the tables of doc/atomics.md differ from what the library takes (< manual, > library); if the library"
  echo "is right, run tests/atomics-manual.sh --update with the environment of tests/local.mk"
  exit 1
fi
echo "2 tables, as the library has them"
