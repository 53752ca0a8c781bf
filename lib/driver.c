/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr */
#include "driver.h"

#include "status.h"
#include "target.h"

#include <tileptx/runtime.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EMULATOR_NAME "libtileptx-emu.so"

/* The folder of the file that holds `symbol`, with its last slash; empty where there is none. */
static void folder_of(void *symbol, char *folder, size_t capacity) {
  Dl_info info;
  folder[0] = '\0';
  if (!dladdr(symbol, &info) || !info.dli_fname) return;
  const char *slash = strrchr(info.dli_fname, '/');
  size_t bytes = slash ? (size_t)(slash + 1 - info.dli_fname) : 0;
  if (bytes < capacity) {
    memcpy(folder, info.dli_fname, bytes);
    folder[bytes] = '\0';
  }
}

/* An object pointer that is really a function: POSIX allows it, ISO C has no cast for it. */
static void *address_of(tptx_status (*function)(const tptx_runtime_options *, tptx_runtime **,
                                                tptx_error *)) {
  void *address;
  memcpy(&address, &function, sizeof address);
  return address;
}

/* The emulator is installed in the package's folder and built in a libtool folder beside us. */
static void find_emulator(char *path, size_t capacity) {
  static const char *const places[] = {"",        "tileptx/", "../lib/tileptx/",
                                       "../lib/", ".libs/",   "../.libs/"};
  char folder[900];
  folder_of(address_of(tptx_runtime_create), folder, sizeof folder);
  for (size_t i = 0; *folder && i < sizeof places / sizeof *places; i++) {
    snprintf(path, capacity, "%s%s" EMULATOR_NAME, folder, places[i]);
    if (access(path, R_OK) == 0) return;
  }
#ifdef TILEPTX_EMU_INSTALLED
  snprintf(path, capacity, "%s", TILEPTX_EMU_INSTALLED);
  if (access(path, R_OK) == 0) return;
#endif
  snprintf(path, capacity, "%s", EMULATOR_NAME);
}

static tptx_status open_library(struct driver *driver, const char *name, const char *emulator,
                                tptx_error *error) {
  char found[1024];
  if (name && strcmp(name, "emu") == 0) {
    find_emulator(found, sizeof found);
    name = emulator ? emulator : found;
  }
  if (!name) name = "libcuda.so.1";
  driver->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!driver->library) {
    const char *reason = dlerror();
    REFUSE(error, TPTX_ERROR_NO_DRIVER, "driver", -1,
           "the driver library %s cannot be opened: %s; install a driver, name its library "
           "(TILEPTX_DRIVER), or use the emulated one (TILEPTX_DRIVER=emu)",
           name, reason ? reason : "the loader gives no reason");
  }
  snprintf(driver->path, sizeof driver->path, "%s", name);
  return TPTX_OK;
}

/* 0 where the driver cannot even say that. */
static int version_of(const struct driver *driver) {
  int version = 0;
  return driver->cuDriverGetVersion && driver->cuDriverGetVersion(&version) == DRIVER_SUCCESS
             ? version
             : 0;
}

static tptx_status resolve(struct driver *driver, tptx_error *error) {
  enum { REQUIRED, OPTIONAL };
  const char *missing = NULL;
  void *symbol;
#define ENTRY(need, name, exact, parameters) \
  symbol = dlsym(driver->library, (exact)); \
  memcpy(&driver->name, &symbol, sizeof symbol); \
  if (!symbol && (need) == REQUIRED && !missing) missing = (exact);
#include "driver.def"
  if (missing) {
    int version = version_of(driver);
    REFUSE(error, TPTX_ERROR_OLD_DRIVER, "driver", -1,
           "the driver library %s (CUDA %d.%d) has no %s; install a driver of CUDA 11.0 or newer",
           driver->path, version / 1000, version % 1000 / 10, missing);
  }
  return TPTX_OK;
}

/* The loader knows which file a plain name led to. */
static void note_path(struct driver *driver) {
  Dl_info info;
  void *symbol = dlsym(driver->library, "cuInit");
  if (symbol && dladdr(symbol, &info) && info.dli_fname)
    snprintf(driver->path, sizeof driver->path, "%s", info.dli_fname);
  driver->emulated = dlsym(driver->library, "tileptx_emu_configure") != NULL;
}

static tptx_status start(struct driver *driver, tptx_error *error) {
  int code = driver->cuInit(0);
  /* Starting a driver that says it is not started happens after a fork, and nowhere else. */
  if (code == DRIVER_NOT_INITIALIZED) {
    driver_check(code, "cuInit", NULL, error);
    if (error) error->status = TPTX_ERROR_FORKED;
    return TPTX_ERROR_FORKED;
  }
  FORWARD(driver_check(code, "cuInit", NULL, error));
  FORWARD(driver_check(driver->cuDriverGetVersion(&driver->version), "cuDriverGetVersion", NULL,
                       error));
  driver->ptx = target_ptx_of_driver(driver->version);
  REFUSE_IF(driver->ptx == 0, error, TPTX_ERROR_OLD_DRIVER, "driver", -1,
            "the driver is of CUDA %d.%d and takes no PTX that this library writes; install one of "
            "CUDA 11.0 or newer",
            driver->version / 1000, driver->version % 1000 / 10);
  return TPTX_OK;
}

tptx_status driver_open(struct driver *driver, const char *name, const char *emulator,
                        tptx_error *error) {
  memset(driver, 0, sizeof *driver);
  FORWARD(open_library(driver, name, emulator, error));
  tptx_status status = resolve(driver, error);
  if (status == TPTX_OK) {
    note_path(driver);
    status = start(driver, error);
  }
  if (status != TPTX_OK) driver_close(driver);
  return status;
}

void driver_close(struct driver *driver) {
  if (driver->library) dlclose(driver->library);
  driver->library = NULL;
}
