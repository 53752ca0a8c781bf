/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include "numbers.h"
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOVED = 1 << 20 }; /* elements of --span-offset and --tile-offset */

/* What `_` stands for in an option: the signature's own number, or an axis that has none. */
static const int64_t hole = TPTX_DYNAMIC;

int batch_gives_tiles(const tptx_op *op) {
  return op->operation == TPTX_LOAD || op->operation == TPTX_ATOMIC_LOAD || op->fetch;
}

int batch_writes_span(const tptx_op *op) {
  return op->operation != TPTX_LOAD && op->operation != TPTX_ATOMIC_LOAD;
}

static int is_gather(const tptx_view *view) {
  return view->kind == TPTX_GATHER_SCATTER_VIEW;
}

static int64_t ceiling(int64_t value, int64_t divisor) {
  return value / divisor + (value % divisor != 0);
}

/* ---- Numbers for each axis ------------------------------------------------------------------- */

/* An option that is not given leaves holes. */
static enum exit_code read_axes(const char *text, const struct axes_form *form, int64_t *values) {
  char message[256];
  for (int k = 0; k < form->rank; k++) values[k] = form->hole;
  if (text != NULL && axes_read(text, form, values, message, sizeof message) != 0)
    return complain_usage("%s", message);
  return EXIT_DONE;
}

/* Gives every axis that is `_` in the signature its number, which the option must have. */
static enum exit_code fill_in(const char *text, const struct axes_form *form,
                              const int64_t *signature, int64_t *values) {
  int64_t given[TPTX_MAX_RANK];
  enum exit_code code = read_axes(text, form, given);
  if (code != EXIT_DONE) return code;
  for (int k = 0; k < form->rank; k++) {
    if (signature[k] == TPTX_DYNAMIC && given[k] == hole)
      return complain_usage("axis %d is _ in the signature: %s must give its number", k,
                            form->option);
    if (signature[k] != TPTX_DYNAMIC && given[k] != hole && given[k] != signature[k])
      return complain_usage("%s: axis %d is %" PRId64 " in the signature, not %" PRId64
                            "; write _ there",
                            form->option, k, signature[k], given[k]);
    values[k] = signature[k] == TPTX_DYNAMIC ? given[k] : signature[k];
  }
  return EXIT_DONE;
}

/* Strides of an operand whose extents are known. */
static enum exit_code find_strides(struct operand *operand, tptx_layout layout,
                                   const int64_t *signature, const char *option, const char *text) {
  struct axes_form form = {option, 'x', operand->rank, -INT64_MAX, INT64_MAX, hole};
  if (layout == TPTX_LAYOUT_STRIDED) return fill_in(text, &form, signature, operand->strides);
  if (text != NULL)
    return complain_usage("%s goes with element strides in the signature, as in layout=_x1",
                          option);
  return operand_compact(operand, layout);
}

static enum exit_code read_whole(const char *option, const char *text, int64_t least, int64_t most,
                                 int64_t *value) {
  if (text == NULL || number_read(text, strlen(text), least, most, value) == 0) return EXIT_DONE;
  return complain_usage("%s is \"%s\", it must be a whole number from %" PRId64 " to %" PRId64,
                        option, text, least, most);
}

/* ---- Span and index array -------------------------------------------------------------------- */

static enum exit_code prepare_span(struct batch *batch, const struct options *options,
                                   const tptx_view *view) {
  struct operand *span = &batch->span;
  struct axes_form form = {"--extents", 'x', view->rank, 0, INT64_MAX, hole};
  span->name = "span";
  span->type = view->type;
  span->rank = view->rank;
  enum exit_code code = fill_in(options->extents, &form, view->extents, span->extents);
  if (code == EXIT_DONE)
    code = find_strides(span, view->layout, view->layout_strides, "--layout-strides",
                        options->layout_strides);
  if (code == EXIT_DONE)
    code = read_whole("--span-offset", options->span_offset, 0, MOST_MOVED, &span->moved);
  if (code == EXIT_DONE) code = operand_measure(span);
  if (code == EXIT_DONE)
    code = operand_fill(span, "--span", options->span != NULL ? options->span : "iota");
  return code;
}

static int64_t count_entries(const char *list) {
  int64_t count = list[0] != '\0';
  for (; *list != '\0'; list++) count += *list == ',';
  return count;
}

