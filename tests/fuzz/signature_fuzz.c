/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: the signature line, from bytes to a kernel. Whatever the bytes: no crash; a refusal
 * has a status, a message and a position inside the line; what is accepted has a canonical line
 * that reads back as itself, and a text.
 *
 *   clang -fsanitize=fuzzer,address,undefined -DLIBFUZZER -Iinclude tests/fuzz/signature_fuzz.c
 *     libtileptx.a -o signature_fuzz && ./signature_fuzz tests/fuzz/signatures
 *   signature_fuzz [FILE ...]   replays files (by default the corpus), each also with changes
 */
#include <tileptx/emit.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROMISE(condition, line) \
  do { \
    if (!(condition)) broken(#condition, line); \
  } while (0)

static void broken(const char *promise, const char *line) {
  fprintf(stderr, "broken: %s\nby the line: %s\n", promise, line);
  abort();
}

/* A tile of millions of elements has a text as any other; nothing here grows with sizes. */
static void check_accepted(const char *line, const tptx_view *view, const tptx_op *op,
                           const tptx_target *target) {
  char first[TPTX_MAX_SIGNATURE + 1], second[TPTX_MAX_SIGNATURE + 1];
  tptx_error error;
  tptx_ptx *ptx = NULL;
  tptx_view again;
  tptx_op again_op;
  tptx_target again_target;
  tptx_error_init(&error);
  tptx_status planned = tptx_plan_check(view, op, target, &error);
  PROMISE(tptx_emit(view, op, target, &ptx, NULL) == planned, line);
  if (planned != TPTX_OK) {
    PROMISE(ptx == NULL && error.status == planned && error.message[0], line);
    return;
  }
  PROMISE(tptx_signature_format(view, op, target, first, sizeof first, NULL) == TPTX_OK, line);
  PROMISE(strcmp(tptx_ptx_signature(ptx), first) == 0, line);
  tptx_ptx_free(ptx);
  PROMISE(tptx_signature_parse(first, &again, &again_op, &again_target, NULL) == TPTX_OK, first);
  tptx_status status =
      tptx_signature_format(&again, &again_op, &again_target, second, sizeof second, NULL);
  PROMISE(status == TPTX_OK && strcmp(first, second) == 0, first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  tptx_view view;
  tptx_op op;
  tptx_target target;
  tptx_error error;
  char *line = malloc(bytes + 1);
  if (!line) abort();
  if (bytes) memcpy(line, data, bytes);
  line[bytes] = '\0';
  tptx_error_init(&error);
  tptx_status status = tptx_signature_parse(line, &view, &op, &target, &error);
  if (status == TPTX_OK) {
    check_accepted(line, &view, &op, &target);
  } else {
    PROMISE(status >= 100 && status < 200 && error.status == status && error.message[0], line);
    PROMISE(error.position >= 0 && (size_t)error.position <= strlen(line), line);
  }
  free(line);
  return 0;
}

#ifndef LIBFUZZER

#include <glob.h>

enum { MOST_BYTES = 4096, CHANGES = 400 };

static uint32_t next(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/* Bytes replaced, left out, doubled; the same ones in every run. */
static size_t change(uint8_t *data, size_t bytes, uint32_t *state) {
  static const char alphabet[] = ":=x_-?0123456789abcdefghilmnoprstuv. ";
  for (uint32_t i = 0, times = 1 + next(state) % 3; i < times && bytes > 0; i++) {
    size_t at = next(state) % bytes;
    switch (next(state) % 3) {
    case 0: data[at] = (uint8_t)alphabet[next(state) % (sizeof alphabet - 1)]; break;
    case 1: memmove(data + at, data + at + 1, --bytes - at); break;
    default:
      if (bytes == MOST_BYTES) break;
      memmove(data + at + 1, data + at, bytes++ - at);
      break;
    }
  }
  return bytes;
}

static int replay(const char *path, unsigned long *inputs) {
  static uint8_t original[MOST_BYTES], data[MOST_BYTES];
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 1;
  }
  size_t bytes = fread(original, 1, sizeof original, file);
  fclose(file);
  while (bytes > 0 && original[bytes - 1] == '\n') bytes--;
  uint32_t state = (uint32_t)bytes;
  LLVMFuzzerTestOneInput(original, bytes);
  for (int i = 0; i < CHANGES; i++) {
    memcpy(data, original, bytes);
    LLVMFuzzerTestOneInput(data, change(data, bytes, &state));
  }
  *inputs += CHANGES + 1;
  return 0;
}

int main(int argc, char **argv) {
  unsigned long inputs = 0;
  int failed = 0;
  const char *source = getenv("top_srcdir");
  char pattern[4096];
  glob_t corpus;
  for (int i = 1; i < argc; i++) failed += replay(argv[i], &inputs);
  snprintf(pattern, sizeof pattern, "%s/tests/fuzz/signatures/*.txt", source ? source : ".");
  if (argc == 1 && glob(pattern, 0, NULL, &corpus) == 0) {
    for (size_t i = 0; i < corpus.gl_pathc; i++) failed += replay(corpus.gl_pathv[i], &inputs);
    globfree(&corpus);
  }
  printf("%lu passed, %d failed\n", inputs, failed);
  return failed != 0 || inputs == 0;
}

#endif
