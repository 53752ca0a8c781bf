/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning net: random cases, from descriptors through text, link and launch to memory, against
 * tests/reference.c. Every buffer is filled with noise first and compared whole afterwards, bytes
 * that must not change included. Counts how often each value of each plan field was executed, and
 * each way to break a case refused. What tptx_run runs is run again with its operands moved.
 *
 *   meaning_test [--cases N] [--seed S]   cases S .. S+N-1; 2,000 from 1; 20,000 if TILEPTX_LONG=1
 *   meaning_test --case SEED              one case, printed
 *
 * The driver is TILEPTX_DRIVER: "emu", a path, or unset or "cuda" for the real one; without a GPU
 * the exit status is 77.
 */
#include "outcome.h"
#include "plan_values.h"
#include "random_case.h"
#include "reference.h"

#include "../tools/device.h"
#include <tileptx/runtime.h>

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const int older_sm[] = {75, 80, 89};
enum { OLDER = sizeof older_sm / sizeof *older_sm };

struct net {
  struct device *device;
  tptx_runtime *own;          /* target: the device's */
  tptx_runtime *older[OLDER]; /* targets of older_sm */
  struct plan_values *values;
  int (*configure)(const char *name, int64_t value); /* of the emulated driver; else NULL */
  const char *(*last_error)(void);                   /* of the emulated driver; else NULL */
  bool named; /* the driver was asked for by name: without it the test has failed */
  bool verbose;
  uint64_t passed, failed;
  unsigned long refusals[SPOIL_WAYS];    /* times checked */
  uint64_t moved, found, built, evicted; /* launches with moved operands, kernels for them */
};

static void count_result(struct net *net, bool good) {
  *(good ? &net->passed : &net->failed) += 1;
}

/* ---- One case on the device ------------------------------------------------------------------ */

struct images {
  unsigned char *span, *tile, *indices; /* allocations as they are afterwards */
};

static tptx_runtime *runtime_of(const struct net *net, const struct random_case *c) {
  for (int i = 0; i < OLDER; i++)
    if (c->target == older_sm[i] && net->older[i]) return net->older[i];
  return net->own;
}

/* Launches the case the way it says; `view` and `op` become what was run, classes included. */
static tptx_status launch(const struct net *net, const struct random_case *c, tptx_view *view,
                          tptx_op *op, tptx_error *error) {
  tptx_runtime *runtime = runtime_of(net, c);
  tptx_kernel *kernel = NULL;
  *view = c->view;
  *op = c->op;
  tptx_status status = TPTX_OK;
  if (c->path == CASE_RUN) {
    status = tptx_run(runtime, view, op, &c->args, NULL, error);
    return status ? status : tptx_specialise(view, op, &c->args, error);
  }
  if (c->path == CASE_SPECIALISED) {
    status = tptx_specialise(view, op, &c->args, error);
    if (!status) random_case_weaken(c, view, op);
  }
  if (!status) status = tptx_kernel_get(runtime, view, op, &kernel, error);
  if (!status) status = tptx_launch(kernel, &c->args, NULL, error);
  tptx_kernel_release(kernel);
  return status;
}

static bool upload(struct device *device, const struct case_buffer *b, uint64_t *address) {
  return device_allocate(device, b->bytes, address) == 0 &&
         device_write(device, *address, b->contents, b->bytes) == 0;
}

static unsigned char *download(struct device *device, const struct case_buffer *b,
                               uint64_t address) {
  unsigned char *image = malloc(b->bytes);
  if (image && device_read(device, image, address, b->bytes) != 0) {
    free(image);
    image = NULL;
  }
  return image;
}

static bool run_on_device(struct net *net, struct random_case *c, struct images *got) {
  struct device *device = net->device;
  uint64_t span = 0, tile = 0, indices = 0;
  tptx_view view;
  tptx_op op;
  tptx_error error;
  tptx_error_init(&error);
  bool good = upload(device, &c->span, &span) && upload(device, &c->tile, &tile) &&
              upload(device, &c->indices, &indices);
  if (!good) fprintf(stderr, "device memory: allocation or copy failed\n");
  if (good) {
    random_case_place(c, span, tile, indices);
    tptx_status status = launch(net, c, &view, &op, &error);
    int code = device_synchronize(device);
    good = status == TPTX_OK && code == 0;
    if (status)
      printf("refused: %s (%s, axis %d): %s\n%s\n", tptx_status_name(status), error.argument,
             error.axis, error.message, error.log);
    if (code)
      printf("driver: %s: %s\n", device_error_name(device, code),
             net->last_error ? net->last_error() : "");
  }
  if (good && c->chunks > 0) {
    tptx_runtime_info info = {.struct_size = sizeof info};
    tptx_target target;
    tptx_target_init(&target);
    good = tptx_runtime_get_info(runtime_of(net, c), &info, &error) == TPTX_OK;
    target.sm = runtime_of(net, c) == net->own ? info.sm : c->target;
    target.ptx = info.ptx;
    good = good && plan_values_count(net->values, &view, &op, &target);
  }
  if (good) {
    got->span = download(device, &c->span, span);
    got->tile = download(device, &c->tile, tile);
    got->indices = download(device, &c->indices, indices);
    good = got->span && got->tile && got->indices;
  }
  if (span) device_free(device, span);
  if (tile) device_free(device, tile);
  if (indices) device_free(device, indices);
  return good;
}

