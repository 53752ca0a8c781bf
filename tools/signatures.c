/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "signatures.h"

#include "numbers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { DEFAULT_SM = 80 };

enum exit_code signature_default_target(struct subject *subject) {
  int64_t sm = DEFAULT_SM;
  const char *named = getenv("TILEPTX_TARGET");
  if (subject->target.sm != 0) return EXIT_DONE;
  if (named != NULL && named[0] != '\0' &&
      (strncmp(named, "sm_", 3) != 0 ||
       number_read(named + 3, strlen(named + 3), 1, 9999, &sm) != 0))
    return complain(EXIT_USAGE, "TILEPTX_TARGET is \"%s\", it must be a target such as sm_90",
                    named);
  subject->target.sm = (int32_t)sm;
  return EXIT_DONE;
}

struct walk {
  enum exit_code (*act)(void *user, struct subject *subject);
  void *user;
  int number;
  enum exit_code code; /* the first failure */
};

static void keep_failure(struct walk *walk, enum exit_code code) {
  if (walk->code == EXIT_DONE) walk->code = code;
}

/* A refused signature does not keep the others from being done; anything worse does. */
static int goes_on(const struct walk *walk) {
  return walk->code == EXIT_DONE || walk->code == EXIT_REFUSED;
}

static void visit_line(struct walk *walk, const char *line, const char *origin) {
  struct subject subject = {.line = line, .origin = origin, .number = walk->number++};
  tptx_error error;
  tptx_error_init(&error);
  if (tptx_signature_parse(line, &subject.view, &subject.op, &subject.target, &error) != TPTX_OK)
    keep_failure(walk, complain_refusal(origin, line, &error));
  else
    keep_failure(walk, walk->act(walk->user, &subject));
}

/* Empty lines are passed over. A NUL byte would hide the rest of its line from the parser. */
static void visit_bytes(struct walk *walk, char *line, size_t length, const char *origin) {
  if (length > 0 && line[length - 1] == '\n') line[--length] = '\0';
  if (strlen(line) != length)
    keep_failure(walk, complain(EXIT_REFUSED, "%s: byte %zu is NUL, a signature is text", origin,
                                strlen(line)));
  else if (length > 0)
    visit_line(walk, line, origin);
}

static void visit_input(struct walk *walk) {
  char *line = NULL;
  size_t capacity = 0;
  ssize_t length;
  errno = 0;
  for (long number = 1; goes_on(walk) && (length = getline(&line, &capacity, stdin)) >= 0;
       number++) {
    char origin[48];
    snprintf(origin, sizeof origin, "standard input, line %ld", number);
    visit_bytes(walk, line, (size_t)length, origin);
    errno = 0;
  }
  if (goes_on(walk) && !feof(stdin))
    keep_failure(walk, complain(EXIT_IO, "standard input cannot be read: %s", strerror(errno)));
  free(line);
}

enum exit_code signatures_each(const struct options *options,
                               enum exit_code (*act)(void *user, struct subject *subject),
                               void *user) {
  struct walk walk = {.act = act, .user = user};
  if (options->operand_count == 0)
    return complain_usage("%s needs a signature, or - to read them from standard input",
                          options->command);
  for (int i = 0; i < options->operand_count && goes_on(&walk); i++) {
    if (strcmp(options->operands[i], "-") == 0)
      visit_input(&walk);
    else
      visit_line(&walk, options->operands[i], NULL);
  }
  return walk.code;
}
