/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that only need the pure half: emit and explain. */
#include "commands.h"

#include "json.h"
#include "signatures.h"

#include <string.h>

struct emission {
  const struct options *options;
  FILE *out;
};

static void print_json(const tptx_ptx *ptx, FILE *out) {
  struct json json = {.out = out};
  char target[16];
  char version[16];
  snprintf(target, sizeof target, "sm_%d", (int)tptx_ptx_target(ptx));
  snprintf(version, sizeof version, "%d.%d", (int)tptx_ptx_version(ptx) / 10,
           (int)tptx_ptx_version(ptx) % 10);
  json_begin(&json, NULL, '{');
  json_integer(&json, "schema", 1);
  json_string(&json, "signature", tptx_ptx_signature(ptx));
  json_string(&json, "entry", tptx_ptx_entry(ptx));
  json_string(&json, "target", target);
  json_string(&json, "version", version);
  json_string(&json, "ptx", tptx_ptx_text(ptx));
  json_end(&json, '}');
  fputc('\n', out);
}

static enum exit_code emit(void *user, struct subject *subject) {
  const struct emission *emission = user;
  tptx_ptx *ptx = NULL;
  tptx_error error;
  enum exit_code code = signature_default_target(subject);
  if (code != EXIT_DONE) return code;
  tptx_error_init(&error);
  if (tptx_emit(&subject->view, &subject->op, &subject->target, &ptx, &error) != TPTX_OK)
    return complain_refusal(subject->origin, subject->line, &error);
  if (emission->options->json)
    print_json(ptx, emission->out);
  else
    fwrite(tptx_ptx_text(ptx), 1, tptx_ptx_text_bytes(ptx), emission->out);
  tptx_ptx_free(ptx);
  return EXIT_DONE;
}

static enum exit_code explain(void *user, struct subject *subject) {
  const struct emission *emission = user;
  tptx_explanation *explanation = NULL;
  tptx_error error;
  enum exit_code code = signature_default_target(subject);
  if (code != EXIT_DONE) return code;
  tptx_error_init(&error);
  if (tptx_explain(&subject->view, &subject->op, &subject->target, emission->options->json,
                   &explanation, &error) != TPTX_OK)
    return complain_refusal(subject->origin, subject->line, &error);
  const char *text = tptx_explanation_text(explanation);
  size_t length = strlen(text);
  if (subject->number > 0 && !emission->options->json) fputc('\n', emission->out);
  fputs(text, emission->out);
  if (length == 0 || text[length - 1] != '\n') fputc('\n', emission->out);
  tptx_explanation_free(explanation);
  return EXIT_DONE;
}

enum exit_code command_emit(const struct options *options, FILE *out) {
  struct emission emission = {options, out};
  return signatures_each(options, emit, &emission);
}

enum exit_code command_explain(const struct options *options, FILE *out) {
  struct emission emission = {options, out};
  return signatures_each(options, explain, &emission);
}
