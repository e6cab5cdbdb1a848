/*===-- fp8rt.h - The runtime C interface ------------------------*- C -*-===*\
|*                                                                            *|
|* Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Loads a .fp8 package and calls it with DLPack tensors.                     *|
|*                                                                            *|
|* - A program is a loaded package; immutable once a context exists, and      *|
|*   shared by any number of threads.                                         *|
|* - A context is what one thread of calls needs (memory, threads, cached     *|
|*   shapes). One call at a time on a context.                                *|
|* - A state holds the buffers that calls change. Contexts attach to one;     *|
|*   the caller orders calls of contexts that share a state.                  *|
|*                                                                            *|
|* Handles count references: a context keeps its program and state alive, so  *|
|* the order of the destroy calls does not matter. Every function returns a   *|
|* status; on a failure `out_` parameters are untouched and                   *|
|* fp8rt_error_message() says what, which value, which rule. Strings and      *|
|* arrays that a function gives live as long as their handle, unless it says  *|
|* otherwise.                                                                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef FP8C_RUNTIME_FP8RT_H
#define FP8C_RUNTIME_FP8RT_H

#include <stddef.h>
#include <stdint.h>

#include <dlpack/dlpack.h>

#if defined(_WIN32)
#define FP8RT_API
#else
#define FP8RT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Version of this interface; what was compiled against an older one works. */
#define FP8RT_VERSION 1

/** DLPack type codes that older dlpack.h lack. */
enum {
  FP8RT_DL_BOOL = 6,
  FP8RT_DL_FLOAT8_E4M3FN = 10,
  FP8RT_DL_FLOAT8_E5M2 = 12,
  FP8RT_DL_FLOAT8_E8M0FNU = 14
};

/** What became of a call. */
typedef enum {
  FP8RT_OK = 0,
  /** A null pointer, an index out of range, a wrong number of tensors. */
  FP8RT_INVALID_ARGUMENT = 1,
  /** No input, state, weight or entry point has that name. */
  FP8RT_NOT_FOUND = 2,
  /** A file could not be read or written. */
  FP8RT_IO_ERROR = 3,
  /** The package is damaged or breaks the format's rules. */
  FP8RT_INVALID_PACKAGE = 4,
  /** The package is fine, but not for this runtime, processor or device. */
  FP8RT_INCOMPATIBLE = 5,
  /** A tensor does not fit the signature (dtype, rank, dim, device, layout). */
  FP8RT_MISMATCH = 6,
  /** The sizes break a range, a multiple or a guard of the model. */
  FP8RT_GUARD_VIOLATED = 7,
  /** Memory could not be had. */
  FP8RT_OUT_OF_MEMORY = 8,
  /** The call is not possible now (a weight unbound, a context exists). */
  FP8RT_INVALID_STATE = 9,
  /** A fault of the runtime itself. */
  FP8RT_INTERNAL = 10
} fp8rt_status_t;

typedef struct fp8rt_program_s fp8rt_program_t;
typedef struct fp8rt_context_s fp8rt_context_t;
typedef struct fp8rt_state_s fp8rt_state_t;

/** FP8RT_VERSION of the library. */
FP8RT_API uint32_t fp8rt_version(void);
/** The name of a status ("FP8RT_OK"); "unknown status" for other numbers. */
FP8RT_API const char *fp8rt_status_name(fp8rt_status_t status);
/** Why this thread's last failed call failed; valid until its next failure. */
FP8RT_API const char *fp8rt_error_message(void);

/*===-- Programs
 * -----------------------------------------------------------===*/

/** How to load. Zero all but struct_size for the defaults. */
typedef struct {
  /** sizeof(fp8rt_load_options_t). */
  size_t struct_size;
} fp8rt_load_options_t;

/** Loads a package from a file, which stays mapped (read-only). `options` may
    be NULL. */
