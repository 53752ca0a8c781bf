/* SPDX-License-Identifier: Apache-2.0 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(struct rig *rig, int code, const char *what) {
  if (code == 0) return;
  printf("%s: %s\n", what, device_error_name(rig->device, code));
  exit(1);
}

int rig_open(struct rig *rig) {
  const char *driver = getenv("TILEPTX_DRIVER");
  char message[256] = "";
  tptx_runtime_options options;
  tptx_error error;
  memset(rig, 0, sizeof *rig);
  tptx_error_init(&error);
  if (driver && (driver[0] == '\0' || strcmp(driver, "cuda") == 0)) driver = NULL;
  if (device_open(driver, 0, &rig->device, message, sizeof message) != 0) {
    printf("skipped: %s\n", message);
    return 77;
  }
  tptx_runtime_options_init(&options);
  options.driver = device_driver(rig->device);
  options.read_environment = 0;
  if (tptx_runtime_create(&options, &rig->runtime, &error) == TPTX_OK) return 0;
  printf("runtime: %s\n", error.message);
  device_close(rig->device);
  return 1;
}

void rig_close(struct rig *rig) {
  tptx_runtime_destroy(rig->runtime);
  device_close(rig->device);
}

uint64_t rig_allocate(struct rig *rig, size_t bytes) {
  uint64_t address = 0;
  check(rig, device_allocate(rig->device, bytes, &address), "allocation");
  return address;
}

uint64_t rig_put(struct rig *rig, const void *contents, size_t bytes) {
  uint64_t address = rig_allocate(rig, bytes);
  check(rig, device_write(rig->device, address, contents, bytes), "copy to the device");
  return address;
}

void rig_get(struct rig *rig, void *contents, uint64_t address, size_t bytes) {
  check(rig, device_read(rig->device, contents, address, bytes), "copy from the device");
}

void rig_fill(struct rig *rig, uint64_t address, int byte, size_t bytes) {
  check(rig, device_fill(rig->device, address, byte, bytes), "fill");
}

void rig_free(struct rig *rig, uint64_t address) {
  check(rig, device_free(rig->device, address), "free");
}

bool rig_run(struct rig *rig, const tptx_view *view, const tptx_op *op, const tptx_args *args) {
  tptx_error error;
  tptx_error_init(&error);
  tptx_status status = tptx_run(rig->runtime, view, op, args, NULL, &error);
  int code = device_synchronize(rig->device);
  if (status == TPTX_OK && code == 0) return true;
  printf("  %s: %s (driver: %s)\n%s\n", tptx_status_name(status), error.message,
         device_error_name(rig->device, code), error.log);
  return false;
}

void rig_configure(struct rig *rig, const char *name, int64_t value) {
  int (*configure)(const char *, int64_t) = NULL;
  void *entry = device_entry_point(rig->device, "tileptx_emu_configure");
  memcpy(&configure, &entry, sizeof configure);
  if (configure && configure(name, value) != 0) {
    printf("the emulated driver knows no %s\n", name);
    exit(1);
  }
}
