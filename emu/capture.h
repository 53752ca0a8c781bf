/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: what is recorded, and what a capture forbids. */
#ifndef EMU_CAPTURE_H
#define EMU_CAPTURE_H

#include <stdbool.h>

#include "work.h"

struct stream;

/* 900, and the end of every capture that forbids it, where this thread may not make an unsafe call
 * now. */
int capture_refuses(const char *what);

/* Carries the work out, or records it where the stream is capturing. Takes what the work holds. */
int capture_or_run(struct context *context, void *stream, struct work *work, const char *what);

#endif
