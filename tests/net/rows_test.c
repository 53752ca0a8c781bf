/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of the tables: each update (operation x type) at each scope, with and without old
 * values; each conversion, loaded and stored; each strong load and store. Every one is
 *
 *   executed    on the device of TILEPTX_DRIVER, against tests/reference.c
 *   assembled   by PTXAS for the lowest target that takes it and for sm_120 (with TILEPTX_LONG=1
 *               for every target from the lowest on): warnings are errors, no byte of local memory,
 *               and no compare-and-swap loop in machine code where single instructions can do it
 *
 * A row that was not both is counted as failed. Without PTXAS: exit 77, or 1 where TILEPTX_REQUIRE
 * asks for ptxas.
 */
#define _POSIX_C_SOURCE 200809L

#include "machine_code.h"
#include "outcome.h"
#include "reference_values.h"

#include "../gpu/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How the operands lie. */
enum form {
  SCALAR, /* aligned to an element only */
  WHOLE,  /* aligned, unmasked: whole items */
  EDGE,   /* aligned, masked, rows that end within an item */
  FORMS
};

static const char *const forms[] = {"scalar", "whole", "edge"};

struct row {
  tptx_view_kind kind;
  tptx_operation operation;
  tptx_type type, value;
  tptx_order order;
  tptx_scope scope;
  bool fetch;
  enum form form;
};

/* The tables of the library, to be counted; what they mean is asked of the reference only. */
struct table_row {
  tptx_operation operation; /* of an update; TPTX_LOAD in a conversion */
  tptx_type from, to;       /* equal in an update */
  unsigned assembled, executed;
};