FP8RT_API fp8rt_status_t
fp8rt_program_load_file(const char *path, const fp8rt_load_options_t *options,
                        fp8rt_program_t **out_program);

/** The same from memory, which must outlive the program; it is not copied. */
FP8RT_API fp8rt_status_t fp8rt_program_load_memory(
    const void *data, size_t size, const fp8rt_load_options_t *options,
    fp8rt_program_t **out_program);

/** Gives up the handle; NULL is allowed. */
FP8RT_API void fp8rt_program_destroy(fp8rt_program_t *program);

/** Uses the caller's memory for a weight from now on; it must outlive the
    program. Dense, row-major, of the weight's dtype and dims, on the CPU. Fails
    with FP8RT_INVALID_STATE once a context exists. */
FP8RT_API fp8rt_status_t fp8rt_program_bind_weight(fp8rt_program_t *program,
                                                   const char *name,
                                                   const DLTensor *tensor);

/*===-- Signature
 * ----------------------------------------------------------===*/

/** What an output is. Inputs, states and weights are tensors. */
typedef enum {
  FP8RT_TENSOR = 0,
  /** An int64 of sizes alone. */
  FP8RT_INTEGER = 1,
  /** A `None` that keeps its place. */
  FP8RT_NONE = 2
} fp8rt_kind_t;

/** One input, output, state or weight of the signature. */
typedef struct {
  /** sizeof(fp8rt_tensor_info_t), set by the caller. */
  size_t struct_size;
  /** Its name in the model. */
  const char *name;
  fp8rt_kind_t kind;
  DLDataType dtype;
  /** The rank. */
  int32_t ndim;
  /** `ndim` extents, -1 where an extent depends on symbols. */
  const int64_t *dims;
  /** `ndim` extents as text: "64", "s0", "17*s1". For an integer one text. */
  const char *const *dim_texts;
} fp8rt_tensor_info_t;

/** One symbol: min <= value <= max (INT64_MAX: unbounded), value % multiple ==
    0. */
typedef struct {
  /** sizeof(fp8rt_symbol_info_t), set by the caller. */
  size_t struct_size;
  const char *name;
  int64_t min;
  int64_t max;
  int64_t multiple;
} fp8rt_symbol_info_t;

/** How many of each thing there are. `entry` NULL means "forward". */
FP8RT_API fp8rt_status_t fp8rt_program_num_entries(const fp8rt_program_t *,
                                                   size_t *out_count);
FP8RT_API fp8rt_status_t fp8rt_program_num_inputs(const fp8rt_program_t *,
                                                  const char *entry,
                                                  size_t *out_count);
FP8RT_API fp8rt_status_t fp8rt_program_num_outputs(const fp8rt_program_t *,
                                                   const char *entry,
                                                   size_t *out_count);
FP8RT_API fp8rt_status_t fp8rt_program_num_symbols(const fp8rt_program_t *,
                                                   size_t *out_count);
FP8RT_API fp8rt_status_t fp8rt_program_num_states(const fp8rt_program_t *,
                                                  size_t *out_count);
FP8RT_API fp8rt_status_t fp8rt_program_num_weights(const fp8rt_program_t *,
                                                   size_t *out_count);

/** Each by its position. The struct's struct_size must be set. */
FP8RT_API fp8rt_status_t fp8rt_program_entry_name(const fp8rt_program_t *,
                                                  size_t index,
                                                  const char **out_name);
FP8RT_API fp8rt_status_t fp8rt_program_input(const fp8rt_program_t *,
                                             const char *entry, size_t index,
                                             fp8rt_tensor_info_t *out_info);
FP8RT_API fp8rt_status_t fp8rt_program_output(const fp8rt_program_t *,
                                              const char *entry, size_t index,
                                              fp8rt_tensor_info_t *out_info);
FP8RT_API fp8rt_status_t fp8rt_program_symbol(const fp8rt_program_t *,
                                              size_t index,
                                              fp8rt_symbol_info_t *out_info);
