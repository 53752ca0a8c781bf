/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch: what the library's calls cost on the host, on 1, 4 and 16 threads, with few and with
 * many kernels in the cache. Launches are measured beside a bare cuLaunchKernel of the same kernel.
 */
#define _POSIX_C_SOURCE 200809L

#include "program.h"

#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_THREADS = 16,
  MOST_COUNTS = 4,
  MOST_KERNELS = 1000000,
  MOST_CALLS = 2000000, /* in a batch */
  LAUNCHES = 500,       /* in a batch: less than a driver's queue holds */
  FEW_KERNELS = 10,
  TURNS = 501,
  SHORT_BATCH = 32, /* where launches are compared; the queue is empty before each */
  PREPARE_THREADS = 16,
  ELEMENTS = 32 /* of the one tile that is launched */
};

static const double batch_seconds = 5e-3;
static const int thread_counts[] = {1, 4, MOST_THREADS};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

const char *const program_name = "dispatch";

struct options {
  const char *driver;
  const char *call; /* --call: do nothing but this */
  long calls;
  int rounds;
  int counts[MOST_COUNTS], count_of_counts; /* kernels in the cache */
};

typedef int launch_function(void *function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                            unsigned threads, unsigned threads_y, unsigned threads_z,
                            unsigned shared, void *stream, void **parameters, void **extra);

struct bench {
  struct options options;
  struct machine machine;
  tptx_view *views; /* of the kernels in the cache: they differ in their chunk stride */
  int kernels;
  tptx_op op;
  tptx_target target;
  tptx_args args;
  tptx_kernel *kernel; /* of the first view */
  launch_function *bare_launch;
  void *bare_function;
  tptx_binding binding;
  void *parameters[64]; /* into the binding */
  void *streams[MOST_THREADS];
};

struct worker {
  struct bench *bench;
  const struct kind *kind;
  pthread_barrier_t *barrier;
  void *stream;
  long calls;
  double begun, ended;
};

struct kind {
  const char *word; /* for --call */
  const char *name;
  void (*call)(struct worker *worker, long number);
  bool launches;
};

/* ---- The calls ------------------------------------------------------------------------------- */

static void demand(tptx_status status) {
  if (status != TPTX_OK) fail("a call failed: %s", tptx_status_name(status));
}

static void call_empty(struct worker *worker, long number) {
  (void)worker;
  (void)number;
  if (tptx_type_bytes(TPTX_F32) != 4) fail("an f32 is not four bytes");
}

static void call_plan_check(struct worker *worker, long number) {
  struct bench *bench = worker->bench;
  (void)number;
  demand(tptx_plan_check(&bench->views[0], &bench->op, &bench->target, NULL));
}

static void call_emit(struct worker *worker, long number) {
  struct bench *bench = worker->bench;
  tptx_ptx *ptx = NULL;
  (void)number;
  demand(tptx_emit(&bench->views[0], &bench->op, &bench->target, &ptx, NULL));
  tptx_ptx_free(ptx);
}

static void get(struct bench *bench, const tptx_view *view) {
  tptx_kernel *kernel = NULL;
  demand(tptx_kernel_get(bench->machine.runtime, view, &bench->op, &kernel, NULL));
  tptx_kernel_release(kernel);
}

static void call_hit(struct worker *worker, long number) {
  (void)number;
  get(worker->bench, &worker->bench->views[0]);
}

/* Every kernel in turn, neighbours far apart: nothing of the last one helps. */
static void call_hit_in_turn(struct worker *worker, long number) {
  get(worker->bench, &worker->bench->views[number * 7919 % worker->bench->kernels]);
}

static void call_bare_launch(struct worker *worker, long number) {
  struct bench *bench = worker->bench;
  (void)number;
  if (bench->bare_launch(bench->bare_function, bench->binding.blocks, 1, 1, bench->binding.threads,
                         1, 1, 0, worker->stream, bench->parameters, NULL) != 0)
    fail("cuLaunchKernel failed");
}

static void call_launch(struct worker *worker, long number) {
  (void)number;
  demand(tptx_launch(worker->bench->kernel, &worker->bench->args, worker->stream, NULL));
}

static void call_run(struct worker *worker, long number) {
  struct bench *bench = worker->bench;
  (void)number;
  demand(tptx_run(bench->machine.runtime, &bench->views[0], &bench->op, &bench->args,
                  worker->stream, NULL));
}

enum kind_name { EMPTY, PLAN_CHECK, EMIT, HIT, HIT_IN_TURN, BARE, LAUNCH, RUN, KINDS };

