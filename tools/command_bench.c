/* SPDX-License-Identifier: Apache-2.0 */
/* The command bench: the bandwidth of a kernel beside a plain copy, and the search for a tuning. */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"

#include "batch.h"
#include "json.h"
#include "numbers.h"
#include "session.h"
#include "traffic.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  LAUNCHES = 8, /* of each kind, a round */
  EVENTS = 2 * LAUNCHES + 1,
  TRIAL_ROUNDS = 2,
  DEFAULT_ROUNDS = 5,
  MOST_ROUNDS = 1000,
  COPY_UNIT = 4096, /* copies of odd sizes are slower: not what we compare with */
  MOST_TUNINGS = 16
};

/* A tuning must beat the planner's own choice by this to be worth a longer signature. */
static const double worth_naming = 1.01;

/* What every measurement of one signature shares. */
struct bench {
  struct session *session;
  const struct subject *subject;
  tptx_runtime *runtime;
  tptx_args args;
  size_t bytes;
  uint64_t copy_from, copy_to;
  void *stream;
  void *events[EVENTS];
  int rounds;
};

/* Terabytes a second: medians over the rounds, the ratio that of the rounds' own ratios. */
struct rates {
  double first, second, ratio;
};

/* One of two things that take turns: a kernel, or a copy where it is NULL. */
struct rival {
  tptx_kernel *kernel;
};

/* ---- Progress -------------------------------------------------------------------------------- */

static void say_progress(const char *format, ...) LIKE_PRINTF(1, 2);
static void say_progress(const char *format, ...) {
  va_list arguments;
  if (!isatty(STDERR_FILENO)) return;
  fputs("\r\033[K", stderr);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fflush(stderr);
}

/* ---- Timing ---------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b) {
  double left = *(const double *)a;
  double right = *(const double *)b;
  return (left > right) - (left < right);
}

static double median(double *numbers, int count) {
  qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
  return count % 2 != 0 ? numbers[count / 2] : (numbers[count / 2 - 1] + numbers[count / 2]) / 2;
}

static enum exit_code start(const struct bench *bench, const struct rival *rival) {
  tptx_error error;
  tptx_error_init(&error);
  if (rival->kernel == NULL)
    return session_check(bench->session,
                         device_copy(bench->session->device, bench->copy_to, bench->copy_from,
                                     bench->bytes / 2 / COPY_UNIT * COPY_UNIT, bench->stream),
                         "the copy");
  if (tptx_launch(rival->kernel, &bench->args, bench->stream, &error) != TPTX_OK)
    return complain_refusal(bench->subject->origin, bench->subject->line, &error);
  return EXIT_DONE;
}

static enum exit_code mark(const struct bench *bench, int event) {
  return session_check(
      bench->session,
      device_event_record(bench->session->device, bench->events[event], bench->stream), "timing");
}

/* Both in turn, all queued before any is waited for. Seconds of either: the median. */
static enum exit_code time_round(const struct bench *bench, const struct rival rivals[2],
                                 double seconds[2]) {
  struct device *device = bench->session->device;
  double each[2][LAUNCHES];
  enum exit_code code = mark(bench, 0);
  for (int i = 1; i < EVENTS && code == EXIT_DONE; i++) {
    code = start(bench, &rivals[(i - 1) % 2]);
    if (code == EXIT_DONE) code = mark(bench, i);
  }
  for (int i = 1; i < EVENTS && code == EXIT_DONE; i++) {
    float milliseconds = 0;
    code = session_check(
        bench->session,
        device_event_milliseconds(device, bench->events[i - 1], bench->events[i], &milliseconds),
        "the kernel");
    each[(i - 1) % 2][(i - 1) / 2] = (double)milliseconds / 1e3;
  }
  if (code != EXIT_DONE) return code;
  seconds[0] = median(each[0], LAUNCHES);
  seconds[1] = median(each[1], LAUNCHES);
  return EXIT_DONE;
}

