/* SPDX-License-Identifier: Apache-2.0 */
/* Valid random cases made invalid in one way each. */
#include "random_case.h"
#include "reference.h"

static bool writes_span(const struct random_case *c) {
  return c->op.operation != TPTX_LOAD && c->op.operation != TPTX_ATOMIC_LOAD;
}

static bool is_atomic(const struct random_case *c) {
  return c->op.operation >= TPTX_ATOMIC_LOAD;
}

static bool updates(const struct random_case *c) {
  return c->op.operation >= TPTX_ATOMIC_AND;
}

/* An axis of the box that holds chunks; the gather axis only where `gathered`. -1: none. */
static int box_axis(const struct random_case *c, bool gathered) {
  bool gather = c->view.kind == TPTX_GATHER_SCATTER_VIEW;
  for (int k = c->view.rank - 1; k >= 0; k--)
    if (gathered == (gather && k == c->view.dim)) return k;
  return -1;
}

static tptx_status spoil_descriptor(struct random_case *c, enum spoil_way way) {
  int last = c->view.rank - 1;
  bool floats = c->view.type == TPTX_F16 || c->view.type == TPTX_BF16 || c->view.type == TPTX_F32 ||
                c->view.type == TPTX_F64;
  switch (way) {
  case SPOIL_SHAPE:
    if (last < 0) return TPTX_OK;
    c->view.shape[last] = 0;
    return TPTX_ERROR_SHAPE;
  case SPOIL_STRIDE:
    if (last < 0 || c->view.kind != TPTX_STRIDED_VIEW) return TPTX_OK;
    c->view.strides[0] = -1;
    return TPTX_ERROR_STRIDE;
  case SPOIL_EXTENT:
    if (last < 0) return TPTX_OK;
    c->view.extents[last] = -3;
    return TPTX_ERROR_EXTENT;
  case SPOIL_RANK: c->view.rank = TPTX_MAX_RANK + 1; return TPTX_ERROR_RANK;
  case SPOIL_DIM:
    if (c->view.kind != TPTX_GATHER_SCATTER_VIEW) return TPTX_OK;
    c->view.dim = c->view.rank;
    return TPTX_ERROR_DIM;
  case SPOIL_READ_ONLY:
    if (!writes_span(c)) return TPTX_OK;
    c->view.read_only = 1;
    return TPTX_ERROR_READ_ONLY;
  case SPOIL_PADDING:
    if (floats && !writes_span(c) && c->op.masked) return TPTX_OK;
    c->op.pad = TPTX_PAD_NAN;
    return TPTX_ERROR_PADDING;
  case SPOIL_TYPE: c->view.type = (tptx_type)16; return TPTX_ERROR_TYPE;
  case SPOIL_ORDER:
    c->op.order = is_atomic(c) ? TPTX_ORDER_NONE : TPTX_ORDER_RELAXED;
    return TPTX_ERROR_ORDER;
  case SPOIL_THREADS: c->op.threads = 33; return TPTX_ERROR_TUNING;
  default: return TPTX_OK;
  }
}

/* What only atomic operations and conversions can do wrong. */
static tptx_status spoil_meaning(struct random_case *c, enum spoil_way way) {
  switch (way) {
  case SPOIL_SCOPE:
    if (updates(c)) c->op.scope = TPTX_SCOPE_SYSTEM;
    if (is_atomic(c) && !updates(c)) c->op.scope = (tptx_scope)4;
    if (!is_atomic(c)) c->op.scope = TPTX_SCOPE_BLOCK;
    return TPTX_ERROR_SCOPE;
  case SPOIL_ATOMIC_ORDER:
    if (!is_atomic(c)) return TPTX_OK;
    c->op.order = writes_span(c) ? TPTX_ORDER_ACQUIRE : TPTX_ORDER_RELEASE;
    return TPTX_ERROR_ORDER;
  case SPOIL_FETCH:
    if (updates(c)) return TPTX_OK;
    c->op.fetch = 1;
    return TPTX_ERROR_OPERATION;
  case SPOIL_ATOMIC_TYPE:
    if (!updates(c)) return TPTX_OK;
    c->view.type = TPTX_S16;
    return TPTX_ERROR_TYPE;
  case SPOIL_CONVERSION: /* integers and floats never convert into each other */
    c->op.tile.type = c->view.type >= TPTX_F16 ? TPTX_S32 : TPTX_F32;
    return TPTX_ERROR_CONVERSION;
  default: return TPTX_OK;
  }
}

