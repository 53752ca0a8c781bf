/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON on one line, as it goes; commas and escapes are its care. */
#ifndef JSON_H
#define JSON_H

#include <stdint.h>
#include <stdio.h>

struct json {
  FILE *out;
  int begun; /* whether the next member or element needs a comma before it */
};

/* `key` is NULL for an element of an array and for the outermost object. */
void json_begin(struct json *json, const char *key, char bracket);      /* '{' or '[' */
void json_end(struct json *json, char bracket);                         /* '}' or ']' */
void json_string(struct json *json, const char *key, const char *text); /* NULL: null */
void json_integer(struct json *json, const char *key, int64_t value);
void json_literal(struct json *json, const char *key, const char *text); /* a number, null, true */

#endif
