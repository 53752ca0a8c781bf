/* SPDX-License-Identifier: Apache-2.0 */
/* From a signature to the finished text: plan, model, template. */
#include "model.h"
#include "ptx.h"
#include "status.h"

#include <string.h>

enum { FIRST_TEXT_BYTES = 16384, MOST_TEXT_BYTES = 1 << 20 };

static tptx_status finish(const tptx_allocator *allocator, const struct strbuf *text,
                          const struct model *model, const struct key *key, tptx_ptx **out,
                          tptx_error *error) {
  struct tptx_ptx *ptx = text->failed ? NULL : allocate(allocator, sizeof *ptx + text->bytes + 1);
  REFUSE_IF(!ptx, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no memory for the PTX text of %s",
            key->line);
  ptx->allocator = *allocator;
  ptx->plan = *model->plan;
  ptx->key = *key;
  memcpy(ptx->entry, model->entry, sizeof ptx->entry);
  ptx->text_bytes = text->bytes;
  memcpy(ptx->text, text->text, text->bytes + 1);
  for (int32_t i = 0; i < ptx->plan.quantity_count; i++) {
    struct strbuf name;
    strbuf_fixed(&name, ptx->names[i], sizeof ptx->names[i]);
    quantity_write_name(&ptx->plan.quantities[i], &name);
  }
  *out = ptx;
  return TPTX_OK;
}

static tptx_status render_model(const tptx_allocator *allocator, struct model *model,
                                const struct key *key, tptx_ptx **out, tptx_error *error) {
  struct strbuf text;
  strbuf_growing(&text, allocator, FIRST_TEXT_BYTES, MOST_TEXT_BYTES);
  tptx_status status = template_render(&model->lists, &text, error);
  if (status == TPTX_OK) status = finish(allocator, &text, model, key, out, error);
  strbuf_free(&text);
  return status;
}

tptx_status ptx_render(const tptx_allocator *allocator, const struct signature *signature,
                       const struct key *key, tptx_ptx **out, tptx_error *error) {
  struct plan plan;
  *out = NULL;
  FORWARD(plan_make(signature, &plan, error));
  struct model *model = allocate(allocator, sizeof *model);
  REFUSE_IF(!model, error, TPTX_ERROR_OUT_OF_MEMORY, "", -1, "no memory to render %s", key->line);
  tptx_status status = TPTX_ERROR_INTERNAL;
  if (model_make(model, &plan, key))
    status = render_model(allocator, model, key, out, error);
  else
    refuse(error, (struct fault){status, "", -1}, "the model of %s does not fit", key->line);
  release(allocator, model);
  return status;
}