/* Entries are set one by one: where the stride is 0 they share an element and must agree. */
static enum exit_code set_entries(struct operand *indices, const char *list) {
  int64_t number = 0;
  for (const char *at = list; number < indices->extents[0]; number++) {
    size_t length = strcspn(at, ",");
    char message[256];
    uint64_t bits;
    if (value_read(indices->type, at, length, &bits, message, sizeof message) != 0)
      return complain_usage("--indices, entry %" PRId64 ": %s", number, message);
    if (indices->strides[0] == 0 && number > 0 && operand_element(indices, &number) != bits)
      return complain_usage("--indices, entry %" PRId64
                            ": entries differ, but --indices-stride 0 makes them one",
                            number);
    operand_set(indices, &number, bits);
    at += length + (at[length] == ',');
  }
  return EXIT_DONE;
}

static enum exit_code prepare_indices(struct batch *batch, const struct options *options,
                                      const struct subject *subject) {
  struct operand *indices = &batch->indices;
  if (!is_gather(&subject->view)) {
    if (options->indices != NULL || options->indices_stride != NULL || options->step != NULL)
      return complain_usage("--indices, --indices-stride and --step go with gather_scatter_view");
    return EXIT_DONE;
  }
  if (options->indices == NULL)
    return complain_usage("gather_scatter_view needs --indices, the positions along axis %d",
                          (int)subject->view.dim);
  indices->name = "index array";
  indices->type = subject->op.indices.type;
  indices->rank = 1;
  indices->extents[0] = count_entries(options->indices);
  indices->strides[0] = 1;
  enum exit_code code = read_whole("--indices-stride", options->indices_stride, -INT64_MAX,
                                   INT64_MAX, &indices->strides[0]);
  if (code == EXIT_DONE) code = operand_measure(indices);
  return code == EXIT_DONE ? set_entries(indices, options->indices) : code;
}

/* ---- Box ------------------------------------------------------------------------------------- */

static enum exit_code place_one(struct batch *batch, const char *at, const tptx_view *view) {
  struct axes_form form = {"--at", ',', view->rank, 0, INT64_MAX, hole};
  enum exit_code code = read_axes(at, &form, batch->first);
  if (code != EXIT_DONE) return code;
  for (int k = 0; k < view->rank; k++) {
    int picked = is_gather(view) && k == view->dim;
    if (picked && batch->first[k] != hole)
      return complain_usage("--at: axis %d is the gather dimension, write _ there", k);
    if (!picked && batch->first[k] == hole)
      return complain_usage("--at: axis %d needs a number, _ is for the gather dimension", k);
    batch->count[k] = 1;
    if (picked) batch->first[k] = 0;
  }
  if (is_gather(view) && batch->indices.extents[0] > view->shape[view->dim])
    return complain_usage("--at is one operation: it takes at most %" PRId64 " of --indices",
                          view->shape[view->dim]);
  return EXIT_DONE;
}

static void place_all(struct batch *batch, const tptx_view *view) {
  for (int k = 0; k < view->rank; k++) {
    int64_t advance = is_gather(view) ? batch->step[k] : view->strides[k];
    batch->first[k] = 0;
    batch->count[k] = is_gather(view) && k == view->dim
                          ? ceiling(batch->indices.extents[0], view->shape[k])
                          : ceiling(batch->span.extents[k], advance);
  }
}

static enum exit_code prepare_box(struct batch *batch, const struct options *options,
                                  const tptx_view *view) {
  struct axes_form form = {"--step", 'x', view->rank, 1, INT64_MAX, hole};
  enum exit_code code = read_axes(options->step, &form, batch->step);
  if (code != EXIT_DONE) return code;
  for (int k = 0; k < view->rank; k++)
    if (batch->step[k] == hole) batch->step[k] = view->shape[k];
  if (options->at != NULL && options->all)
    return complain_usage("--at is one chunk and --all is every chunk: give one of them");
  if (options->at != NULL) return place_one(batch, options->at, view);
  place_all(batch, view);
  return EXIT_DONE;
}

/* ---- Tile operand ---------------------------------------------------------------------------- */

static enum exit_code refuse_tiles(void) {
  return complain(EXIT_REFUSED, "the tiles of this batch are too large for run; --at takes one");
}

static enum exit_code place_packed(struct operand *tile, const struct batch *batch,
                                   const struct options *options, const tptx_view *view) {
  int64_t sizes[2] = {product_of(view->rank, batch->count), product_of(view->rank, view->shape)};
  if (options->tile_extents != NULL || options->tile_layout_strides != NULL)
    return complain_usage("--tile-extents and --tile-layout-strides go with tiles=array");
  tile->rank = 1;
  tile->strides[0] = 1;
  tile->extents[0] = sizes[0] < 0 || sizes[1] < 0 ? -1 : product_of(2, sizes);
  return tile->extents[0] < 0 ? refuse_tiles() : EXIT_DONE;
}

