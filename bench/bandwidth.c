/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bandwidth: how fast the emitted kernels move memory, beside a device-to-device copy of as many
 * bytes. Every result is compared with its input, in plain C and in full, before it is timed.
 */
#define _POSIX_C_SOURCE 200809L

#include "program.h"
#include "workloads.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LAUNCHES = 8, /* of each kind, a round */
  EVENTS = 2 * LAUNCHES + 1,
  MOST_REPEATS = 64,   /* launches in a row between two events, where one is too short to time */
  GUARD_BYTES = 65536, /* behind a result: stays as it is */
  COPY_UNIT = 4096,    /* copies of odd sizes are slower: not what we compare with */
  POISON = 0xa5
};

/* --sizes: in MiB */
static const double sizes[] = {1.0 / 16, 0.25, 1, 4, 16, 64, 256, 1024, 4096, 8192};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

const char *const program_name = "bandwidth";

struct options {
  const char *driver;
  int device;
  const char *only; /* beginning of a name, or NULL */
  int rounds;
  double mib;
  bool json;
  bool list;
  bool sizes;
};

struct bench {
  struct options options;
  struct machine machine;
  void *events[EVENTS];
  size_t capacity;                 /* of each of the two operand buffers, guard included */
  uint64_t input, output, indices; /* device memory */
  unsigned char *host_input, *host_output, *host_expected;
  int32_t *host_indices;
  int addends; /* type whose addends host_input holds, -1: random bytes */
};

struct result {
  bool right;
  double ours, copy, ratio; /* TB/s, TB/s, median of the rounds' ratios; 0 where not timed */
};

/* ---- Setting up ------------------------------------------------------------------------------ */

static bool is_chosen(const struct options *options, const struct workload *workload) {
  if (options->sizes && !workload->sized) return false;
  return options->only == NULL ||
         strncmp(workload->name, options->only, strlen(options->only)) == 0;
}

