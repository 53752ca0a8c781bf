/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define EMULATOR_NAME "libtileptx-emu.so"
#define EMULATOR_MARK "tileptx_emu_configure" /* a symbol that only the emulated driver has */

/* The driver's own types and numbers, declared here so that building needs no CUDA header. */
typedef uint64_t driver_address; /* CUdeviceptr */

enum {
  CODE_SUCCESS = 0,
  CODE_STUB_LIBRARY = 34,
  ATTRIBUTE_MAJOR = 75, /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR */
  ATTRIBUTE_MINOR = 76,
  STREAM_NON_BLOCKING = 1
};

/* The entry points used here: exact versioned name, parameters. Each of them is required. */
#define ENTRY_POINTS(X) \
  X(cuInit, (unsigned flags)) \
  X(cuGetErrorName, (int code, const char **name)) \
  X(cuDeviceGetCount, (int *count)) \
  X(cuDeviceGet, (int *device, int ordinal)) \
  X(cuDeviceGetName, (char *name, int capacity, int device)) \
  X(cuDeviceGetAttribute, (int *value, int attribute, int device)) \
  X(cuDevicePrimaryCtxRetain, (void **context, int device)) \
  X(cuDevicePrimaryCtxRelease_v2, (int device)) \
  X(cuCtxSetCurrent, (void *context)) \
  X(cuCtxSynchronize, (void)) \
  X(cuMemAlloc_v2, (driver_address * address, size_t bytes)) \
  X(cuMemFree_v2, (driver_address address)) \
  X(cuMemcpyHtoD_v2, (driver_address to, const void *from, size_t bytes)) \
  X(cuMemcpyDtoH_v2, (void *to, driver_address from, size_t bytes)) \
  X(cuMemcpyDtoDAsync_v2, (driver_address to, driver_address from, size_t bytes, void *stream)) \
  X(cuMemsetD8_v2, (driver_address address, unsigned char byte, size_t bytes)) \
  X(cuStreamCreate, (void **stream, unsigned flags)) \
  X(cuStreamDestroy_v2, (void *stream)) \
  X(cuEventCreate, (void **event, unsigned flags)) \
  X(cuEventDestroy_v2, (void *event)) \
  X(cuEventRecord, (void *event, void *stream)) \
  X(cuEventSynchronize, (void *event)) \
  X(cuEventElapsedTime, (float *milliseconds, void *begin, void *end))

struct device {
  void *library;
#define MEMBER(name, parameters) int(*name) parameters;
  ENTRY_POINTS(MEMBER)
#undef MEMBER
  int handle; /* CUdevice */
  void *context;
  int count;
  int sm;
  int emulated;
  char name[128];
  char driver[4096];
};

