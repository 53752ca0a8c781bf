/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

enum {
  OPTION_INFO_BUFFER = 3,
  OPTION_INFO_SIZE = 4,
  OPTION_ERROR_BUFFER = 5,
  OPTION_ERROR_SIZE = 6
};

static const char magic[8] = {'\x7f', 'T', 'P', 'T', 'X', 'E', 'M', 'U'};

struct image_header {
  char magic[8];
  uint32_t capability;
  uint32_t header_bytes;
  uint64_t text_bytes;
  uint64_t text_checksum;
  uint64_t header_checksum; /* of all that stands before it */
};

static uint64_t checksum(const void *bytes, size_t count) {
  const uint8_t *at = bytes;
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (size_t k = 0; k < count; k++) {
    sum = (sum ^ at[k]) * UINT64_C(0x100000001b3);
  }
  return sum;
}

int jit_logs_read(struct jit_logs *logs, unsigned count, const int *options, void **values) {
  memset(logs, 0, sizeof *logs);
  if (count > 0 && (options == NULL || values == NULL)) {
    return fail(ERROR_INVALID_VALUE, "JIT options are missing");
  }
  for (unsigned k = 0; k < count; k++) {
    switch (options[k]) {
    case OPTION_INFO_BUFFER: logs->buffers[0] = values[k]; break;
    case OPTION_ERROR_BUFFER: logs->buffers[1] = values[k]; break;
    case OPTION_INFO_SIZE: logs->sizes[0] = &values[k]; break;
    case OPTION_ERROR_SIZE: logs->sizes[1] = &values[k]; break;
    default: break; /* other options change nothing here */
    }
  }
  for (unsigned k = 0; k < 2; k++) {
    if ((logs->buffers[k] == NULL) != (logs->sizes[k] == NULL)) {
      return fail(ERROR_INVALID_VALUE, "a JIT log needs a buffer and its size");
    }
    logs->capacity[k] = logs->sizes[k] != NULL ? (size_t)(uintptr_t)*logs->sizes[k] : 0;
  }
  return 0;
}

void jit_logs_write(const struct jit_logs *logs, const char *information, const char *error) {
  const char *texts[2] = {information, error};
  for (unsigned k = 0; k < 2; k++) {
    if (logs->buffers[k] == NULL || logs->sizes[k] == NULL) {
      continue;
    }
    size_t written = 0;
    if (logs->capacity[k] > 0) {
      written = strlen(texts[k]);
      written = written < logs->capacity[k] ? written : logs->capacity[k] - 1;
      memcpy(logs->buffers[k], texts[k], written);
      logs->buffers[k][written] = '\0';
    }
    /* The size that comes back counts the end of the string, where there is a text. */
    *logs->sizes[k] = (void *)(uintptr_t)(written > 0 ? written + 1 : 0);
  }
}

int image_read_ptx(const char *text, size_t length, int capability, const struct jit_logs *logs,
                   struct program **program) {
  char message[MESSAGE_BYTES];
  struct reader_limits limits = {(int)setting(SETTING_ptx), capability};
  if (setting(SETTING_jit_missing) != 0) {
    return fail(ERROR_JIT_COMPILER_NOT_FOUND, "the PTX compiler of the driver is missing");
  }
  if (setting(SETTING_jit_disabled) != 0) {
    return fail(ERROR_JIT_COMPILATION_DISABLED, "the PTX compiler of the driver is switched off");
  }
  /* Text without a version line is no PTX to a driver, and then no image of any kind. */
  if (memmem(text, length, ".version", strlen(".version")) == NULL) {
    jit_logs_write(logs, "", "error   : Binary format is not recognized");
    return fail(ERROR_INVALID_IMAGE, "neither PTX nor an image");
  }
  int code = program_read(text, length, &limits, program, message, sizeof message);
  jit_logs_write(logs, "", code != 0 ? message : "");
  return code != 0 ? fail(code, "%s", message) : 0;
}

void *image_link(const struct program *program, int capability, size_t *size) {
  struct image_header header = {.capability = (uint32_t)capability,
                                .header_bytes = sizeof header,
                                .text_bytes = program->text_length,
                                .text_checksum = checksum(program->text, program->text_length)};
  memcpy(header.magic, magic, sizeof magic);
  header.header_checksum = checksum(&header, offsetof(struct image_header, header_checksum));
  char *image = malloc(sizeof header + program->text_length);
  if (image != NULL) {
    memcpy(image, &header, sizeof header);
    memcpy(image + sizeof header, program->text, program->text_length);
    *size = sizeof header + program->text_length;
  }
  return image;
}

static bool is_linked(const void *image) {
  /* The first byte decides; PTX text never begins with it. */
  return ((const char *)image)[0] == magic[0];
}

static int check_header(const struct image_header *header) {
  if (memcmp(header->magic, magic, sizeof magic) != 0 ||
      header->header_checksum != checksum(header, offsetof(struct image_header, header_checksum)) ||
      header->header_bytes != sizeof *header) {
    return fail(ERROR_INVALID_IMAGE, "the image is damaged, in its header");
  }
  return 0;
}

int image_check(const void *image, size_t size, int capability) {
  struct image_header header;
  if (size < sizeof header) {
    return fail(ERROR_INVALID_IMAGE, "the image is too short");
  }
  memcpy(&header, image, sizeof header);
  int code = check_header(&header);
  if (code != 0) {
    return code;
  }
  if (size - sizeof header != header.text_bytes ||
      header.text_checksum != checksum((const char *)image + sizeof header, header.text_bytes)) {
    return fail(ERROR_INVALID_IMAGE, "the image is damaged, in its text");
  }
  if (header.capability != (uint32_t)capability) {
    return fail(ERROR_NO_BINARY_FOR_GPU, "the image is for sm_%u, the device is sm_%d",
                header.capability, capability);
  }
  return 0;
}

static int load_linked(const void *image, int capability, struct program **program) {
  char message[MESSAGE_BYTES];
  struct image_header header;
  /* Only PTX tells a driver's own version; a linked image was accepted once. */
  struct reader_limits limits = {94, capability};
  int code = 0;
  if (memcmp(image, magic, sizeof magic) != 0) {
    return fail(ERROR_INVALID_IMAGE, "the image is damaged, in its first bytes");
  }
  memcpy(&header, image, sizeof header);
  code = check_header(&header);
  if (code == 0) {
    code = image_check(image, sizeof header + header.text_bytes, capability);
  }
  if (code == 0 && program_read((const char *)image + sizeof header, header.text_bytes, &limits,
                                program, message, sizeof message) != 0) {
    code = fail(ERROR_INVALID_IMAGE, "the image holds bad text: %s", message);
  }
  return code;
}

int image_load(const void *image, int capability, const struct jit_logs *logs,
               struct program **program) {
  if (is_linked(image)) {
    int code = load_linked(image, capability, program);
    jit_logs_write(logs, "", code != 0 ? thread_message() : "");
    return code;
  }
  return image_read_ptx(image, strlen(image), capability, logs, program);
}
