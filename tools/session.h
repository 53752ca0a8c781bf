/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that need a device share: the device, a runtime for a signature, refusals. */
#ifndef SESSION_H
#define SESSION_H

#include "device.h"
#include "options.h"
#include "signatures.h"

#include <tileptx/runtime.h>

#include <stdio.h>

struct session {
  const struct options *options;
  FILE *out;
  struct device *device; /* NULL until session_open */
  char choice[1200];     /* which device `auto` took and why; empty once it was said */
};

/* The device that --device asks for; nothing where it is open. */
enum exit_code session_open(struct session *session);
/* Says on standard error what `auto` took, once. */
void session_say_choice(struct session *session);

enum exit_code session_runtime(const struct session *session, const struct subject *subject,
                               tptx_runtime **runtime);
/* A view that cannot be planned is refused before its numbers are used. */
enum exit_code session_check_plan(const struct session *session, tptx_runtime *runtime,
                                  const struct subject *subject);
/* Refuses a code of the driver's that is not 0. */
enum exit_code session_check(const struct session *session, int code, const char *what);

#endif