static void *open_at(char *path, size_t capacity, const char *folder, const char *name) {
  int length = snprintf(path, capacity, "%s%s", folder, name);
  return length >= 0 && (size_t)length < capacity ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* The folder of this program with its last slash; empty where the system does not tell. */
static void find_own_folder(char *folder, size_t capacity) {
  ssize_t length = readlink("/proc/self/exe", folder, capacity - 1);
  folder[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(folder, '/');
  if (slash != NULL) slash[1] = '\0';
}

/*
 * Where the emulated driver is: $TILEPTX_EMU_PATH; in a build tree beside the program; installed in
 * the package's folder; where the loader looks by itself.
 */
static void *open_emulated(char *path, size_t capacity) {
  char folder[2048];
  void *library = NULL;
  const char *named = getenv("TILEPTX_EMU_PATH");
  if (named != NULL && named[0] != '\0') return open_at(path, capacity, named, "");
  find_own_folder(folder, sizeof folder);
  if (folder[0] != '\0') library = open_at(path, capacity, folder, EMULATOR_NAME);
#ifdef TILEPTX_PKGLIBDIR
  if (library == NULL) library = open_at(path, capacity, TILEPTX_PKGLIBDIR "/", EMULATOR_NAME);
#endif
  return library != NULL ? library : open_at(path, capacity, "", EMULATOR_NAME);
}

static int open_library(struct device *device, const char *driver, char *message, size_t capacity) {
  if (driver != NULL && strcmp(driver, "emu") == 0) {
    device->library = open_emulated(device->driver, sizeof device->driver);
  } else {
    snprintf(device->driver, sizeof device->driver, "%s", driver != NULL ? driver : "libcuda.so.1");
    device->library = dlopen(device->driver, RTLD_NOW | RTLD_LOCAL);
  }
  if (device->library == NULL) {
    const char *why = dlerror();
    snprintf(message, capacity, "the driver cannot be opened: %s", why != NULL ? why : "no reason");
    return -1;
  }
  device->emulated = dlsym(device->library, EMULATOR_MARK) != NULL;
  return 0;
}

static int find_entry_points(struct device *device, char *message, size_t capacity) {
  const struct {
    const char *name;
    void *member;
  } table[] = {
#define ROW(name, parameters) {#name, &device->name},
      ENTRY_POINTS(ROW)
#undef ROW
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    void *found = dlsym(device->library, table[i].name);
    if (found == NULL) {
      snprintf(message, capacity, "%s has no entry point %s", device->driver, table[i].name);
      return -1;
    }
    memcpy(table[i].member, &found, sizeof found);
  }
  return 0;
}

static int refuse(const struct device *device, int code, const char *function, char *message,
                  size_t capacity) {
  if (code == CODE_STUB_LIBRARY)
    snprintf(message, capacity, "%s is the toolkit's stub library, not a driver", device->driver);
  else
    snprintf(message, capacity, "%s: %s failed with %s (%d)", device->driver, function,
             device_error_name(device, code), code);
  return -1;
}

static int find_device(struct device *device, int ordinal, char *message, size_t capacity) {
  int code = device->cuInit(0);
  if (code != CODE_SUCCESS) return refuse(device, code, "cuInit", message, capacity);
  code = device->cuDeviceGetCount(&device->count);
  if (code != CODE_SUCCESS) return refuse(device, code, "cuDeviceGetCount", message, capacity);
  if (ordinal < 0 || ordinal >= device->count) {
    snprintf(message, capacity, "there is no device %d: the driver %s has %d", ordinal,
             device->driver, device->count);
    return -1;
  }
  code = device->cuDeviceGet(&device->handle, ordinal);
  if (code != CODE_SUCCESS) return refuse(device, code, "cuDeviceGet", message, capacity);
  code = device->cuDeviceGetName(device->name, (int)sizeof device->name, device->handle);
  if (code != CODE_SUCCESS) return refuse(device, code, "cuDeviceGetName", message, capacity);
  int major = 0;
  int minor = 0;
  code = device->cuDeviceGetAttribute(&major, ATTRIBUTE_MAJOR, device->handle);
  if (code == CODE_SUCCESS)
    code = device->cuDeviceGetAttribute(&minor, ATTRIBUTE_MINOR, device->handle);
  if (code != CODE_SUCCESS) return refuse(device, code, "cuDeviceGetAttribute", message, capacity);
  device->sm = major * 10 + minor;
  return 0;
}

static int enter_context(struct device *device, char *message, size_t capacity) {
  int code = device->cuDevicePrimaryCtxRetain(&device->context, device->handle);
  if (code != CODE_SUCCESS)
    return refuse(device, code, "cuDevicePrimaryCtxRetain", message, capacity);
  code = device->cuCtxSetCurrent(device->context);
  if (code == CODE_SUCCESS) return 0;
  device->cuDevicePrimaryCtxRelease_v2(device->handle);
  return refuse(device, code, "cuCtxSetCurrent", message, capacity);
}

int device_open(const char *driver, int ordinal, struct device **out, char *message,
                size_t capacity) {
  *out = NULL;
  struct device *device = calloc(1, sizeof *device);
  if (device == NULL) {
    snprintf(message, capacity, "out of memory");
    return -1;
  }
  if (open_library(device, driver, message, capacity) != 0 ||
      find_entry_points(device, message, capacity) != 0 ||
      find_device(device, ordinal, message, capacity) != 0 ||
      enter_context(device, message, capacity) != 0) {
    free(device);
    return -1;
  }
  *out = device;
  return 0;
}

/* The library stays open: a driver keeps threads and exit handlers of its own. */
void device_close(struct device *device) {
  if (device == NULL) return;
  device->cuCtxSetCurrent(NULL);
  device->cuDevicePrimaryCtxRelease_v2(device->handle);
  free(device);
}

const char *device_driver(const struct device *device) {
  return device->driver;
}

const char *device_name(const struct device *device) {
  return device->name;
}

int device_is_emulated(const struct device *device) {
  return device->emulated;
}

int device_sm(const struct device *device) {
  return device->sm;
}

int device_count(const struct device *device) {
  return device->count;
}

const char *device_error_name(const struct device *device, int code) {
  const char *name = NULL;
  if (device->cuGetErrorName(code, &name) != CODE_SUCCESS || name == NULL)
    return "an unknown error";
  return name;
}

int device_make_current(struct device *device) {
  return device->cuCtxSetCurrent(device->context);
}

int device_allocate(struct device *device, size_t bytes, uint64_t *address) {
  *address = 0;
  return device->cuMemAlloc_v2(address, bytes);
}

int device_free(struct device *device, uint64_t address) {
  return device->cuMemFree_v2(address);
}

int device_write(struct device *device, uint64_t address, const void *data, size_t bytes) {
  return bytes == 0 ? CODE_SUCCESS : device->cuMemcpyHtoD_v2(address, data, bytes);
}

int device_read(struct device *device, void *data, uint64_t address, size_t bytes) {
  return bytes == 0 ? CODE_SUCCESS : device->cuMemcpyDtoH_v2(data, address, bytes);
}

int device_fill(struct device *device, uint64_t address, int byte, size_t bytes) {
  return bytes == 0 ? CODE_SUCCESS : device->cuMemsetD8_v2(address, (unsigned char)byte, bytes);
}

int device_copy(struct device *device, uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return bytes == 0 ? CODE_SUCCESS : device->cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

int device_synchronize(struct device *device) {
  return device->cuCtxSynchronize();
}

int device_stream_create(struct device *device, void **stream) {
  return device->cuStreamCreate(stream, STREAM_NON_BLOCKING);
}

int device_stream_destroy(struct device *device, void *stream) {
  return device->cuStreamDestroy_v2(stream);
}

int device_event_create(struct device *device, void **event) {
  return device->cuEventCreate(event, 0);
}

int device_event_destroy(struct device *device, void *event) {
  return device->cuEventDestroy_v2(event);
}

int device_event_record(struct device *device, void *event, void *stream) {
  return device->cuEventRecord(event, stream);
}

int device_event_milliseconds(struct device *device, void *begin, void *end, float *milliseconds) {
  int code = device->cuEventSynchronize(end);
  return code != CODE_SUCCESS ? code : device->cuEventElapsedTime(milliseconds, begin, end);
}

void *device_entry_point(struct device *device, const char *name) {
  return dlsym(device->library, name);
}
