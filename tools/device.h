/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a host program owns and tileptx never touches: a context, memory, streams, events. The tool,
 * the tests, the benchmarks use it; it opens the driver library by itself and shares no code with
 * lib/. Every function but device_open returns the driver's code (0 is success).
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stddef.h>
#include <stdint.h>

struct device;

/*
 * Opens `driver` (a path, "emu", or NULL for libcuda.so.1), retains the primary context of device
 * `ordinal` and makes it current on this thread. 0 on success; otherwise `message` says why.
 */
int device_open(const char *driver, int ordinal, struct device **out, char *message,
                size_t capacity);
void device_close(struct device *device);

const char *device_driver(const struct device *device); /* for tptx_runtime_options.driver */
const char *device_name(const struct device *device);   /* "NVIDIA H200", "emulated sm_90" */
int device_is_emulated(const struct device *device);
int device_sm(const struct device *device);
int device_count(const struct device *device);
const char *device_error_name(const struct device *device, int code); /* never NULL */

int device_make_current(struct device *device); /* on a further thread */
int device_allocate(struct device *device, size_t bytes, uint64_t *address);
int device_free(struct device *device, uint64_t address);
int device_write(struct device *device, uint64_t address, const void *data, size_t bytes);
int device_read(struct device *device, void *data, uint64_t address, size_t bytes);
int device_fill(struct device *device, uint64_t address, int byte, size_t bytes);
int device_copy(struct device *device, uint64_t to, uint64_t from, size_t bytes, void *stream);
int device_synchronize(struct device *device);

int device_stream_create(struct device *device, void **stream); /* non-blocking */
int device_stream_destroy(struct device *device, void *stream);
int device_event_create(struct device *device, void **event);
int device_event_destroy(struct device *device, void *event);
int device_event_record(struct device *device, void *event, void *stream);
int device_event_milliseconds(struct device *device, void *begin, void *end, float *milliseconds);

/* Any other entry point of the driver, by its exact versioned name; NULL where it has none. */
void *device_entry_point(struct device *device, const char *name);

#endif
