/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "trace.h"

#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads "cache,build" into topic bits. */
static tptx_status read_topics(const char *words, int *topics, tptx_error *error) {
  static const struct {
    const char *word;
    int bits;
  } known[] = {
      {"warning", TPTX_TOPIC_WARNING},
      {"cache", TPTX_TOPIC_CACHE},
      {"build", TPTX_TOPIC_BUILD},
      {"launch", TPTX_TOPIC_LAUNCH},
      {"all", TPTX_TOPIC_WARNING | TPTX_TOPIC_CACHE | TPTX_TOPIC_BUILD | TPTX_TOPIC_LAUNCH},
  };
  while (*words) {
    size_t bytes = strcspn(words, ","), i = 0, count = sizeof known / sizeof *known;
    while (i < count && (strlen(known[i].word) != bytes || memcmp(known[i].word, words, bytes)))
      i++;
    REFUSE_IF(
        i == count && bytes, error, TPTX_ERROR_INVALID_ARGUMENT, "TILEPTX_TRACE", -1,
        "TILEPTX_TRACE names the topic \"%.*s\"; topics are warning, cache, build, launch, all",
        (int)(bytes < 40 ? bytes : 40), words);
    if (bytes) *topics |= known[i].bits;
    words += bytes + (words[bytes] == ',');
  }
  return TPTX_OK;
}

tptx_status trace_open(struct trace *trace, const tptx_runtime_options *options,
                       const tptx_allocator *allocator, tptx_error *error) {
  trace->log = options->log;
  trace->user = options->log_user;
  trace->topics = options->topics;
  trace->dump_directory = NULL;
  atomic_init(&trace->dump_failed, false);
  atomic_init(&trace->dumps, 0);
  const char *directory = options->dump_directory;
  if (options->read_environment) {
    const char *topics = getenv("TILEPTX_TRACE");
    if (topics) FORWARD(read_topics(topics, &trace->topics, error));
    if (!directory) directory = getenv("TILEPTX_DUMP_DIR");
  }
  if (!directory || !*directory) return TPTX_OK;
  size_t bytes = strlen(directory) + 1;
  trace->dump_directory = allocate(allocator, bytes);
  REFUSE_IF(!trace->dump_directory, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1,
            "no memory for the name of the dump folder");
  memcpy(trace->dump_directory, directory, bytes);
  return TPTX_OK;
}

void trace_close(struct trace *trace, const tptx_allocator *allocator) {
  release(allocator, trace->dump_directory);
  trace->dump_directory = NULL;
}

void trace_line(const struct trace *trace, tptx_topic topic, const char *format, ...) {
  if (!trace_wants(trace, topic)) return;
  char line[TPTX_MAX_SIGNATURE + 512];
  int prefix = snprintf(line, sizeof line, "tileptx: ");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + prefix, sizeof line - (size_t)prefix, format, arguments);
  va_end(arguments);
  trace->log(trace->user, topic, line);
}

static bool write_whole(int file, const char *text, size_t bytes) {
  while (bytes > 0) {
    ssize_t written = write(file, text, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text += written;
    bytes -= (size_t)written;
  }
  return true;
}

/* Written under another name and renamed, so that nobody ever reads half a text. */
static bool write_file(const char *path, const char *temporary, const char *text, size_t bytes) {
  int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return false;
  bool written = write_whole(file, text, bytes);
  written = close(file) == 0 && written;
  if (written && rename(temporary, path) == 0) return true;
  int reason = errno;
  unlink(temporary);
  errno = reason;
  return false;
}

void trace_dump(struct trace *trace, const tptx_ptx *ptx) {
  if (!trace->dump_directory) return;
  char path[4096], temporary[4096];
  const char *entry = tptx_ptx_entry(ptx);
  int bytes = snprintf(path, sizeof path, "%s/%s.ptx", trace->dump_directory, entry);
  snprintf(temporary, sizeof temporary, "%s/.%s.%ld.%u", trace->dump_directory, entry,
           (long)getpid(), atomic_fetch_add(&trace->dumps, 1));
  errno = ENAMETOOLONG;
  if (bytes < (int)sizeof path - 40 &&
      write_file(path, temporary, tptx_ptx_text(ptx), tptx_ptx_text_bytes(ptx)))
    return;
  int reason = errno;
  if (!atomic_exchange(&trace->dump_failed, true))
    trace_line(trace, TPTX_TOPIC_WARNING,
               "warning: PTX texts cannot be written to the dump folder %.200s (errno %d)",
               trace->dump_directory, reason);
}