static const struct kind kinds[KINDS] = {
    [EMPTY] = {"empty", "an empty call", call_empty, false},
    [PLAN_CHECK] = {"plan_check", "tptx_plan_check", call_plan_check, false},
    [EMIT] = {"emit", "tptx_emit (a miss but the compiler)", call_emit, false},
    [HIT] = {"hit", "tptx_kernel_get, a hit", call_hit, false},
    [HIT_IN_TURN] = {"hit_in_turn", "the same, all kernels in turn", call_hit_in_turn, false},
    [BARE] = {"bare_launch", "cuLaunchKernel", call_bare_launch, true},
    [LAUNCH] = {"launch", "tptx_launch", call_launch, true},
    [RUN] = {"run", "tptx_run", call_run, true},
};

/* ---- Setting up ------------------------------------------------------------------------------ */

static void make_views(struct bench *bench) {
  const int64_t extents[] = {TPTX_DYNAMIC};
  const int64_t shape[] = {ELEMENTS};
  bench->views = allocate(sizeof *bench->views * (size_t)bench->kernels);
  for (int i = 0; i < bench->kernels; i++) {
    const int64_t strides[] = {ELEMENTS + i};
    tptx_view_strided(&bench->views[i], TPTX_F32, 1, extents, NULL, shape, strides);
  }
  tptx_op_load(&bench->op);
  bench->op.masked = 1;
  tptx_target_init(&bench->target);
  bench->target.sm = device_sm(bench->machine.device);
}

static void fill_cache(struct bench *bench, unsigned threads) {
  tptx_request *requests = allocate(sizeof *requests * (size_t)bench->kernels);
  tptx_error error;
  tptx_error_init(&error);
  for (int i = 0; i < bench->kernels; i++) {
    memset(&requests[i], 0, sizeof requests[i]);
    requests[i].struct_size = sizeof requests[i];
    requests[i].view = &bench->views[i];
    requests[i].op = &bench->op;
  }
  expect_ok(tptx_prepare(bench->machine.runtime, requests, (size_t)bench->kernels, threads, &error),
            &error, "filling the cache");
  free(requests);
}

/* The same machine code, loaded and launched without the library. */
static void prepare_bare_launch(struct bench *bench) {
  int (*load)(void **module, const void *image);
  int (*find)(void **function, void *module, const char *name);
  const tptx_ptx *ptx = tptx_kernel_ptx(bench->kernel);
  const void *binary = NULL;
  size_t bytes = 0;
  void *module = NULL;
  tptx_error error;
  tptx_error_init(&error);
  machine_entry_point(&bench->machine, "cuModuleLoadData", &load);
  machine_entry_point(&bench->machine, "cuModuleGetFunction", &find);
  machine_entry_point(&bench->machine, "cuLaunchKernel", &bench->bare_launch);
  expect_ok(tptx_kernel_binary(bench->kernel, &binary, &bytes, &error), &error, "machine code");
  expect(&bench->machine, load(&module, binary), "cuModuleLoadData");
  expect(&bench->machine, find(&bench->bare_function, module, tptx_ptx_entry(ptx)),
         "cuModuleGetFunction");
  bench->binding.struct_size = sizeof bench->binding;
  expect_ok(tptx_bind(ptx, &bench->args, &bench->binding, &error), &error, "tptx_bind");
  for (int32_t i = 0; i < tptx_ptx_parameter_count(ptx); i++) {
    tptx_parameter parameter;
    memset(&parameter, 0, sizeof parameter);
    parameter.struct_size = sizeof parameter;
    expect_ok(tptx_ptx_parameter(ptx, i, &parameter, &error), &error, "parameters");
    bench->parameters[i] = bench->binding.parameters + parameter.offset;
  }
}

static void prepare_launches(struct bench *bench) {
  tptx_error error;
  tptx_error_init(&error);
  tptx_args_init(&bench->args);
  bench->args.span = machine_allocate(&bench->machine, ELEMENTS * sizeof(float));
  bench->args.tile = machine_allocate(&bench->machine, ELEMENTS * sizeof(float));
  bench->args.extents[0] = ELEMENTS;
  tptx_view view = bench->views[0];
  tptx_op op = bench->op;
  expect_ok(tptx_specialise(&view, &op, &bench->args, &error), &error, "tptx_specialise");
  expect_ok(tptx_kernel_get(bench->machine.runtime, &view, &op, &bench->kernel, &error), &error,
            "tptx_kernel_get");
  prepare_bare_launch(bench);
  for (int i = 0; i < MOST_THREADS; i++)
    expect(&bench->machine, device_stream_create(bench->machine.device, &bench->streams[i]),
           "creating a stream");
}

