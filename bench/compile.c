/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile: what a kernel costs from its descriptors to the first launch, with the driver's own
 * cache switched off: twelve kernels beside an empty one on the same path and beside NVRTC on the
 * same work in C++ (kernels.cu); and 64 kernels on 1, 4 and 16 threads.
 */
#define _POSIX_C_SOURCE 200809L

#include "program.h"
#include "workloads.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_COMPILED = 64, PREPARED = 64, PTX_INPUT = 1, MOST_TIMES = 100 };

static const double empty_bar = 1.6;
static const double nvrtc_bar = 0.30;
static const double prepare_bar = 0.25;
static const unsigned prepare_threads[] = {1, 4, 16};
enum { PREPARE_KINDS = sizeof prepare_threads / sizeof prepare_threads[0] };

const char *const program_name = "compile";

struct options {
  const char *driver;
  const char *source; /* kernels.cu */
  const char *nvrtc;
  int times;
};

struct driver {
  int (*link_create)(unsigned count, int *options, void **values, void **link);
  int (*link_add)(void *link, int type, void *data, size_t bytes, const char *name, unsigned count,
                  int *options, void **values);
  int (*link_complete)(void *link, void **binary, size_t *bytes);
  int (*link_destroy)(void *link);
  int (*load)(void **module, const void *image);
  int (*find)(void **function, void *module, const char *name);
  int (*unload)(void *module);
};

struct nvrtc {
  int (*create)(void **program, const char *source, const char *name, int headers,
                const char *const *texts, const char *const *names);
  int (*compile)(void *program, int count, const char *const *options);
  int (*binary_bytes)(void *program, size_t *bytes);
  int (*binary)(void *program, char *binary);
  int (*log_bytes)(void *program, size_t *bytes);
  int (*log)(void *program, char *log);
  int (*destroy)(void **program);
};

struct bench {
  struct options options;
  struct machine machine;
  struct driver driver;
  struct nvrtc nvrtc;
  int has_nvrtc;
  char *source;
  struct job jobs[MOST_COMPILED];
  int count;
};

/* ---- Setting up ------------------------------------------------------------------------------ */

/* The driver reads the variable when it starts, so the program starts again with it. */
static void without_driver_cache(char **argv) {
  const char *set = getenv("CUDA_CACHE_DISABLE");
  if (set != NULL && strcmp(set, "1") == 0) return;
  setenv("CUDA_CACHE_DISABLE", "1", 1);
  execv("/proc/self/exe", argv);
  fail("cannot start again with CUDA_CACHE_DISABLE=1; set it");
}

static void find_driver(struct bench *bench) {
  const struct machine *machine = &bench->machine;
  struct driver *driver = &bench->driver;
  machine_entry_point(machine, "cuLinkCreate_v2", &driver->link_create);
  machine_entry_point(machine, "cuLinkAddData_v2", &driver->link_add);
  machine_entry_point(machine, "cuLinkComplete", &driver->link_complete);
  machine_entry_point(machine, "cuLinkDestroy", &driver->link_destroy);
  machine_entry_point(machine, "cuModuleLoadData", &driver->load);
  machine_entry_point(machine, "cuModuleGetFunction", &driver->find);
  machine_entry_point(machine, "cuModuleUnload", &driver->unload);
}

static void find_nvrtc(struct bench *bench) {
  struct nvrtc *nvrtc = &bench->nvrtc;
  const char *names[] = {bench->options.nvrtc, "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                         "/usr/local/cuda/lib64/libnvrtc.so"};
  const struct {
    const char *name;
    void *member;
  } entries[] = {
      {"nvrtcCreateProgram", &nvrtc->create},        {"nvrtcCompileProgram", &nvrtc->compile},
      {"nvrtcGetCUBINSize", &nvrtc->binary_bytes},   {"nvrtcGetCUBIN", &nvrtc->binary},
      {"nvrtcGetProgramLogSize", &nvrtc->log_bytes}, {"nvrtcGetProgramLog", &nvrtc->log},
      {"nvrtcDestroyProgram", &nvrtc->destroy}};
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && library == NULL; i++)
    if (names[i] != NULL) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
    void *found = dlsym(library, entries[i].name);
    if (found == NULL) return;
    memcpy(entries[i].member, &found, sizeof found);
  }
  bench->has_nvrtc = 1;
}

