//===- State.cpp - Buffers that calls change ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "Tensor.h"

#include <cstring>

using namespace fp8c::rt;

State::State(std::shared_ptr<Program> owner) : program(std::move(owner)) {
  for (size_t i = 0; i < program->states.size(); ++i)
    buffers.emplace_back(device, int64_t(bytes(i)));
  reset();
}

void State::attach(const std::shared_ptr<Device> &where) {
  if (attached || where == device) {
    attached = true;
    require(where == device, FP8RT_INVALID_ARGUMENT, "the state is on ",
            device->name(), ", the context on ", where->name());
    return;
  }
  std::vector<DeviceMemory> moved;
  for (size_t i = 0; i < buffers.size(); ++i) {
    moved.emplace_back(where, int64_t(bytes(i)));
    if (bytes(i))
      where->upload(moved[i].data(), buffers[i].data(), bytes(i));
  }
  buffers = std::move(moved);
  device = where;
  attached = true;
}

size_t State::bytes(size_t buffer) const {
  const SignatureItem &item = program->states[buffer];
  return size_t(byteSize(item.dtype, item.dims.data(), item.dims.size()));
}

void State::reset() {
  for (size_t i = 0; i < buffers.size(); ++i) {
    uint32_t weight = program->plan().states()->Get(i)->initial();
    const void *initial = program->weightData(weight);
    require(initial || bytes(i) == 0, FP8RT_INVALID_STATE, "weight \"",
            program->weights[weight].name,
            "\" is not bound: it is the initial value of state \"",
            program->states[i].name, "\"");
    if (bytes(i))
      device->upload(buffers[i].data(), initial, bytes(i));
  }
}

size_t State::find(const char *name) const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (program->states[i].name == name)
      return i;
  fail(FP8RT_NOT_FOUND, "no state \"", name, "\"");
}

void State::get(const char *name, const DLTensor &tensor) const {
  size_t i = find(name);
  checkTensor(tensor, program->states[i].dtype, program->states[i].dims,
              "state", name);
  if (bytes(i))
    device->download(tensorData(tensor), buffers[i].data(), bytes(i));
}

void State::set(const char *name, const DLTensor &tensor) {
  size_t i = find(name);
  checkTensor(tensor, program->states[i].dtype, program->states[i].dims,
              "state", name);
  if (bytes(i))
    device->upload(buffers[i].data(), tensorData(tensor), bytes(i));
}

void State::save(const std::string &path) const {
  std::vector<TensorToStore> tensors;
  std::vector<std::unique_ptr<char[]>> copies;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const SignatureItem &item = program->states[i];
    copies.emplace_back(new char[bytes(i)]);
    if (bytes(i))
      device->download(copies[i].get(), buffers[i].data(), bytes(i));
    tensors.push_back({item.name, item.dtype, item.dims, copies[i].get()});
  }
  writeSafetensors(path, tensors);
}

void State::restore(const std::string &path) {
  std::string label = "\"" + path + "\"";
  const std::vector<char> content = readWholeFile(path);
  auto tensors = readSafetensors(
      {reinterpret_cast<const unsigned char *>(content.data()), content.size()},
      label);
  std::vector<const StoredTensor *> found;
  for (const SignatureItem &item : program->states) {
    auto it = tensors.find(item.name);
    require(it != tensors.end(), FP8RT_NOT_FOUND, label, ": has no state \"",
            item.name, "\"");
    const StoredTensor &stored = it->second;
    require(stored.dtype == item.dtype && stored.dims == item.dims,
            FP8RT_MISMATCH, label, ": state \"", item.name, "\": got ",
            dtypeName(stored.dtype), " ", dimsText(stored.dims), ", expected ",
            dtypeName(item.dtype), " ", dimsText(item.dims));
    found.push_back(&stored);
  }
  for (size_t i = 0; i < found.size(); ++i)
    if (bytes(i))
      device->upload(buffers[i].data(), found[i]->data.data, bytes(i));
}