static void open_bench(struct bench *bench, int kernels) {
  tptx_runtime_options options;
  tptx_runtime_options_init(&options);
  options.capacity = kernels + 1; /* and the one that is launched */
  machine_open(&bench->machine, bench->options.driver, 0, &options);
  bench->kernels = kernels;
  make_views(bench);
  /* Counts of instructions must not depend on who waited for whom. */
  fill_cache(bench, bench->options.call != NULL ? 1 : PREPARE_THREADS);
  prepare_launches(bench);
}

static void close_bench(struct bench *bench) {
  struct device *device = bench->machine.device;
  for (int i = 0; i < MOST_THREADS; i++) device_stream_destroy(device, bench->streams[i]);
  device_free(device, bench->args.span);
  device_free(device, bench->args.tile);
  tptx_kernel_release(bench->kernel);
  machine_close(&bench->machine);
  free(bench->views);
}

/* ---- Timing ---------------------------------------------------------------------------------- */

static void *work(void *argument) {
  struct worker *worker = argument;
  device_make_current(worker->bench->machine.device);
  pthread_barrier_wait(worker->barrier);
  worker->begun = now_seconds();
  for (long i = 0; i < worker->calls; i++) worker->kind->call(worker, i);
  worker->ended = now_seconds();
  return NULL;
}

/* Seconds from the first thread's first call to the last one's last. */
static double time_batch(struct bench *bench, const struct kind *kind, int threads, long calls) {
  struct worker workers[MOST_THREADS] = {{0}};
  pthread_t handles[MOST_THREADS];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    workers[i] = (struct worker){bench, kind, &barrier, bench->streams[i], calls, 0, 0};
    if (pthread_create(&handles[i], NULL, work, &workers[i]) != 0) fail("no thread");
  }
  for (int i = 0; i < threads; i++) pthread_join(handles[i], NULL);
  pthread_barrier_destroy(&barrier);
  double begun = workers[0].begun;
  double ended = workers[0].ended;
  for (int i = 1; i < threads; i++) {
    if (workers[i].begun < begun) begun = workers[i].begun;
    if (workers[i].ended > ended) ended = workers[i].ended;
  }
  if (kind->launches)
    expect(&bench->machine, device_synchronize(bench->machine.device), "waiting for launches");
  return ended - begun;
}

static long calls_of_batch(struct bench *bench, const struct kind *kind) {
  long calls = 64;
  if (kind->launches) return LAUNCHES;
  double seconds = time_batch(bench, kind, 1, calls);
  seconds = time_batch(bench, kind, 1, calls);
  double enough = batch_seconds / (seconds / (double)calls);
  return enough > MOST_CALLS ? MOST_CALLS : enough < 16 ? 16 : (long)enough;
}

/* One thread's few launches behind one another, with nothing before them in the queue. */
static double time_short_batch(struct worker *worker, enum kind_name kind) {
  struct bench *bench = worker->bench;
  expect(&bench->machine, device_synchronize(bench->machine.device), "waiting for launches");
  kinds[kind].call(worker, 0); /* wakes the queue and fills the caches */
  double begun = now_seconds();
  for (long i = 0; i < SHORT_BATCH; i++) kinds[kind].call(worker, i);
  return (now_seconds() - begun) / SHORT_BATCH * 1e9;
}

/* Nanoseconds more than the bare call of the same turn: the middle one of the turns, and half. */
struct surplus {
  double lower, middle, upper;
};

static struct surplus surplus_of(double *differences) {
  double middle = median(differences, TURNS); /* sorted now */
  return (struct surplus){differences[TURNS / 4], middle, differences[TURNS - 1 - TURNS / 4]};
}

static void compare_launches(struct bench *bench, struct surplus *launch, struct surplus *run) {
  static const enum kind_name compared[] = {BARE, LAUNCH, RUN};
  struct worker worker = {.bench = bench, .stream = bench->streams[0]};
  double launches[TURNS], runs[TURNS], cost[KINDS];
  for (int turn = 0; turn < TURNS; turn++) {
    for (int i = 0; i < 3; i++) { /* each is as often the first, the second, the last */
      enum kind_name kind = compared[(turn + i) % 3];
      cost[kind] = time_short_batch(&worker, kind);
    }
    launches[turn] = cost[LAUNCH] - cost[BARE];
    runs[turn] = cost[RUN] - cost[BARE];
  }
  *launch = surplus_of(launches);
  *run = surplus_of(runs);
}