static char *read_text(const char *path) {
  enum { CAPACITY = 1 << 18 };
  FILE *file = fopen(path, "r");
  char *text = allocate(CAPACITY);
  size_t length = file != NULL ? fread(text, 1, CAPACITY - 1, file) : 0;
  if (length == 0) fail("%s cannot be read; --source names it", path);
  fclose(file);
  text[length] = '\0';
  return text;
}

/* The descriptors as tptx_run would complete them for aligned operands; nothing is launched. */
static void plan(struct job *job, const struct workload *workload) {
  tptx_error error;
  tptx_error_init(&error);
  expect_ok(job_plan(job, workload, FULL_MIB, &error), &error, workload->name);
  job->args.span = job->args.tile = job->args.indices = (uint64_t)1 << 20;
  expect_ok(tptx_specialise(&job->view, &job->op, &job->args, &error), &error, workload->name);
}

static void open_bench(struct bench *bench) {
  tptx_runtime_options options;
  tptx_runtime_options_init(&options);
  machine_open(&bench->machine, bench->options.driver, 0, &options);
  find_driver(bench);
  /* The C++ is of no use to the emulated driver. */
  if (!device_is_emulated(bench->machine.device)) find_nvrtc(bench);
  bench->source = read_text(bench->options.source);
  for (size_t i = 0; i < workload_count; i++)
    if (workloads[i].compiled) plan(&bench->jobs[bench->count++], &workloads[i]);
}

/* ---- Three ways to a kernel; milliseconds ---------------------------------------------------- */

static double build_ours(struct bench *bench, const struct job *job) {
  tptx_kernel *kernel = NULL;
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_clear(bench->machine.runtime);
  double begun = now_seconds();
  expect_ok(tptx_kernel_get(bench->machine.runtime, &job->view, &job->op, &kernel, &error), &error,
            job->workload->name);
  double taken = now_seconds() - begun;
  tptx_kernel_release(kernel);
  return taken * 1e3;
}

static double build_empty(struct bench *bench) {
  char text[] = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n";
  const struct machine *machine = &bench->machine;
  const struct driver *driver = &bench->driver;
  void *link = NULL;
  void *binary = NULL;
  void *module = NULL;
  void *function = NULL;
  size_t bytes = 0;
  double begun = now_seconds();
  expect(machine, driver->link_create(0, NULL, NULL, &link), "cuLinkCreate");
  expect(machine, driver->link_add(link, PTX_INPUT, text, sizeof text, "empty", 0, NULL, NULL),
         "cuLinkAddData");
  expect(machine, driver->link_complete(link, &binary, &bytes), "cuLinkComplete");
  expect(machine, driver->load(&module, binary), "cuModuleLoadData");
  expect(machine, driver->find(&function, module, "empty"), "cuModuleGetFunction");
  expect(machine, driver->link_destroy(link), "cuLinkDestroy");
  double taken = now_seconds() - begun;
  expect(machine, driver->unload(module), "cuModuleUnload");
  return taken * 1e3;
}

/* Whole vectors where they fit, as many in flight as peers.py finds best more often than not. */
static void *start_nvrtc(struct bench *bench, const struct job *job, const char **kernel) {
  enum { OPTIONS = MACROS + 5 };
  char texts[OPTIONS][80];
  const char *options[OPTIONS];
  int used = 0;
  struct equivalent equivalent;
  job_find_equivalent(job, &equivalent);
  bool strided = strcmp(equivalent.kernel, "strided") == 0;
  bool whole = !strided || equivalent.vectors_fit;
  for (int i = 0; i < MACROS; i++)
    snprintf(texts[used++], sizeof texts[0], "-D%s", equivalent.macros[i]);
  snprintf(texts[used++], sizeof texts[0], "-DVECTOR=%d", whole ? equivalent.vector : 1);
  snprintf(texts[used++], sizeof texts[0], "-DITEMS=%d", strided && whole ? 1 : whole ? 2 : 4);
  snprintf(texts[used++], sizeof texts[0], "-DSPAN_VECTOR=%d", whole);
  snprintf(texts[used++], sizeof texts[0], "--gpu-architecture=sm_%d",
           device_sm(bench->machine.device));
  snprintf(texts[used++], sizeof texts[0], "--std=c++17");
  for (int i = 0; i < used; i++) options[i] = texts[i];
  void *program = NULL;
  *kernel = equivalent.kernel;
  if (bench->nvrtc.create(&program, bench->source, "kernels.cu", 0, NULL, NULL) != 0)
    fail("nvrtcCreateProgram failed");
  if (bench->nvrtc.compile(program, used, options) != 0) {
    size_t bytes = 0;
    bench->nvrtc.log_bytes(program, &bytes);
    char *log = allocate(bytes + 1);
    bench->nvrtc.log(program, log);
    fail("%s: NVRTC: %s", job->workload->name, log);
  }
  return program;
}