static struct table_row table[] = {
#define UPDATE(operation, type, op, scalar, pair, sign, sm, ptx, vector_sm, vector_ptx) \
  {TPTX_##operation, TPTX_##type, TPTX_##type, 0, 0},
#include "updates.def"
#undef UPDATE
#define CONVERSION(from, to, steps) {TPTX_LOAD, TPTX_##from, TPTX_##to, 0, 0},
#include "conversions.def"
#undef CONVERSION
};
enum { TABLE_ROWS = sizeof table / sizeof *table, UPDATE_ROWS = 36, CONVERSION_ROWS = 45 };

static const int targets[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

enum {
  MOST_KERNELS = 32768,
  BATCH = 128,
  NEWEST = 120,
  TARGETS = sizeof targets / sizeof *targets
};

struct kernel {
  struct row row;
  int arch, header_sm, header_ptx;
  char entry[64];
  char *body; /* the text without its header */
  unsigned number;
};

struct net {
  struct rig rig;
  const char *ptxas;
  bool every_target; /* with TILEPTX_LONG=1 */
  char folder[64];
  struct kernel kernels[MOST_KERNELS];
  int count;
  unsigned long executed, assembled, failed;
};

static void fail(struct net *net, const struct row *row, const char *what) {
  net->failed++;
  printf("FAILED %s view, operation %d, %s", row->kind == TPTX_STRIDED_VIEW ? "strided" : "gather",
         row->operation, tptx_type_name(row->type));
  if (row->value != row->type) printf(" with %s", tptx_type_name(row->value));
  printf(", order %d, scope %d%s, %s: %s\n", row->order, row->scope, row->fetch ? ", fetch" : "",
         forms[row->form], what);
}

static bool updates(tptx_operation operation) {
  return operation >= TPTX_ATOMIC_AND;
}

static bool loads(tptx_operation operation) {
  return operation == TPTX_LOAD || operation == TPTX_ATOMIC_LOAD;
}

/* The rows of the tables that a kernel covers. */
static void count_in_table(const struct row *row, bool assembled) {
  tptx_type from = loads(row->operation) ? row->type : row->value;
  tptx_type to = loads(row->operation) ? row->value : row->type;
  for (int i = 0; i < TABLE_ROWS; i++) {
    bool update =
        updates(row->operation) && table[i].operation == row->operation && table[i].to == row->type;
    bool conversion = table[i].operation == TPTX_LOAD && table[i].from == from && table[i].to == to;
    if (update || conversion) *(assembled ? &table[i].assembled : &table[i].executed) += 1;
  }
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

/* Two chunks of three vectors along the last axis, two rows each. */
static int64_t chunk_length(const struct row *row) {
  size_t view = tptx_type_bytes(row->type), tile = tptx_type_bytes(row->value);
  return 48 / (int64_t)(view < tile ? view : tile);
}

static void describe(const struct row *row, tptx_view *view, tptx_op *op) {
  const int64_t dynamic[] = {TPTX_DYNAMIC, TPTX_DYNAMIC}, shape[] = {2, chunk_length(row)};
  const int64_t strides[] = {TPTX_DYNAMIC, 1}; /* no pitch proves that rows hold whole items */
  if (row->kind == TPTX_STRIDED_VIEW)
    tptx_view_strided(view, row->type, 2, dynamic, strides, shape, NULL);
  else
    tptx_view_gather_scatter(view, row->type, 2, dynamic, strides, shape, 0);
  view->align = row->form == SCALAR ? (int32_t)tptx_type_bytes(row->type) : 16;
  tptx_op_init(op);
  op->operation = row->operation;
  op->order = row->order;
  op->scope = row->scope;
  op->fetch = row->fetch;
  op->masked = row->form != WHOLE;
  op->tile.type = (int32_t)row->value;
  op->arith = row->form == WHOLE ? 32 : 64;
}

/* ---- Execution ------------------------------------------------------------------------------- */

enum { SPAN_ROWS = 4, INDICES = 4, MOST_BYTES = 4096 };

static void noise(unsigned char *bytes, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    bytes[i] = (unsigned char)(seed >> 56);
  }
}

struct images {
  unsigned char span[MOST_BYTES], tile[MOST_BYTES];
  int32_t indices[INDICES];
};

static struct reference_memory memory_of(struct images *images, size_t lean) {
  return (struct reference_memory){images->span + lean, images->tile,
                                   (const unsigned char *)images->indices};
}

static void execute(struct net *net, const struct row *row) {
  static struct images before, after, wanted;
  size_t lean = row->form == SCALAR ? tptx_type_bytes(row->type) : 0;
  tptx_view view;
  tptx_op op;
  tptx_args args;
  describe(row, &view, &op);
  tptx_args_init(&args);
  noise(before.span, MOST_BYTES, 1 + (uint64_t)row->type);
  noise(before.tile, MOST_BYTES, 100 + (uint64_t)row->operation);
  memcpy(before.indices, (const int32_t[]){2, 0, 3, row->form == EDGE ? 7 : 1},
         sizeof before.indices);
  args.extents[0] = SPAN_ROWS;
  args.extents[1] = 2 * chunk_length(row) - (row->form == EDGE);
  args.layout_strides[0] = 2 * chunk_length(row);
  args.index_count = INDICES;
  wanted = before;
  uint64_t span = rig_put(&net->rig, before.span, MOST_BYTES);
  args.tile = rig_put(&net->rig, before.tile, MOST_BYTES);
  args.indices = rig_put(&net->rig, before.indices, sizeof before.indices);
  args.span = span + lean;
  bool good = rig_run(&net->rig, &view, &op, &args);
  rig_get(&net->rig, after.span, span, MOST_BYTES);
  rig_get(&net->rig, after.tile, args.tile, MOST_BYTES);
  good = good && reference_run(&view, &op, &args, memory_of(&wanted, lean));
  outcome_adopt(&view, &op, &args, memory_of(&before, lean), memory_of(&after, lean),
                memory_of(&wanted, lean));
  good = good && memcmp(after.span, wanted.span, MOST_BYTES) == 0 &&
         memcmp(after.tile, wanted.tile, MOST_BYTES) == 0;
  if (!good) fail(net, row, "not what the reference says");
  rig_free(&net->rig, span);
  rig_free(&net->rig, args.tile);
  rig_free(&net->rig, args.indices);
  net->executed++;
  count_in_table(row, false);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

/* What follows the three lines of the header. */
static char *body_of(const char *text) {
  const char *header = strstr(text, ".address_size 64");
  return header ? strdup(strchr(header, '\n')) : NULL;
}

static void emit(struct net *net, const struct row *row, int sm, int arch) {
  tptx_ptx *ptx = NULL;
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_error error;
  tptx_error_init(&error);
  tptx_target_init(&target);
  target.sm = sm;
  describe(row, &view, &op);
  if (tptx_emit(&view, &op, &target, &ptx, &error) != TPTX_OK) {
    fail(net, row, error.message);
    return;
  }
  if (net->count == MOST_KERNELS) abort();
  struct kernel *kernel = &net->kernels[net->count];
  *kernel = (struct kernel){.row = *row,
                            .arch = arch,
                            .header_sm = tptx_ptx_target(ptx),
                            .header_ptx = tptx_ptx_version(ptx),
                            .body = body_of(tptx_ptx_text(ptx)),
                            .number = (unsigned)net->count};
  snprintf(kernel->entry, sizeof kernel->entry, "%s", tptx_ptx_entry(ptx));
  if (!kernel->body) fail(net, row, "the text has no header");
  net->count += kernel->body != NULL;
  tptx_ptx_free(ptx);
}

/* The lowest target that takes the row; 0 where none does. */
static int lowest_target(const struct row *row) {
  for (int i = 0; i < TARGETS; i++) {
    tptx_view view;
    tptx_op op;
    tptx_target target;
    tptx_target_init(&target);
    target.sm = targets[i];
    describe(row, &view, &op);
    if (tptx_plan_check(&view, &op, &target, NULL) == TPTX_OK) return targets[i];
  }
  return 0;
}

static void add(struct net *net, struct row row) {
  int lowest = lowest_target(&row);
  if (!lowest) {
    fail(net, &row, "no target takes it");
    return;
  }
  if (device_sm(net->rig.device) >= lowest) execute(net, &row);
  if (!net->ptxas) return;
  for (int i = 0; i < TARGETS; i++)
    if (targets[i] == lowest || targets[i] == NEWEST || (net->every_target && targets[i] > lowest))
      emit(net, &row, targets[i], targets[i]);
}

static void refuse(struct net *net, const struct row *row) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_target_init(&target);
  target.sm = NEWEST;
  describe(row, &view, &op);
  if (tptx_plan_check(&view, &op, &target, NULL) != TPTX_ERROR_TYPE)
    fail(net, row, "must be refused for its type");
}

static void add_updates(struct net *net) {
  struct row row = {.order = TPTX_ORDER_RELAXED};
  for (int operation = TPTX_ATOMIC_AND; operation <= TPTX_ATOMIC_SUB; operation++)
    for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++)
      for (int bits = 0; bits < 8 * FORMS; bits++) {
        row.kind = (tptx_view_kind)(bits & 1);
        row.operation = (tptx_operation)operation;
        row.type = row.value = (tptx_type)type;
        row.scope = bits & 2 ? TPTX_SCOPE_BLOCK : TPTX_SCOPE_DEVICE;
        row.fetch = bits & 4;
        row.form = (enum form)(bits / 8);
        if (reference_takes(row.operation, row.type))
          add(net, row);
        else
          refuse(net, &row);
      }
}

static void add_strong(struct net *net) {
  struct row row = {0};
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++)
    for (int bits = 0; bits < 8 * FORMS; bits++) {
      if ((bits & 3) == 3) continue;
      row.operation = bits & 4 ? TPTX_ATOMIC_STORE : TPTX_ATOMIC_LOAD;
      row.scope = (tptx_scope)(TPTX_SCOPE_BLOCK + (bits & 3));
      row.type = row.value = (tptx_type)type;
      row.form = (enum form)(bits / 8);
      for (int ordered = 0; ordered < 2; ordered++) {
        row.order = !ordered                            ? TPTX_ORDER_RELAXED
                    : row.operation == TPTX_ATOMIC_LOAD ? TPTX_ORDER_ACQUIRE
                                                        : TPTX_ORDER_RELEASE;
        add(net, row);
      }
    }
}

