/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver library to look at from outside: every entry point of lib/driver.def, doing nothing.
 * Built as a module, twice: WITHOUT_LINKER lacks the entry points of the linker, as an old driver
 * would. Older and newer forms stand beside the ones we want, as they do in a real driver.
 */
#include <stddef.h>

int fake_driver_init_code = 0;
int fake_driver_version = 13000;
int fake_driver_wrong_form_calls = 0;

/* What driver.def declares comes by exact symbol; of these a wrong one counts its calls. */
#define WRONG_FORM(symbol) \
  int symbol(void); \
  int symbol(void) { \
    fake_driver_wrong_form_calls++; \
    return 1; \
  }

#define DO_NOTHING(symbol) \
  int symbol(void); \
  int symbol(void) { \
    return 0; \
  }

int cuInit(unsigned int flags);
int cuInit(unsigned int flags) {
  return flags == 0 ? fake_driver_init_code : 1;
}

int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) {
  *version = fake_driver_version;
  return 0;
}

DO_NOTHING(cuDeviceGetAttribute)
DO_NOTHING(cuCtxGetCurrent)
DO_NOTHING(cuCtxGetDevice)
DO_NOTHING(cuCtxPushCurrent_v2)
DO_NOTHING(cuCtxPopCurrent_v2)
DO_NOTHING(cuModuleLoadData)
DO_NOTHING(cuModuleUnload)
DO_NOTHING(cuModuleGetFunction)
DO_NOTHING(cuFuncGetAttribute)
DO_NOTHING(cuThreadExchangeStreamCaptureMode)
DO_NOTHING(cuStreamIsCapturing)
DO_NOTHING(cuLaunchKernel)
WRONG_FORM(cuCtxPushCurrent)
WRONG_FORM(cuCtxPopCurrent)
WRONG_FORM(cuLinkCreate)
WRONG_FORM(cuLinkAddData)
WRONG_FORM(cuCtxGetDevice_v2)
WRONG_FORM(cuLaunchKernel_ptsz)
WRONG_FORM(cuLaunchKernelEx)
WRONG_FORM(cuCtxCreate)
WRONG_FORM(cuCtxCreate_v2)
WRONG_FORM(cuCtxCreate_v3)
WRONG_FORM(cuCtxCreate_v4)
#ifndef WITHOUT_LINKER
WRONG_FORM(cuLinkCreate_v3)
DO_NOTHING(cuLinkCreate_v2)
DO_NOTHING(cuLinkAddData_v2)
DO_NOTHING(cuLinkComplete)
DO_NOTHING(cuLinkDestroy)
DO_NOTHING(cuCtxGetId)
DO_NOTHING(cuCtxGetApiVersion)
DO_NOTHING(cuGetErrorName)
#endif
