//===- CAPI.cpp - Programs, states, contexts and calls in C ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <algorithm>
#include <cstring>

using namespace fp8c::rt;

/// This thread's last message. A plain array: it cannot fail.
static thread_local char lastMessage[4096];

fp8rt_status_t fp8c::rt::setError(fp8rt_status_t status,
                                  const char *message) noexcept {
  size_t n = std::min(std::strlen(message), sizeof(lastMessage) - 1);
  std::memcpy(lastMessage, message, n);
  lastMessage[n] = 0;
  return status;
}

extern "C" {

uint32_t fp8rt_version(void) { return FP8RT_VERSION; }

fp8rt_status_t fp8rt_device_capability(const char *device,
                                       int *out_capability) {
  return guarded([&] {
    notNull(device, "device");
    notNull(out_capability, "out_capability");
    *out_capability = readCapability(device);
  });
}

const char *fp8rt_error_message(void) { return lastMessage; }

const char *fp8rt_status_name(fp8rt_status_t status) {
  switch (status) {
#define FP8C_STATUS(NAME)                                                      \
  case NAME:                                                                   \
    return #NAME;
    FP8C_STATUS(FP8RT_OK)
    FP8C_STATUS(FP8RT_INVALID_ARGUMENT)
    FP8C_STATUS(FP8RT_NOT_FOUND)
    FP8C_STATUS(FP8RT_IO_ERROR)
    FP8C_STATUS(FP8RT_INVALID_PACKAGE)
    FP8C_STATUS(FP8RT_INCOMPATIBLE)
    FP8C_STATUS(FP8RT_MISMATCH)
    FP8C_STATUS(FP8RT_GUARD_VIOLATED)
    FP8C_STATUS(FP8RT_OUT_OF_MEMORY)
    FP8C_STATUS(FP8RT_INVALID_STATE)
    FP8C_STATUS(FP8RT_INTERNAL)
#undef FP8C_STATUS
  }
  return "unknown status";
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

fp8rt_status_t fp8rt_program_load_file(const char *path,
                                       const fp8rt_load_options_t *options,
                                       fp8rt_program_t **out_program) {
  return guarded([&] {
    notNull(path, "path");
    notNull(out_program, "out_program");
    auto programs = std::make_shared<Programs>(Package::openFile(path));
    *out_program = new fp8rt_program_t{programs, programs->first()};
  });
}

fp8rt_status_t fp8rt_program_load_memory(const void *data, size_t size,
                                         const fp8rt_load_options_t *options,
                                         fp8rt_program_t **out_program) {
  return guarded([&] {
    notNull(data, "data");
    notNull(out_program, "out_program");
    auto programs = std::make_shared<Programs>(
        Package::openMemory({static_cast<const unsigned char *>(data), size}));
    *out_program = new fp8rt_program_t{programs, programs->first()};
  });
}

void fp8rt_program_destroy(fp8rt_program_t *program) { delete program; }

fp8rt_status_t fp8rt_program_bind_weight(fp8rt_program_t *program,
                                         const char *name,
                                         const DLTensor *tensor) {
  return guarded([&] {
    notNull(program, "program");
    notNull(name, "name");
    notNull(tensor, "tensor");
    program->programs->bindWeight(name, *tensor);
  });
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

fp8rt_status_t fp8rt_state_create(fp8rt_program_t *program,
                                  fp8rt_state_t **out_state) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_state, "out_state");
    *out_state = new fp8rt_state_t{std::make_shared<State>(program->program)};
  });
}

void fp8rt_state_destroy(fp8rt_state_t *state) { delete state; }

fp8rt_status_t fp8rt_state_reset(fp8rt_state_t *state) {
  return guarded([&] {
    notNull(state, "state");
    state->state->reset();
  });
}

fp8rt_status_t fp8rt_state_get(fp8rt_state_t *state, const char *name,
                               DLTensor *tensor) {
  return guarded([&] {
    notNull(state, "state");
    notNull(name, "name");
    notNull(tensor, "tensor");
    state->state->get(name, *tensor);
  });
}

