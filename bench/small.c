/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small: what one launch of little work costs until its result is there: launch plus synchronise,
 * beside the two plainest ways to copy as many bytes. The three take turns.
 */
#define _POSIX_C_SOURCE 200809L

#include "program.h"
#include "workloads.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, VECTOR_BYTES = 16, MOST_TIMES = 100000, WARM_UP = 20 };

static const double bar = 1.1; /* times the faster copy */
static const double kibs[] = {64, 128, 256, 512, 1024};

const char *const program_name = "small";

struct options {
  const char *driver;
  const char *copy_kernel; /* path of copy_vectors.ptx */
  int times;
};

struct small {
  struct options options;
  struct machine machine;
  uint64_t input, output, indices;
  void *copy_kernel;
  int (*synchronize)(void *stream);
  int (*launch)(void *function, unsigned blocks, unsigned blocks_y, unsigned blocks_z,
                unsigned threads, unsigned threads_y, unsigned threads_z, unsigned shared,
                void *stream, void **parameters, void **extra);
};

enum { OURS, OURS_RUN, COPY, KERNEL, KINDS };

static char *read_text(const char *path) {
  static char text[65536];
  FILE *file = fopen(path, "r");
  size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
  if (length == 0) fail("%s cannot be read; --copy-kernel names it", path);
  fclose(file);
  text[length] = '\0';
  return text;
}

static void open_small(struct small *small) {
  struct machine *machine = &small->machine;
  int (*load)(void **module, const void *image);
  int (*find)(void **function, void *module, const char *name);
  void *module = NULL;
  size_t most = (size_t)4 << 20;
  machine_open(machine, small->options.driver, 0, NULL);
  machine_entry_point(machine, "cuModuleLoadData", &load);
  machine_entry_point(machine, "cuModuleGetFunction", &find);
  machine_entry_point(machine, "cuStreamSynchronize", &small->synchronize);
  machine_entry_point(machine, "cuLaunchKernel", &small->launch);
  expect(machine, load(&module, read_text(small->options.copy_kernel)), "loading the copy kernel");
  expect(machine, find(&small->copy_kernel, module, "copy_vectors"), "finding the copy kernel");
  small->input = machine_allocate(machine, most);
  small->output = machine_allocate(machine, most);
  small->indices = machine_allocate(machine, most);
  unsigned char *contents = allocate(most);
  fill_random(contents, most);
  expect(machine, device_write(machine->device, small->input, contents, most), "writing");
  free(contents);
}