/* Loads, stores, and read-modify-writes of types that take them. */
static void add_conversions(struct net *net) {
  for (int from = TPTX_BOOL; from <= TPTX_E5M2; from++)
    for (int to = TPTX_BOOL; to <= TPTX_E5M2; to++) {
      if (from == to || !reference_converts((tptx_type)from, (tptx_type)to)) continue;
      for (int form = 0; form < FORMS; form++) {
        struct row row = {.form = (enum form)form, .type = (tptx_type)from, .value = (tptx_type)to};
        row.operation = TPTX_LOAD;
        add(net, row);
        row.operation = TPTX_STORE;
        row.type = (tptx_type)to;
        row.value = (tptx_type)from;
        add(net, row);
        row.operation = TPTX_ATOMIC_SUB;
        row.order = TPTX_ORDER_RELAXED;
        row.scope = TPTX_SCOPE_DEVICE;
        if (reference_takes(row.operation, row.type)) add(net, row);
      }
    }
}

/* ---- The assembler --------------------------------------------------------------------------- */

static int by_header(const void *a, const void *b) {
  const struct kernel *left = a, *right = b;
  int keys[] = {left->arch - right->arch, left->header_sm - right->header_sm,
                left->header_ptx - right->header_ptx, strcmp(left->entry, right->entry)};
  for (int i = 0; i < 4; i++)
    if (keys[i]) return keys[i];
  return left->number < right->number ? -1 : left->number > right->number;
}