static double build_nvrtc(struct bench *bench, const struct job *job) {
  const struct machine *machine = &bench->machine;
  const char *kernel = NULL;
  void *module = NULL;
  void *function = NULL;
  size_t bytes = 0;
  double begun = now_seconds();
  void *program = start_nvrtc(bench, job, &kernel);
  if (bench->nvrtc.binary_bytes(program, &bytes) != 0) fail("nvrtcGetCUBINSize failed");
  char *binary = allocate(bytes);
  if (bench->nvrtc.binary(program, binary) != 0) fail("nvrtcGetCUBIN failed");
  bench->nvrtc.destroy(&program);
  expect(machine, bench->driver.load(&module, binary), "cuModuleLoadData");
  expect(machine, bench->driver.find(&function, module, kernel), "cuModuleGetFunction");
  double taken = now_seconds() - begun;
  expect(machine, bench->driver.unload(module), "cuModuleUnload");
  free(binary);
  return taken * 1e3;
}

/* ---- The two measurements -------------------------------------------------------------------- */

enum { OURS, EMPTY, NVRTC, WAYS };

static const char *verdict(double measured, double bar) {
  return measured <= bar ? "met" : "MISSED";
}

static void measure_one(struct bench *bench, const struct job *job) {
  double ms[WAYS][MOST_TIMES];
  double of_empty[MOST_TIMES];
  double of_nvrtc[MOST_TIMES];
  int times = bench->options.times;
  for (int i = 0; i < times; i++) {
    ms[EMPTY][i] = build_empty(bench);
    ms[OURS][i] = build_ours(bench, job);
    ms[NVRTC][i] = bench->has_nvrtc ? build_nvrtc(bench, job) : 0;
    of_empty[i] = ms[OURS][i] / ms[EMPTY][i];
    of_nvrtc[i] = bench->has_nvrtc ? ms[OURS][i] / ms[NVRTC][i] : 0;
  }
  double over_empty = median(of_empty, times);
  printf("%-27s %8.2f %8.2f %7.2f %5.2f %-6s", job->workload->name, median(ms[OURS], times),
         median(ms[EMPTY], times), over_empty, empty_bar, verdict(over_empty, empty_bar));
  if (bench->has_nvrtc) {
    double over_nvrtc = median(of_nvrtc, times);
    printf(" %8.2f %7.2f %5.2f %s", median(ms[NVRTC], times), over_nvrtc, nvrtc_bar,
           verdict(over_nvrtc, nvrtc_bar));
  }
  printf("\n");
  fflush(stdout);
}

static void measure_each(struct bench *bench) {
  printf(
      "from descriptors to a loaded kernel, milliseconds, median of %d; the driver's cache is off"
      "\n%-27s %8s %8s %7s %5s %-6s %8s %7s %5s\n",
      bench->options.times, "workload", "ours", "empty", "ratio", "bar", "", "NVRTC", "ratio",
      "bar");
  build_empty(bench); /* the driver loads its compiler */
  if (bench->has_nvrtc) build_nvrtc(bench, &bench->jobs[0]);
  for (int i = 0; i < bench->count; i++) measure_one(bench, &bench->jobs[i]);
  if (!bench->has_nvrtc) printf("NVRTC is not here\n");
}

