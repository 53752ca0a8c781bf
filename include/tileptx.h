/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tileptx: PTX for CUDA tile views, written, compiled, kept and launched at run time.
 *
 * tileptx/emit.h     describes a view operation and turns it into PTX text; needs no driver
 * tileptx/runtime.h  compiles that text through the CUDA driver, keeps it, launches it
 */
#ifndef TILEPTX_H
#define TILEPTX_H

#include <tileptx/emit.h>
#include <tileptx/runtime.h>
#include <tileptx/version.h>

#endif
