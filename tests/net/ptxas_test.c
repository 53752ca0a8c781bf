/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ptxas net: texts through the real assembler, warnings being errors, no byte of local memory.
 *
 *   rows      view x operation x masked x type x vector width x tile operand, for the lowest target
 *             that the text asks for and for sm_120
 *   golden    every signature of tests/golden for every target that the assembler knows
 *   random    random cases, each for one random target; refused where the target is too low for it
 *
 *   ptxas_test [--update]     --update rewrites tests/net/registers.txt, what goldens need on sm_90
 *
 * PTXAS names the assembler. Without one: exit 77, or 1 where TILEPTX_REQUIRE asks for ptxas.
 */
#define _POSIX_C_SOURCE 200809L
#include "random_case.h"

#include <tileptx/emit.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 200, MOST_TEXTS = 16384, RANDOM_CASES = 400, BASELINE_SM = 90 };

static const int targets[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
enum { TARGETS = sizeof targets / sizeof *targets };

struct net {
  const char *ptxas;
  char folder[64];
  bool known[TARGETS]; /* to this assembler */
  int count;
  struct text {
    int arch, number;
    char entry[64];
  } texts[MOST_TEXTS];
  int registers[MOST_TEXTS]; /* by the number of the text, once assembled */
  unsigned long assembled, refused, failed;
};

/* ---- Texts ----------------------------------------------------------------------------------- */

static void fail(struct net *net, const char *what, const char *detail) {
  printf("%s: %s\n", what, detail);
  net->failed++;
}

/* `arch` 0: the lowest that the text asks for. */
static void add_text(struct net *net, const tptx_view *view, const tptx_op *op, int sm, int arch) {
  tptx_ptx *ptx = NULL;
  tptx_error error;
  tptx_target target;
  char path[128];
  tptx_error_init(&error);
  tptx_target_init(&target);
  target.sm = sm;
  if (tptx_emit(view, op, &target, &ptx, &error) != TPTX_OK) {
    fail(net, "not emitted", error.message);
    return;
  }
  if (net->count == MOST_TEXTS) abort();
  snprintf(path, sizeof path, "%s/%d.ptx", net->folder, net->count);
  FILE *file = fopen(path, "w");
  if (!file || fputs(tptx_ptx_text(ptx), file) == EOF || fclose(file) != 0) {
    perror(path);
    exit(1);
  }
  struct text *text = &net->texts[net->count];
  *text = (struct text){.arch = arch ? arch : tptx_ptx_target(ptx), .number = net->count};
  snprintf(text->entry, sizeof text->entry, "%s", tptx_ptx_entry(ptx));
  net->count++;
  tptx_ptx_free(ptx);
}

struct row {
  tptx_view_kind kind;
  tptx_operation operation;
  int masked, type, vector;
  tptx_tiles tiles;
};

static void add_row(struct net *net, const struct row *row) {
  const int64_t dynamic[] = {TPTX_DYNAMIC, TPTX_DYNAMIC}, shape[] = {8, 3 * row->vector};
  tptx_view view;
  tptx_op op;
  if (row->kind == TPTX_STRIDED_VIEW)
    tptx_view_strided(&view, (tptx_type)row->type, 2, dynamic, NULL, shape, NULL);
  else
    tptx_view_gather_scatter(&view, (tptx_type)row->type, 2, dynamic, NULL, shape, 0);
  view.layout = TPTX_LAYOUT_STRIDED; /* no pitch proves that rows hold whole items: partial paths */
  view.layout_strides[0] = TPTX_DYNAMIC;
  view.layout_strides[1] = 1;
  view.align = 16;
  tptx_op_init(&op);
  op.operation = row->operation;
  op.masked = row->masked;
  op.tile.tiles = row->tiles;
  op.arith = net->count / 2 % 2 ? 64 : 32;
  if (row->tiles == TPTX_TILES_ARRAY) {
    op.tile.layout = TPTX_LAYOUT_STRIDED;
    op.tile.layout_strides[0] = TPTX_DYNAMIC;
    op.tile.layout_strides[1] = 1;
  }
  add_text(net, &view, &op, 75, 0);
  add_text(net, &view, &op, 120, 120);
}

static void add_rows(struct net *net) {
  for (int type = TPTX_BOOL; type <= TPTX_E5M2; type++)
    for (int vector = 1; vector * (int)tptx_type_bytes((tptx_type)type) <= 16; vector *= 2)
      for (int bits = 0; bits < 16; bits++)
        add_row(net, &(struct row){(tptx_view_kind)(bits & 1), (tptx_operation)(bits >> 1 & 1),
                                   bits >> 2 & 1, type, vector, (tptx_tiles)(bits >> 3)});
}

/* On a target that is too low the operation must be refused, and only there. */
static void add_random_case(struct net *net, const struct random_case *c, int sm) {
  tptx_target target;
  tptx_target_init(&target);
  target.sm = sm;
  if (sm >= random_case_lowest_target(c))
    add_text(net, &c->view, &c->op, sm, sm);
  else if (tptx_plan_check(&c->view, &c->op, &target, NULL) == TPTX_ERROR_TARGET)
    net->refused++;
  else
    fail(net, "random case", "not refused for a target that is too low");
}

static void add_random(struct net *net) {
  for (uint64_t seed = 1; seed <= RANDOM_CASES; seed++) {
    struct random_case c;
    int choice = (int)(seed * 7 % TARGETS);
    random_case_make(20 * seed, &c);
    random_case_place(&c, 1 << 20, 1 << 21, 1 << 22);
    if (tptx_specialise(&c.view, &c.op, &c.args, NULL) != TPTX_OK)
      fail(net, "random case", "not specialised");
    else if (net->known[choice])
      add_random_case(net, &c, targets[choice]);
    random_case_free(&c);
  }
}

/* ---- Goldens --------------------------------------------------------------------------------- */

static bool golden_signature(const char *path, char *line, size_t capacity) {
  FILE *file = fopen(path, "r");
  bool good = file && fgets(line, (int)capacity, file);
  if (file) fclose(file);
  if (!good || strncmp(line, "// ", 3) != 0) return false;
  memmove(line, line + 3, strlen(line + 3) + 1);
  line[strcspn(line, "\n")] = '\0';
  return true;
}

/* The signature of golden number `number`, in the order of their names. */
static bool golden_number(size_t number, char *line, size_t capacity) {
  const char *source = getenv("top_srcdir");
  char pattern[4096];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/tests/golden/*.ptx", source ? source : ".");
  if (glob(pattern, 0, NULL, &found) != 0) return false;
  bool good = number < found.gl_pathc && golden_signature(found.gl_pathv[number], line, capacity);
  globfree(&found);
  return good;
}

/* Calls `each` with every golden's descriptors; returns how many there are. */
static size_t for_goldens(struct net *net,
                          void (*each)(struct net *, const tptx_view *, const tptx_op *)) {
  char line[TPTX_MAX_SIGNATURE + 8];
  size_t count = 0;
  for (; golden_number(count, line, sizeof line); count++) {
    tptx_view view;
    tptx_op op;
    if (tptx_signature_parse(line, &view, &op, NULL, NULL) == TPTX_OK)
      each(net, &view, &op);
    else
      fail(net, "golden without a signature", line);
  }
  return count;
}

static void add_for_every_target(struct net *net, const tptx_view *view, const tptx_op *op) {
  for (int i = 0; i < TARGETS; i++)
    if (net->known[i]) add_text(net, view, op, targets[i], targets[i]);
}

static void add_for_baseline(struct net *net, const tptx_view *view, const tptx_op *op) {
  add_text(net, view, op, BASELINE_SM, BASELINE_SM);
}

/* ---- The assembler --------------------------------------------------------------------------- */

struct batch {
  int begin, end; /* of the texts, all of one arch */
  FILE *process;
};

static int by_arch(const void *a, const void *b) {
  const struct text *left = a, *right = b;
  if (left->arch != right->arch) return left->arch < right->arch ? -1 : 1;
  return left->number < right->number ? -1 : left->number > right->number;
}

/* The next texts of one arch that no batch has taken yet. */
static struct batch next_batch(const struct net *net, int begin) {
  struct batch batch = {begin, begin, NULL};
  while (batch.end < net->count && batch.end - begin < BATCH &&
         net->texts[batch.end].arch == net->texts[begin].arch)
    batch.end++;
  return batch;
}

/* Starts the assembler on a batch; its words go to a file that bears the batch's first number. */
static void start(const struct net *net, struct batch *batch) {
  size_t capacity = 512 + (size_t)BATCH * 80;
  char *command = malloc(capacity);
  if (!command) abort();
  size_t used = (size_t)snprintf(command, capacity, "'%s' -Werror -v -arch=sm_%d -o /dev/null",
                                 net->ptxas, net->texts[batch->begin].arch);
  for (int i = batch->begin; i < batch->end; i++)
    used += (size_t)snprintf(command + used, capacity - used, " %s/%d.ptx", net->folder,
                             net->texts[i].number);
  snprintf(command + used, capacity - used, " > %s/log%d 2>&1", net->folder, batch->begin);
  batch->process = popen(command, "r");
  free(command);
}

/* The assembler takes its files in an order of its own: what it says is told apart by the entry. */
static void note_registers(struct net *net, const struct batch *batch, const char *entry,
                           int registers) {
  for (int i = batch->begin; i < batch->end; i++)
    if (strcmp(net->texts[i].entry, entry) == 0) net->registers[net->texts[i].number] = registers;
}

static void finish(struct net *net, const struct batch *batch) {
  static const char no_local[] = " 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
  static const char compiling[] = "Compiling entry function '";
  char path[128], line[4096], entry[64] = "";
  int entries = 0, clean = 0;
  if (batch->process) pclose(batch->process);
  snprintf(path, sizeof path, "%s/log%d", net->folder, batch->begin);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    const char *registers = strstr(line, "Used ");
    const char *name = strstr(line, compiling);
    entries += name != NULL;
    if (name) sscanf(name + strlen(compiling), "%63[^']", entry);
    clean += strstr(line, no_local) != NULL;
    if (registers) note_registers(net, batch, entry, atoi(registers + 5));
    bool expected = strstr(line, "ptxas info") || strstr(line, no_local);
    if (!expected) fail(net, "ptxas", line);
  }
  if (file) fclose(file);
  net->assembled += (unsigned long)entries;
  if (entries == batch->end - batch->begin && clean == entries) return;
  snprintf(line, sizeof line, "%d texts for sm_%d: %d assembled, %d without local memory",
           batch->end - batch->begin, net->texts[batch->begin].arch, entries, clean);
  fail(net, "ptxas", line);
}

/* All texts, two assemblers at a time. */
static void assemble(struct net *net) {
  qsort(net->texts, (size_t)net->count, sizeof *net->texts, by_arch);
  for (int begin = 0; begin < net->count;) {
    struct batch first = next_batch(net, begin), second = next_batch(net, first.end);
    start(net, &first);
    if (second.end > second.begin) start(net, &second);
    finish(net, &first);
    if (second.end > second.begin) finish(net, &second);
    begin = second.end;
  }
  net->count = 0;
}

static bool read_version(const struct net *net, char *version, size_t capacity) {
  char command[4200], line[512];
  snprintf(command, sizeof command, "'%s' --version 2>&1", net->ptxas);
  FILE *process = popen(command, "r");
  version[0] = '\0';
  while (process && fgets(line, sizeof line, process)) {
    const char *release = strstr(line, "release ");
    if (release) snprintf(version, capacity, "%.*s", (int)strcspn(release + 8, ","), release + 8);
  }
  return process && pclose(process) == 0 && version[0] != '\0';
}

/* An empty kernel for each target: which of them does this assembler take? */
static void find_known_targets(struct net *net) {
  char path[128], command[4400];
  for (int i = 0; i < TARGETS; i++) {
    snprintf(path, sizeof path, "%s/probe.ptx", net->folder);
    FILE *file = fopen(path, "w");
    if (!file) exit(1);
    fputs(".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry probe() { ret; }\n",
          file);
    fclose(file);
    snprintf(command, sizeof command, "'%s' -arch=sm_%d -o /dev/null %s > /dev/null 2>&1",
             net->ptxas, targets[i], path);
    net->known[i] = system(command) == 0;
  }
}

/* ---- Registers ------------------------------------------------------------------------------- */

/*
 * tests/net/registers.txt: the assembler's release, then "REGISTERS SIGNATURE" for each golden.
 * Another release allots registers its own way: nothing is compared then.
 */
static void compare_registers(struct net *net, const char *version, size_t goldens, bool update) {
  const char *source = getenv("top_srcdir");
  char path[4096], line[TPTX_MAX_SIGNATURE + 32], golden[TPTX_MAX_SIGNATURE + 32] = "";
  snprintf(path, sizeof path, "%s/tests/net/registers.txt", source ? source : ".");
  FILE *file = fopen(path, update ? "w" : "r");
  if (!file) {
    fail(net, "registers", path);
    return;
  }
  if (update) {
    fprintf(file, "%s\n", version);
  } else if (!fgets(line, sizeof line, file) || strncmp(line, version, strlen(version)) != 0) {
    printf("registers: the baseline is for another release of ptxas than %s\n", version);
    fclose(file);
    return;
  }
  for (size_t i = 0; i < goldens; i++) {
    if (!golden_number(i, golden, sizeof golden)) break;
    if (update) {
      fprintf(file, "%d %s\n", net->registers[i], golden);
      continue;
    }
    char *rest = NULL;
    bool good = fgets(line, sizeof line, file) != NULL;
    long baseline = good ? strtol(line, &rest, 10) : 0;
    good = good && strncmp(rest + 1, golden, strlen(golden)) == 0;
    if (!good || baseline != net->registers[i]) {
      snprintf(line, sizeof line, "%d now, %ld in the baseline (ptxas_test --update)",
               net->registers[i], baseline);
      fail(net, golden, line);
    }
  }
  fclose(file);
}

/* ---- The net --------------------------------------------------------------------------------- */

static int skip(const char *why) {
  const char *required = getenv("TILEPTX_REQUIRE");
  bool failed = required && strstr(required, "ptxas");
  printf("%s: %s\n", failed ? "failed" : "skipped", why);
  return failed ? 1 : 77;
}

static struct net net;

int main(int argc, char **argv) {
  char version[64], command[128];
  bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
  net.ptxas = getenv("PTXAS");
  if (!net.ptxas || !net.ptxas[0]) return skip("no ptxas was found (PTXAS is empty)");
  if (!read_version(&net, version, sizeof version)) return skip("PTXAS does not run");
  snprintf(net.folder, sizeof net.folder, "/tmp/tileptx-ptxas-XXXXXX");
  if (!mkdtemp(net.folder)) {
    perror(net.folder);
    return 1;
  }
  find_known_targets(&net);
  size_t goldens = for_goldens(&net, add_for_baseline);
  assemble(&net);
  if (goldens) compare_registers(&net, version, goldens, update);
  for_goldens(&net, add_for_every_target);
  assemble(&net);
  add_rows(&net);
  assemble(&net);
  add_random(&net);
  assemble(&net);
  snprintf(command, sizeof command, "rm -rf %s", net.folder);
  if (system(command) != 0) net.failed++;
  printf("ptxas %s: %zu goldens, %lu refusals for low targets\n%lu passed, %lu failed\n", version,
         goldens, net.refused, net.assembled, net.failed);
  return net.failed != 0 || net.assembled == 0;
}