static enum exit_code compare(const struct bench *bench, const struct rival rivals[2], int rounds,
                              struct rates *rates) {
  double numbers[3][MOST_ROUNDS];
  double terabytes = (double)bench->bytes / 1e12;
  double seconds[2] = {0, 0};
  memset(rates, 0, sizeof *rates);
  enum exit_code code = time_round(bench, rivals, seconds); /* warms up */
  for (int i = 0; i < rounds && code == EXIT_DONE; i++) {
    code = time_round(bench, rivals, seconds);
    numbers[0][i] = seconds[0] > 0 ? terabytes / seconds[0] : 0;
    numbers[1][i] = seconds[1] > 0 ? terabytes / seconds[1] : 0;
    numbers[2][i] = seconds[0] > 0 ? seconds[1] / seconds[0] : 0;
  }
  if (code != EXIT_DONE) return code;
  rates->first = median(numbers[0], rounds);
  rates->second = median(numbers[1], rounds);
  rates->ratio = median(numbers[2], rounds);
  return EXIT_DONE;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The kernel for the operands at hand with this tuning; *kernel is NULL where it cannot be had. */
static enum exit_code get_kernel(const struct bench *bench, int32_t threads, int32_t flight,
                                 tptx_kernel **kernel) {
  tptx_view view = bench->subject->view;
  tptx_op op = bench->subject->op;
  tptx_error error;
  tptx_error_init(&error);
  *kernel = NULL;
  if (threads != 0) op.threads = threads;
  if (flight != 0) op.flight = flight;
  tptx_status status = tptx_specialise(&view, &op, &bench->args, &error);
  if (status == TPTX_OK) status = tptx_kernel_get(bench->runtime, &view, &op, kernel, &error);
  if (status == TPTX_OK || (status == TPTX_ERROR_TUNING && threads != 0)) return EXIT_DONE;
  return complain_refusal(bench->subject->origin, bench->subject->line, &error);
}

static const char *signature_of(const tptx_kernel *kernel) {
  return tptx_ptx_signature(tptx_kernel_ptx(kernel));
}

struct trial {
  tptx_kernel *kernel;
  double ratio; /* of the copy's rate */
};

struct trials {
  struct trial list[MOST_TUNINGS];
  int count;
};

static void release_trials(struct trials *trials) {
  for (int i = 0; i < trials->count; i++) tptx_kernel_release(trials->list[i].kernel);
}

static enum exit_code try_tunings(const struct bench *bench, struct trials *trials) {
  static const int32_t threads[] = {128, 256, 512};
  static const int32_t flights[] = {1, 2, 4, 8};
  enum { FLIGHTS = sizeof flights / sizeof flights[0] };
  const int number = FLIGHTS * (int)(sizeof threads / sizeof threads[0]);
  for (int i = 0; i < number; i++) {
    struct trial *trial = &trials->list[trials->count];
    struct rates rates;
    say_progress("tuning %d of %d", i + 1, number);
    enum exit_code code =
        get_kernel(bench, threads[i / FLIGHTS], flights[i % FLIGHTS], &trial->kernel);
    if (code != EXIT_DONE) return code;
    if (trial->kernel == NULL) continue;
    trials->count++;
    const struct rival rivals[2] = {{trial->kernel}, {NULL}};
    code = compare(bench, rivals, TRIAL_ROUNDS, &rates);
    if (code != EXIT_DONE) return code;
    trial->ratio = rates.ratio;
  }
  return EXIT_DONE;
}

/* The trials' best, where it beats the planner's kernel once more; else that one. */
static enum exit_code find_winner(const struct bench *bench, tptx_kernel *planned,
                                  const struct trials *trials, tptx_kernel **winner, double *gain) {
  const struct trial *best = NULL;
  struct rates rates;
  *winner = planned;
  *gain = 1;
  for (int i = 0; i < trials->count; i++)
    if (best == NULL || trials->list[i].ratio > best->ratio) best = &trials->list[i];
  if (best == NULL) return EXIT_DONE;
  say_progress("comparing the best with the planner's choice");
  const struct rival rivals[2] = {{best->kernel}, {planned}};
  enum exit_code code = compare(bench, rivals, bench->rounds, &rates);
  if (code != EXIT_DONE || rates.ratio < worth_naming) return code;
  *winner = best->kernel;
  *gain = rates.ratio;
  return EXIT_DONE;
}

/* ---- Report ---------------------------------------------------------------------------------- */

static void print_text(const struct bench *bench, const char *signature,
                       const struct rates *rates) {
  FILE *out = bench->session->out;
  if (bench->subject->number > 0) fputc('\n', out);
  fprintf(out, "signature  %s\n", signature);
  fprintf(out, "device     %s\n", device_name(bench->session->device));
  fprintf(out, "moved      %.3f MB, median of %d rounds\n", (double)bench->bytes / 1e6,
          bench->rounds);
  fprintf(out, "kernel     %.3f TB/s\n", rates->first);
  fprintf(out, "copy       %.3f TB/s\n", rates->second);
  fprintf(out, "ratio      %.3f\n", rates->ratio);
}

static void print_number(struct json *json, const char *key, double value) {
  char text[32];
  snprintf(text, sizeof text, "%.4f", value);
  json_literal(json, key, text);
}

static void print_json(const struct bench *bench, const char *signature, const struct rates *rates,
                       const char *tuned, double gain) {
  struct json json = {.out = bench->session->out};
  json_begin(&json, NULL, '{');
  json_integer(&json, "schema", 1);
  json_string(&json, "signature", signature);
  json_string(&json, "device", device_name(bench->session->device));
  json_integer(&json, "bytes", (int64_t)bench->bytes);
  json_integer(&json, "rounds", bench->rounds);
  print_number(&json, "terabytes_per_second", rates->first);
  print_number(&json, "copy", rates->second);
  print_number(&json, "ratio", rates->ratio);
  if (tuned != NULL) {
    json_string(&json, "tuned", tuned);
    print_number(&json, "gain", gain);
  }
  json_end(&json, '}');
  fputc('\n', bench->session->out);
}

static void print_tuning(const struct bench *bench, const struct trials *trials, const char *winner,
                         double gain) {
  FILE *out = bench->session->out;
  fputs("tried, of the copy:\n", out);
  for (int i = 0; i < trials->count; i++)
    fprintf(out, "%9.3f  %s\n", trials->list[i].ratio, signature_of(trials->list[i].kernel));
  if (gain > 1)
    fprintf(out, "the best is %.3f of the planner's choice:\n%s\n", gain, winner);
  else
    fprintf(out, "none is %.0f %% better than the planner's choice:\n%s\n",
            (worth_naming - 1) * 100, winner);
}

static enum exit_code report(const struct bench *bench, tptx_kernel *planned) {
  struct trials trials = {.count = 0};
  struct rates rates;
  tptx_kernel *winner = planned;
  double gain = 1;
  const struct rival rivals[2] = {{planned}, {NULL}};
  int tune = bench->session->options->tune;
  say_progress("%s", signature_of(planned));
  enum exit_code code = compare(bench, rivals, bench->rounds, &rates);
  if (code == EXIT_DONE && tune) code = try_tunings(bench, &trials);
  if (code == EXIT_DONE && tune) code = find_winner(bench, planned, &trials, &winner, &gain);
  say_progress("%s", "");
  if (code == EXIT_DONE && bench->session->options->json)
    print_json(bench, signature_of(planned), &rates, tune ? signature_of(winner) : NULL, gain);
  else if (code == EXIT_DONE)
    print_text(bench, signature_of(planned), &rates);
  if (code == EXIT_DONE && tune && !bench->session->options->json)
    print_tuning(bench, &trials, signature_of(winner), gain);
  release_trials(&trials);
  return code;
}

/* ---- Index arrays ---------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return *state >> 33;
}

/*
 * The list that `random:N` and `iota:N` stand for: positions inside the extent, and for random as
 * many as there are each at most once. The caller frees it.
 */
static char *write_entries(int random, int64_t count, int64_t extent) {
  enum { MOST_DIGITS = 21 };
  char *list = malloc((size_t)count * MOST_DIGITS + 1);
  int64_t *positions = malloc(sizeof *positions * (size_t)(extent > 0 ? extent : 1));
  uint64_t state = 1;
  char *at = list;
  if (list == NULL || positions == NULL) {
    free(list);
    free(positions);
    return NULL;
  }
  *at = '\0';
  for (int64_t i = 0; i < extent; i++) positions[i] = i;
  for (int64_t i = 0; i < count; i++) {
    int64_t k = i % extent;
    int64_t other = random ? k + (int64_t)(next_random(&state) % (uint64_t)(extent - k)) : k;
    int64_t position = positions[other];
    positions[other] = positions[k];
    positions[k] = position;
    at += sprintf(at, "%s%" PRId64, i > 0 ? "," : "", position);
  }
  free(positions);
  return list;
}

/* The span's extent on the axis that is picked on; -1 where nothing tells it. */
static int64_t picked_extent(const struct options *options, const tptx_view *view) {
  int64_t extents[TPTX_MAX_RANK];
  char message[256];
  struct axes_form form = {"--extents", 'x', view->rank, 0, INT64_MAX, -1};
  if (view->extents[view->dim] != TPTX_DYNAMIC) return view->extents[view->dim];
  if (options->extents == NULL ||
      axes_read(options->extents, &form, extents, message, sizeof message) != 0)
    return -1;
  return extents[view->dim];
}

/*
 * Replaces `--indices random:N` or `iota:N`, and no --indices at all, by the list it stands for.
 * What else is wrong with the options batch_prepare refuses.
 */
static enum exit_code complete_indices(struct options *options, const struct subject *subject,
                                       char **list) {
  const int64_t most = INT64_C(1) << 26;
  const char *text = options->indices;
  int64_t extent = -1;
  int random = text == NULL || strncmp(text, "random:", strlen("random:")) == 0;
  int iota = text != NULL && strncmp(text, "iota:", strlen("iota:")) == 0;
  *list = NULL;
  if (subject->view.kind != TPTX_GATHER_SCATTER_VIEW || (!random && !iota)) return EXIT_DONE;
  extent = picked_extent(options, &subject->view);
  if (extent < 0) return EXIT_DONE;
  int64_t count = extent;
  const char *number = text != NULL ? strchr(text, ':') + 1 : NULL;
  if (number != NULL && number_read(number, strlen(number), 0, most, &count) != 0)
    return complain_usage("--indices is \"%s\", it must be a list, or random:N or iota:N with N up "
                          "to %" PRId64,
                          text, most);
  if (extent > most || count > most)
    return complain(EXIT_REFUSED, "the index array is too large for bench");
  if (extent == 0) count = 0;
  *list = write_entries(random, count, extent);
  if (*list == NULL) return complain(EXIT_REFUSED, "there is no memory for the index array");
  options->indices = *list;
  return EXIT_DONE;
}

/* ---- Together -------------------------------------------------------------------------------- */

static enum exit_code allocate_rest(struct bench *bench) {
  struct device *device = bench->session->device;
  size_t half = bench->bytes / 2;
  int code = device_allocate(device, half > 0 ? half : 1, &bench->copy_from);
  if (code == 0) code = device_allocate(device, half > 0 ? half : 1, &bench->copy_to);
  if (code == 0) code = device_fill(device, bench->copy_from, 1, half);
  if (code == 0) code = device_stream_create(device, &bench->stream);
  for (int i = 0; i < EVENTS && code == 0; i++)
    code = device_event_create(device, &bench->events[i]);
  if (code == 0) code = device_synchronize(device);
  return session_check(bench->session, code, "getting ready");
}

static void release_rest(struct bench *bench) {
  struct device *device = bench->session->device;
  for (int i = 0; i < EVENTS; i++)
    if (bench->events[i] != NULL) device_event_destroy(device, bench->events[i]);
  if (bench->stream != NULL) device_stream_destroy(device, bench->stream);
  if (bench->copy_from != 0) device_free(device, bench->copy_from);
  if (bench->copy_to != 0) device_free(device, bench->copy_to);
}

static enum exit_code measure(struct bench *bench, struct batch *batch) {
  tptx_kernel *kernel = NULL;
  enum exit_code code = batch_send(batch, bench->session->device);
  if (code != EXIT_DONE) return code;
  batch_arguments(batch, &bench->args);
  bench->bytes = (size_t)traffic_bytes(&bench->subject->view, &bench->subject->op, &bench->args);
  code = allocate_rest(bench);
  if (code == EXIT_DONE) code = get_kernel(bench, 0, 0, &kernel);
  if (code == EXIT_DONE) {
    session_say_choice(bench->session);
    code = report(bench, kernel);
    tptx_kernel_release(kernel);
  }
  release_rest(bench);
  return code;
}

static enum exit_code measure_subject(void *user, struct subject *subject) {
  struct session *session = user;
  struct options options = *session->options;
  struct bench bench = {.session = session, .subject = subject};
  struct batch batch;
  char *list = NULL;
  int64_t rounds = DEFAULT_ROUNDS;
  if (options.rounds != NULL &&
      number_read(options.rounds, strlen(options.rounds), 1, MOST_ROUNDS, &rounds) != 0)
    return complain_usage("--rounds is \"%s\", it must be a number from 1 to %d", options.rounds,
                          MOST_ROUNDS);
  bench.rounds = (int)rounds;
  enum exit_code code = session_open(session);
  if (code == EXIT_DONE) code = session_runtime(session, subject, &bench.runtime);
  if (code != EXIT_DONE) return code;
  code = session_check_plan(session, bench.runtime, subject);
  if (code == EXIT_DONE) code = complete_indices(&options, subject, &list);
  if (code == EXIT_DONE) {
    code = batch_prepare(&batch, &options, subject);
    if (code == EXIT_DONE) code = measure(&bench, &batch);
    batch_release(&batch, session->device);
  }
  free(list);
  tptx_runtime_destroy(bench.runtime);
  return code;
}

enum exit_code command_bench(const struct options *options, FILE *out) {
  struct session session = {.options = options, .out = out};
  if (options->bits) return complain_usage("--bits goes with run, bench prints no elements");
  enum exit_code code = signatures_each(options, measure_subject, &session);
  device_close(session.device);
  return code;
}
