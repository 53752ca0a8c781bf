/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_code.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTRUCTION_BYTES = 16 };

struct cubin {
  unsigned char *bytes;
  size_t size;
};

struct cubin *cubin_open(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  struct cubin *cubin = calloc(1, sizeof *cubin);
  if (!cubin) abort();
  if (fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0) cubin->size = (size_t)ftell(file);
  rewind(file);
  cubin->bytes = malloc(cubin->size + 1);
  if (!cubin->bytes) abort();
  bool good = fread(cubin->bytes, 1, cubin->size, file) == cubin->size &&
              cubin->size > sizeof(Elf64_Ehdr) && memcmp(cubin->bytes, ELFMAG, SELFMAG) == 0;
  fclose(file);
  if (good) return cubin;
  cubin_close(cubin);
  return NULL;
}

void cubin_close(struct cubin *cubin) {
  if (!cubin) return;
  free(cubin->bytes);
  free(cubin);
}

static bool section(const struct cubin *cubin, const Elf64_Ehdr *header, unsigned number,
                    Elf64_Shdr *out) {
  size_t at = (size_t)header->e_shoff + (size_t)number * header->e_shentsize;
  if (number >= header->e_shnum || at + sizeof *out > cubin->size) return false;
  memcpy(out, cubin->bytes + at, sizeof *out);
  return out->sh_type == SHT_NOBITS || out->sh_offset + out->sh_size <= cubin->size;
}

/* The instructions of a kernel stand in a section of their own, `.text.NAME`. */
static bool find_text(const struct cubin *cubin, const char *kernel, Elf64_Shdr *text) {
  Elf64_Ehdr header;
  Elf64_Shdr names;
  memcpy(&header, cubin->bytes, sizeof header);
  if (!section(cubin, &header, header.e_shstrndx, &names)) return false;
  for (unsigned i = 0; i < header.e_shnum; i++) {
    if (!section(cubin, &header, i, text)) return false;
    const char *name = (const char *)cubin->bytes + names.sh_offset + text->sh_name;
    if (strncmp(name, ".text.", 6) == 0 && strcmp(name + 6, kernel) == 0) return true;
  }
  return false;
}

static bool is_one_of(unsigned opcode, const unsigned *opcodes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (opcodes[i] == opcode) return true;
  return false;
}

bool cubin_atomics(const struct cubin *cubin, const char *kernel, struct atomics *atomics) {
  static const unsigned swaps[] = {0x38b, 0x38d, 0x58d, 0x3a9, 0x9a9};
  static const unsigned updates[] = {0x38e, 0x98e, 0x3a6, 0x9a6, 0x3a3, 0x9a3,
                                     0x3a8, 0x9a8, 0x38a, 0x98a, 0x3a2, 0x9a2};
  enum { NO_OPERATION = 0x918 };
  Elf64_Shdr text;
  memset(atomics, 0, sizeof *atomics);
  if (!find_text(cubin, kernel, &text)) return false;
  for (size_t at = 0; at + INSTRUCTION_BYTES <= text.sh_size; at += INSTRUCTION_BYTES) {
    const unsigned char *word = cubin->bytes + text.sh_offset + at;
    unsigned opcode = (word[0] | (unsigned)word[1] << 8) & 0xfff;
    atomics->instructions += opcode != NO_OPERATION;
    atomics->updates += is_one_of(opcode, updates, sizeof updates / sizeof *updates);
    atomics->compare_and_swaps += is_one_of(opcode, swaps, sizeof swaps / sizeof *swaps);
  }
  return true;
}
