/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include <stddef.h>

struct target_row {
  int sm, ptx, threads;
};

static const struct target_row targets[] = {
#define TARGET(sm, ptx, threads) {sm, ptx, threads},
#include "targets.def"
};

struct driver_row {
  int ptx, cuda;
};

static const struct driver_row drivers[] = {
#define PTX_OF_DRIVER(ptx, cuda) {ptx, cuda},
#include "targets.def"
};

int target_lowest_ptx(int sm) {
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (targets[i].sm == sm) return targets[i].ptx;
  return 0;
}

int target_threads(int sm) {
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (targets[i].sm == sm) return targets[i].threads;
  return 0;
}

int target_of_device(int major, int minor) {
  int sm = 0;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (targets[i].sm <= major * 10 + minor) sm = targets[i].sm;
  return sm;
}

int target_ptx_of_driver(int cuda) {
  int ptx = 0;
  for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
    if (drivers[i].cuda <= cuda) ptx = drivers[i].ptx;
  return ptx;
}

int target_ptx_exists(int ptx) {
  for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
    if (drivers[i].ptx == ptx) return 1;
  return 0;
}
