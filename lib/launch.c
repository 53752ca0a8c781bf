/* SPDX-License-Identifier: Apache-2.0 */
/* From arguments to a launched kernel. Nothing here allocates, waits or, on a hit, compiles. */
#include "runtime_state.h"

#include "bind.h"
#include "operands.h"
#include "status.h"
#include "structs.h"

/*
 * Asked before every launch of a kernel that no capture has used yet: a graph keeps the function,
 * so the cache must not unload it. This cannot be left for later, when room is needed: the capture
 * may be over by then. It costs 30 ns beside the 4 us of a launch (H200, driver 580), and a launch
 * on the legacy stream that would break somebody's capture is refused before it does (906).
 */
static tptx_status stream_is_capturing(const tptx_runtime *runtime, tptx_stream stream,
                                       bool *capturing, tptx_error *error) {
  int state = CAPTURE_STATUS_NONE;
  FORWARD(driver_check(runtime->driver.cuStreamIsCapturing(stream, &state), "cuStreamIsCapturing",
                       NULL, error));
  *capturing = state != CAPTURE_STATUS_NONE;
  return TPTX_OK;
}

/* Without context ids, this answer is how we learn that a context is gone. */
static void note_dead_context(tptx_kernel *kernel, int code) {
  tptx_runtime *runtime = kernel->runtime;
  if (runtime->driver.cuCtxGetId ||
      (code != DRIVER_INVALID_HANDLE && code != DRIVER_CONTEXT_IS_DESTROYED))
    return;
  atomic_store(&kernel->abandoned, true);
  contexts_forget(&runtime->contexts, kernel->context);
  cache_drop_context(&runtime->cache, kernel->context);
}

/* `context` is current. */
static tptx_status launch_bound(tptx_kernel *kernel, struct context context, tptx_binding *binding,
                                tptx_stream stream, tptx_error *error) {
  tptx_runtime *runtime = kernel->runtime;
  REFUSE_IF(!context_equal(context, kernel->context), error, TPTX_ERROR_WRONG_CONTEXT, "", -1,
            "the kernel was loaded into another context than the current one; get it again here "
            "(tptx_kernel_get), or make its context current");
  if (!atomic_load(&kernel->captured)) {
    bool capturing;
    FORWARD(stream_is_capturing(runtime, stream, &capturing, error));
    if (capturing) atomic_store(&kernel->captured, true);
  }
  size_t bytes = binding->parameter_bytes;
  void *extra[] = {(void *)(uintptr_t)LAUNCH_BUFFER_POINTER, binding->parameters,
                   (void *)(uintptr_t)LAUNCH_BUFFER_BYTES, &bytes, (void *)(uintptr_t)LAUNCH_END};
  int code = runtime->driver.cuLaunchKernel(kernel->function, binding->blocks, 1, 1,
                                            binding->threads, 1, 1, 0, stream, NULL, extra);
  if (code != DRIVER_SUCCESS) note_dead_context(kernel, code);
  FORWARD(driver_check(code, "cuLaunchKernel", NULL, error));
  atomic_fetch_add_explicit(&runtime->launches, 1, memory_order_relaxed);
  if (trace_wants(&runtime->trace, TPTX_TOPIC_LAUNCH))
    trace_line(&runtime->trace, TPTX_TOPIC_LAUNCH, "launch %u blocks, %u threads, %s",
               binding->blocks, binding->threads, kernel->ptx->key.line);
  return TPTX_OK;
}

static tptx_status bind(const struct plan *plan, const tptx_args *args, tptx_binding *binding,
                        tptx_error *error) {
  REFUSE_IF(!args, error, TPTX_ERROR_INVALID_ARGUMENT, "args", -1, "args is NULL");
  binding->struct_size = sizeof *binding;
  return bind_arguments(plan, args, binding, error);
}

tptx_status tptx_launch(tptx_kernel *kernel, const tptx_args *args, tptx_stream stream,
                        tptx_error *error) {
  tptx_binding binding;
  struct context context;
  REFUSE_IF(!kernel, error, TPTX_ERROR_INVALID_ARGUMENT, "kernel", -1, "kernel is NULL");
  FORWARD(runtime_enter(kernel->runtime, error));
  FORWARD(bind(&kernel->ptx->plan, args, &binding, error));
  if (binding.tiles == 0) return TPTX_OK;
  FORWARD(context_current(&kernel->runtime->driver, &context, error));
  return launch_bound(kernel, context, &binding, stream, error);
}

