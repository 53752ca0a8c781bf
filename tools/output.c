/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700

#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* mkstemp makes private files; a result has the mode that any new file has. */
static int usual_mode(int descriptor) {
  mode_t mask = umask(0);
  umask(mask);
  return fchmod(descriptor, 0666 & ~mask);
}

static enum exit_code open_temporary(struct output *output, const char *path) {
  /* A link is followed, so that the file behind it is replaced and not the link. */
  char *resolved = realpath(path, NULL);
  output->path = resolved != NULL ? resolved : strdup(path);
  if (output->path == NULL) return complain(EXIT_IO, "out of memory");
  size_t capacity = strlen(output->path) + sizeof ".XXXXXX";
  output->temporary = malloc(capacity);
  if (output->temporary == NULL) return complain(EXIT_IO, "out of memory");
  snprintf(output->temporary, capacity, "%s.XXXXXX", output->path);
  int descriptor = mkstemp(output->temporary);
  if (descriptor < 0) return complain(EXIT_IO, "%s cannot be written: %s", path, strerror(errno));
  if (usual_mode(descriptor) != 0 || (output->stream = fdopen(descriptor, "w")) == NULL) {
    int reason = errno;
    close(descriptor);
    unlink(output->temporary);
    return complain(EXIT_IO, "%s cannot be written: %s", path, strerror(reason));
  }
  return EXIT_DONE;
}

static void forget(struct output *output) {
  free(output->path);
  free(output->temporary);
  memset(output, 0, sizeof *output);
}

enum exit_code output_open(struct output *output, const char *path) {
  struct stat status;
  memset(output, 0, sizeof *output);
  if (path == NULL || strcmp(path, "-") == 0) {
    output->stream = stdout;
    return EXIT_DONE;
  }
  if (path[0] == '\0') return complain_usage("--output needs the name of a file");
  if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    output->stream = fopen(path, "w"); /* /dev/null is written, not replaced by a file */
    if (output->stream == NULL)
      return complain(EXIT_IO, "%s cannot be written: %s", path, strerror(errno));
    return EXIT_DONE;
  }
  enum exit_code code = open_temporary(output, path);
  if (code != EXIT_DONE) forget(output);
  return code;
}

enum exit_code output_close(struct output *output, enum exit_code code) {
  if (output->stream == NULL) return code;
  const char *name = output->path != NULL ? output->path : "the output";
  int failed = ferror(output->stream);
  errno = 0;
  if (fclose(output->stream) != 0) failed = 1;
  if (failed)
    code = complain(EXIT_IO, "%s cannot be written: %s", name,
                    errno != 0 ? strerror(errno) : "an earlier write failed");
  if (output->temporary != NULL && code == EXIT_DONE &&
      rename(output->temporary, output->path) != 0)
    code = complain(EXIT_IO, "%s cannot be written: %s", name, strerror(errno));
  if (output->temporary != NULL && code != EXIT_DONE) unlink(output->temporary);
  forget(output);
  return code;
}