static void plan_job(struct job *job, const struct workload *workload, double mib) {
  tptx_error error;
  tptx_error_init(&error);
  expect_ok(job_plan(job, workload, mib, &error), &error, workload->name);
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

/* Two buffers that serve every chosen workload and the copy, so that timing allocates nothing. */
static void allocate_buffers(struct bench *bench) {
  size_t index_bytes = 1;
  struct job job;
  for (size_t i = 0; i < workload_count; i++) {
    if (!is_chosen(&bench->options, &workloads[i])) continue;
    plan_job(&job, &workloads[i], bench->options.sizes ? sizes[SIZES - 1] : bench->options.mib);
    size_t bytes = larger(larger(job.span_bytes, job.tile_bytes), job.moved_bytes / 2);
    bench->capacity = larger(bench->capacity, bytes + GUARD_BYTES);
    index_bytes = larger(index_bytes, job.index_bytes);
  }
  bench->input = machine_allocate(&bench->machine, bench->capacity);
  bench->output = machine_allocate(&bench->machine, bench->capacity);
  bench->indices = machine_allocate(&bench->machine, index_bytes);
  bench->host_input = allocate(bench->capacity);
  bench->host_output = allocate(bench->capacity);
  bench->host_expected = allocate(bench->capacity);
  bench->host_indices = allocate(index_bytes);
}

static void open_bench(struct bench *bench) {
  machine_open(&bench->machine, bench->options.driver, bench->options.device, NULL);
  for (int i = 0; i < EVENTS; i++)
    expect(&bench->machine, device_event_create(bench->machine.device, &bench->events[i]),
           "creating an event");
  allocate_buffers(bench);
  bench->addends = -2;
}

static void close_bench(struct bench *bench) {
  struct device *device = bench->machine.device;
  for (int i = 0; i < EVENTS; i++) device_event_destroy(device, bench->events[i]);
  device_free(device, bench->input);
  device_free(device, bench->output);
  device_free(device, bench->indices);
  machine_close(&bench->machine);
  free(bench->host_input);
  free(bench->host_output);
  free(bench->host_expected);
  free(bench->host_indices);
}

/* ---- One workload: the check ----------------------------------------------------------------- */

/* Random bytes, or what can be added up; kept from workload to workload where it serves. */
static void fill_input(struct bench *bench, const struct job *job) {
  int addends = job_is_update(job) ? (int)job->view.type : -1;
  if (addends == bench->addends) return;
  bench->addends = addends;
  if (job_is_update(job))
    job_fill_addends(job, bench->host_input, bench->capacity);
  else
    fill_random(bench->host_input, bench->capacity);
  expect(&bench->machine,
         device_write(bench->machine.device, bench->input, bench->host_input, bench->capacity),
         "writing the input");
}

static void set_operands(struct bench *bench, struct job *job) {
  job->args.span = job_writes_span(job) ? bench->output : bench->input;
  job->args.tile = job_writes_span(job) ? bench->input : bench->output;
  job->args.indices = job_has_indices(job) ? bench->indices : 0;
  fill_input(bench, job);
  if (!job_has_indices(job)) return;
  job_draw_indices(job, bench->host_indices);
  expect(&bench->machine,
         device_write(bench->machine.device, bench->indices, bench->host_indices, job->index_bytes),
         "writing the index array");
}

static void launch(const struct bench *bench, tptx_kernel *kernel, const struct job *job) {
  tptx_error error;
  tptx_error_init(&error);
  expect_ok(tptx_launch(kernel, &job->args, bench->machine.stream, &error), &error,
            job->workload->name);
}

/* Poison, and for an update the sums so far, which the host keeps too. */
static void prepare_output(struct bench *bench, const struct job *job) {
  struct device *device = bench->machine.device;
  expect(&bench->machine, device_fill(device, bench->output, POISON, bench->capacity), "poisoning");
  if (job_is_update(job)) {
    memcpy(bench->host_expected, bench->host_input, job->span_bytes);
    expect(&bench->machine,
           device_write(device, bench->output, bench->host_expected, job->span_bytes),
           "writing the span");
  }
  expect(&bench->machine, device_synchronize(device), "preparing");
}

static bool same_sums(struct bench *bench, const struct job *job, char *where, size_t capacity) {
  job_add(job, bench->host_expected, bench->host_input, bench->host_indices);
  for (size_t i = 0; i < job->span_bytes; i++) {
    if (bench->host_output[i] == bench->host_expected[i]) continue;
    snprintf(where, capacity, "first difference in element %zu of the span",
             i / job->element_bytes);
    return false;
  }
  return true;
}

/* Launches once into a poisoned buffer and compares all of it, and the guard behind it. */
static bool is_right(struct bench *bench, tptx_kernel *kernel, const struct job *job) {
  struct device *device = bench->machine.device;
  bool writes_span = job_writes_span(job);
  size_t bytes = writes_span ? job->span_bytes : job->tile_bytes;
  char where[256] = "";
  prepare_output(bench, job);
  launch(bench, kernel, job);
  expect(&bench->machine, device_synchronize(device), job->workload->name);
  expect(&bench->machine,
         device_read(device, bench->host_output, bench->output, bytes + GUARD_BYTES),
         "reading the result");
  bool right = job_is_update(job)
                   ? same_sums(bench, job, where, sizeof where)
                   : job_compare(job, writes_span ? bench->host_output : bench->host_input,
                                 writes_span ? bench->host_input : bench->host_output,
                                 bench->host_indices, where, sizeof where);
  for (size_t i = 0; i < GUARD_BYTES && right; i++) {
    right = bench->host_output[bytes + i] == POISON;
    if (!right) snprintf(where, sizeof where, "written %zu bytes behind the end", i);
  }
  if (!right) fprintf(stderr, "bandwidth: %s is WRONG: %s\n", job->workload->name, where);
  return right;
}

/* ---- One workload: the time ------------------------------------------------------------------ */

/* As many in a row as make an event's own time small beside theirs. */
static int repeats_of(const struct job *job) {
  size_t enough = (size_t)64 << 20;
  size_t repeats = enough / job->moved_bytes;
  return repeats < 1 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : (int)repeats;
}

/* Our launches and copies in turn, an event after each. Seconds: the median of either kind. */
static void time_round(struct bench *bench, tptx_kernel *kernel, const struct job *job,
                       double *ours, double *copy) {
  const struct machine *machine = &bench->machine;
  double seconds[2][LAUNCHES];
  size_t copied = job->moved_bytes / 2 / COPY_UNIT * COPY_UNIT;
  int repeats = repeats_of(job);
  expect(machine, device_event_record(machine->device, bench->events[0], machine->stream),
         "timing");
  for (int i = 1; i < EVENTS; i++) {
    for (int k = 0; k < repeats && i % 2 != 0; k++) launch(bench, kernel, job);
    for (int k = 0; k < repeats && i % 2 == 0; k++)
      expect(machine,
             device_copy(machine->device, bench->output, bench->input, copied, machine->stream),
             "copying");
    expect(machine, device_event_record(machine->device, bench->events[i], machine->stream),
           "timing");
  }
  for (int i = 1; i < EVENTS; i++) {
    float milliseconds = 0;
    expect(machine,
           device_event_milliseconds(machine->device, bench->events[i - 1], bench->events[i],
                                     &milliseconds),
           "timing");
    seconds[(i - 1) % 2][(i - 1) / 2] = (double)milliseconds / 1e3 / repeats;
  }
  *ours = median(seconds[0], LAUNCHES);
  *copy = median(seconds[1], LAUNCHES);
}

static void time_workload(struct bench *bench, tptx_kernel *kernel, const struct job *job,
                          struct result *result) {
  double ours[MOST_ROUNDS] = {0};
  double copy[MOST_ROUNDS] = {0};
  double ratio[MOST_ROUNDS] = {0};
  int rounds = bench->options.rounds;
  double terabytes = (double)job->moved_bytes / 1e12;
  time_round(bench, kernel, job, &ours[0], &copy[0]); /* warms up */
  for (int i = 0; i < rounds; i++) {
    time_round(bench, kernel, job, &ours[i], &copy[i]);
    ours[i] = terabytes / ours[i];
    copy[i] = terabytes / copy[i];
    ratio[i] = ours[i] / copy[i];
  }
  result->ours = median(ours, rounds);
  result->copy = median(copy, rounds);
  result->ratio = median(ratio, rounds);
}

/* The kernel for the operands at hand, as tptx_run would choose it. */
static tptx_kernel *get_kernel(struct bench *bench, struct job *job) {
  tptx_kernel *kernel = NULL;
  tptx_error error;
  tptx_error_init(&error);
  expect_ok(tptx_specialise(&job->view, &job->op, &job->args, &error), &error, job->workload->name);
  expect_ok(tptx_kernel_get(bench->machine.runtime, &job->view, &job->op, &kernel, &error), &error,
            job->workload->name);
  return kernel;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void print_head(const struct bench *bench) {
  if (bench->options.json) {
    printf("{\"schema\": 1, \"device\": \"%s\", \"emulated\": %s, \"rounds\": %d, \"results\": [",
           device_name(bench->machine.device),
           device_is_emulated(bench->machine.device) ? "true" : "false", bench->options.rounds);
    return;
  }
  machine_print(&bench->machine);
  printf("%d rounds of %d launches and %d copies of as many bytes%s\n", bench->options.rounds,
         LAUNCHES, LAUNCHES,
         bench->options.mib < FULL_MIB / 4 || bench->options.sizes
             ? "; small sizes: in a row, the caches take part"
             : "");
  printf("%-27s %5s %9s %6s %6s %6s %5s  signature\n", "workload", "right", "MB moved", "TB/s",
         "copy", "ratio", "bar");
}

static void print_json(const struct job *job, const struct result *result, const char *signature,
                       bool first) {
  printf("%s\n  {\"workload\": \"%s\", \"right\": %s, \"bytes\": %zu, ", first ? "" : ",",
         job->workload->name, result->right ? "true" : "false", job->moved_bytes);
  if (result->ratio > 0)
    printf("\"terabytes_per_second\": %.4f, \"copy\": %.4f, \"ratio\": %.4f, ", result->ours,
           result->copy, result->ratio);
  printf("\"signature\": \"%s\"}", signature);
}

static void print_line(const struct job *job, const struct result *result, const char *signature) {
  char bar[16] = "-";
  if (job->workload->bar > 0) snprintf(bar, sizeof bar, "%.2f", job->workload->bar);
  printf("%-27s %5s %9.3f ", job->workload->name, result->right ? "yes" : "NO",
         (double)job->moved_bytes / 1e6);
  if (result->ratio > 0)
    printf("%6.3f %6.3f %6.3f", result->ours, result->copy, result->ratio);
  else
    printf("%6s %6s %6s", "-", "-", "-");
  printf(" %5s  %s\n", bar, signature);
}

static bool measure(struct bench *bench, const struct workload *workload, double mib, bool first) {
  struct job job;
  struct result result = {false, 0, 0, 0};
  plan_job(&job, workload, mib);
  set_operands(bench, &job);
  tptx_kernel *kernel = get_kernel(bench, &job);
  result.right = is_right(bench, kernel, &job);
  if (result.right && !device_is_emulated(bench->machine.device))
    time_workload(bench, kernel, &job, &result);
  const char *signature = tptx_ptx_signature(tptx_kernel_ptx(kernel));
  if (bench->options.json)
    print_json(&job, &result, signature, first);
  else
    print_line(&job, &result, signature);
  fflush(stdout);
  tptx_kernel_release(kernel);
  return result.right;
}

/* ---- Options --------------------------------------------------------------------------------- */

static const char help[] =
    "Usage: bandwidth [OPTION]...\n"
    "Measures the emitted kernels beside a device-to-device copy of as many bytes.\n"
    "\n"
    "  --list          the workloads, one a line: name, bytes moved, signature; with --json all "
    "of\n"
    "                  their operands, for programs that measure the same\n"
    "  --only NAME     workloads whose names begin with NAME\n"
    "  --rounds N      rounds of 8 launches (default 5); the median of the rounds counts\n"
    "  --mib SIZE      size of a span in MiB (default 1024); halved or doubled as often as it "
    "fits\n"
    "  --sizes         two workloads from 64 KiB to 8 GiB\n"
    "  --json          one JSON object\n"
    "  --driver PATH   driver library, or emu (default: TILEPTX_DRIVER, else libcuda.so.1)\n"
    "  --device N      ordinal of the device (default 0)\n"
    "\n"
    "Exit status: 0 all results right, 1 a wrong one or a failure, 2 usage, 77 no device.\n";

static struct options read_options(int argc, char **argv) {
  static const struct option known[] = {
      {"list", no_argument, NULL, 'l'},         {"only", required_argument, NULL, 'o'},
      {"rounds", required_argument, NULL, 'r'}, {"mib", required_argument, NULL, 'm'},
      {"sizes", no_argument, NULL, 's'},        {"json", no_argument, NULL, 'j'},
      {"driver", required_argument, NULL, 'd'}, {"device", required_argument, NULL, 'n'},
      {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
  struct options options = {.rounds = 5, .mib = FULL_MIB};
  for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (letter) {
    case 'l': options.list = true; break;
    case 'o': options.only = optarg; break;
    case 'r':
      options.rounds = (int)read_number(optarg, 1, MOST_ROUNDS, "no number of rounds");
      break;
    case 'm': options.mib = read_number(optarg, 1e-3, 65536, "no size"); break;
    case 's': options.sizes = true; break;
    case 'j': options.json = true; break;
    case 'd': options.driver = optarg; break;
    case 'n': options.device = (int)read_number(optarg, 0, 1023, "no device"); break;
    case 'h': fputs(help, stdout); exit(EXIT_SUCCESS);
    default: exit(EXIT_USAGE);
    }
  }
  if (optind < argc) refuse_usage("unexpected argument", argv[optind]);
  return options;
}

static void list_workloads(const struct options *options) {
  struct job job;
  const char *before = "{\"schema\": 1, \"workloads\": [\n  ";
  for (size_t i = 0; i < workload_count; i++) {
    if (!is_chosen(options, &workloads[i])) continue;
    plan_job(&job, &workloads[i], options->mib);
    if (!options->json) {
      printf("%-27s %12zu  %s\n", workloads[i].name, job.moved_bytes, workloads[i].signature);
      continue;
    }
    fputs(before, stdout);
    job_print_json(&job, stdout);
    before = ",\n  ";
  }
  if (options->json) puts("\n]}");
}

int main(int argc, char **argv) {
  struct bench bench = {.options = read_options(argc, argv)};
  const struct options *options = &bench.options;
  size_t done = 0;
  size_t wrong = 0;
  size_t chosen = 0;
  for (size_t i = 0; i < workload_count; i++)
    if (is_chosen(options, &workloads[i])) chosen++;
  if (chosen == 0) refuse_usage("no workload begins with", options->only);
  if (options->list) {
    list_workloads(options);
    return EXIT_SUCCESS;
  }
  open_bench(&bench);
  print_head(&bench);
  for (size_t i = 0; i < workload_count; i++) {
    if (!is_chosen(options, &workloads[i])) continue;
    for (int k = 0; k < (options->sizes ? SIZES : 1); k++)
      if (!measure(&bench, &workloads[i], options->sizes ? sizes[k] : options->mib, done++ == 0))
        wrong++;
  }
  if (options->json)
    printf("\n]}\n");
  else
    printf("%zu right, %zu wrong\n", done - wrong, wrong);
  close_bench(&bench);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
