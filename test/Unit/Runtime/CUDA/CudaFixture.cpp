//===- CudaFixture.cpp - Contexts on a GPU that is none -------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaFixture.h"

#include <thread>

using namespace fp8c::rt;
using namespace fp8c::test;
using fp8c::test::DType;

static constexpr int64_t kStateSize = 4;

void fp8c::test::runInThread(const std::function<void()> &body) {
  std::thread([&] {
    try {
      body();
    } catch (const Error &error) {
      ADD_FAILURE() << error.message;
    }
  }).join();
}

CudaProgramOfCopies::CudaProgramOfCopies() {
  PlanWriter w;
  const uint32_t n = w.symbol("n"), four = w.constant(kStateSize);
  const float initial[kStateSize] = {0.5f, 0.5f, 0.5f, 0.5f};
  const uint32_t x = w.input("x", DType::F32, {n}),
                 v = w.input("v", DType::F32, {four}),
                 y = w.output("y", DType::F32, {n}),
                 old = w.output("old", DType::F32, {four}),
                 u = w.output("u", DType::F32, {four}),
                 weight = w.weight("w", DType::F32, {kStateSize}, initial),
                 state = w.state("s", DType::F32, {kStateSize}),
                 t = w.arena(DType::F32, {n}, 0, 4);
  w.copy(x, t);
  w.copy(weight, u);
  w.copy(state, old);
  w.copy(v, state);
  w.copy(t, y);
  package = w.finish();
  programs = std::make_unique<Programs>(Package::openMemory(
      {reinterpret_cast<const unsigned char *>(package.data()),
       package.size()}));
}

CudaContext::CudaContext(std::shared_ptr<Device> device)
    : state(std::make_shared<State>(programs->first())),
      v(DType::F32, {kStateSize}), old(DType::F32, {kStateSize}),
      weight(DType::F32, {kStateSize}) {
  state->attach(device);
  fp8rt_context_options_t options{};
  options.struct_size = sizeof(options);
  context =
      std::make_unique<Context>(device, programs->first(), state, options);
  for (TestTensor *t : {&v, &old, &weight})
    t->dl.device.device_type = kDLCUDA;
  resize(8);
}

void CudaContext::resize(int64_t size) {
  x = std::make_unique<TestTensor>(DType::F32, std::vector<int64_t>{size});
  y = std::make_unique<TestTensor>(DType::F32, std::vector<int64_t>{size});
  for (int64_t i = 0; i < size; ++i)
    x->as<float>()[i] = float(i + 1);
  x->dl.device.device_type = y->dl.device.device_type = kDLCUDA;
}

void CudaContext::call(cuda::Stream stream) {
  const DLTensor *in[] = {&x->dl, &v.dl};
  DLTensor *out[] = {&y->dl, &old.dl, &weight.dl};
  context->call(in, 2, out, 3, stream);
}

float CudaContext::readState() {
  TestTensor tensor(DType::F32, {kStateSize});
  state->get("s", tensor.dl);
  return tensor.as<float>()[0];
}

void CudaContext::writeState(float value) {
  TestTensor tensor(DType::F32, {kStateSize});
  std::fill_n(tensor.as<float>(), kStateSize, value);
  state->set("s", tensor.dl);
}