static enum exit_code place_array(struct operand *tile, const struct batch *batch,
                                  const struct options *options, const tptx_view *view,
                                  const tptx_op *op) {
  struct axes_form form = {"--tile-extents", 'x', view->rank, 0, INT64_MAX, hole};
  tile->rank = view->rank;
  enum exit_code code = read_axes(options->tile_extents, &form, tile->extents);
  if (code != EXIT_DONE) return code;
  for (int k = 0; k < view->rank; k++)
    if (tile->extents[k] == hole &&
        __builtin_mul_overflow(batch->count[k], view->shape[k], &tile->extents[k]))
      return refuse_tiles();
  return find_strides(tile, op->tile.layout, op->tile.layout_strides, "--tile-layout-strides",
                      options->tile_layout_strides);
}

static enum exit_code prepare_tile(struct batch *batch, const struct options *options,
                                   const struct subject *subject) {
  struct operand *tile = &batch->tile;
  tile->name = "tile operand";
  tile->type = subject->op.tile.type < 0 ? subject->view.type : subject->op.tile.type;
  if (options->tile != NULL && !batch_writes_span(&subject->op))
    return complain_usage("--tile goes with operations that write the span, this one loads");
  enum exit_code code =
      read_whole("--tile-offset", options->tile_offset, 0, MOST_MOVED, &tile->moved);
  if (code == EXIT_DONE)
    code = subject->op.tile.tiles == TPTX_TILES_ARRAY
               ? place_array(tile, batch, options, &subject->view, &subject->op)
               : place_packed(tile, batch, options, &subject->view);
  if (code == EXIT_DONE) code = operand_measure(tile);
  if (code == EXIT_DONE && batch_writes_span(&subject->op))
    code = operand_fill(tile, "--tile", options->tile != NULL ? options->tile : "iota");
  return code;
}

static enum exit_code prepare_padding(struct batch *batch, const struct options *options,
                                      const struct subject *subject) {
  int wanted = subject->op.pad == TPTX_PAD_VALUE;
  char message[256];
  if (wanted && options->pad_value == NULL) return complain_usage("pad=value needs --pad-value");
  if (!wanted && options->pad_value != NULL)
    return complain_usage("--pad-value goes with pad=value in the signature");
  if (wanted && value_read(subject->view.type, options->pad_value, strlen(options->pad_value),
                           &batch->pad_value, message, sizeof message) != 0)
    return complain_usage("--pad-value: %s", message);
  return EXIT_DONE;
}

/* ---- Together -------------------------------------------------------------------------------- */

enum exit_code batch_prepare(struct batch *batch, const struct options *options,
                             const struct subject *subject) {
  memset(batch, 0, sizeof *batch);
  enum exit_code code = prepare_span(batch, options, &subject->view);
  if (code == EXIT_DONE) code = prepare_indices(batch, options, subject);
  if (code == EXIT_DONE) code = prepare_box(batch, options, &subject->view);
  if (code == EXIT_DONE) code = prepare_padding(batch, options, subject);
  if (code == EXIT_DONE) code = prepare_tile(batch, options, subject);
  return code;
}

enum exit_code batch_send(struct batch *batch, struct device *device) {
  enum exit_code code = operand_send(&batch->span, device);
  if (code == EXIT_DONE) code = operand_send(&batch->tile, device);
  if (code == EXIT_DONE && batch->indices.image != NULL)
    code = operand_send(&batch->indices, device);
  /* Copies from ordinary memory may still be under way, and our stream does not wait for them. */
  int driver_code = code == EXIT_DONE ? device_synchronize(device) : 0;
  if (driver_code != 0)
    return complain(EXIT_REFUSED, "the operands cannot be copied: %s (%d)",
                    device_error_name(device, driver_code), driver_code);
  return code;
}

void batch_arguments(const struct batch *batch, tptx_args *args) {
  tptx_args_init(args);
  args->span = operand_address(&batch->span);
  args->tile = operand_address(&batch->tile);
  memcpy(args->extents, batch->span.extents, sizeof args->extents);
  memcpy(args->layout_strides, batch->span.strides, sizeof args->layout_strides);
  memcpy(args->tile_extents, batch->tile.extents, sizeof args->tile_extents);
  memcpy(args->tile_strides, batch->tile.strides, sizeof args->tile_strides);
  memcpy(args->first, batch->first, sizeof args->first);
  memcpy(args->count, batch->count, sizeof args->count);
  memcpy(args->step, batch->step, sizeof args->step);
  args->pad_value = batch->pad_value;
  if (batch->indices.allocation != 0) {
    args->indices = operand_address(&batch->indices);
    args->index_count = batch->indices.extents[0];
    args->index_stride = batch->indices.strides[0];
  }
}

void batch_release(struct batch *batch, struct device *device) {
  operand_release(&batch->span, device);
  operand_release(&batch->tile, device);
  operand_release(&batch->indices, device);
}
