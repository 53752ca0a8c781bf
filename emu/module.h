/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMU_MODULE_H
#define EMU_MODULE_H

#include "objects.h"
#include "program.h"

struct module {
  struct object object;
  struct program *program;
  int capability;
  void **functions; /* handles, one a kernel; NULL until it is asked for */
};

struct function {
  struct object object;
  struct module *module; /* holds a reference */
  const struct kernel *kernel;
};

#endif
