/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host program: it owns the context and the memory, tileptx finds or builds the kernel and
 * launches it. Loads the 2 x 4 tile at chunk (1, 8) of a 4 x 11 array of 0 to 43 and prints it.
 *
 *   cc run_tile.c $(pkg-config --cflags --libs tileptx) -o run_tile
 *
 * A program that is built with cuda.h includes that in place of the declarations below and links
 * -lcuda. The argument is the path of another driver library, such as libtileptx-emu.so.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tileptx.h>

typedef unsigned long long CUdeviceptr;
static int (*cuInit)(unsigned flags);
static int (*cuDevicePrimaryCtxRetain)(void **context, int device);
static int (*cuCtxSetCurrent)(void *context);
static int (*cuMemAlloc_v2)(CUdeviceptr *address, size_t bytes);
static int (*cuMemcpyHtoD_v2)(CUdeviceptr to, const void *from, size_t bytes);
static int (*cuMemcpyDtoH_v2)(void *to, CUdeviceptr from, size_t bytes);

static void find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "the driver has no %s\n", name);
    exit(1);
  }
  memcpy(function, &symbol, sizeof symbol);
}

static void open_driver(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "no CUDA driver: %s\n", dlerror());
    exit(77);
  }
  find(library, "cuInit", &cuInit);
  find(library, "cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain);
  find(library, "cuCtxSetCurrent", &cuCtxSetCurrent);
  find(library, "cuMemAlloc_v2", &cuMemAlloc_v2);
  find(library, "cuMemcpyHtoD_v2", &cuMemcpyHtoD_v2);
  find(library, "cuMemcpyDtoH_v2", &cuMemcpyDtoH_v2);
}

static void check(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "%s failed with %d\n", what, code);
  exit(1);
}

static void check_tileptx(tptx_status status, const tptx_error *error) {
  if (status == TPTX_OK) return;
  fprintf(stderr, "%s: %s\n%s", tptx_status_name(status), error->message, error->log);
  exit(1);
}

int main(int argc, char **argv) {
  /* The host's part: a context, the array, room for the tile. */
  float array[4][11];
  float tile[2][4];
  void *context = NULL;
  CUdeviceptr array_address = 0;
  CUdeviceptr tile_address = 0;
  const char *driver = argc > 1 ? argv[1] : "libcuda.so.1";
  for (int i = 0; i < 4 * 11; i++) array[i / 11][i % 11] = (float)i;
  open_driver(driver);
  check(cuInit(0), "cuInit");
  check(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuMemAlloc_v2(&array_address, sizeof array), "cuMemAlloc");
  check(cuMemAlloc_v2(&tile_address, sizeof tile), "cuMemAlloc");
  check(cuMemcpyHtoD_v2(array_address, array, sizeof array), "cuMemcpyHtoD");

  /* What to do: the view, the operation. */
  const int64_t extents[] = {TPTX_DYNAMIC, TPTX_DYNAMIC};
  const int64_t shape[] = {2, 4};
  const int64_t strides[] = {1, 1};
  tptx_view view;
  tptx_op op;
  tptx_view_strided(&view, TPTX_F32, 2, extents, NULL, shape, strides);
  tptx_op_load(&op);
  op.masked = 1;
  op.pad = TPTX_PAD_NAN;

  /* On what: addresses, sizes, the chunk. */
  tptx_args args;
  tptx_args_init(&args);
  args.span = array_address;
  args.tile = tile_address;
  args.extents[0] = 4;
  args.extents[1] = 11;
  args.first[0] = 1;
  args.first[1] = 8;
  args.count[0] = args.count[1] = 1;

  /* A runtime keeps kernels; a second tptx_run of this kind compiles nothing. */
  tptx_runtime *runtime = NULL;
  tptx_runtime_options options;
  tptx_error error;
  tptx_error_init(&error);
  tptx_runtime_options_init(&options);
  options.driver = driver;
  check_tileptx(tptx_runtime_create(&options, &runtime, &error), &error);
  check_tileptx(tptx_run(runtime, &view, &op, &args, NULL, &error), &error);
  check(cuMemcpyDtoH_v2(tile, tile_address, sizeof tile), "cuMemcpyDtoH");
  for (int row = 0; row < 2; row++)
    for (int column = 0; column < 4; column++)
      printf("%g%c", (double)tile[row][column], column < 3 ? ' ' : '\n');
  tptx_runtime_destroy(runtime);
  return 0;
}