/* A miss: what can be refused without a kernel is refused before one is made. */
static tptx_status run_missed(struct lookup *lookup, const tptx_args *args, tptx_stream stream,
                              tptx_binding *binding, tptx_kernel **kernel, tptx_error *error) {
  tptx_runtime *runtime = lookup->runtime;
  struct plan plan;
  FORWARD(plan_make(&lookup->signature, &plan, error));
  FORWARD(bind(&plan, args, binding, error));
  if (binding->tiles == 0) return TPTX_OK;
  if (!runtime->compile_in_capture) {
    bool capturing;
    FORWARD(stream_is_capturing(runtime, stream, &capturing, error));
    REFUSE_IF(capturing, error, TPTX_ERROR_CAPTURING, "stream", -1,
              "the kernel is not built yet and the stream is being captured; prepare it before the "
              "capture (tptx_prepare), or set options.compile_in_capture: %s",
              lookup->key.line);
  }
  return lookup_build(lookup, kernel, error);
}

/*
 * Any kernel that the descriptors led to before knows their signature, which is enough to find out
 * the classes of these operands, and mostly the kernel is the right one. *kernel stays NULL where
 * the long way has to be taken.
 */
static tptx_status run_recalled(const struct lookup *lookup, const struct shortcut_call *call,
                                const tptx_args *args, tptx_binding *binding, tptx_kernel **kernel,
                                tptx_error *error) {
  struct operands operands;
  tptx_kernel *known = lookup_recall(lookup, call, NULL);
  *kernel = NULL;
  if (!known) return TPTX_OK;
  const struct signature *signature = &known->ptx->plan.signature;
  tptx_status status = operands_resolve(signature, args, &operands, error);
  if (status != TPTX_OK) {
    lookup_in_vain(lookup, known);
    return status;
  }
  struct classes promised = promised_classes(call->view, call->op);
  struct classes classes = operands_classify(signature, args, &operands, promised);
  tptx_kernel *found = known;
  if (!kernel_made_for(known, &classes)) {
    found = lookup_recall(lookup, call, &classes);
    lookup_in_vain(lookup, known);
  }
  if (!found) return TPTX_OK;
  lookup_recalled(lookup, found);
  status = bind_resolved(&found->ptx->plan, args, &operands, binding, error);
  if (status == TPTX_OK)
    *kernel = found;
  else
    tptx_kernel_release(found);
  return status;
}

static tptx_status run_described(struct lookup *lookup, const struct shortcut_call *call,
                                 const tptx_args *args, tptx_stream stream, tptx_binding *binding,
                                 tptx_kernel **kernel, tptx_error *error) {
  tptx_view view = *call->view;
  tptx_op op = *call->op;
  view.struct_size = sizeof view;
  op.struct_size = sizeof op;
  FORWARD(tptx_specialise(&view, &op, args, error));
  FORWARD(lookup_describe(lookup, &view, &op, error));
  *kernel = lookup_find(lookup);
  FORWARD(*kernel ? bind(&(*kernel)->ptx->plan, args, binding, error)
                  : run_missed(lookup, args, stream, binding, kernel, error));
  if (*kernel) lookup_keep_shortcut(lookup, call, *kernel);
  return TPTX_OK;
}

tptx_status tptx_run(tptx_runtime *runtime, const tptx_view *view, const tptx_op *op,
                     const tptx_args *args, tptx_stream stream, tptx_error *error) {
  tptx_binding binding;
  struct lookup lookup;
  FORWARD(lookup_begin(runtime, &lookup, error));
  FORWARD(struct_check(view, sizeof *view, "view", error));
  FORWARD(struct_check(op, sizeof *op, "op", error));
  struct shortcut_call call = {lookup.context, view, op, shortcut_hash(lookup.context, view, op)};
  tptx_kernel *kernel = NULL;
  FORWARD(run_recalled(&lookup, &call, args, &binding, &kernel, error));
  tptx_status status = TPTX_OK;
  if (!kernel) status = run_described(&lookup, &call, args, stream, &binding, &kernel, error);
  if (status == TPTX_OK && binding.tiles > 0)
    status = launch_bound(kernel, lookup.context, &binding, stream, error);
  tptx_kernel_release(kernel);
  return status;
}