static tptx_status spoil_arguments(struct random_case *c, enum spoil_way way) {
  int size = (int)tptx_type_bytes(c->view.type);
  int tile_size = (int)tptx_type_bytes(reference_tile_type(&c->view, &c->op)),
      dense = box_axis(c, false);
  int picked = box_axis(c, true);
  int64_t count[TPTX_MAX_RANK];
  reference_box(&c->view, &c->args, count);
  switch (way) {
  case SPOIL_NO_SPAN: c->args.span = 0; return TPTX_ERROR_NULL_ADDRESS;
  case SPOIL_NO_TILE: c->args.tile = 0; return TPTX_ERROR_NULL_ADDRESS;
  case SPOIL_NO_INDICES:
    if (picked < 0) return TPTX_OK;
    c->args.indices = 0;
    return TPTX_ERROR_NULL_ADDRESS;
  case SPOIL_SPAN_ADDRESS:
    if (size == 1) return TPTX_OK;
    c->args.span += 1;
    return TPTX_ERROR_MISALIGNED;
  case SPOIL_TILE_ADDRESS:
    if (tile_size == 1) return TPTX_OK;
    c->args.tile += 1;
    return TPTX_ERROR_MISALIGNED;
  case SPOIL_INDICES_ADDRESS:
    if (picked < 0 || tptx_type_bytes(c->op.indices.type) == 1) return TPTX_OK;
    c->args.indices += 1;
    return TPTX_ERROR_MISALIGNED;
  case SPOIL_FAR_BOX:
    if (dense < 0) return TPTX_OK;
    c->args.count[dense] = INT64_C(1) << 20;
    c->args.first[dense] += INT64_C(1) << 40;
    return TPTX_ERROR_BOX;
  case SPOIL_NEGATIVE_BOX:
    if (dense < 0) return TPTX_OK;
    c->args.first[dense] = -1;
    return TPTX_ERROR_BOX;
  case SPOIL_BOX_OF_INDICES:
    if (picked < 0) return TPTX_OK;
    c->args.first[picked] = c->args.index_count;
    c->args.count[picked] = 1;
    return TPTX_ERROR_BOX;
  default: return TPTX_OK;
  }
}

const char *spoil_way_text(enum spoil_way way) {
  static const char *const texts[] = {
#define WAY(name, text) text,
      SPOIL_DESCRIPTOR_WAYS(WAY) SPOIL_MEANING_WAYS(WAY) SPOIL_ARGUMENT_WAYS(WAY)
#undef WAY
  };
  return texts[way];
}

tptx_status random_case_spoil(struct random_case *c, enum spoil_way way) {
  if (c->chunks == 0) return TPTX_OK; /* nothing is looked at */
  if (way < SPOIL_SCOPE) return spoil_descriptor(c, way);
  return way < SPOIL_NO_SPAN ? spoil_meaning(c, way) : spoil_arguments(c, way);
}

/* ---- For people ------------------------------------------------------------------------------ */

static void print_numbers(FILE *out, const char *name, const int64_t *numbers, int rank) {
  fprintf(out, "  %-15s", name);
  for (int k = 0; k < rank; k++) fprintf(out, " %lld", (long long)numbers[k]);
  fputc('\n', out);
}

/* The dynamic ones among `numbers`, as the tool's option; nothing where there is none. */
static void print_option(FILE *out, const char *option, const int64_t *numbers,
                         const int64_t *descriptor, int rank) {
  const char *between = option;
  for (int k = 0; k < rank; k++) {
    if (descriptor && descriptor[k] != TPTX_DYNAMIC) continue;
    fprintf(out, "%s%lld", between, (long long)numbers[k]);
    between = "x";
  }
}

