/* SPDX-License-Identifier: Apache-2.0 */
/* The command info: what is installed here, and what the library can write for. */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"

#include "device.h"
#include "json.h"
#include "subprocess.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096, MOST_DEVICES = 64, VERSION_SECONDS = 10 };

/* ---- What the library can write for ---------------------------------------------------------- */

/* The library's tables are its own: whether a plain load can be planned tells what they hold. */
static int can_plan(int32_t sm, int32_t ptx) {
  const int64_t extents[1] = {TPTX_DYNAMIC};
  const int64_t shape[1] = {1};
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_view_strided(&view, TPTX_F32, 1, extents, NULL, shape, NULL);
  tptx_op_load(&op);
  op.masked = 1;
  tptx_target_init(&target);
  target.sm = sm;
  target.ptx = ptx;
  return tptx_plan_check(&view, &op, &target, NULL) == TPTX_OK;
}

enum { FIRST_SM = 75, LAST_SM = 199, FIRST_PTX = 63, LAST_PTX = 199 };

static int newest_ptx(void) {
  for (int ptx = LAST_PTX; ptx >= FIRST_PTX; ptx--)
    if (can_plan(0, ptx)) return ptx;
  return 0;
}

/* ---- Drivers --------------------------------------------------------------------------------- */

struct driver_device {
  char name[128];
  int sm;
};

struct driver_state {
  char path[PATH_BYTES];
  char problem[1024]; /* empty when it works */
  int version;        /* 13000 is 13.0 */
  int ptx;            /* 90 is 9.0 */
  int device_count;
  struct driver_device devices[MOST_DEVICES];
};

static void ask_runtime(struct driver_state *state) {
  tptx_runtime *runtime = NULL;
  tptx_runtime_options options;
  tptx_runtime_info info = {.struct_size = sizeof info};
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_options_init(&options);
  options.driver = state->path;
  options.read_environment = 0;
  if (tptx_runtime_create(&options, &runtime, &error) != TPTX_OK ||
      tptx_runtime_get_info(runtime, &info, &error) != TPTX_OK) {
    snprintf(state->problem, sizeof state->problem, "%s", error.message);
  } else {
    state->version = (int)info.driver_version;
    state->ptx = (int)info.ptx;
  }
  tptx_runtime_destroy(runtime);
}

static void examine(const char *driver, struct driver_state *state) {
  struct device *device;
  memset(state, 0, sizeof *state);
  if (device_open(driver, 0, &device, state->problem, sizeof state->problem) != 0) return;
  snprintf(state->path, sizeof state->path, "%s", device_driver(device));
  ask_runtime(state);
  int count = device_count(device) < MOST_DEVICES ? device_count(device) : MOST_DEVICES;
  for (int i = 0; i < count; i++) {
    struct driver_device *row = &state->devices[state->device_count];
    struct device *other = NULL;
    char ignored[256];
    if (i > 0 && device_open(driver, i, &other, ignored, sizeof ignored) != 0) continue;
    snprintf(row->name, sizeof row->name, "%s", device_name(i == 0 ? device : other));
    row->sm = device_sm(i == 0 ? device : other);
    state->device_count++;
    device_close(other);
  }
  device_close(device);
}

/* ---- Tools ----------------------------------------------------------------------------------- */

struct tool_row {
  const char *name;
  const char *variable;
};

static const struct tool_row tools[] = {{"ptxas", "TILEPTX_PTXAS"},
                                        {"nvdisasm", "TILEPTX_NVDISASM"},
                                        {"cuobjdump", "TILEPTX_CUOBJDUMP"}};

