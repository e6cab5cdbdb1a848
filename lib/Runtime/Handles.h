//===- Handles.h - What the C handles are -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_HANDLES_H
#define FP8C_LIB_RUNTIME_HANDLES_H

#include "Context.h"
#include "Program.h"
#include "State.h"

#include <memory>
#include <new>

/// A reference to the programs of a package; `program` has the signature.
struct fp8rt_program_s {
  std::shared_ptr<fp8c::rt::Programs> programs;
  std::shared_ptr<fp8c::rt::Program> program;
};

/// A reference to a state.
struct fp8rt_state_s {
  std::shared_ptr<fp8c::rt::State> state;
};

/// A context.
struct fp8rt_context_s {
  fp8c::rt::Context context;
};

namespace fp8c::rt {

/// Keeps the message and gives the status back.
fp8rt_status_t setError(fp8rt_status_t status, const char *message) noexcept;

/// Runs `body` and turns what it throws into a status.
template <typename Fn> fp8rt_status_t guarded(Fn body) noexcept {
  try {
    body();
    return FP8RT_OK;
  } catch (const Error &error) {
    return setError(error.status, error.message.c_str());
  } catch (const std::bad_alloc &) {
    return setError(FP8RT_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return setError(FP8RT_INTERNAL, error.what());
  } catch (...) {
    return setError(FP8RT_INTERNAL, "unknown failure");
  }
}

/// Throws for a null argument.
inline void notNull(const void *pointer, const char *name) {
  require(pointer, FP8RT_INVALID_ARGUMENT, name, " is null");
}

/// Copies an option struct of any age: members that the caller's does not have
/// are 0.
template <typename Options> Options readOptions(const Options *options) {
  Options result{};
  if (options)
    __builtin_memcpy(&result, options,
                     options->struct_size < sizeof(Options)
                         ? options->struct_size
                         : sizeof(Options));
  return result;
}

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_HANDLES_H
