/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMU_CODES_H
#define EMU_CODES_H

/* The driver's error codes. */
enum error_code {
#define ERROR_CODE(number, name, short_name, text) ERROR_##short_name = number,
#include "error_codes.def"
#undef ERROR_CODE
};

#endif
