/* SPDX-License-Identifier: Apache-2.0 */
#include "driver_status.h"

#include "status.h"

#include <stdio.h>

struct meaning {
  int code;
  const char *name;
  tptx_status status;
  const char *advice;
};

static const struct meaning meanings[] = {
#define DRIVER_STATUS(code, name, status, advice) \
  {(code), "CUDA_ERROR_" #name, TPTX_ERROR_##status, (advice)},
#include "driver_status.def"
};

static const struct meaning *meaning_of(int code) {
  static const struct meaning unknown = {0, NULL, TPTX_ERROR_DRIVER,
                                         "this library does not know the code; see cuda.h"};
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (meanings[i].code == code) return &meanings[i];
  return &unknown;
}

const char *driver_code_name(int code) {
  return meaning_of(code)->name;
}

tptx_status driver_check(int code, const char *function, const char *detail, tptx_error *error) {
  if (code == DRIVER_SUCCESS) return TPTX_OK;
  const struct meaning *meaning = meaning_of(code);
  tptx_status status =
      refuse(error, (struct fault){meaning->status, "", -1}, "%s answered %d (%s): %s%s%s",
             function, code, meaning->name ? meaning->name : "an unknown code",
             detail ? detail : "", detail ? "; " : "", meaning->advice);
  if (error) {
    error->driver_code = code;
    snprintf(error->driver_function, sizeof error->driver_function, "%s", function);
  }
  return status;
}