fp8rt_status_t fp8rt_state_set(fp8rt_state_t *state, const char *name,
                               const DLTensor *tensor) {
  return guarded([&] {
    notNull(state, "state");
    notNull(name, "name");
    notNull(tensor, "tensor");
    state->state->set(name, *tensor);
  });
}

fp8rt_status_t fp8rt_state_save(const fp8rt_state_t *state, const char *path) {
  return guarded([&] {
    notNull(state, "state");
    notNull(path, "path");
    state->state->save(path);
  });
}

fp8rt_status_t fp8rt_state_restore(fp8rt_state_t *state, const char *path) {
  return guarded([&] {
    notNull(state, "state");
    notNull(path, "path");
    state->state->restore(path);
  });
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

fp8rt_status_t
fp8rt_context_create(fp8rt_program_t *program,
                     const fp8rt_context_options_t *caller_options,
                     fp8rt_context_t **out_context) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_context, "out_context");
    auto options = readOptions(caller_options);
    std::shared_ptr<Device> device =
        openDevice(options.device ? options.device : "cpu");
    std::shared_ptr<Program> plan = program->programs->forDevice(*device);
    require(options.threads >= 0 && options.threads <= 4096,
            FP8RT_INVALID_ARGUMENT, "threads is ", options.threads);
    require(options.cached_shapes >= 0, FP8RT_INVALID_ARGUMENT,
            "cached_shapes is ", options.cached_shapes);
    require(options.graphs >= FP8RT_GRAPHS_AUTO &&
                options.graphs <= FP8RT_GRAPHS_ON,
            FP8RT_INVALID_ARGUMENT, "graphs is ", options.graphs);
    require(options.backends >= FP8RT_BACKENDS_AUTO &&
                options.backends <= FP8RT_BACKENDS_OWN,
            FP8RT_INVALID_ARGUMENT, "backends is ", options.backends);
    require(options.lanes >= 0 && options.lanes <= 64, FP8RT_INVALID_ARGUMENT,
            "lanes is ", options.lanes);
    program->programs->freeze();
    std::shared_ptr<State> state;
    if (options.state) {
      state = options.state->state;
      require(program->programs->owns(state->owner()), FP8RT_INVALID_ARGUMENT,
              "the state belongs to another program");
    } else {
      state = std::make_shared<State>(program->program);
    }
    state->attach(device);
    *out_context = new fp8rt_context_t{
        {std::move(device), std::move(plan), std::move(state), options}};
  });
}

void fp8rt_context_destroy(fp8rt_context_t *context) { delete context; }

fp8rt_status_t fp8rt_context_state(fp8rt_context_t *context,
                                   fp8rt_state_t **out_state) {
  return guarded([&] {
    notNull(context, "context");
    notNull(out_state, "out_state");
    *out_state = new fp8rt_state_t{context->context.sharedState()};
  });
}

fp8rt_status_t fp8rt_context_query_outputs(fp8rt_context_t *context,
                                           const DLTensor *const *inputs,
                                           size_t num_inputs,
                                           fp8rt_output_t *out_outputs,
                                           size_t num_outputs) {
  return guarded([&] {
    notNull(context, "context");
    if (num_outputs)
      notNull(out_outputs, "out_outputs");
    context->context.queryOutputs(inputs, num_inputs, out_outputs, num_outputs);
  });
}

fp8rt_status_t fp8rt_context_call(fp8rt_context_t *context,
                                  const DLTensor *const *inputs,
                                  size_t num_inputs, DLTensor *const *outputs,
                                  size_t num_outputs,
                                  const fp8rt_call_options_t *options) {
  return guarded([&] {
    notNull(context, "context");
    context->context.call(inputs, num_inputs, outputs, num_outputs,
                          readOptions(options).stream);
  });
}

fp8rt_status_t fp8rt_context_arena_size(const fp8rt_context_t *context,
                                        size_t *out_bytes) {
  return guarded([&] {
    notNull(context, "context");
    notNull(out_bytes, "out_bytes");
    *out_bytes = size_t(context->context.arenaBytes());
  });
}

} // extern "C"
