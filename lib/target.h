/* SPDX-License-Identifier: Apache-2.0 */
/* Which PTX versions targets and drivers know. */
#ifndef TARGET_H
#define TARGET_H

enum { NEWEST_PTX = 94, LOWEST_PTX = 63, DEFAULT_SM = 80 };

/* The lowest PTX version (major * 10 + minor) that knows sm_<sm>; 0 where no table row does. */
int target_lowest_ptx(int sm);

/* Threads that a multiprocessor of sm_<sm> holds; 0 where no table row does. */
int target_threads(int sm);

/* The newest known target not above a device of compute capability major.minor; 0 below sm_75. */
int target_of_device(int major, int minor);

/* The highest PTX version that a driver of cuDriverGetVersion() == cuda takes; 0 for too old. */
int target_ptx_of_driver(int cuda);

/* 1 if the PTX version exists (7.9 and 8.9 do not). */
int target_ptx_exists(int ptx);

#endif
