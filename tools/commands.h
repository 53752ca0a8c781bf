/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the tool; commands.def lists them, tileptx.c calls them. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "complain.h"
#include "options.h"

#include <stdio.h>

enum exit_code command_emit(const struct options *options, FILE *out);
enum exit_code command_explain(const struct options *options, FILE *out);
enum exit_code command_report(const struct options *options, FILE *out);
enum exit_code command_run(const struct options *options, FILE *out);
enum exit_code command_bench(const struct options *options, FILE *out);
enum exit_code command_info(const struct options *options, FILE *out);
enum exit_code command_later(const struct options *options, FILE *out);

#endif
