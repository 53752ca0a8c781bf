/* SPDX-License-Identifier: Apache-2.0 */
/* Controls of the emulated driver, libtileptx-emu.so.
 *
 * The library exports the entry points of a CUDA driver under their exact names, carries kernels
 * out by interpreting their PTX, and is strict: what a GPU would silently accept is an error here.
 * Find these controls with dlsym() on the same handle. All of them may be called from any thread.
 *
 * The environment is read once, before the first call:
 *   TILEPTX_EMU_DEVICES  number of devices (default 1, at most 8)
 *   TILEPTX_EMU_SM       compute capability, `90`, or one a device: `80,90` (default 90)
 *   TILEPTX_EMU_PTX      newest PTX version that the driver takes, 90 for 9.0 (default 90);
 *                        decides what cuDriverGetVersion() says
 *   TILEPTX_EMU_VERBOSE  not empty: errors are also printed to standard error
 *
 * Entry points cannot be hidden: dlsym() finds them all. */
#ifndef TILEPTX_EMU_H
#define TILEPTX_EMU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets a value. Returns 0, or 1 for an unknown name or an impossible value.
 *   devices            1 to 8; for calls after it
 *   sm                 compute capability of every device: 90, 120; `sm0` to `sm7` for one of them
 *   ptx                newest PTX version: 63, 78, 90
 *   no_device          1: cuInit gives 100
 *   stub               1: every call gives 34 and no text, as the toolkit's stub does
 *   fail_at            the fail_at-th call from now fails, before it does anything; cuGetErrorName
 *                      and cuGetErrorString are not counted; 0: none fails
 *   fail_code          with this code (default 999)
 *   jit_missing        1: PTX is refused with 221
 *   jit_disabled       1: PTX is refused with 223
 *   block_order        0 forward, 1 reverse, 2 pseudo-random by seed
 *   seed               of that order
 *   flush_f32          1 (default): red and atom add of f32 in global memory flush subnormals
 *   instruction_limit  a launch that runs longer fails with 702 (default 2^32)
 *   reset              1: every setting, counter and planned failure as at the start; devices,
 *                      contexts and what they hold stay */
int tileptx_emu_configure(const char *name, int64_t value);

/* The nth call from now (1 = the next) of a named entry point fails with that code; nth 0: none
 * does. Returns 1 for an unknown name. */
int tileptx_emu_fail(const char *entry, int nth, int code);

/* Calls of a named entry point so far, or:
 *   instructions   executed by all threads of all launches
 *   allocations    live ones
 *   modules        loaded ones
 *   calls          of all entry points
 * -1 for an unknown name. */
int64_t tileptx_emu_count(const char *name);

/* What the last error of this thread was about, with kernel, block, thread and line of PTX where a
 * launch failed; else of the current context; "" if there was none. Valid until the thread's next
 * call. */
const char *tileptx_emu_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
