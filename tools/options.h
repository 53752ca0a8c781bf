/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, taken apart; values stay text until a command knows what they must be. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "complain.h"

#include <stdio.h>

struct options {
  const char *command; /* NULL when there is none */
  char **operands;     /* what follows the command: signatures, or "-" */
  int operand_count;
#define FLAG(member, name, letter, commands, help) int member;
#define TEXT(member, name, letter, commands, value, help) const char *member; /* NULL: not given */
#include "options.def"
#undef FLAG
#undef TEXT
};

/* Reads the whole command line; argv is permuted. */
enum exit_code options_read(int argc, char **argv, struct options *options);

/* The option part of the help text. */
void options_print_help(FILE *out);

#endif