FP8RT_API fp8rt_status_t fp8rt_program_state(const fp8rt_program_t *,
                                             size_t index,
                                             fp8rt_tensor_info_t *out_info);
FP8RT_API fp8rt_status_t fp8rt_program_weight(const fp8rt_program_t *,
                                              size_t index,
                                              fp8rt_tensor_info_t *out_info);

/** The extents that an input has for given values of all symbols (one a
    symbol): writes as many as its rank to `out_dims`. Ranges are checked. */
FP8RT_API fp8rt_status_t fp8rt_program_input_dims(
    const fp8rt_program_t *, const char *entry, size_t input,
    const int64_t *symbol_values, size_t num_symbols, int64_t *out_dims);

/** What the package was compiled for, joined by ", ": "cpu, sm_90a". */
FP8RT_API fp8rt_status_t fp8rt_program_target(const fp8rt_program_t *,
                                              const char **out_target);

/** All that the plan for `target` (NULL: the package's first) says, as text for
    people. Valid while the program lives. */
FP8RT_API fp8rt_status_t fp8rt_program_plan_text(fp8rt_program_t *,
                                                 const char *target,
                                                 const char **out_text);

/** 10 * major + minor of the compute capability of "cuda" or "cuda:N", 0 for
    "cpu". Fails where there is no such device. */
FP8RT_API fp8rt_status_t fp8rt_device_capability(const char *device,
                                                 int *out_capability);

/*===-- State
 * --------------------------------------------------------------===*/

/** A new state that holds the initial values. Whatever reads or writes it below
    waits for the calls of its contexts that were made before. */
FP8RT_API fp8rt_status_t fp8rt_state_create(fp8rt_program_t *program,
                                            fp8rt_state_t **out_state);
/** Gives up the handle; NULL is allowed. */
FP8RT_API void fp8rt_state_destroy(fp8rt_state_t *state);
/** Every buffer back to its initial value. */
FP8RT_API fp8rt_status_t fp8rt_state_reset(fp8rt_state_t *state);
/** Copies a buffer's value to `tensor` (dense, of the buffer's dtype and
    dims). */
FP8RT_API fp8rt_status_t fp8rt_state_get(fp8rt_state_t *state, const char *name,
                                         DLTensor *tensor);
/** Copies `tensor` to a buffer. */
FP8RT_API fp8rt_status_t fp8rt_state_set(fp8rt_state_t *state, const char *name,
                                         const DLTensor *tensor);
/** Writes all buffers to a safetensors file, whole or not at all. */
FP8RT_API fp8rt_status_t fp8rt_state_save(const fp8rt_state_t *state,
                                          const char *path);
/** Reads all buffers from a safetensors file. Every buffer must be there with
    its dtype and dims; other tensors in the file are ignored. On a failure the
    state is as before. */
FP8RT_API fp8rt_status_t fp8rt_state_restore(fp8rt_state_t *state,
                                             const char *path);

/*===-- Contexts and calls
 * -------------------------------------------------===*/

/** Whether a call's commands are put into the stream as one CUDA graph, where
    the device has such. A graph is made for the addresses of a call's inputs
    and outputs, so it serves calls with the same ones. */
typedef enum {
  /** From the second call on that has the same shapes and addresses. */
  FP8RT_GRAPHS_AUTO = 0,
  FP8RT_GRAPHS_OFF = 1,
  /** Made by the first call that has them. */
  FP8RT_GRAPHS_ON = 2
} fp8rt_graphs_t;

/** Who computes products and attention on a GPU. */
typedef enum {
  /** Libraries, where they are and take it; of a large product's algorithms the
      fastest is measured once a process. */
  FP8RT_BACKENDS_AUTO = 0,
  /** The same without measuring: every process adds in the same order. */
  FP8RT_BACKENDS_FIXED = 1,
  /** The runtime's own kernels. */
  FP8RT_BACKENDS_OWN = 2
} fp8rt_backends_t;

