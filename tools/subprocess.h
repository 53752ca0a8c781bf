/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the CUDA toolkit: finding them, and running one without a shell. */
#ifndef SUBPROCESS_H
#define SUBPROCESS_H

#include <stddef.h>

/*
 * Looks for a program: $VARIABLE (a path, or a name for PATH), then PATH, $CUDA_HOME/bin,
 * $CUDA_PATH/bin, /usr/local/cuda/bin. A variable that is set but leads nowhere ends the search.
 * 0 and `path`, or -1.
 */
int program_find(const char *name, const char *variable, char *path, size_t capacity);

struct program_result {
  int started; /* 0: `reason` is an errno */
  int reason;
  int timed_out; /* it was ended after the limit */
  int exit_code; /* -1 when a signal ended it */
  double milliseconds;
  char text[65536]; /* standard output and error together, cut to this */
};

/* Runs argv[0] with empty input, for at most `seconds`. */
void program_run(char *const argv[], int seconds, struct program_result *result);

#endif
