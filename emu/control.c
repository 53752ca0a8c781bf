/* SPDX-License-Identifier: Apache-2.0 */
#include "control.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "memory.h"
#include "tileptx_emu.h"

enum needs { NEEDS_NOTHING, NEEDS_INIT, NEEDS_CONTEXT, NEEDS_HEALTH };

static const struct {
  const char *name;
  enum needs needs;
} entries[] = {
#define ENTRY(name, needs, parameters) {#name, NEEDS_##needs},
#include "entry_points.def"
#undef ENTRY
};

static const struct {
  const char *name;
  int64_t initial;
  int64_t least;
  int64_t most;
} settings[] = {
#define SETTING(name, initial, least, most) {#name, initial, least, most},
#include "settings.def"
#undef SETTING
};

/* All the state that outlives a call and belongs to no context. */
static struct {
  _Atomic int64_t values[SETTING_COUNT];
  _Atomic int capabilities[MAX_DEVICES];
  _Atomic int64_t calls[ENTRY_COUNT];
  _Atomic int64_t planned[ENTRY_COUNT]; /* the planned[k]-th call from now fails */
  _Atomic int planned_codes[ENTRY_COUNT];
  _Atomic int64_t instructions;
  _Atomic int64_t modules;
  _Atomic int64_t process; /* that called cuInit, else 0 */
  bool verbose;
} state;

static pthread_once_t started = PTHREAD_ONCE_INIT;
static _Thread_local char message[MESSAGE_BYTES];

static void reset(void) {
  for (int k = 0; k < SETTING_COUNT; k++) {
    atomic_store(&state.values[k], settings[k].initial);
  }
  for (int k = 0; k < MAX_DEVICES; k++) {
    atomic_store(&state.capabilities[k], 90);
  }
  for (int k = 0; k < ENTRY_COUNT; k++) {
    atomic_store(&state.calls[k], 0);
    atomic_store(&state.planned[k], 0);
  }
  atomic_store(&state.instructions, 0);
}

static void read_capabilities(const char *text) {
  int last = 90;
  for (int k = 0; k < MAX_DEVICES; k++) {
    char *end;
    long value = strtol(text, &end, 10);
    last = end != text && value >= 50 && value < 1000 ? (int)value : last;
    atomic_store(&state.capabilities[k], last);
    text = *end == ',' ? end + 1 : end;
  }
}

static void read_environment(void) {
  static const struct {
    const char *variable;
    enum setting which;
  } variables[] = {{"TILEPTX_EMU_DEVICES", SETTING_devices}, {"TILEPTX_EMU_PTX", SETTING_ptx}};
  for (size_t k = 0; k < sizeof variables / sizeof variables[0]; k++) {
    const char *text = getenv(variables[k].variable);
    long value = text != NULL ? strtol(text, NULL, 10) : 0;
    if (text != NULL && value >= settings[variables[k].which].least &&
        value <= settings[variables[k].which].most) {
      atomic_store(&state.values[variables[k].which], value);
    }
  }
  if (getenv("TILEPTX_EMU_SM") != NULL) {
    read_capabilities(getenv("TILEPTX_EMU_SM"));
  }
  const char *verbose = getenv("TILEPTX_EMU_VERBOSE");
  state.verbose = verbose != NULL && verbose[0] != '\0';
}

static void start(void) {
  reset();
  read_environment();
}

static void ensure_started(void) {
  pthread_once(&started, start);
}

int64_t setting(enum setting which) {
  return atomic_load(&state.values[which]);
}

int device_capability(int device) {
  return atomic_load(&state.capabilities[device]);
}

int fail(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (state.verbose) {
    fprintf(stderr, "tileptx-emu: %d: %s\n", code, message);
  }
  return code;
}

const char *thread_message(void) {
  return message;
}

void mark_initialised(void) {
  atomic_store(&state.process, (int64_t)getpid());
}

bool is_initialised(void) {
  return atomic_load(&state.process) != 0;
}

bool is_forked(void) {
  int64_t process = atomic_load(&state.process);
  return process != 0 && process != (int64_t)getpid();
}

void count_instructions(uint64_t count) {
  atomic_fetch_add(&state.instructions, (int64_t)count);
}

void count_modules(int change) {
  atomic_fetch_add(&state.modules, change);
}

/* Counts a plan down; true at its end. */
static bool comes_due(_Atomic int64_t *plan) {
  int64_t left = atomic_load(plan);
  while (left > 0) {
    if (atomic_compare_exchange_weak(plan, &left, left - 1)) {
      return left == 1;
    }
  }
  return false;
}