/* ---- Comparison ------------------------------------------------------------------------------ */

static unsigned char *copy_of(const struct case_buffer *b) {
  unsigned char *copy = malloc(b->bytes);
  if (!copy) abort();
  memcpy(copy, b->contents, b->bytes);
  return copy;
}

static bool same(const char *name, const struct case_buffer *b, const unsigned char *got,
                 const unsigned char *expected, int size) {
  if (memcmp(got, expected, b->bytes) == 0) return true;
  size_t wrong = 0, first = b->bytes;
  for (size_t i = 0; i < b->bytes; i++)
    if (got[i] != expected[i]) {
      if (wrong++ == 0) first = i;
    }
  printf("%s differs in %zu of %zu bytes, first at byte %zu of the allocation (element %" PRId64
         " from the base, byte %" PRId64 "): got %02x, expected %02x, before %02x\n",
         name, wrong, b->bytes, first, ((int64_t)first - b->base) / size,
         ((int64_t)first - b->base) % size, got[first], expected[first], b->contents[first]);
  return false;
}

/* What the arguments' addresses name in these images. */
static struct reference_memory memory_of(const struct random_case *c, const struct images *i) {
  return (struct reference_memory){
      .span = (unsigned char *)((uintptr_t)i->span + (uintptr_t)c->span.base),
      .tile = (unsigned char *)((uintptr_t)i->tile + (uintptr_t)c->tile.base),
      .indices = (unsigned char *)((uintptr_t)i->indices + (uintptr_t)c->indices.base),
  };
}

static bool as_the_reference(const struct random_case *c, const struct images *got) {
  struct images before = {c->span.contents, c->tile.contents, c->indices.contents};
  struct images want = {copy_of(&c->span), copy_of(&c->tile), copy_of(&c->indices)};
  int size = (int)tptx_type_bytes(c->view.type);
  int tile_size = (int)tptx_type_bytes(reference_tile_type(&c->view, &c->op));
  bool good = reference_run(&c->view, &c->op, &c->args, memory_of(c, &want));
  if (!good) printf("the reference does not know this operation\n");
  outcome_adopt(&c->view, &c->op, &c->args, memory_of(c, &before), memory_of(c, got),
                memory_of(c, &want));
  good = same("span", &c->span, got->span, want.span, size) && good;
  good = same("tile operand", &c->tile, got->tile, want.tile, tile_size) && good;
  good = same("index array", &c->indices, got->indices, want.indices, 1) && good;
  free(want.span);
  free(want.tile);
  free(want.indices);
  return good;
}

/*
 * The emulated driver runs thread blocks forwards, backwards or in a random order, and flushes
 * subnormal f32 sums or does not. A real driver has no such choice.
 */
static void choose_conduct(struct net *net, uint64_t seed) {
  if (!net->configure) return;
  net->configure("block_order", (int64_t)(seed % 3));
  net->configure("seed", (int64_t)(seed >> 1));
  net->configure("flush_f32", (int64_t)(seed / 3 % 2));
}

static bool check_once(struct net *net, struct random_case *c) {
  struct images got = {0};
  if (net->verbose) random_case_print(stdout, c);
  bool good = run_on_device(net, c, &got) && as_the_reference(c, &got);
  if (!good && !net->verbose) random_case_print(stdout, c);
  free(got.span);
  free(got.tile);
  free(got.indices);
  return good;
}

static tptx_counters counters_of(tptx_runtime *runtime) {
  tptx_counters counters;
  tptx_counters_init(&counters);
  if (tptx_runtime_counters(runtime, &counters, NULL) != TPTX_OK) abort();
  return counters;
}

enum { MOVES = 4, MOVED_BYTES = 1 << 15 }; /* large cases take most of the time and show no more */

/*
 * The same descriptors with other operands: tptx_run knows them by now and chooses among the
 * kernels they led to before, of which some have had to make room.
 */
