//===- Session.cpp - A program and its calls ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"

using namespace fp8c;
using namespace fp8c::run;

void run::check(fp8rt_status_t status) {
  if (status != FP8RT_OK)
    throw rt::Error(status, fp8rt_error_message());
}

std::string Symbol::describeRange() const {
  std::string text = std::to_string(min) + "..";
  if (max != INT64_MAX)
    text += std::to_string(max);
  if (multiple > 1)
    text += ", a multiple of " + std::to_string(multiple);
  return text;
}

/// What the C interface says about a slot.
static Slot makeSlot(const fp8rt_tensor_info_t &info) {
  Slot slot{info.name, info.kind, DType::I64, {}, {}};
  if (info.kind == FP8RT_TENSOR)
    slot.dtype = fromDLPack(info.dtype);
  for (int32_t d = 0; d < info.ndim; ++d) {
    slot.dims.push_back(info.dims[d]);
    slot.dimTexts.push_back(info.dim_texts[d]);
  }
  if (info.kind == FP8RT_INTEGER)
    slot.dimTexts.push_back(info.dim_texts[0]);
  return slot;
}

static fp8rt_tensor_info_t makeInfo() {
  fp8rt_tensor_info_t info{};
  info.struct_size = sizeof(info);
  return info;
}

Session::Session(fp8rt_program_t *loaded, const std::string &deviceName,
                 const Options &flags)
    : device(rt::openDevice(deviceName)), program(loaded) {
  fp8rt_context_options_t options{};
  options.struct_size = sizeof(options);
  options.device = deviceName.c_str();
  options.graphs = flags.graphs;
  options.poison = flags.poison;
  options.backends = flags.backends;
  options.lanes = flags.lanes;
  check(fp8rt_context_create(program, &options, &context));
  check(fp8rt_context_state(context, &state));

  size_t count;
  fp8rt_tensor_info_t info = makeInfo();
  check(fp8rt_program_num_inputs(program, nullptr, &count));
  for (size_t i = 0; i < count; ++i) {
    check(fp8rt_program_input(program, nullptr, i, &info));
    inputs.push_back(makeSlot(info));
  }
  check(fp8rt_program_num_outputs(program, nullptr, &count));
  for (size_t i = 0; i < count; ++i) {
    check(fp8rt_program_output(program, nullptr, i, &info));
    outputs.push_back(makeSlot(info));
  }
  check(fp8rt_program_num_states(program, &count));
  for (size_t i = 0; i < count; ++i) {
    check(fp8rt_program_state(program, i, &info));
    states.push_back(makeSlot(info));
  }
  check(fp8rt_program_num_symbols(program, &count));
  for (size_t i = 0; i < count; ++i) {
    fp8rt_symbol_info_t symbol{};
    symbol.struct_size = sizeof(symbol);
    check(fp8rt_program_symbol(program, i, &symbol));
    symbols.push_back({symbol.name, symbol.min, symbol.max, symbol.multiple});
  }
  const char *name;
  check(fp8rt_program_target(program, &name));
  target = name;
}

std::unique_ptr<Session> Session::load(const std::string &path,
                                       const std::string &device,
                                       const Options &options) {
  fp8rt_program_t *program;
  check(fp8rt_program_load_file(path.c_str(), nullptr, &program));
  return std::unique_ptr<Session>(new Session(program, device, options));
}

Session::~Session() {
  fp8rt_state_destroy(state);
  fp8rt_context_destroy(context);
  fp8rt_program_destroy(program);
}

std::vector<int64_t>
Session::getInputDims(size_t index, const std::vector<int64_t> &values) const {
  std::vector<int64_t> dims(inputs[index].dims.size());
  check(fp8rt_program_input_dims(program, nullptr, index, values.data(),
                                 values.size(), dims.data()));
  return dims;
}

Session::Bound Session::bindTensor(HostTensor &tensor) const {
  Bound bound;
  bound.tensor = tensor.toDLPack();
  if (device->dlpack().device_type == kDLCPU)
    return bound;
  bound.memory = rt::DeviceMemory(device, int64_t(tensor.data.size()));
  bound.tensor.data = bound.memory.data();
  bound.tensor.device = device->dlpack();
  return bound;
}

Session::BoundCall Session::bindCall(std::vector<HostTensor> &arguments,
                                     Results &results) {
  BoundCall bound;
  for (HostTensor &tensor : arguments) {
    bound.inputs.push_back(bindTensor(tensor));
    if (bound.inputs.back().memory.size())
      device->upload(bound.inputs.back().memory.data(), tensor.data.data(),
                     tensor.data.size());
  }
  for (Bound &input : bound.inputs)
    bound.inputPointers.push_back(&input.tensor);
  if (results.empty()) {
    std::vector<fp8rt_output_t> infos(outputs.size());
    for (fp8rt_output_t &info : infos)
      info.struct_size = sizeof(info);
    check(fp8rt_context_query_outputs(context, bound.inputPointers.data(),
                                      bound.inputPointers.size(), infos.data(),
                                      infos.size()));
    for (const fp8rt_output_t &info : infos) {
      if (info.kind == FP8RT_NONE)
        results.emplace_back();
      else if (info.kind == FP8RT_INTEGER)
        results.push_back(HostTensor::make(DType::I64, {}));
      else
        results.push_back(HostTensor::make(fromDLPack(info.dtype),
                                           {info.dims, info.dims + info.ndim}));
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i])
      bound.outputs.emplace_back();
    else if (outputs[i].kind == FP8RT_INTEGER)
      bound.outputs.emplace_back().tensor = results[i]->toDLPack();
    else
      bound.outputs.push_back(bindTensor(*results[i]));
  }
  for (size_t i = 0; i < results.size(); ++i)
    bound.outputPointers.push_back(results[i] ? &bound.outputs[i].tensor
                                              : nullptr);
  return bound;
}

void Session::bind(std::vector<HostTensor> &arguments, Results &results,
                   size_t sets) {
  boundCalls.clear();
  while (boundCalls.size() < sets)
    boundCalls.push_back(bindCall(arguments, results));
}

void Session::enqueue(size_t set, void *stream) {
  BoundCall &bound = boundCalls[set];
  fp8rt_call_options_t options{};
  options.struct_size = sizeof(options);
  options.stream = stream;
  check(fp8rt_context_call(
      context, bound.inputPointers.data(), bound.inputPointers.size(),
      bound.outputPointers.data(), bound.outputPointers.size(), &options));
}

void Session::fetch(Results &results) {
  wait();
  std::vector<Bound> &bound = boundCalls.front().outputs;
  for (size_t i = 0; i < results.size(); ++i)
    if (bound[i].memory.size())
      device->download(results[i]->data.data(), bound[i].memory.data(),
                       results[i]->data.size());
}

void Session::call(std::vector<HostTensor> &arguments, Results &results) {
  bind(arguments, results);
  enqueue();
  fetch(results);
}

void Session::setState(const TensorMap &values) {
  check(fp8rt_state_reset(state));
  for (const auto &[name, tensor] : values) {
    HostTensor copy = tensor;
    const DLTensor dl = copy.toDLPack();
    check(fp8rt_state_set(state, name.c_str(), &dl));
  }
}

TensorMap Session::getState() const {
  TensorMap values;
  for (const Slot &slot : states) {
    HostTensor tensor = HostTensor::make(slot.dtype, slot.dims);
    DLTensor dl = tensor.toDLPack();
    check(fp8rt_state_get(state, slot.name.c_str(), &dl));
    values[slot.name] = std::move(tensor);
  }
  return values;
}

void Session::setObserver(rt::Observer *observer) {
  rt::setObserver(context, observer);
}