static int planned_failure(enum entry entry) {
  if (comes_due(&state.planned[entry])) {
    return fail(atomic_load(&state.planned_codes[entry]), "planned failure of %s",
                entries[entry].name);
  }
  bool counted = entry != ENTRY_cuGetErrorName && entry != ENTRY_cuGetErrorString;
  if (counted && comes_due(&state.values[SETTING_fail_at])) {
    return fail((int)setting(SETTING_fail_code), "planned failure, it met %s", entries[entry].name);
  }
  return 0;
}

static int check_context(enum entry entry, const struct context *context) {
  enum needs needs = entries[entry].needs;
  if (needs < NEEDS_CONTEXT) {
    return 0;
  }
  if (context == NULL) {
    return fail(ERROR_INVALID_CONTEXT, "%s: no context is current", entries[entry].name);
  }
  if (!context_is_alive(context)) {
    return fail(ERROR_CONTEXT_IS_DESTROYED, "%s: the current context was destroyed",
                entries[entry].name);
  }
  int broken = context_failure(context);
  if (needs == NEEDS_HEALTH && broken != 0) {
    return fail(broken, "%s: a kernel failed in this context: %s", entries[entry].name,
                context_message(context));
  }
  return 0;
}

int enter(enum entry entry, struct context **context) {
  ensure_started();
  struct context *current = context_current();
  if (context != NULL) {
    *context = current;
  }
  atomic_fetch_add(&state.calls[entry], 1);
  if (setting(SETTING_stub) != 0) {
    return ERROR_STUB_LIBRARY;
  }
  int code = planned_failure(entry);
  if (code != 0 || entry == ENTRY_cuGetErrorName || entry == ENTRY_cuGetErrorString) {
    return code;
  }
  if (is_forked()) {
    return fail(ERROR_NOT_INITIALIZED, "%s: the process was forked after cuInit",
                entries[entry].name);
  }
  if (entries[entry].needs >= NEEDS_INIT && !is_initialised()) {
    return fail(ERROR_NOT_INITIALIZED, "%s: cuInit was not called", entries[entry].name);
  }
  return check_context(entry, current);
}

static int configure_capability(const char *name, int64_t value) {
  if (value < 50 || value >= 1000) {
    return 1;
  }
  for (int k = 0; k < MAX_DEVICES; k++) {
    bool named = name[2] == '0' + k && name[3] == '\0';
    if (named || name[2] == '\0') {
      atomic_store(&state.capabilities[k], (int)value);
    }
  }
  return name[2] == '\0' || (name[2] >= '0' && name[2] < '0' + MAX_DEVICES && name[3] == '\0') ? 0
                                                                                               : 1;
}

EMU_EXPORT int tileptx_emu_configure(const char *name, int64_t value) {
  ensure_started();
  if (strcmp(name, "reset") == 0) {
    reset();
    read_environment();
    return 0;
  }
  if (strncmp(name, "sm", 2) == 0) {
    return configure_capability(name, value);
  }
  for (int k = 0; k < SETTING_COUNT; k++) {
    if (strcmp(settings[k].name, name) == 0) {
      if (value < settings[k].least || value > settings[k].most) {
        return 1;
      }
      atomic_store(&state.values[k], value);
      return 0;
    }
  }
  return 1;
}

static int find_entry(const char *name) {
  for (int k = 0; k < ENTRY_COUNT; k++) {
    if (strcmp(entries[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

EMU_EXPORT int tileptx_emu_fail(const char *entry, int nth, int code) {
  ensure_started();
  int index = find_entry(entry);
  if (index < 0 || nth < 0) {
    return 1;
  }
  atomic_store(&state.planned_codes[index], code);
  atomic_store(&state.planned[index], nth);
  return 0;
}

EMU_EXPORT int64_t tileptx_emu_count(const char *name) {
  ensure_started();
  if (strcmp(name, "instructions") == 0) {
    return atomic_load(&state.instructions);
  }
  if (strcmp(name, "modules") == 0) {
    return atomic_load(&state.modules);
  }
  if (strcmp(name, "allocations") == 0) {
    return memory_count();
  }
  if (strcmp(name, "calls") == 0) {
    int64_t sum = 0;
    for (int k = 0; k < ENTRY_COUNT; k++) {
      sum += atomic_load(&state.calls[k]);
    }
    return sum;
  }
  int index = find_entry(name);
  return index < 0 ? -1 : atomic_load(&state.calls[index]);
}

EMU_EXPORT const char *tileptx_emu_last_error(void) {
  const struct context *context = context_current();
  if (message[0] == '\0' && context != NULL && context_message(context)[0] != '\0') {
    fail(context_failure(context), "%s", context_message(context));
  }
  return message;
}