static bool check_moved(struct net *net, struct random_case *c) {
  tptx_runtime *runtime = runtime_of(net, c);
  tptx_counters before = counters_of(runtime);
  bool good = true;
  for (uint64_t turn = 1; turn <= MOVES && good; turn++) {
    random_case_move(c, turn);
    good = check_once(net, c);
    if (!good) printf("it is the case's move %" PRIu64 "\n", turn);
    net->moved++;
  }
  tptx_counters after = counters_of(runtime);
  net->found += after.hits - before.hits;
  net->built += after.builds - before.builds;
  net->evicted += after.evictions - before.evictions;
  return good;
}

static bool check_case(struct net *net, uint64_t seed) {
  struct random_case c;
  random_case_make(seed, &c);
  choose_conduct(net, seed);
  bool good = check_once(net, &c);
  bool moves = c.path == CASE_RUN && c.chunks > 0 && c.span.bytes + c.tile.bytes <= MOVED_BYTES;
  if (good && moves) good = check_moved(net, &c);
  if (!good) printf("again: meaning_test --case %" PRIu64 "\n\n", seed);
  random_case_free(&c);
  return good;
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static bool untouched(struct device *device, const struct case_buffer *b, uint64_t address) {
  unsigned char *after = download(device, b, address);
  bool same_bytes = after && memcmp(after, b->contents, b->bytes) == 0;
  free(after);
  return same_bytes;
}

enum refusal { DOES_NOT_APPLY, REFUSED, NOT_REFUSED };

/* A case broken this way must be refused with the status foretold, and nothing may be written. */
static enum refusal refuse_case(struct net *net, uint64_t seed, enum spoil_way way) {
  struct random_case c;
  uint64_t span = 0, tile = 0, indices = 0;
  random_case_make(seed, &c);
  bool good = upload(net->device, &c.span, &span) && upload(net->device, &c.tile, &tile) &&
              upload(net->device, &c.indices, &indices);
  enum refusal answer = good ? DOES_NOT_APPLY : NOT_REFUSED;
  random_case_place(&c, span, tile, indices);
  tptx_status wanted = good ? random_case_spoil(&c, way) : TPTX_OK;
  if (wanted != TPTX_OK) {
    tptx_view view;
    tptx_op op;
    tptx_error error;
    tptx_error_init(&error);
    tptx_status status = launch(net, &c, &view, &op, &error);
    good = status == wanted && error.status == wanted && error.message[0] != '\0' &&
           untouched(net->device, &c.span, span) && untouched(net->device, &c.tile, tile) &&
           untouched(net->device, &c.indices, indices);
    answer = good ? REFUSED : NOT_REFUSED;
    if (!good) {
      printf("refusal of %s: wanted %s, got %s (%s, axis %d): %s\n", spoil_way_text(way),
             tptx_status_name(wanted), tptx_status_name(status), error.argument, error.axis,
             error.message);
      random_case_print(stdout, &c);
    }
  }
  if (span) device_free(net->device, span);
  if (tile) device_free(net->device, tile);
  if (indices) device_free(net->device, indices);
  random_case_free(&c);
  return answer;
}

enum { CASES_TRIED = 40 };

/*
 * The seed names the way; the case is the seed's or, where that cannot be broken so, one of those
 * far behind it.
 */
static void check_refusal(struct net *net, uint64_t seed) {
  enum spoil_way way = (enum spoil_way)(seed / 7 % SPOIL_WAYS);
  enum refusal answer = DOES_NOT_APPLY;
  for (uint64_t i = 0; i < CASES_TRIED && answer == DOES_NOT_APPLY; i++)
    answer = refuse_case(net, seed + i * UINT64_C(1000003), way);
  if (answer == DOES_NOT_APPLY) return;
  net->refusals[way]++;
  count_result(net, answer == REFUSED);
  if (answer == NOT_REFUSED) printf("again: meaning_test --case %" PRIu64 "\n\n", seed);
}

/* How many ways were met fewer than `least` times. */
static unsigned report_refusals(const struct net *net, FILE *out, unsigned long least) {
  unsigned missing = 0;
  fprintf(out, "refusals, times checked:\n");
  for (int way = 0; way < SPOIL_WAYS; way++) {
    bool few = net->refusals[way] < least;
    fprintf(out, "  %-55s %lu%s\n", spoil_way_text((enum spoil_way)way), net->refusals[way],
            few ? " (TOO FEW)" : "");
    missing += few;
  }
  if (missing) fprintf(out, "%u refusals were checked fewer than %lu times\n", missing, least);
  return missing;
}

/* ---- The net --------------------------------------------------------------------------------- */

/* Few kernels are kept, so that tptx_run meets descriptors whose kernels are gone. */
enum { KEPT = 6, KEPT_OLDER = 2 };

static tptx_runtime *open_runtime(struct device *device, int sm) {
  tptx_runtime_options options;
  tptx_runtime *runtime = NULL;
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_options_init(&options);
  options.driver = device_driver(device);
  options.target.sm = sm;
  options.capacity = sm ? KEPT_OLDER : KEPT;
  options.read_environment = 0;
  if (tptx_runtime_create(&options, &runtime, &error) != TPTX_OK)
    fprintf(stderr, "runtime: %s\n", error.message);
  return runtime;
}

/* False without a device. */
static bool open_device(struct net *net) {
  const char *driver = getenv("TILEPTX_DRIVER");
  char message[256] = "";
  if (driver && (strcmp(driver, "cuda") == 0 || driver[0] == '\0')) driver = NULL;
  net->named = driver != NULL;
  if (device_open(driver, 0, &net->device, message, sizeof message) != 0) {
    printf("%s: %s\n", net->named ? "failed" : "skipped", message);
    return false;
  }
  net->own = open_runtime(net->device, 0);
  for (int i = 0; i < OLDER; i++)
    if (device_sm(net->device) > older_sm[i])
      net->older[i] = open_runtime(net->device, older_sm[i]);
  void *configure = device_entry_point(net->device, "tileptx_emu_configure");
  void *last_error = device_entry_point(net->device, "tileptx_emu_last_error");
  memcpy(&net->configure, &configure, sizeof configure);
  memcpy(&net->last_error, &last_error, sizeof last_error);
  return net->own != NULL;
}

static void close_device(struct net *net) {
  tptx_runtime_destroy(net->own);
  for (int i = 0; i < OLDER; i++) tptx_runtime_destroy(net->older[i]);
  device_close(net->device);
  net->own = NULL;
  memset(net->older, 0, sizeof net->older);
  net->device = NULL;
}

/*
 * A fault poisons the context and nothing more runs in it. The emulated driver makes another one; a
 * real one keeps the fault as long as the process lives.
 */
static bool recover(struct net *net) {
  if (device_synchronize(net->device) == 0) return true;
  bool emulated = device_is_emulated(net->device);
  close_device(net);
  return emulated && open_device(net);
}

/* 1 if no moved operands were served by a kept kernel, needed another, or made one leave. */
static unsigned report_moved(const struct net *net, FILE *out) {
  fprintf(out,
          "moved operands: %" PRIu64 " launches, %" PRIu64 " kernels found, %" PRIu64
          " built, %" PRIu64 " evicted\n",
          net->moved, net->found, net->built, net->evicted);
  bool all = net->found > 0 && net->built > 0 && net->evicted > 0;
  if (!all) fprintf(out, "moved operands did not meet all of these\n");
  return !all;
}

enum { REFUSAL_EVERY = 10, MOST_FAILURES_SHOWN = 20, LEAST_EXECUTED = 50 };

int main(int argc, char **argv) {
  static const struct option options[] = {{"cases", required_argument, NULL, 'n'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"case", required_argument, NULL, 'c'},
                                          {NULL, 0, NULL, 0}};
  const char *full = getenv("TILEPTX_LONG"), *amount = getenv("TILEPTX_MEANING_CASES");
  uint64_t cases = full && strcmp(full, "1") == 0 ? 20000 : 2000, seed = 1;
  struct net net = {0};
  bool one = false;
  if (amount) cases = strtoull(amount, NULL, 10);
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == '?') return 2;
    *(option == 'n' ? &cases : &seed) = strtoull(optarg, NULL, 10);
    one = one || option == 'c';
  }
  if (one) cases = 1;
  net.verbose = one;
  net.values = plan_values_new();
  if (!open_device(&net)) return net.device || net.named ? 1 : 77;
  printf("meaning: %" PRIu64 " cases from seed %" PRIu64 " on %s\n", cases, seed,
         device_name(net.device));
  for (uint64_t i = 0; i < cases && net.failed < MOST_FAILURES_SHOWN; i++) {
    count_result(&net, check_case(&net, seed + i));
    if (i % REFUSAL_EVERY == 0) check_refusal(&net, seed + i);
    if (!recover(&net)) {
      printf("the context is broken after case %" PRIu64 "\n", seed + i);
      break;
    }
  }
  unsigned long least = cases >= 20000 ? LEAST_EXECUTED : cases >= 2000 ? 1 : 0;
  if (!one) net.failed += plan_values_report(net.values, stdout, least);
  if (!one) net.failed += report_refusals(&net, stdout, least > 0);
  if (least > 0) net.failed += report_moved(&net, stdout);
  plan_values_free(net.values);
  if (net.device) close_device(&net);
  printf("%" PRIu64 " passed, %" PRIu64 " failed\n", net.passed, net.failed);
  return net.failed != 0;
}
