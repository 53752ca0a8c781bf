/* SPDX-License-Identifier: Apache-2.0 */
/* The driver itself, its devices, and the texts of its error codes. */
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "memory.h"

static const struct {
  int number;
  const char *name;
  const char *text;
} codes[] = {
#define ERROR_CODE(number, name, short_name, text) {number, name, text},
#include "error_codes.def"
#undef ERROR_CODE
};

/* CUdevice_attribute -> value; the capability is asked of the device. */
enum {
  ATTRIBUTE_MAX_THREADS = 1,
  ATTRIBUTE_MAX_BLOCK_X = 2,
  ATTRIBUTE_MAX_BLOCK_Y = 3,
  ATTRIBUTE_MAX_BLOCK_Z = 4,
  ATTRIBUTE_MAX_GRID_X = 5,
  ATTRIBUTE_MAX_GRID_Y = 6,
  ATTRIBUTE_MAX_GRID_Z = 7,
  ATTRIBUTE_SHARED_PER_BLOCK = 8,
  ATTRIBUTE_WARP_SIZE = 10,
  ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
  ATTRIBUTE_CLOCK_RATE = 13,
  ATTRIBUTE_MULTIPROCESSORS = 16,
  ATTRIBUTE_INTEGRATED = 18,
  ATTRIBUTE_MEMORY_CLOCK = 36,
  ATTRIBUTE_BUS_WIDTH = 37,
  ATTRIBUTE_L2_SIZE = 38,
  ATTRIBUTE_THREADS_PER_MULTIPROCESSOR = 39,
  ATTRIBUTE_UNIFIED_ADDRESSING = 41,
  ATTRIBUTE_CAPABILITY_MAJOR = 75,
  ATTRIBUTE_CAPABILITY_MINOR = 76
};

static const struct {
  int attribute;
  int value;
} attributes[] = {
    {ATTRIBUTE_MAX_THREADS, 1024},      {ATTRIBUTE_MAX_BLOCK_X, 1024},
    {ATTRIBUTE_MAX_BLOCK_Y, 1024},      {ATTRIBUTE_MAX_BLOCK_Z, 64},
    {ATTRIBUTE_MAX_GRID_X, 2147483647}, {ATTRIBUTE_MAX_GRID_Y, 65535},
    {ATTRIBUTE_MAX_GRID_Z, 65535},      {ATTRIBUTE_SHARED_PER_BLOCK, 49152},
    {ATTRIBUTE_WARP_SIZE, 32},          {ATTRIBUTE_REGISTERS_PER_BLOCK, 65536},
    {ATTRIBUTE_CLOCK_RATE, 1000000},    {ATTRIBUTE_MULTIPROCESSORS, 4},
    {ATTRIBUTE_INTEGRATED, 0},          {ATTRIBUTE_MEMORY_CLOCK, 1000000},
    {ATTRIBUTE_BUS_WIDTH, 64},          {ATTRIBUTE_L2_SIZE, 1 << 20},
    {ATTRIBUTE_UNIFIED_ADDRESSING, 1},  {ATTRIBUTE_THREADS_PER_MULTIPROCESSOR, 2048},
};

int cuInit(unsigned flags) {
  int code = enter(ENTRY_cuInit, NULL);
  if (code != 0) {
    return code;
  }
  if (flags != 0) {
    return fail(ERROR_INVALID_VALUE, "cuInit takes the flags 0");
  }
  if (setting(SETTING_no_device) != 0) {
    return fail(ERROR_NO_DEVICE, "no device is visible");
  }
  mark_initialised();
  return 0;
}

int cuDriverGetVersion(int *version) {
  static const struct {
    int ptx;
    int driver;
  } versions[] = {
#define PTX_VERSION(ptx, driver) {ptx, driver},
#include "ptx_versions.def"
#undef PTX_VERSION
  };
  int code = enter(ENTRY_cuDriverGetVersion, NULL);
  if (code != 0) {
    return code;
  }
  for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++) {
    if (versions[k].ptx <= setting(SETTING_ptx)) {
      *version = versions[k].driver;
    }
  }
  return 0;
}

static int find_text(int error, const char **text, bool name) {
  for (size_t k = 0; k < sizeof codes / sizeof codes[0]; k++) {
    if (codes[k].number == error) {
      *text = name ? codes[k].name : codes[k].text;
      return 0;
    }
  }
  *text = NULL;
  return ERROR_INVALID_VALUE;
}

int cuGetErrorName(int error, const char **text) {
  int code = enter(ENTRY_cuGetErrorName, NULL);
  *text = NULL;
  return code != 0 ? code : find_text(error, text, true);
}

int cuGetErrorString(int error, const char **text) {
  int code = enter(ENTRY_cuGetErrorString, NULL);
  *text = NULL;
  return code != 0 ? code : find_text(error, text, false);
}

int cuDeviceGetCount(int *count) {
  int code = enter(ENTRY_cuDeviceGetCount, NULL);
  if (code == 0) {
    *count = (int)setting(SETTING_devices);
  }
  return code;
}

static int check_ordinal(int device) {
  return device >= 0 && device < setting(SETTING_devices)
             ? 0
             : fail(ERROR_INVALID_DEVICE, "there is no device %d", device);
}

int cuDeviceGet(int *device, int ordinal) {
  int code = enter(ENTRY_cuDeviceGet, NULL);
  if (code != 0 || (code = check_ordinal(ordinal)) != 0) {
    return code;
  }
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char *name, int length, int device) {
  int code = enter(ENTRY_cuDeviceGetName, NULL);
  if (code != 0 || (code = check_ordinal(device)) != 0) {
    return code;
  }
  if (length <= 0) {
    return fail(ERROR_INVALID_VALUE, "a name needs room");
  }
  snprintf(name, (size_t)length, "tileptx emulated device (sm_%d)", device_capability(device));
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  int code = enter(ENTRY_cuDeviceGetAttribute, NULL);
  if (code != 0 || (code = check_ordinal(device)) != 0) {
    return code;
  }
  if (attribute == ATTRIBUTE_CAPABILITY_MAJOR || attribute == ATTRIBUTE_CAPABILITY_MINOR) {
    int capability = device_capability(device);
    *value = attribute == ATTRIBUTE_CAPABILITY_MAJOR ? capability / 10 : capability % 10;
    return 0;
  }
  for (size_t k = 0; k < sizeof attributes / sizeof attributes[0]; k++) {
    if (attributes[k].attribute == attribute) {
      *value = attributes[k].value;
      return 0;
    }
  }
  return fail(ERROR_INVALID_VALUE, "the emulated device has no attribute %d", attribute);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  uint64_t available;
  uint64_t total;
  int code = enter(ENTRY_cuDeviceTotalMem_v2, NULL);
  if (code != 0 || (code = check_ordinal(device)) != 0) {
    return code;
  }
  memory_info(&available, &total);
  *bytes = total;
  return 0;
}
