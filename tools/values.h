/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of every storage type as text. An element travels as its bit pattern, in the low bits of
 * 64. Nothing here depends on the locale as long as nobody calls setlocale, which this tool never
 * does.
 */
#ifndef VALUES_H
#define VALUES_H

#include <tileptx/emit.h>

enum { VALUE_TEXT = 40 }; /* bytes that any printed element fits in */

/*
 * Reads an element: a decimal that the type can hold (floating point: rounded to nearest even from
 * the exact decimal), nan, inf, -inf, or a bit pattern 0x... 0, or -1 and a message.
 */
int value_read(tptx_type type, const char *text, size_t length, uint64_t *bits, char *message,
               size_t capacity);

/* The shortest decimal that value_read takes back to the same bits; "nan" for every NaN. */
void value_print(tptx_type type, uint64_t bits, char text[VALUE_TEXT]);

/* 0x and as many digits as the type has. */
void value_print_bits(tptx_type type, uint64_t bits, char text[VALUE_TEXT]);

/* Element k of an iota: k modulo 2^n; floating point rounded to nearest even, fp8 saturating. */
uint64_t value_iota(tptx_type type, uint64_t k);

/* 1 where JSON has a number for it. */
int value_is_finite(tptx_type type, uint64_t bits);

/* Little-endian elements in memory. */
uint64_t value_load(tptx_type type, const unsigned char *memory);
void value_store(tptx_type type, unsigned char *memory, uint64_t bits);

#endif
