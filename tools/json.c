/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <inttypes.h>
#include <string.h>

static void escape(FILE *out, char byte) {
  static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: byte, letter after the \ */
  const char *pair = letters;
  while (*pair != '\0' && *pair != byte) pair += 2;
  if (*pair != '\0')
    fprintf(out, "\\%c", pair[1]);
  else if (byte < 0x20 || byte == 0x7f)
    fprintf(out, "\\u%04x", byte);
  else
    fputc(byte, out);
}

/* Bytes of the UTF-8 character that `text` begins with; 0 if it begins with none. */
static size_t character_length(const unsigned char *text) {
  size_t length = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
  if (text[0] >= 0x80 && (text[0] < 0xc2 || text[0] > 0xf4)) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  /* overlong forms, surrogates, past U+10FFFF */
  if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
      (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
    return 0;
  return length;
}

/* Paths may hold any bytes; what is no UTF-8 becomes U+FFFD. */
static void write_text(FILE *out, const char *text) {
  fputc('"', out);
  while (*text != '\0') {
    size_t length = character_length((const unsigned char *)text);
    if (length == 0)
      fputs("\\ufffd", out);
    else if (length == 1)
      escape(out, *text);
    else
      fwrite(text, 1, length, out);
    text += length == 0 ? 1 : length;
  }
  fputc('"', out);
}

static void begin_item(struct json *json, const char *key) {
  if (json->begun) fputs(", ", json->out);
  json->begun = 1;
  if (key != NULL) {
    write_text(json->out, key);
    fputs(": ", json->out);
  }
}

void json_begin(struct json *json, const char *key, char bracket) {
  begin_item(json, key);
  fputc(bracket, json->out);
  json->begun = 0;
}

void json_end(struct json *json, char bracket) {
  fputc(bracket, json->out);
  json->begun = 1;
}

void json_string(struct json *json, const char *key, const char *text) {
  begin_item(json, key);
  if (text == NULL)
    fputs("null", json->out);
  else
    write_text(json->out, text);
}

void json_integer(struct json *json, const char *key, int64_t value) {
  begin_item(json, key);
  fprintf(json->out, "%" PRId64, value);
}

void json_literal(struct json *json, const char *key, const char *text) {
  begin_item(json, key);
  fputs(text, json->out);
}
