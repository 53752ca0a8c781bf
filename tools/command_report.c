/* SPDX-License-Identifier: Apache-2.0 */
/* The command report: what ptxas says about the emitted text. */
#define _XOPEN_SOURCE 700

#include "commands.h"

#include "json.h"
#include "numbers.h"
#include "signatures.h"
#include "subprocess.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, DEFAULT_SECONDS = 60, UNKNOWN = -1 };

struct assembler {
  const struct options *options;
  FILE *out;
  char path[PATH_BYTES];
  int seconds;
};

/* What ptxas -v counts, in bytes but for registers; UNKNOWN where it said nothing. */
struct resources {
  int64_t registers;
  int64_t spill_stores;
  int64_t spill_loads;
  int64_t stack;
  int64_t shared;
  int64_t constant;
};

/* The rows of the report: text for people, key of the JSON object, member. */
#define RESOURCE_ROWS(X) \
  X("registers", "registers", registers, "") \
  X("spill stores", "spill_store_bytes", spill_stores, " bytes") \
  X("spill loads", "spill_load_bytes", spill_loads, " bytes") \
  X("stack", "stack_bytes", stack, " bytes") \
  X("shared", "shared_bytes", shared, " bytes") \
  X("constant", "constant_bytes", constant, " bytes")

/* ---- A folder for the assembler's files ------------------------------------------------------ */

struct workplace {
  char folder[PATH_BYTES];
  char ptx[PATH_BYTES + 16];
  char cubin[PATH_BYTES + 16];
};

static enum exit_code open_workplace(struct workplace *place) {
  const char *parent = getenv("TMPDIR");
  if (parent == NULL || parent[0] == '\0') parent = "/tmp";
  int length = snprintf(place->folder, sizeof place->folder, "%s/tileptx-XXXXXX", parent);
  if (length < 0 || (size_t)length >= sizeof place->folder)
    return complain(EXIT_IO, "TMPDIR is too long");
  if (mkdtemp(place->folder) == NULL)
    return complain(EXIT_IO, "no folder can be made in %s: %s", parent, strerror(errno));
  snprintf(place->ptx, sizeof place->ptx, "%s/kernel.ptx", place->folder);
  snprintf(place->cubin, sizeof place->cubin, "%s/kernel.cubin", place->folder);
  return EXIT_DONE;
}

static void close_workplace(const struct workplace *place) {
  unlink(place->ptx);
  unlink(place->cubin);
  rmdir(place->folder);
}

static enum exit_code write_text(const char *path, const tptx_ptx *ptx) {
  FILE *file = fopen(path, "w");
  if (file == NULL) return complain(EXIT_IO, "%s cannot be written: %s", path, strerror(errno));
  size_t bytes = tptx_ptx_text_bytes(ptx);
  int good = fwrite(tptx_ptx_text(ptx), 1, bytes, file) == bytes;
  if (fclose(file) != 0 || !good)
    return complain(EXIT_IO, "%s cannot be written: %s", path, strerror(errno));
  return EXIT_DONE;
}

/* ---- Reading its text ------------------------------------------------------------------------ */

/* The number that ends right before `label`, or UNKNOWN. */
static int64_t number_before(const char *text, const char *label) {
  int64_t value = UNKNOWN;
  const char *begin = label;
  while (begin > text && begin[-1] >= '0' && begin[-1] <= '9') begin--;
  number_read(begin, (size_t)(label - begin), 0, INT64_MAX, &value);
  return value;
}

static int64_t first_number(const char *text, const char *label) {
  const char *found = strstr(text, label);
  return found != NULL ? number_before(text, found) : UNKNOWN;
}

/* The sum over every bank; ptxas names a kind of memory only where some of it is used. */
static int64_t sum_of_numbers(const char *text, const char *label) {
  int64_t sum = 0;
  for (const char *found = strstr(text, label); found != NULL; found = strstr(found + 1, label)) {
    int64_t value = number_before(text, found);
    if (value < 0 || value > INT64_MAX - sum) return UNKNOWN;
    sum += value;
  }
  return sum;
}

static struct resources read_resources(const char *text) {
  struct resources resources = {
      .registers = first_number(text, " registers"),
      .spill_stores = first_number(text, " bytes spill stores"),
      .spill_loads = first_number(text, " bytes spill loads"),
      .stack = first_number(text, " bytes stack frame"),
      .shared = sum_of_numbers(text, " bytes smem"),
      .constant = sum_of_numbers(text, " bytes cmem["),
  };
  return resources;
}

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_json(const struct assembler *assembler, const tptx_ptx *ptx, const char *target,
                       const struct resources *resources, double milliseconds) {
  struct json json = {.out = assembler->out};
  char number[32];
  json_begin(&json, NULL, '{');
  json_integer(&json, "schema", 1);
  json_string(&json, "signature", tptx_ptx_signature(ptx));
  json_string(&json, "entry", tptx_ptx_entry(ptx));
  json_string(&json, "target", target);
  json_string(&json, "assembler", assembler->path);
#define ROW(label, key, member, unit) \
  if (resources->member == UNKNOWN) \
    json_literal(&json, key, "null"); \
  else \
    json_integer(&json, key, resources->member);
  RESOURCE_ROWS(ROW)
#undef ROW
  snprintf(number, sizeof number, "%.3f", milliseconds);
  json_literal(&json, "compile_ms", number);
  json_end(&json, '}');
  fputc('\n', assembler->out);
}