static bool same_module(const struct kernel *a, const struct kernel *b) {
  return a->arch == b->arch && a->header_sm == b->header_sm && a->header_ptx == b->header_ptx;
}

static void write_module(const struct net *net, int begin, int end) {
  const struct kernel *first = &net->kernels[begin];
  char path[128];
  snprintf(path, sizeof path, "%s/%d.ptx", net->folder, begin);
  FILE *file = fopen(path, "w");
  if (!file) exit(1);
  fprintf(file, ".version %d.%d\n.target sm_%d\n.address_size 64\n", first->header_ptx / 10,
          first->header_ptx % 10, first->header_sm);
  for (int i = begin; i < end; i++)
    if (i == begin || strcmp(net->kernels[i].entry, net->kernels[i - 1].entry) != 0)
      fputs(net->kernels[i].body, file);
  if (fclose(file) != 0) exit(1);
}

static FILE *start(const struct net *net, int begin) {
  char command[4600];
  snprintf(command, sizeof command,
           "'%s' -Werror -v -arch=sm_%d -o %s/%d.cubin %s/%d.ptx > %s/%d.log 2>&1", net->ptxas,
           net->kernels[begin].arch, net->folder, begin, net->folder, begin, net->folder, begin);
  return popen(command, "r");
}

static void look_at(struct net *net, const struct kernel *kernel, const struct cubin *cubin) {
  const struct row *row = &kernel->row;
  struct atomics atomics;
  char what[160];
  if (!cubin || !cubin_atomics(cubin, kernel->entry, &atomics)) {
    fail(net, row, "not assembled");
    return;
  }
  net->assembled++;
  count_in_table(row, true);
  bool halves = updates(row->operation) && tptx_type_bytes(row->type) == 2;
  bool loop_may_be = halves && row->form != WHOLE;
  snprintf(what, sizeof what, "sm_%d: %d updates, %d compare-and-swaps", kernel->arch,
           atomics.updates, atomics.compare_and_swaps);
  if (atomics.compare_and_swaps && !loop_may_be) fail(net, row, what);
  bool some = atomics.updates > 0 || (loop_may_be && atomics.compare_and_swaps > 0);
  if (some != updates(row->operation)) fail(net, row, what);
}

static void finish(struct net *net, int begin, int end) {
  static const char no_local[] = " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
  char path[128], line[2048];
  int entries = 0, clean = 0;
  snprintf(path, sizeof path, "%s/%d.log", net->folder, begin);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    entries += strstr(line, "Compiling entry function") != NULL;
    clean += strstr(line, no_local) != NULL;
    bool expected = strstr(line, "ptxas info") || strstr(line, no_local);
    if (!expected) fail(net, &net->kernels[begin].row, line);
  }
  if (file) fclose(file);
  if (entries == 0 || clean != entries) fail(net, &net->kernels[begin].row, "local memory is used");
  snprintf(path, sizeof path, "%s/%d.cubin", net->folder, begin);
  struct cubin *cubin = cubin_open(path);
  for (int i = begin; i < end; i++) look_at(net, &net->kernels[i], cubin);
  cubin_close(cubin);
}

static int module_end(const struct net *net, int begin) {
  int end = begin;
  while (end < net->count && end - begin < BATCH &&
         same_module(&net->kernels[begin], &net->kernels[end]))
    end++;
  return end;
}

/* Two assemblers at a time. */
static void assemble(struct net *net) {
  qsort(net->kernels, (size_t)net->count, sizeof *net->kernels, by_header);
  for (int begin = 0, end; begin < net->count; begin = end) {
    int middle = module_end(net, begin);
    end = module_end(net, middle);
    write_module(net, begin, middle);
    FILE *first = start(net, begin), *second = NULL;
    if (end > middle) {
      write_module(net, middle, end);
      second = start(net, middle);
    }
    if (first) pclose(first);
    if (second) pclose(second);
    finish(net, begin, middle);
    if (end > middle) finish(net, middle, end);
  }
  for (int i = 0; i < net->count; i++) free(net->kernels[i].body);
}

/* ---- Probes ---------------------------------------------------------------------------------- */