/* Nanoseconds of a call, [kind][number of threads]; the kinds take turns in every round. */
struct costs {
  double nanoseconds[KINDS][THREAD_COUNTS];
  struct surplus launch, run; /* one thread */
};

static void measure(struct bench *bench, struct costs *costs) {
  int rounds = bench->options.rounds;
  double each[KINDS][MOST_ROUNDS];
  long calls[KINDS];
  bool emulated = device_is_emulated(bench->machine.device);
  memset(costs, 0, sizeof *costs);
  if (!emulated) compare_launches(bench, &costs->launch, &costs->run);
  for (int k = 0; k < KINDS; k++) calls[k] = calls_of_batch(bench, &kinds[k]);
  for (int t = 0; t < THREAD_COUNTS; t++) {
    for (int r = 0; r < rounds; r++)
      for (int k = 0; k < KINDS; k++)
        if (!emulated || !kinds[k].launches)
          each[k][r] =
              time_batch(bench, &kinds[k], thread_counts[t], calls[k]) / (double)calls[k] * 1e9;
    for (int k = 0; k < KINDS; k++)
      if (!emulated || !kinds[k].launches) costs->nanoseconds[k][t] = median(each[k], rounds);
  }
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void print_surplus(enum kind_name kind, struct surplus surplus) {
  printf("%-36s %11.1f   %.1f to %.1f\n", kinds[kind].name, surplus.middle, surplus.lower,
         surplus.upper);
}

static void print_costs(const struct bench *bench, const struct costs *costs) {
  printf("\n%d kernels in the cache: nanoseconds of a call, on each of so many threads; and million"
         " calls a second, all threads together\n",
         bench->kernels);
  printf("%-36s", "call");
  for (int t = 0; t < THREAD_COUNTS; t++) printf(" %7d thr", thread_counts[t]);
  for (int t = 0; t < THREAD_COUNTS; t++) printf(" %5d thr", thread_counts[t]);
  printf("\n");
  for (int k = 0; k < KINDS; k++) {
    if (costs->nanoseconds[k][0] <= 0) continue;
    printf("%-36s", kinds[k].name);
    for (int t = 0; t < THREAD_COUNTS; t++) printf(" %11.1f", costs->nanoseconds[k][t]);
    for (int t = 0; t < THREAD_COUNTS; t++)
      printf(" %9.3f", thread_counts[t] * 1e3 / costs->nanoseconds[k][t]);
    printf("\n");
  }
  if (costs->nanoseconds[BARE][0] <= 0) return;
  printf("nanoseconds over cuLaunchKernel: medians of the differences in %d turns of %d calls each,"
         " the queue empty before; half of the turns lie between\n",
         TURNS, SHORT_BATCH);
  print_surplus(LAUNCH, costs->launch);
  print_surplus(RUN, costs->run);
}

static void print_bar(const char *what, double measured, double bar, const char *unit) {
  printf("%-62s %9.2f  bar %7.2f %-8s %s\n", what, measured, bar, unit,
         measured <= bar ? "met" : "MISSED");
}

static void print_bars(const struct options *options, const struct costs *few,
                       const struct costs *many) {
  char what[96];
  printf("\n");
  print_bar("tptx_emit", few->nanoseconds[EMIT][0] / 1e3, 25, "us");
  print_bar("tptx_kernel_get, a hit", few->nanoseconds[HIT][0], 200, "ns");
  if (few->nanoseconds[BARE][0] > 0) {
    print_bar("tptx_launch over cuLaunchKernel", few->launch.middle, 150, "ns");
    print_bar("tptx_run over cuLaunchKernel", few->run.middle, 500, "ns");
  }
  snprintf(what, sizeof what, "a hit with %d kernels, of one with %d",
           options->counts[options->count_of_counts - 1], options->counts[0]);
  print_bar(what, many->nanoseconds[HIT][0] / few->nanoseconds[HIT][0], 1.3, "");
  if (few->nanoseconds[BARE][0] > 0) {
    snprintf(what, sizeof what, "tptx_run over cuLaunchKernel with %d kernels, of that with %d",
             options->counts[options->count_of_counts - 1], options->counts[0]);
    print_bar(what, many->run.middle / few->run.middle, 1.3, "");
  }
  for (int k = PLAN_CHECK; k < KINDS; k++) {
    int last = THREAD_COUNTS - 1;
    if (few->nanoseconds[k][0] <= 0 || k == BARE) continue;
    snprintf(what, sizeof what, "time a call, %d threads together, of one thread: %s",
             thread_counts[last], kinds[k].word);
    print_bar(what, few->nanoseconds[k][last] / few->nanoseconds[k][0] / thread_counts[last], 1.0,
              "");
  }
}

/* ---- Options --------------------------------------------------------------------------------- */

static const char help[] =
    "Usage: dispatch [OPTION]...\n"
    "Times the library's calls on the host.\n"
    "\n"
    "  --kernels N,...  kernels in the cache (default 10,1000; 10,100000 with the emulated "
    "driver)\n"
    "  --rounds N       median of so many (default 11)\n"
    "  --call WORD      only this call, for programs that count instructions: plan_check, emit, "
    "hit...\n"
    "  --calls N        so often\n"
    "  --driver PATH    driver library, or emu (default: TILEPTX_DRIVER, else libcuda.so.1)\n"
    "\n"
    "With the emulated driver everything but the launches is measured.\n"
    "Exit status: 0 done, 1 a failure, 2 usage, 77 no device.\n";

static void read_counts(struct options *options, char *list) {
  options->count_of_counts = 0;
  for (char *next = strtok(list, ","); next != NULL; next = strtok(NULL, ",")) {
    if (options->count_of_counts == MOST_COUNTS) refuse_usage("too many numbers", next);
    options->counts[options->count_of_counts++] =
        (int)read_number(next, 1, MOST_KERNELS, "no number of kernels");
  }
}

static struct options read_options(int argc, char **argv) {
  static const struct option known[] = {{"kernels", required_argument, NULL, 'k'},
                                        {"rounds", required_argument, NULL, 'r'},
                                        {"call", required_argument, NULL, 'c'},
                                        {"calls", required_argument, NULL, 'n'},
                                        {"driver", required_argument, NULL, 'd'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  struct options options = {.rounds = 11, .calls = 1000};
  for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (letter) {
    case 'k': read_counts(&options, optarg); break;
    case 'r':
      options.rounds = (int)read_number(optarg, 1, MOST_ROUNDS, "no number of rounds");
      break;
    case 'c': options.call = optarg; break;
    case 'n': options.calls = (long)read_number(optarg, 0, 1e9, "no number of calls"); break;
    case 'd': options.driver = optarg; break;
    case 'h': fputs(help, stdout); exit(EXIT_SUCCESS);
    default: exit(EXIT_USAGE);
    }
  }
  if (optind < argc) refuse_usage("unexpected argument", argv[optind]);
  return options;
}

/* --call: setting up, the calls, nothing else. */
static void call_only(struct bench *bench) {
  const struct kind *kind = NULL;
  for (int k = 0; k < KINDS; k++)
    if (strcmp(kinds[k].word, bench->options.call) == 0) kind = &kinds[k];
  if (kind == NULL) refuse_usage("no call", bench->options.call);
  open_bench(bench, bench->options.count_of_counts > 0 ? bench->options.counts[0] : FEW_KERNELS);
  struct worker worker = {.bench = bench, .kind = kind, .stream = bench->streams[0]};
  for (long i = 0; i < bench->options.calls; i++) kind->call(&worker, i);
  close_bench(bench);
}

static void choose_counts(struct bench *bench) {
  struct options *options = &bench->options;
  if (options->count_of_counts > 0) return;
  open_bench(bench, 1);
  options->counts[0] = FEW_KERNELS;
  options->counts[1] = device_is_emulated(bench->machine.device) ? 100000 : 1000;
  options->count_of_counts = 2;
  close_bench(bench);
}

int main(int argc, char **argv) {
  struct bench bench = {.options = read_options(argc, argv)};
  struct costs costs[MOST_COUNTS];
  const struct options *options = &bench.options;
  if (options->call != NULL) {
    call_only(&bench);
    return EXIT_SUCCESS;
  }
  choose_counts(&bench);
  for (int i = 0; i < options->count_of_counts; i++) {
    double begun = now_seconds();
    open_bench(&bench, options->counts[i]);
    if (i == 0) machine_print(&bench.machine);
    printf("%d kernels built and loaded in %.2f s on %d threads\n", bench.kernels,
           now_seconds() - begun, PREPARE_THREADS);
    fflush(stdout);
    measure(&bench, &costs[i]);
    print_costs(&bench, &costs[i]);
    fflush(stdout);
    close_bench(&bench);
  }
  print_bars(options, &costs[0], &costs[options->count_of_counts - 1]);
  return EXIT_SUCCESS;
}