static void print_tool_line(FILE *out, const struct random_case *c) {
  char line[TPTX_MAX_SIGNATURE + 1];
  const tptx_view *view = &c->view;
  const tptx_args *args = &c->args;
  tptx_target target;
  tptx_target_init(&target);
  if (c->target) target.sm = c->target;
  if (tptx_signature_format(view, &c->op, &target, line, sizeof line, NULL) != TPTX_OK) return;
  bool array = c->op.tile.tiles == TPTX_TILES_ARRAY;
  fprintf(out, "tileptx run '%s'", line);
  print_option(out, " --extents ", args->extents, view->extents, view->rank);
  if (view->layout == TPTX_LAYOUT_STRIDED)
    print_option(out, " --layout-strides ", args->layout_strides, view->layout_strides, view->rank);
  if (array) print_option(out, " --tile-extents ", args->tile_extents, NULL, view->rank);
  if (array && c->op.tile.layout == TPTX_LAYOUT_STRIDED)
    print_option(out, " --tile-layout-strides ", args->tile_strides, c->op.tile.layout_strides,
                 view->rank);
  if (view->kind == TPTX_GATHER_SCATTER_VIEW) {
    fprintf(out, " --indices-stride %lld --indices ", (long long)args->index_stride);
    const unsigned char *zero =
        (const unsigned char *)((uintptr_t)c->indices.contents + (uintptr_t)c->indices.base);
    for (int64_t i = 0; i < args->index_count; i++)
      fprintf(out, "%s%lld", i ? "," : "",
              (long long)reference_index(zero, c->op.indices.type, args->index_stride, i));
  }
  if (c->op.pad == TPTX_PAD_VALUE)
    fprintf(out, " --pad-value 0x%llx", (unsigned long long)args->pad_value);
  fprintf(out, " --bits   # with the box below in place of --all\n");
}

void random_case_print(FILE *out, const struct random_case *c) {
  static const char *const paths[] = {"tptx_run", "tptx_specialise + tptx_kernel_get",
                                      "tptx_kernel_get"};
  int64_t extents[TPTX_MAX_RANK], strides[TPTX_MAX_RANK], tile_strides[TPTX_MAX_RANK];
  int rank = c->view.rank;
  fprintf(out, "case %llu: %s%s%s, target %d\n", (unsigned long long)c->seed, paths[c->path],
          c->weaken_align ? ", weaker alignment" : "", c->weaken_arith ? ", 64-bit" : "",
          c->target);
  if (rank > TPTX_MAX_RANK) return;
  print_tool_line(out, c);
  reference_span_layout(&c->view, &c->args, extents, strides);
  reference_tile_layout(&c->view, &c->op, &c->args, tile_strides);
  print_numbers(out, "extents", extents, rank);
  print_numbers(out, "element strides", strides, rank);
  print_numbers(out, "shape", c->view.shape, rank);
  if (c->view.kind == TPTX_STRIDED_VIEW)
    print_numbers(out, "strides", c->view.strides, rank);
  else
    print_numbers(out, "step", c->args.step, rank);
  print_numbers(out, "first", c->args.first, rank);
  print_numbers(out, "count", c->args.count, rank);
  if (c->op.tile.tiles == TPTX_TILES_ARRAY) {
    print_numbers(out, "tile extents", c->args.tile_extents, rank);
    print_numbers(out, "tile strides", tile_strides, rank);
  }
  fprintf(out,
          "  span at +%lld of %zu bytes, tile operand at +%lld of %zu bytes, "
          "%lld indices at +%lld of %zu bytes\n",
          (long long)c->span.base, c->span.bytes, (long long)c->tile.base, c->tile.bytes,
          (long long)c->args.index_count, (long long)c->indices.base, c->indices.bytes);
}