/* The opcode reader must see a loop where there is one, and an update where there is one. */
static void probe(struct net *net, int arch) {
  static const char text[] =
      ".version 6.3\n.target sm_75\n.address_size 64\n"
      ".visible .entry swaps(.param .u64 a) {\n.reg .b64 %a;\n.reg .b16 %h;\nld.param.u64 %a, "
      "[a];\n"
      "mov.b16 %h, 0x3c00;\nred.relaxed.gpu.global.add.noftz.f16 [%a], %h;\nret;\n}\n"
      ".visible .entry updates(.param .u64 a) {\n.reg .b64 %a;\nld.param.u64 %a, [a];\n"
      "red.relaxed.gpu.global.add.u32 [%a], 1;\nred.relaxed.gpu.global.add.u64 [%a], 1;\nret;\n}\n"
      ".visible .entry fetches(.param .u64 a) {\n.reg .b64 %a, %b;\nld.param.u64 %a, [a];\n"
      "atom.relaxed.gpu.global.add.u64 %b, [%a], 1;\nst.global.b64 [%a+8], %b;\nret;\n}\n";
  char path[128], command[4600];
  struct atomics swaps = {0}, plain = {0}, fetches = {0};
  snprintf(path, sizeof path, "%s/probe.ptx", net->folder);
  FILE *file = fopen(path, "w");
  if (!file || fputs(text, file) == EOF || fclose(file) != 0) exit(1);
  snprintf(command, sizeof command, "'%s' -arch=sm_%d -o %s/probe.cubin %s", net->ptxas, arch,
           net->folder, path);
  if (system(command) != 0) exit(1);
  snprintf(path, sizeof path, "%s/probe.cubin", net->folder);
  struct cubin *cubin = cubin_open(path);
  bool good = cubin && cubin_atomics(cubin, "swaps", &swaps) &&
              cubin_atomics(cubin, "updates", &plain) && cubin_atomics(cubin, "fetches", &fetches);
  cubin_close(cubin);
  good = good && swaps.compare_and_swaps == 1 && swaps.updates == 0 && plain.updates == 2 &&
         plain.compare_and_swaps == 0 && fetches.updates == 1 && fetches.compare_and_swaps == 0;
  if (good) return;
  printf("FAILED: the opcodes of sm_%d are not those that are known: swaps %d %d, updates %d %d, "
         "fetches %d %d\n",
         arch, swaps.updates, swaps.compare_and_swaps, plain.updates, plain.compare_and_swaps,
         fetches.updates, fetches.compare_and_swaps);
  net->failed++;
}

/* ---- The net --------------------------------------------------------------------------------- */

static void check_table(struct net *net) {
  int update_rows = 0, conversion_rows = 0;
  for (int i = 0; i < TABLE_ROWS; i++) {
    *(table[i].operation == TPTX_LOAD ? &conversion_rows : &update_rows) += 1;
    if (table[i].executed && (table[i].assembled || !net->ptxas)) continue;
    printf("FAILED table row %d, operation %d, %s to %s: assembled %u times, executed %u times\n",
           i, table[i].operation, tptx_type_name(table[i].from), tptx_type_name(table[i].to),
           table[i].assembled, table[i].executed);
    net->failed++;
  }
  printf("%d updates and %d conversions in the tables\n", update_rows, conversion_rows);
  net->failed += update_rows != UPDATE_ROWS || conversion_rows != CONVERSION_ROWS;
}

static struct net net;

int main(void) {
  const char *required = getenv("TILEPTX_REQUIRE"), *full = getenv("TILEPTX_LONG");
  char command[128];
  int status = rig_open(&net.rig);
  if (status) return status;
  net.ptxas = getenv("PTXAS");
  if (net.ptxas && !net.ptxas[0]) net.ptxas = NULL;
  net.every_target = full && strcmp(full, "1") == 0;
  snprintf(net.folder, sizeof net.folder, "/tmp/tileptx-rows-XXXXXX");
  if (!mkdtemp(net.folder)) return 1;
  for (int i = 0; net.ptxas && i < TARGETS; i++) probe(&net, targets[i]);
  add_updates(&net);
  add_strong(&net);
  add_conversions(&net);
  assemble(&net);
  check_table(&net);
  snprintf(command, sizeof command, "rm -rf %s", net.folder);
  if (system(command) != 0) net.failed++;
  rig_close(&net.rig);
  if (!net.ptxas && required && strstr(required, "ptxas")) net.failed++;
  printf("%lu executed, %lu assembled\n%lu passed, %lu failed\n", net.executed, net.assembled,
         net.executed + net.assembled, net.failed);
  if (net.failed) return 1;
  if (!net.ptxas) printf("skipped: no ptxas was found (PTXAS is empty)\n");
  return net.ptxas ? 0 : 77;
}
