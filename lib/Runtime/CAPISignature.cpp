//===- CAPISignature.cpp - A program's signature in C ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <cstring>

using namespace fp8c::rt;

/// The element at `index`, or an error.
template <typename T>
static const T &at(const std::vector<T> &items, size_t index,
                   const char *what) {
  require(index < items.size(), FP8RT_INVALID_ARGUMENT, what, " ", index,
          " of ", items.size());
  return items[index];
}

/// Copies as much of `info` as the caller's struct holds.
template <typename Info> static void give(Info info, Info *out) {
  size_t size = out->struct_size;
  require(size >= sizeof(size_t), FP8RT_INVALID_ARGUMENT,
          "struct_size is not set");
  info.struct_size = size;
  std::memcpy(static_cast<void *>(out), &info, std::min(size, sizeof(Info)));
}

static void give(const SignatureItem &item, fp8rt_tensor_info_t *out) {
  give(fp8rt_tensor_info_t{0, item.name.c_str(), item.kind,
                           toDLPack(item.dtype), int32_t(item.dims.size()),
                           item.dims.data(), item.textPointers.data()},
       out);
}

/// Gives the size of a table.
template <typename Fn>
static fp8rt_status_t count(const fp8rt_program_t *program, size_t *out_count,
                            Fn size) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_count, "out_count");
    *out_count = size(*program->program);
  });
}

/// Gives an element of a table.
template <typename Fn>
static fp8rt_status_t item(const fp8rt_program_t *program,
                           fp8rt_tensor_info_t *out_info, Fn find) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_info, "out_info");
    give(find(*program->program), out_info);
  });
}

extern "C" {

fp8rt_status_t fp8rt_program_num_entries(const fp8rt_program_t *program,
                                         size_t *out_count) {
  return count(program, out_count,
               [](const Program &p) { return p.entries.size(); });
}

fp8rt_status_t fp8rt_program_num_inputs(const fp8rt_program_t *program,
                                        const char *entry, size_t *out_count) {
  return count(program, out_count,
               [&](const Program &p) { return p.entry(entry).inputs.size(); });
}

fp8rt_status_t fp8rt_program_num_outputs(const fp8rt_program_t *program,
                                         const char *entry, size_t *out_count) {
  return count(program, out_count,
               [&](const Program &p) { return p.entry(entry).outputs.size(); });
}

fp8rt_status_t fp8rt_program_num_symbols(const fp8rt_program_t *program,
                                         size_t *out_count) {
  return count(program, out_count,
               [](const Program &p) { return p.plan().symbols()->size(); });
}

fp8rt_status_t fp8rt_program_num_states(const fp8rt_program_t *program,
                                        size_t *out_count) {
  return count(program, out_count,
               [](const Program &p) { return p.states.size(); });
}

fp8rt_status_t fp8rt_program_num_weights(const fp8rt_program_t *program,
                                         size_t *out_count) {
  return count(program, out_count,
               [](const Program &p) { return p.weights.size(); });
}

fp8rt_status_t fp8rt_program_entry_name(const fp8rt_program_t *program,
                                        size_t index, const char **out_name) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_name, "out_name");
    *out_name = at(program->program->entries, index, "entry").name.c_str();
  });
}

fp8rt_status_t fp8rt_program_input(const fp8rt_program_t *program,
                                   const char *entry, size_t index,
                                   fp8rt_tensor_info_t *out_info) {
  return item(program, out_info, [&](const Program &p) -> const auto & {
    return at(p.entry(entry).inputs, index, "input");
  });
}

fp8rt_status_t fp8rt_program_output(const fp8rt_program_t *program,
                                    const char *entry, size_t index,
                                    fp8rt_tensor_info_t *out_info) {
  return item(program, out_info, [&](const Program &p) -> const auto & {
    return at(p.entry(entry).outputs, index, "output");
  });
}

fp8rt_status_t fp8rt_program_state(const fp8rt_program_t *program, size_t index,
                                   fp8rt_tensor_info_t *out_info) {
  return item(program, out_info, [&](const Program &p) -> const auto & {
    return at(p.states, index, "state");
  });
}

fp8rt_status_t fp8rt_program_weight(const fp8rt_program_t *program,
                                    size_t index,
                                    fp8rt_tensor_info_t *out_info) {
  return item(program, out_info, [&](const Program &p) -> const auto & {
    return at(p.weights, index, "weight");
  });
}

fp8rt_status_t fp8rt_program_symbol(const fp8rt_program_t *program,
                                    size_t index,
                                    fp8rt_symbol_info_t *out_info) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_info, "out_info");
    const auto &symbols = *program->program->plan().symbols();
    require(index < symbols.size(), FP8RT_INVALID_ARGUMENT, "symbol ", index,
            " of ", symbols.size());
    const wire::Symbol &s = *symbols.Get(uint32_t(index));
    give(fp8rt_symbol_info_t{0, s.name()->c_str(), s.min(), s.max(),
                             s.multiple()},
         out_info);
  });
}

fp8rt_status_t fp8rt_program_input_dims(const fp8rt_program_t *program,
                                        const char *entry, size_t input,
                                        const int64_t *symbol_values,
                                        size_t num_symbols, int64_t *out_dims) {
  return guarded([&] {
    notNull(program, "program");
    const Program &p = *program->program;
    const EntryPoint &e = p.entry(entry);
    const SignatureItem &item = at(e.inputs, input, "input");
    size_t symbols = p.plan().symbols()->size();
    require(num_symbols == symbols, FP8RT_INVALID_ARGUMENT, "got ", num_symbols,
            " symbols, expected ", symbols);
    if (symbols)
      notNull(symbol_values, "symbol_values");
    Sizes sizes(p);
    for (uint32_t i = 0; i < symbols; ++i) {
      sizes.setSymbol(i, symbol_values[i]);
      sizes.checkRange(i);
    }
    sizes.evaluate();
    const wire::Value &v = *p.plan().values()->Get(
        e.wire->inputs()->Get(uint32_t(input))->value());
    std::vector<int64_t> dims;
    for (uint32_t dim : *v.dims())
      dims.push_back(sizes.get(dim, item.name.c_str()));
    if (!dims.empty())
      notNull(out_dims, "out_dims");
    std::copy(dims.begin(), dims.end(), out_dims);
  });
}

fp8rt_status_t fp8rt_program_target(const fp8rt_program_t *program,
                                    const char **out_target) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_target, "out_target");
    *out_target = program->programs->targets().c_str();
  });
}

fp8rt_status_t fp8rt_program_plan_text(fp8rt_program_t *program,
                                       const char *target,
                                       const char **out_text) {
  return guarded([&] {
    notNull(program, "program");
    notNull(out_text, "out_text");
    Program &found = target ? *program->programs->forTarget(target)
                            : *program->programs->first();
    *out_text = found.text().c_str();
  });
}

} // extern "C"
