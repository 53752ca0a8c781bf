/* SPDX-License-Identifier: Apache-2.0 */
/* The tool: finds the command, opens the output, calls the command. */
#define _POSIX_C_SOURCE 200809L

#include "commands.h"
#include "output.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct command {
  const char *name;
  enum exit_code (*function)(const struct options *options, FILE *out);
  const char *arguments;
  const char *help;
};

static const struct command commands[] = {
#define COMMAND(name, function, arguments, help) {#name, function, arguments, help},
#include "commands.def"
#undef COMMAND
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out) {
  fputs("Usage: tileptx COMMAND [OPTION]... [SIGNATURE]...\n"
        "Write, explain and run PTX for one operation of a CUDA tile view.\n"
        "\n"
        "Commands:\n",
        out);
  for (int i = 0; i < COMMAND_COUNT; i++) {
    char left[64];
    snprintf(left, sizeof left, "  %s %s", commands[i].name, commands[i].arguments);
    fprintf(out, "%-24s%s\n", left, commands[i].help);
  }
  fputs("\n"
        "A SIGNATURE names one operation, as in\n"
        "  strided_view:f32:4x11:shape=2x4:strides=1x1:load_masked:pad=nan\n"
        "and - stands for signatures on standard input, one a line.\n"
        "\n",
        out);
  options_print_help(out);
  fputs("\n"
        "VALUES are iota, zeros, ones, a list such as 1,-2.5,nan,0x7fc0 (0x: bits), or file:PATH.\n"
        "\n"
        "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 a tool or GPU is missing,\n"
        "4 input or output failed.\n",
        out);
}

static void print_version(FILE *out) {
  fputs("tileptx " TPTX_VERSION_STRING "\n"
        "License: Apache-2.0\n",
        out);
}

enum exit_code command_later(const struct options *options, FILE *out) {
  (void)out;
  return complain(EXIT_REFUSED, "%s is not in this version of tileptx; it comes with a later one",
                  options->command);
}

static enum exit_code carry_out(const struct options *options, FILE *out) {
  if (options->help) {
    print_help(out);
    return EXIT_DONE;
  }
  if (options->version) {
    print_version(out);
    return EXIT_DONE;
  }
  if (options->command == NULL)
    return complain_usage("a command is missing, such as emit, explain, report, run or info");
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(commands[i].name, options->command) == 0) return commands[i].function(options, out);
  return complain_usage("there is no command \"%s\"", options->command);
}

/*
 * A descriptor 0, 1 or 2 that is closed would be given to the next file that is opened, and results
 * would land there. It is held by one that refuses, so that the fault is noticed and reported.
 */
static int hold_standard_descriptors(void) {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
    if (fcntl(descriptor, F_GETFD) == -1 &&
        open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor)
      return -1;
  return 0;
}

int main(int argc, char **argv) {
  struct options options;
  struct output output;
  if (hold_standard_descriptors() != 0) return EXIT_IO;
  enum exit_code code = options_read(argc, argv, &options);
  if (code == EXIT_DONE) code = output_open(&output, options.output);
  if (code != EXIT_DONE) return (int)code;
  code = carry_out(&options, output.stream);
  return (int)output_close(&output, code);
}