/** How to make a context. Zero all but struct_size for the defaults. */
typedef struct {
  /** sizeof(fp8rt_context_options_t). */
  size_t struct_size;
  /** "cpu" (the default), "cuda" or "cuda:N". */
  const char *device;
  /** What calls run; NULL: "forward". */
  const char *entry;
  /** The state that calls read and change; NULL: one of its own. */
  fp8rt_state_t *state;
  /** Threads of the cpu device, the caller's one included; 0: one a core that
      this process may use. Results do not depend on it. */
  int32_t threads;
  /** How many shapes stay prepared; 0: 16. */
  int32_t cached_shapes;
  /** One of fp8rt_graphs_t. */
  int32_t graphs;
  /** Not 0: before each call intermediate values and outputs are filled with
      0xFF, which must change nothing. For finding what is read unwritten. */
  int32_t poison;
  /** One of fp8rt_backends_t; the cpu device has one way each. */
  int32_t backends;
  /** How many commands that do not need each other run side by side at most
      where calls are CUDA graphs; 0: 4, 1: one by one. Results do not depend on
      it. */
  int32_t lanes;
} fp8rt_context_options_t;

/** Makes a context. `options` may be NULL. */
FP8RT_API fp8rt_status_t fp8rt_context_create(
    fp8rt_program_t *program, const fp8rt_context_options_t *options,
    fp8rt_context_t **out_context);
/** Gives up the handle; NULL is allowed. */
FP8RT_API void fp8rt_context_destroy(fp8rt_context_t *context);

/** The state that the context is attached to: a new reference, to be
    destroyed by the caller. */
FP8RT_API fp8rt_status_t fp8rt_context_state(fp8rt_context_t *context,
                                             fp8rt_state_t **out_state);

/** An output at a call's sizes. */
typedef struct {
  /** sizeof(fp8rt_output_t), set by the caller in every element. */
  size_t struct_size;
  fp8rt_kind_t kind;
  DLDataType dtype;
  int32_t ndim;
  /** `ndim` extents; valid until the context's next call or query. */
  const int64_t *dims;
  /** The value of an integer. */
  int64_t integer;
} fp8rt_output_t;

/** What the outputs are for these inputs (whose data is not read and may be
    NULL). All inputs are checked as a call does. */
FP8RT_API fp8rt_status_t fp8rt_context_query_outputs(
    fp8rt_context_t *context, const DLTensor *const *inputs, size_t num_inputs,
    fp8rt_output_t *out_outputs, size_t num_outputs);

/** Options of a call. Zero all but struct_size for the defaults. */
typedef struct {
  /** sizeof(fp8rt_call_options_t). */
  size_t struct_size;
  /** The caller's stream, where the device has streams. */
  void *stream;
} fp8rt_call_options_t;

/** Runs the entry point. Inputs and outputs in the signature's order, dense and
    row-major (strides NULL or equal to that), on the context's device. Outputs
    are the caller's memory, of the dims that fp8rt_context_query_outputs gives;
    for an integer an int64 tensor of rank 0 or NULL, for a None NULL. Outputs
    overlap neither inputs nor each other. When a call fails before its first
    command, outputs and state are untouched. A graph that the caller records of
    a call is valid until the context is called with, or asked for the outputs
    of, a shape that needs more memory. `options` may be NULL. */
FP8RT_API fp8rt_status_t
fp8rt_context_call(fp8rt_context_t *context, const DLTensor *const *inputs,
                   size_t num_inputs, DLTensor *const *outputs,
                   size_t num_outputs, const fp8rt_call_options_t *options);

/** Bytes of memory that the context holds for intermediate values now. */
FP8RT_API fp8rt_status_t
fp8rt_context_arena_size(const fp8rt_context_t *context, size_t *out_bytes);

#ifdef __cplusplus
}
#endif

#endif /* FP8C_RUNTIME_FP8RT_H */
