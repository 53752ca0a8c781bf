/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the programs of this folder share: a device, a runtime on it, memory. They need no Check, so
 * that run.sh can build them beside a GPU. A driver call that fails ends the program.
 */
#ifndef RIG_H
#define RIG_H

#include "../../tools/device.h"

#include <tileptx/runtime.h>

#include <stdbool.h>

struct rig {
  struct device *device;
  tptx_runtime *runtime;
};

/* 0, or the program's exit status: 77 without a device (said on standard output), 1. */
int rig_open(struct rig *rig);
void rig_close(struct rig *rig);

uint64_t rig_allocate(struct rig *rig, size_t bytes);
uint64_t rig_put(struct rig *rig, const void *contents, size_t bytes);
void rig_get(struct rig *rig, void *contents, uint64_t address, size_t bytes);
void rig_fill(struct rig *rig, uint64_t address, int byte, size_t bytes);
void rig_free(struct rig *rig, uint64_t address);

/* tptx_run, then waits. False where it was refused or failed; says why. */
bool rig_run(struct rig *rig, const tptx_view *view, const tptx_op *op, const tptx_args *args);

/* The emulated driver's setting (tileptx_emu.h); nothing on a real one. */
void rig_configure(struct rig *rig, const char *name, int64_t value);

#endif
