/* SPDX-License-Identifier: Apache-2.0 */
/* A device with a runtime on it, for suites that run single operations. Failures end the test. */
#ifndef WORKBENCH_H
#define WORKBENCH_H

#include "../tools/device.h"

#include <tileptx/runtime.h>

/* Opened and closed for every test; `error` is what the last call left. */
struct workbench {
  struct device *device;
  tptx_runtime *runtime;
  tptx_error error;
  uint64_t allocations[32];
  int allocation_count;
};

extern struct workbench bench;

void workbench_open(void); /* Check fixtures */
void workbench_close(void);

/* Device memory with these contents; with NULL, filled with 0x5a. Freed by workbench_close. */
uint64_t put(const void *contents, size_t bytes);
void get(void *contents, uint64_t address, size_t bytes);

/* tptx_run on the null stream, then waits; a fault of the device fails the test. */
tptx_status run(const tptx_view *view, const tptx_op *op, const tptx_args *args);
/* The same where nothing but success will do. */
void run_well(const tptx_view *view, const tptx_op *op, const tptx_args *args);

/* One chunk: first[] = index, count 1 on every axis. */
void at_chunk(tptx_args *args, int rank, const int64_t *index);

/* 0, 1, 2, ... */
void iota_s32(int32_t *values, int count);

/* Fails unless both hold the same numbers; `what` begins the message. */
void expect_s32(const char *what, const int32_t *got, const int32_t *wanted, int count);

#endif
