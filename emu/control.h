/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, counters and planned failures; the gate that every entry point passes first. */
#ifndef EMU_CONTROL_H
#define EMU_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codes.h"

#define EMU_EXPORT __attribute__((visibility("default")))

enum { MAX_DEVICES = 8, MESSAGE_BYTES = 2048 };

enum setting {
#define SETTING(name, initial, least, most) SETTING_##name,
#include "settings.def"
#undef SETTING
  SETTING_COUNT
};

enum entry {
#define ENTRY(name, needs, parameters) ENTRY_##name,
#include "entry_points.def"
#undef ENTRY
  ENTRY_COUNT
};

#define ENTRY(name, needs, parameters) EMU_EXPORT int name parameters;
#include "entry_points.def"
#undef ENTRY

struct context;

int64_t setting(enum setting which);
int device_capability(int device);

/* What stands at the head of every entry point: counts the call, and returns the code with which
 * it is to end at once, else 0 and the current context (NULL where none is needed and none is
 * there). */
int enter(enum entry entry, struct context **context);

void count_instructions(uint64_t count);
void count_modules(int change);

/* Notes a message for tileptx_emu_last_error() of this thread; returns the code. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *thread_message(void);

/* Whether cuInit succeeded in this process, and whether it did before a fork. */
void mark_initialised(void);
bool is_initialised(void);
bool is_forked(void);

#endif
