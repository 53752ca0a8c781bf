/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

enum option_group { ANY_COMMAND, RUN_COMMAND, BENCH_COMMAND };

struct option_row {
  const char *name;
  const char *value; /* NULL for a flag */
  const char *help;
  size_t member; /* offset in struct options */
  enum option_group group;
  char letter;
};

static const struct option_row rows[] = {
#define FLAG(member, name, letter, commands, help) \
  {name, NULL, help, offsetof(struct options, member), commands, letter},
#define TEXT(member, name, letter, commands, value, help) \
  {name, value, help, offsetof(struct options, member), commands, letter},
#include "options.def"
#undef FLAG
#undef TEXT
};

enum {
  ROW_COUNT = sizeof rows / sizeof rows[0],
  FIRST_LONG = 256, /* getopt_long's value of row i is FIRST_LONG + i; letters lie below */
  HELP_COLUMN = 32
};

/* getopt_long's two descriptions of the same rows. */
static void describe(struct option *long_options, char *short_options) {
  for (int i = 0; i < ROW_COUNT; i++) {
    long_options[i].name = rows[i].name;
    long_options[i].has_arg = rows[i].value != NULL ? required_argument : no_argument;
    long_options[i].flag = NULL;
    long_options[i].val = FIRST_LONG + i;
    if (rows[i].letter != 0) {
      *short_options++ = rows[i].letter;
      if (rows[i].value != NULL) *short_options++ = ':';
    }
  }
  memset(&long_options[ROW_COUNT], 0, sizeof long_options[ROW_COUNT]);
  *short_options = '\0';
}

static const struct option_row *find_row(int found) {
  if (found >= FIRST_LONG) return &rows[found - FIRST_LONG];
  for (int i = 0; i < ROW_COUNT; i++)
    if (rows[i].letter == found) return &rows[i];
  return NULL;
}

static void set_member(struct options *options, const struct option_row *row, const char *value) {
  char *member = (char *)options + row->member;
  int flag = 1;
  if (row->value == NULL)
    memcpy(member, &flag, sizeof flag);
  else
    memcpy(member, &value, sizeof value);
}

static enum exit_code check_group(const struct options *options, const struct option_row *row) {
  if (row == NULL || row->group == ANY_COMMAND || options->command == NULL ||
      strcmp(options->command, "bench") == 0)
    return EXIT_DONE;
  if (row->group == BENCH_COMMAND)
    return complain_usage("--%s goes with the command bench, not with %s", row->name,
                          options->command);
  if (strcmp(options->command, "run") == 0) return EXIT_DONE;
  return complain_usage("--%s goes with the command run or bench, not with %s", row->name,
                        options->command);
}

enum exit_code options_read(int argc, char **argv, struct options *options) {
  struct option long_options[ROW_COUNT + 1];
  char short_options[2 * ROW_COUNT + 1];
  static char program[] = "tileptx"; /* how getopt_long signs its messages */
  const struct option_row *grouped = NULL;
  int found;
  memset(options, 0, sizeof *options);
  describe(long_options, short_options);
  if (argc > 0) argv[0] = program;
  while ((found = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
    const struct option_row *row = find_row(found);
    if (row == NULL) {
      fputs("Try 'tileptx --help' for more information.\n", stderr);
      return EXIT_USAGE;
    }
    set_member(options, row, optarg);
    if (grouped == NULL || row->group > grouped->group) grouped = row;
  }
  if (optind < argc) options->command = argv[optind++];
  options->operands = argv + optind;
  options->operand_count = optind < argc ? argc - optind : 0;
  return check_group(options, grouped);
}

static void print_row(const struct option_row *row, FILE *out) {
  char left[64];
  char letter[8] = "    ";
  if (row->letter != 0) snprintf(letter, sizeof letter, "-%c, ", row->letter);
  int width = snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name,
                       row->value != NULL ? "=" : "", row->value != NULL ? row->value : "");
  if (width < HELP_COLUMN)
    fprintf(out, "%-*s%s\n", HELP_COLUMN, left, row->help);
  else
    fprintf(out, "%s\n%*s%s\n", left, HELP_COLUMN, "", row->help);
}

static void print_group(enum option_group group, const char *title, FILE *out) {
  fputs(title, out);
  for (int i = 0; i < ROW_COUNT; i++)
    if (rows[i].group == group) print_row(&rows[i], out);
}

void options_print_help(FILE *out) {
  print_group(ANY_COMMAND, "Options:\n", out);
  print_group(RUN_COMMAND, "\nOptions of run and bench:\n", out);
  print_group(BENCH_COMMAND, "\nOptions of bench:\n", out);
}
