//===- Exercise.h - Uses a package that may be damaged ----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_FUZZ_EXERCISE_H
#define FP8C_TEST_FUZZ_EXERCISE_H

#include "fp8c/Runtime/fp8rt.h"

#include <vector>

namespace fp8c::test {

/// Loads a package, reads its signature and makes a shape instance with 3 for
/// every dynamic dim. Whatever is wrong with it gives a status.
inline void exercise(const void *data, size_t size) {
  fp8rt_program_t *program = nullptr;
  if (fp8rt_program_load_memory(data, size, nullptr, &program) != FP8RT_OK)
    return;
  fp8rt_context_options_t options{};
  options.struct_size = sizeof(options);
  options.threads = 1;
  fp8rt_context_t *context = nullptr;
  size_t numInputs = 0, numOutputs = 0;
  fp8rt_program_num_inputs(program, nullptr, &numInputs);
  fp8rt_program_num_outputs(program, nullptr, &numOutputs);
  if (fp8rt_context_create(program, &options, &context) == FP8RT_OK) {
    std::vector<std::vector<int64_t>> dims(numInputs);
    std::vector<DLTensor> tensors(numInputs);
    std::vector<const DLTensor *> inputs;
    for (size_t i = 0; i < numInputs; ++i) {
      fp8rt_tensor_info_t info{};
      info.struct_size = sizeof(info);
      fp8rt_program_input(program, nullptr, i, &info);
      for (int d = 0; d < info.ndim; ++d)
        dims[i].push_back(info.dims[d] < 0 ? 3 : info.dims[d]);
      tensors[i].device = {kDLCPU, 0};
      tensors[i].dtype = info.dtype;
      tensors[i].ndim = info.ndim;
      tensors[i].shape = dims[i].data();
      inputs.push_back(&tensors[i]);
    }
    std::vector<fp8rt_output_t> outputs(numOutputs);
    for (fp8rt_output_t &output : outputs)
      output.struct_size = sizeof(output);
    fp8rt_context_query_outputs(context, inputs.data(), numInputs,
                                outputs.data(), numOutputs);
  }
  fp8rt_program_destroy(program);
  fp8rt_context_destroy(context);
}

} // namespace fp8c::test

#endif // FP8C_TEST_FUZZ_EXERCISE_H
