/* SPDX-License-Identifier: Apache-2.0 */
/* The command run: carries an operation out and prints the tiles or the span. */
#include "commands.h"

#include "batch.h"
#include "json.h"
#include "session.h"
#include "values.h"

#include <string.h>

/* ---- Printing -------------------------------------------------------------------------------- */

/* Where values go: rows of text, or one flat list of JSON. */
struct printer {
  FILE *out;
  struct json *json; /* NULL: text */
  int bits;
  int blank; /* text: an empty line is due before the next row */
};

static void print_value(struct printer *printer, tptx_type type, uint64_t bits) {
  char text[VALUE_TEXT];
  if (printer->bits)
    value_print_bits(type, bits, text);
  else
    value_print(type, bits, text);
  if (printer->json == NULL)
    fputs(text, printer->out);
  else if (printer->bits || !value_is_finite(type, bits))
    json_string(printer->json, NULL, text);
  else
    json_literal(printer->json, NULL, text);
}

/* What an array operand has no element for. */
static void print_nothing(struct printer *printer) {
  if (printer->json == NULL)
    fputc('-', printer->out);
  else
    json_literal(printer->json, NULL, "null");
}

/* After an element of a box: ends the row, and asks for an empty line after each slice. */
static void print_separator(struct printer *printer, int rank, const int64_t *next, int more) {
  if (printer->json != NULL) return;
  if (more && rank > 0 && next[rank - 1] != 0) {
    fputc(' ', printer->out);
    return;
  }
  fputc('\n', printer->out);
  printer->blank = more && rank > 1 && next[rank - 2] == 0;
}

static void print_blank(struct printer *printer) {
  if (printer->json == NULL && printer->blank) fputc('\n', printer->out);
  printer->blank = 0;
}

static void print_span(struct printer *printer, const struct operand *span) {
  int64_t position[TPTX_MAX_RANK] = {0};
  int more = product_of(span->rank, span->extents) != 0;
  while (more) {
    uint64_t bits = operand_element(span, position);
    print_blank(printer);
    print_value(printer, span->type, bits);
    more = next_position(span->rank, span->extents, position);
    print_separator(printer, span->rank, position, more);
  }
}

/* Element `at` of tile `chunk`, where the tiles lie side by side. */
static void print_array_element(struct printer *printer, const struct operand *tile,
                                const int64_t *chunk, const int64_t *shape, const int64_t *at) {
  int64_t position[TPTX_MAX_RANK];
  for (int k = 0; k < tile->rank; k++) {
    if (chunk[k] > (tile->extents[k] - 1 - at[k]) / shape[k]) {
      print_nothing(printer);
      return;
    }
    position[k] = chunk[k] * shape[k] + at[k];
    if (position[k] >= tile->extents[k]) {
      print_nothing(printer);
      return;
    }
  }
  print_value(printer, tile->type, operand_element(tile, position));
}

static void print_tile(struct printer *printer, const struct batch *batch,
                       const struct subject *subject, const int64_t *chunk, int64_t number) {
  const tptx_view *view = &subject->view;
  int packed = subject->op.tile.tiles == TPTX_TILES_PACKED;
  int64_t at[TPTX_MAX_RANK] = {0};
  int64_t next = number * product_of(view->rank, view->shape); /* of a packed operand */
  for (int more = 1; more; next++) {
    print_blank(printer);
    if (packed)
      print_value(printer, batch->tile.type, operand_element(&batch->tile, &next));
    else
      print_array_element(printer, &batch->tile, chunk, view->shape, at);
    more = next_position(view->rank, view->shape, at);
    print_separator(printer, view->rank, at, more);
  }
}

static void print_tiles(struct printer *printer, const struct batch *batch,
                        const struct subject *subject) {
  int rank = subject->view.rank;
  int64_t chunk[TPTX_MAX_RANK] = {0};
  int64_t number = 0;
  int more = product_of(rank, batch->count) != 0;
  while (more && !ferror(printer->out)) {
    if (printer->json != NULL) json_begin(printer->json, NULL, '[');
    print_tile(printer, batch, subject, chunk, number++);
    if (printer->json != NULL) json_end(printer->json, ']');
    printer->blank = 1;
    more = next_position(rank, batch->count, chunk);
  }
}