/* "13.0.88" of the line "Cuda compilation tools, release 13.0, V13.0.88"; empty if it has none. */
static void ask_version(char *path, char *version, size_t capacity) {
  static char option[] = "--version";
  char *const arguments[] = {path, option, NULL};
  struct program_result result;
  program_run(arguments, VERSION_SECONDS, &result);
  const char *found = result.started ? strstr(result.text, ", V") : NULL;
  version[0] = '\0';
  if (found != NULL)
    snprintf(version, capacity, "%.*s", (int)strspn(found + 3, "0123456789."), found + 3);
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* One line of text, or one member of the object. */
struct sheet {
  FILE *out;
  struct json *json; /* NULL: text */
};

static void print_row(struct sheet *sheet, const char *key, const char *text) {
  if (sheet->json != NULL)
    json_string(sheet->json, key, text);
  else
    fprintf(sheet->out, "%-13s%s\n", key, text);
}

static void format_version(int version, int whole, char text[16]) {
  snprintf(text, 16, "%d.%d", version / whole, version % whole / (whole == 10 ? 1 : 10));
}

static void print_library(struct sheet *sheet) {
  char text[1024] = "";
  size_t used = 0;
  print_row(sheet, "tileptx", TPTX_VERSION_STRING);
  format_version(newest_ptx(), 10, text);
  print_row(sheet, "ptx", text);
  if (sheet->json != NULL) json_begin(sheet->json, "targets", '[');
  for (int sm = FIRST_SM; sm <= LAST_SM && used + 16 < sizeof text; sm++) {
    char target[16];
    if (!can_plan(sm, 0)) continue;
    snprintf(target, sizeof target, "sm_%d", sm);
    if (sheet->json != NULL)
      json_string(sheet->json, NULL, target);
    else
      used +=
          (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "", target);
  }
  if (sheet->json != NULL)
    json_end(sheet->json, ']');
  else
    print_row(sheet, "targets", text);
}

static void print_driver_text(const char *label, const struct driver_state *state, FILE *out) {
  char version[16];
  char ptx[16];
  if (state->problem[0] != '\0') {
    fprintf(out, "%-13snone: %s\n", label, state->problem);
    return;
  }
  format_version(state->version, 1000, version);
  format_version(state->ptx, 10, ptx);
  fprintf(out, "%-13s%s, version %s, takes PTX %s\n", label, state->path, version, ptx);
  for (int i = 0; i < state->device_count; i++)
    fprintf(out, "%-13s%d: %s, sm_%d\n", "", i, state->devices[i].name, state->devices[i].sm);
}

static void print_driver_json(const char *key, const struct driver_state *state,
                              struct json *json) {
  char text[16];
  int good = state->problem[0] == '\0';
  json_begin(json, key, '{');
  json_string(json, "path", good ? state->path : NULL);
  format_version(state->version, 1000, text);
  json_string(json, "version", good ? text : NULL);
  format_version(state->ptx, 10, text);
  json_string(json, "ptx", good ? text : NULL);
  json_string(json, "problem", good ? NULL : state->problem);
  json_begin(json, "devices", '[');
  for (int i = 0; i < state->device_count; i++) {
    snprintf(text, sizeof text, "sm_%d", state->devices[i].sm);
    json_begin(json, NULL, '{');
    json_string(json, "name", state->devices[i].name);
    json_string(json, "target", text);
    json_end(json, '}');
  }
  json_end(json, ']');
  json_end(json, '}');
}

static void print_driver(struct sheet *sheet, const char *key, const char *driver) {
  struct driver_state state;
  examine(driver, &state);
  if (sheet->json != NULL)
    print_driver_json(key, &state, sheet->json);
  else
    print_driver_text(key, &state, sheet->out);
}

static void print_tool(struct sheet *sheet, const struct tool_row *tool) {
  char path[PATH_BYTES];
  char version[32] = "";
  int found = program_find(tool->name, tool->variable, path, sizeof path) == 0;
  if (found) ask_version(path, version, sizeof version);
  if (sheet->json == NULL) {
    fprintf(sheet->out, "%-13s%s%s%s\n", tool->name, found ? path : "not found",
            version[0] != '\0' ? ", version " : "", version);
    return;
  }
  json_begin(sheet->json, tool->name, '{');
  json_string(sheet->json, "path", found ? path : NULL);
  json_string(sheet->json, "version", version[0] != '\0' ? version : NULL);
  json_end(sheet->json, '}');
}

enum exit_code command_info(const struct options *options, FILE *out) {
  struct json json = {.out = out};
  struct sheet sheet = {out, options->json ? &json : NULL};
  const char *named = getenv("TILEPTX_DRIVER");
  if (options->operand_count > 0)
    return complain_usage("info takes no signature, \"%s\" was given", options->operands[0]);
  if (options->json) {
    json_begin(&json, NULL, '{');
    json_integer(&json, "schema", 1);
  }
  print_library(&sheet);
  print_driver(&sheet, "driver", named != NULL && named[0] != '\0' ? named : NULL);
  print_driver(&sheet, "emulator", "emu");
  for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) print_tool(&sheet, &tools[i]);
  if (options->json) {
    json_end(&json, '}');
    fputc('\n', out);
  }
  return EXIT_DONE;
}
