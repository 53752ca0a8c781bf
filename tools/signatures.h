/* SPDX-License-Identifier: Apache-2.0 */
/* The signatures that a command is given, one after the other. */
#ifndef SIGNATURES_H
#define SIGNATURES_H

#include "complain.h"
#include "options.h"

/* One signature line, read. */
struct subject {
  const char *line;
  const char *origin; /* "standard input, line 3", NULL on the command line */
  int number;         /* 0 for the first signature of the command */
  tptx_view view;
  tptx_op op;
  tptx_target target; /* sm 0: the line names none */
};

/*
 * Calls `act` with `user` for every operand of the command, and for every line of standard input
 * where an operand is "-". After a refused signature the others are still done; the first failure
 * is returned.
 */
enum exit_code signatures_each(const struct options *options,
                               enum exit_code (*act)(void *user, struct subject *subject),
                               void *user);

/* Fills a target that the line leaves open: $TILEPTX_TARGET, else sm_80. */
enum exit_code signature_default_target(struct subject *subject);

#endif