static void print_result(struct session *session, const struct batch *batch,
                         const struct subject *subject, const char *signature) {
  struct json json = {.out = session->out};
  struct printer printer = {.out = session->out, .bits = session->options->bits};
  if (!session->options->json) {
    printer.blank = subject->number > 0;
    if (batch_gives_tiles(&subject->op)) print_tiles(&printer, batch, subject);
    if (batch_writes_span(&subject->op)) print_span(&printer, &batch->span);
    return;
  }
  printer.json = &json;
  json_begin(&json, NULL, '{');
  json_integer(&json, "schema", 1);
  json_string(&json, "signature", signature);
  json_string(&json, "device", device_name(session->device));
  if (batch_gives_tiles(&subject->op)) {
    json_begin(&json, "tiles", '[');
    print_tiles(&printer, batch, subject);
    json_end(&json, ']');
  }
  if (batch_writes_span(&subject->op)) {
    json_begin(&json, "span", '[');
    print_span(&printer, &batch->span);
    json_end(&json, ']');
  }
  json_end(&json, '}');
  fputc('\n', session->out);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The canonical line of the kernel that just ran: the cache still has it. */
static enum exit_code find_signature(tptx_runtime *runtime, const struct subject *subject,
                                     const tptx_args *args, char *line, size_t capacity) {
  tptx_view view = subject->view;
  tptx_op op = subject->op;
  tptx_kernel *kernel = NULL;
  tptx_error error;
  tptx_error_init(&error);
  if (tptx_specialise(&view, &op, args, &error) != TPTX_OK ||
      tptx_kernel_get(runtime, &view, &op, &kernel, &error) != TPTX_OK)
    return complain_refusal(subject->origin, subject->line, &error);
  snprintf(line, capacity, "%s", tptx_ptx_signature(tptx_kernel_ptx(kernel)));
  tptx_kernel_release(kernel);
  return EXIT_DONE;
}

static enum exit_code launch(const struct session *session, tptx_runtime *runtime,
                             const struct subject *subject, const tptx_args *args) {
  void *stream = NULL;
  tptx_error error;
  tptx_error_init(&error);
  enum exit_code code =
      session_check(session, device_stream_create(session->device, &stream), "making a stream");
  if (code != EXIT_DONE) return code;
  if (tptx_run(runtime, &subject->view, &subject->op, args, stream, &error) != TPTX_OK)
    code = complain_refusal(subject->origin, subject->line, &error);
  else
    code = session_check(session, device_synchronize(session->device), "the kernel");
  device_stream_destroy(session->device, stream);
  return code;
}

static enum exit_code carry_out(struct session *session, tptx_runtime *runtime,
                                const struct subject *subject, struct batch *batch) {
  char signature[TPTX_MAX_SIGNATURE + 1] = "";
  tptx_args args;
  enum exit_code code = batch_send(batch, session->device);
  if (code != EXIT_DONE) return code;
  batch_arguments(batch, &args);
  code = launch(session, runtime, subject, &args);
  if (code == EXIT_DONE && batch_gives_tiles(&subject->op))
    code = operand_fetch(&batch->tile, session->device);
  if (code == EXIT_DONE && batch_writes_span(&subject->op))
    code = operand_fetch(&batch->span, session->device);
  if (code == EXIT_DONE && session->options->json)
    code = find_signature(runtime, subject, &args, signature, sizeof signature);
  if (code == EXIT_DONE) print_result(session, batch, subject, signature);
  return code;
}

static enum exit_code run(void *user, struct subject *subject) {
  struct session *session = user;
  struct batch batch;
  tptx_runtime *runtime = NULL;
  enum exit_code code = session_open(session);
  if (code == EXIT_DONE) code = session_runtime(session, subject, &runtime);
  if (code != EXIT_DONE) return code;
  code = session_check_plan(session, runtime, subject);
  if (code == EXIT_DONE) {
    code = batch_prepare(&batch, session->options, subject);
    if (code == EXIT_DONE) {
      session_say_choice(session);
      code = carry_out(session, runtime, subject, &batch);
    }
    batch_release(&batch, session->device);
  }
  tptx_runtime_destroy(runtime);
  return code;
}

enum exit_code command_run(const struct options *options, FILE *out) {
  struct session session = {.options = options, .out = out};
  enum exit_code code = signatures_each(options, run, &session);
  device_close(session.device);
  return code;
}