static void copy_by_kernel(struct small *small, size_t bytes) {
  uint32_t vectors = (uint32_t)(bytes / VECTOR_BYTES);
  void *parameters[] = {&small->output, &small->input, &vectors};
  expect(&small->machine,
         small->launch(small->copy_kernel, (vectors + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1,
                       0, small->machine.stream, parameters, NULL),
         "copying");
}

/* One piece of work of one kind, waited for. Seconds. */
static double time_once(struct small *small, int kind, tptx_kernel *kernel, const struct job *job) {
  const struct machine *machine = &small->machine;
  tptx_error error;
  tptx_error_init(&error);
  size_t bytes = job->moved_bytes / 2;
  double start = now_seconds();
  if (kind == OURS)
    expect_ok(tptx_launch(kernel, &job->args, machine->stream, &error), &error, "launch");
  else if (kind == OURS_RUN)
    expect_ok(tptx_run(machine->runtime, &job->view, &job->op, &job->args, machine->stream, &error),
              &error, "run");
  else if (kind == COPY)
    expect(machine,
           device_copy(machine->device, small->output, small->input, bytes, machine->stream),
           "copying");
  else
    copy_by_kernel(small, bytes);
  expect(machine, small->synchronize(machine->stream), "waiting");
  return now_seconds() - start;
}

static void prepare_job(struct small *small, struct job *job) {
  job->args.span = job_writes_span(job) ? small->output : small->input;
  job->args.tile = job_writes_span(job) ? small->input : small->output;
  if (!job_has_indices(job)) return;
  int32_t *indices = allocate(job->index_bytes);
  job_draw_indices(job, indices);
  expect(&small->machine,
         device_write(small->machine.device, small->indices, indices, job->index_bytes), "writing");
  job->args.indices = small->indices;
  free(indices);
}

/* Median microseconds of every kind. */
static void time_job(struct small *small, const struct job *job, double *microseconds) {
  int times = small->options.times;
  double *seconds = allocate(sizeof *seconds * KINDS * (size_t)times);
  tptx_view view = job->view;
  tptx_op op = job->op;
  tptx_kernel *kernel = NULL;
  tptx_error error;
  tptx_error_init(&error);
  expect_ok(tptx_specialise(&view, &op, &job->args, &error), &error, job->workload->name);
  expect_ok(tptx_kernel_get(small->machine.runtime, &view, &op, &kernel, &error), &error,
            job->workload->name);
  for (int i = -WARM_UP; i < times; i++)
    for (int kind = 0; kind < KINDS; kind++) {
      double once = time_once(small, kind, kernel, job);
      if (i >= 0) seconds[kind * times + i] = once;
    }
  for (int kind = 0; kind < KINDS; kind++)
    microseconds[kind] = median(&seconds[kind * times], times) * 1e6;
  tptx_kernel_release(kernel);
  free(seconds);
}

static void measure(struct small *small, const struct workload *workload, double kib) {
  struct job job;
  double us[KINDS];
  tptx_error error;
  tptx_error_init(&error);
  expect_ok(job_plan(&job, workload, kib / 1024, &error), &error, workload->name);
  prepare_job(small, &job);
  time_job(small, &job, us);
  double faster = us[COPY] < us[KERNEL] ? us[COPY] : us[KERNEL];
  printf("%-27s %9zu %8.2f %8.2f %8.2f %8.2f %6.3f %5.2f\n", workload->name, job.moved_bytes / 2,
         us[OURS], us[OURS_RUN], us[COPY], us[KERNEL], us[OURS] / faster, bar);
}

static const char help[] =
    "Usage: small [OPTION]...\n"
    "Times launch plus synchronise of little work, beside two copies of as many bytes.\n"
    "\n"
    "  --times N           median of so many (default 1000)\n"
    "  --copy-kernel PATH  copy_vectors.ptx (default: bench/copy_vectors.ptx)\n"
    "  --driver PATH       driver library, or emu (default: TILEPTX_DRIVER, else libcuda.so.1)\n"
    "\n"
    "Exit status: 0 done, 1 a failure, 2 usage, 77 no device.\n";

static struct options read_options(int argc, char **argv) {
  static const struct option known[] = {{"times", required_argument, NULL, 't'},
                                        {"copy-kernel", required_argument, NULL, 'c'},
                                        {"driver", required_argument, NULL, 'd'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  struct options options = {.copy_kernel = "bench/copy_vectors.ptx", .times = 1000};
  for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (letter) {
    case 't': options.times = (int)read_number(optarg, 1, MOST_TIMES, "no number of times"); break;
    case 'c': options.copy_kernel = optarg; break;
    case 'd': options.driver = optarg; break;
    case 'h': fputs(help, stdout); exit(EXIT_SUCCESS);
    default: exit(EXIT_USAGE);
    }
  }
  if (optind < argc) refuse_usage("unexpected argument", argv[optind]);
  return options;
}

int main(int argc, char **argv) {
  struct small small = {.options = read_options(argc, argv)};
  open_small(&small);
  machine_print(&small.machine);
  printf("launch plus synchronise, median microseconds of %d%s\n", small.options.times,
         device_is_emulated(small.machine.device) ? "; emulated: they mean nothing" : "");
  printf("%-27s %9s %8s %8s %8s %8s %6s %5s\n", "workload", "bytes", "launch", "run", "copy",
         "kernel", "ratio", "bar");
  for (size_t i = 0; i < workload_count; i++)
    for (size_t k = 0; k < sizeof kibs / sizeof kibs[0]; k++)
      if (workloads[i].sized) measure(&small, &workloads[i], kibs[k]);
  device_free(small.machine.device, small.input);
  device_free(small.machine.device, small.output);
  device_free(small.machine.device, small.indices);
  machine_close(&small.machine);
  return EXIT_SUCCESS;
}