static void print_text(const struct assembler *assembler, const tptx_ptx *ptx, const char *target,
                       const struct resources *resources, double milliseconds) {
  FILE *out = assembler->out;
  fprintf(out, "%-14s%s\n", "signature", tptx_ptx_signature(ptx));
  fprintf(out, "%-14s%s\n", "entry", tptx_ptx_entry(ptx));
  fprintf(out, "%-14s%s\n", "target", target);
  fprintf(out, "%-14s%s\n", "assembler", assembler->path);
#define ROW(label, key, member, unit) \
  if (resources->member == UNKNOWN) \
    fprintf(out, "%-14sunknown\n", label); \
  else \
    fprintf(out, "%-14s%" PRId64 "%s\n", label, resources->member, unit);
  RESOURCE_ROWS(ROW)
#undef ROW
  fprintf(out, "%-14s%.1f ms\n", "compile time", milliseconds);
}

/* ---- The command ----------------------------------------------------------------------------- */

static enum exit_code judge(const struct assembler *assembler,
                            const struct program_result *result) {
  if (!result->started)
    return complain(EXIT_MISSING, "%s cannot be run: %s", assembler->path,
                    strerror(result->reason));
  if (result->timed_out)
    return complain(EXIT_REFUSED, "%s was ended after %d seconds (TILEPTX_TIMEOUT sets the limit)",
                    assembler->path, assembler->seconds);
  if (result->exit_code != 0) {
    complain(EXIT_REFUSED, "%s failed, and says:", assembler->path);
    fputs(result->text, stderr);
    return EXIT_REFUSED;
  }
  return EXIT_DONE;
}

static enum exit_code assemble(const struct assembler *assembler, const struct subject *subject,
                               const tptx_ptx *ptx, const struct workplace *place) {
  char target[16];
  char architecture[32];
  struct program_result result;
  enum exit_code code = write_text(place->ptx, ptx);
  if (code != EXIT_DONE) return code;
  snprintf(target, sizeof target, "sm_%d", (int)subject->target.sm);
  snprintf(architecture, sizeof architecture, "-arch=%s", target);
  const char *arguments[] = {assembler->path, "-v", architecture, place->ptx, "-o",
                             place->cubin,    NULL};
  program_run((char *const *)arguments, assembler->seconds, &result);
  code = judge(assembler, &result);
  if (code != EXIT_DONE) return code;
  struct resources resources = read_resources(result.text);
  if (assembler->options->json)
    print_json(assembler, ptx, target, &resources, result.milliseconds);
  else
    print_text(assembler, ptx, target, &resources, result.milliseconds);
  return EXIT_DONE;
}

static enum exit_code report(void *user, struct subject *subject) {
  const struct assembler *assembler = user;
  struct workplace place;
  tptx_ptx *ptx = NULL;
  tptx_error error;
  enum exit_code code = signature_default_target(subject);
  if (code != EXIT_DONE) return code;
  tptx_error_init(&error);
  if (tptx_emit(&subject->view, &subject->op, &subject->target, &ptx, &error) != TPTX_OK)
    return complain_refusal(subject->origin, subject->line, &error);
  code = open_workplace(&place);
  if (code == EXIT_DONE) {
    if (subject->number > 0 && !assembler->options->json) fputc('\n', assembler->out);
    code = assemble(assembler, subject, ptx, &place);
    close_workplace(&place);
  }
  tptx_ptx_free(ptx);
  return code;
}

static enum exit_code read_limit(int *seconds) {
  int64_t value = DEFAULT_SECONDS;
  const char *text = getenv("TILEPTX_TIMEOUT");
  if (text != NULL && text[0] != '\0' && number_read(text, strlen(text), 1, 86400, &value) != 0)
    return complain(EXIT_USAGE, "TILEPTX_TIMEOUT is \"%s\", it must be 1 to 86400 seconds", text);
  *seconds = (int)value;
  return EXIT_DONE;
}

enum exit_code command_report(const struct options *options, FILE *out) {
  struct assembler assembler = {.options = options, .out = out};
  enum exit_code code = read_limit(&assembler.seconds);
  if (code != EXIT_DONE) return code;
  if (options->operand_count > 0 &&
      program_find("ptxas", "TILEPTX_PTXAS", assembler.path, sizeof assembler.path) != 0)
    return complain(
        EXIT_MISSING,
        "ptxas was not found: set TILEPTX_PTXAS to its path, or CUDA_HOME to a toolkit");
  return signatures_each(options, report, &assembler);
}