/* Every workload, then again with other numbers of threads, until there are enough kernels. */
static void collect(struct job *jobs, tptx_request *requests) {
  static const int32_t threads[] = {0, 128, 512, 64};
  int used = 0;
  for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++)
    for (size_t i = 0; i < workload_count && used < PREPARED; i++) {
      plan(&jobs[used], &workloads[i]);
      jobs[used].op.threads = threads[t];
      if (tptx_plan_check(&jobs[used].view, &jobs[used].op, NULL, NULL) == TPTX_ERROR_TUNING)
        continue;
      memset(&requests[used], 0, sizeof requests[used]);
      requests[used].struct_size = sizeof requests[used];
      requests[used].view = &jobs[used].view;
      requests[used].op = &jobs[used].op;
      used++;
    }
  if (used < PREPARED) fail("only %d different kernels", used);
}

static void measure_prepare(struct bench *bench) {
  struct job *jobs = allocate(sizeof *jobs * PREPARED);
  tptx_request requests[PREPARED];
  double ms[PREPARE_KINDS][MOST_TIMES];
  double shares[MOST_TIMES];
  int times = bench->options.times;
  tptx_error error;
  tptx_error_init(&error);
  collect(jobs, requests);
  for (int i = 0; i < times; i++) {
    for (int k = 0; k < PREPARE_KINDS; k++) {
      tptx_runtime_clear(bench->machine.runtime);
      double begun = now_seconds();
      expect_ok(
          tptx_prepare(bench->machine.runtime, requests, PREPARED, prepare_threads[k], &error),
          &error, "tptx_prepare");
      ms[k][i] = (now_seconds() - begun) * 1e3 / PREPARED;
    }
    shares[i] = ms[PREPARE_KINDS - 1][i] / ms[0][i];
  }
  printf("\ntptx_prepare of %d kernels, milliseconds a kernel, median of %d\n", PREPARED, times);
  for (int k = 0; k < PREPARE_KINDS; k++)
    printf("%3u threads %8.3f\n", prepare_threads[k], median(ms[k], times));
  double share = median(shares, times);
  printf("%u threads of one: %.3f, bar %.2f, %s\n", prepare_threads[PREPARE_KINDS - 1], share,
         prepare_bar, verdict(share, prepare_bar));
  free(jobs);
}

/* ---- Options --------------------------------------------------------------------------------- */

static const char help[] =
    "Usage: compile [OPTION]...\n"
    "Times the way from descriptors to a loaded kernel.\n"
    "\n"
    "  --times N      median of so many (default 5)\n"
    "  --source PATH  the C++ for NVRTC (default: bench/kernels.cu)\n"
    "  --nvrtc PATH   its library (default: where the loader finds it)\n"
    "  --driver PATH  driver library, or emu (default: TILEPTX_DRIVER, else libcuda.so.1)\n"
    "\n"
    "Exit status: 0 done, 1 a failure, 2 usage, 77 no device.\n";

static struct options read_options(int argc, char **argv) {
  static const struct option known[] = {
      {"times", required_argument, NULL, 't'}, {"source", required_argument, NULL, 's'},
      {"nvrtc", required_argument, NULL, 'n'}, {"driver", required_argument, NULL, 'd'},
      {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
  struct options options = {.source = "bench/kernels.cu", .times = 5};
  for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (letter) {
    case 't': options.times = (int)read_number(optarg, 1, MOST_TIMES, "no number of times"); break;
    case 's': options.source = optarg; break;
    case 'n': options.nvrtc = optarg; break;
    case 'd': options.driver = optarg; break;
    case 'h': fputs(help, stdout); exit(EXIT_SUCCESS);
    default: exit(EXIT_USAGE);
    }
  }
  if (optind < argc) refuse_usage("unexpected argument", argv[optind]);
  return options;
}

int main(int argc, char **argv) {
  struct bench bench = {.options = read_options(argc, argv)};
  without_driver_cache(argv);
  open_bench(&bench);
  machine_print(&bench.machine);
  measure_each(&bench);
  measure_prepare(&bench);
  machine_close(&bench.machine);
  free(bench.source);
  return EXIT_SUCCESS;
}
