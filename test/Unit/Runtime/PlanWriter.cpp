//===- PlanWriter.cpp - Plans and packages made by hand -------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanWriter.h"

#include <openssl/sha.h>

#include <fstream>
#include <sstream>

using namespace fp8c::test;

uint32_t PlanWriter::expr(wire::ExprKind kind, uint32_t lhs, uint32_t rhs,
                          int64_t value) {
  exprs.emplace_back(kind, lhs, rhs, value);
  return uint32_t(exprs.size() - 1);
}

uint32_t PlanWriter::symbol(const char *name, int64_t min, int64_t max,
                            int64_t multiple) {
  symbols.push_back(
      wire::CreateSymbol(fbb, fbb.CreateString(name), min, max, multiple));
  return expr(wire::ExprKind::Symbol, uint32_t(symbols.size() - 1));
}

void PlanWriter::check(uint32_t condition, const char *message,
                       const char *location) {
  checks.push_back(wire::CreateCheckDirect(fbb, condition, message, location));
}

uint32_t PlanWriter::value(wire::ValueKind kind, DType dtype, Values dims,
                           Values strides, uint32_t offset, uint32_t index,
                           uint32_t base, uint32_t first, uint32_t last) {
  values.push_back(wire::CreateValue(fbb, kind, dtype, fbb.CreateVector(dims),
                                     fbb.CreateVector(strides), offset, index,
                                     base, first, last, fbb.CreateString("")));
  return uint32_t(values.size() - 1);
}

uint32_t PlanWriter::input(const char *name, DType dtype, Values dims) {
  uint32_t v = value(wire::ValueKind::Input, dtype, dims,
                     denseStrides(dims.size()), 0, 0, kNone, 0, 0);
  inputs.push_back(wire::CreateInput(fbb, fbb.CreateString(name), v));
  return v;
}

uint32_t PlanWriter::output(const char *name, DType dtype, Values dims) {
  uint32_t v = value(wire::ValueKind::Output, dtype, dims,
                     denseStrides(dims.size()), 0, 0, kNone, 0, 0);
  outputs.push_back(wire::CreateOutput(fbb, fbb.CreateString(name),
                                       wire::OutputKind::Tensor, v));
  return v;
}

void PlanWriter::outputInteger(const char *name, uint32_t e) {
  outputs.push_back(wire::CreateOutput(fbb, fbb.CreateString(name),
                                       wire::OutputKind::Integer, 0, e));
}

uint32_t PlanWriter::arena(DType dtype, Values dims, uint32_t first,
                           uint32_t last) {
  return value(wire::ValueKind::Arena, dtype, dims, denseStrides(dims.size()),
               0, 0, kNone, first, last);
}

uint32_t PlanWriter::view(uint32_t base, DType dtype, Values dims,
                          Values strides, uint32_t offset) {
  return value(wire::ValueKind::View, dtype, dims, strides, offset, 0, base, 0,
               0);
}

/// The safetensors name and size of a type that tests store.
static std::pair<const char *, int64_t> storedType(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return {"F32", 4};
  case DType::BF16:
    return {"BF16", 2};
  case DType::E4M3FN:
    return {"F8_E4M3", 1};
  case DType::E5M2:
    return {"F8_E5M2", 1};
  default:
    return {"I64", 8};
  }
}

uint32_t PlanWriter::weight(const char *name, DType dtype,
                            std::vector<int64_t> dims, const void *data) {
  auto [type, size] = storedType(dtype);
  std::ostringstream os;
  os << (weightHeader.empty() ? "" : ",") << '"' << name << "\":{\"dtype\":\""
     << type << "\",\"shape\":[";
  Values dimExprs;
  for (size_t i = 0; i < dims.size(); ++i) {
    os << (i ? "," : "") << dims[i];
    size *= dims[i];
    dimExprs.push_back(constant(dims[i]));
  }
  os << "],\"data_offsets\":[" << weightData.size() << ","
     << weightData.size() + size_t(size) << "]}";
  weightHeader += os.str();
  weightData.append(static_cast<const char *>(data), size_t(size));
  weights.push_back(wire::CreateWeight(fbb, fbb.CreateString(name),
                                       fbb.CreateString(name), dtype,
                                       fbb.CreateVector(dims)));
  return value(wire::ValueKind::Weight, dtype, dimExprs,
               denseStrides(dims.size()), 0, uint32_t(weights.size() - 1),
               kNone, 0, 0);
}

uint32_t PlanWriter::state(const char *name, DType dtype,
                           std::vector<int64_t> dims) {
  states.push_back(wire::CreateState(fbb, fbb.CreateString(name),
                                     uint32_t(weights.size() - 1), dtype,
                                     fbb.CreateVector(dims)));
  Values dimExprs;
  for (int64_t dim : dims)
    dimExprs.push_back(constant(dim));
  return value(wire::ValueKind::State, dtype, dimExprs,
               denseStrides(dims.size()), 0, uint32_t(states.size() - 1), kNone,
               0, 0);
}

uint32_t PlanWriter::kernel(const char *symbol, uint32_t product) {
  auto name = fbb.CreateString(symbol);
  wire::KernelBuilder kernel(fbb);
  kernel.add_name(name);
  kernel.add_symbol(name);
  kernel.add_product(product);
  kernels.push_back(kernel.Finish());
  return uint32_t(kernels.size() - 1);
}

void PlanWriter::launch(uint32_t kernel, Values reads, Values writes,
                        Values sizes, uint32_t tasks, uint32_t scratch) {
  Values operands = reads;
  operands.insert(operands.end(), writes.begin(), writes.end());
  step(wire::Command::Launch,
       wire::CreateLaunch(fbb, kernel, fbb.CreateVector(operands),
                          fbb.CreateVector(sizes), tasks, scratch),
       reads, writes);
}

void PlanWriter::copy(uint32_t from, uint32_t to) {
  step(wire::Command::Copy, wire::CreateCopy(fbb, from, to), {from}, {to});
}

void PlanWriter::fill(uint32_t to, uint64_t pattern) {
  step(wire::Command::Fill, wire::CreateFill(fbb, to, pattern), {}, {to});
}

std::string PlanWriter::finishPlan(uint32_t version) {
  auto entry = wire::CreateEntryPoint(
      fbb, fbb.CreateString("forward"), fbb.CreateVector(steps),
      fbb.CreateVector(inputs), fbb.CreateVector(outputs));
  auto plan = wire::CreatePlan(
      fbb, version, fbb.CreateString("cpu"), fbb.CreateVectorOfStructs(exprs),
      fbb.CreateVector(symbols), fbb.CreateVector(checks),
      fbb.CreateVector(values), fbb.CreateVector(weights),
      fbb.CreateVector(states), fbb.CreateVector(kernels),
      fbb.CreateVector(&entry, 1));
  wire::FinishPlanBuffer(fbb, plan);
  return {reinterpret_cast<const char *>(fbb.GetBufferPointer()),
          fbb.GetSize()};
}

std::string PlanWriter::package(const std::string &plan) {
  std::map<std::string, std::string> entries{{"plan.cpu.fb", plan}};
  if (!weightHeader.empty()) {
    std::string header = "{" + weightHeader + "}";
    header.append((8 - header.size() % 8) % 8, ' ');
    uint64_t length = header.size();
    std::string file(reinterpret_cast<const char *>(&length), 8);
    entries["weights.safetensors"] = file + header + weightData;
  }
  if (!objectPath.empty())
    entries["kernels/x86-64-v3.so"] = readFile(objectPath);
  entries["manifest.json"] = makeManifest(entries, !objectPath.empty());
  return makeZip(entries);
}

std::string
fp8c::test::makeManifest(const std::map<std::string, std::string> &entries,
                         bool hasObject) {
  std::ostringstream os;
  os << "{\"format\":\"fp8c-package\",\"version\":1,\"files\":{";
  bool first = true;
  for (const auto &[name, data] : entries) {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char *>(data.data()), data.size(),
           digest);
    os << (first ? "" : ",") << '"' << name << "\":{\"size\":" << data.size()
       << ",\"sha256\":\"";
    for (unsigned char byte : digest)
      os << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
    os << "\"}";
    first = false;
  }
  os << "},\"plans\":[{\"target\":\"cpu\",\"file\":\"plan.cpu.fb\"}]";
  if (hasObject)
    os << ",\"objects\":[{\"device\":\"cpu\",\"isa\":\"x86-64-v3\","
          "\"file\":\"kernels/x86-64-v3.so\"}]";
  os << "}";
  return os.str();
}

std::string fp8c::test::readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream os;
  os << in.rdbuf();
  return os.str();
}

PlanWriter &fp8c::test::writeSound(PlanWriter &w) {
  float data[6] = {};
  uint32_t s0 = w.symbol("s0"), two = w.constant(2), three = w.constant(3);
  uint32_t x = w.input("x", DType::F32, {s0, two});
  uint32_t b = w.weight("b", DType::F32, {2, 3}, data);
  uint32_t t = w.arena(DType::F32, {s0, three}, 0, 1);
  uint32_t y = w.output("y", DType::F32, {s0, three});
  w.state("s", DType::F32, {2, 3});
  w.step(wire::Command::Matmul, wire::CreateMatmul(w.fbb, x, b, t), {x, b},
         {t});
  w.copy(t, y);
  return w;
}

TestTensor::TestTensor(DType dtype, std::vector<int64_t> extents)
    : dims(std::move(extents)), dl{} {
  static constexpr struct {
    uint8_t code, bits;
  } kTypes[] = {{FP8RT_DL_BOOL, 8},
                {kDLUInt, 8},
                {kDLInt, 8},
                {kDLInt, 16},
                {kDLInt, 32},
                {kDLInt, 64},
                {kDLFloat, 16},
                {kDLBfloat, 16},
                {kDLFloat, 32},
                {kDLFloat, 64},
                {FP8RT_DL_FLOAT8_E4M3FN, 8},
                {FP8RT_DL_FLOAT8_E5M2, 8},
                {FP8RT_DL_FLOAT8_E8M0FNU, 8}};
  auto type = kTypes[size_t(dtype)];
  size_t size = type.bits / 8;
  for (int64_t dim : dims)
    size *= size_t(dim);
  bytes.assign(size + 1, char(0xFF));
  dl.data = bytes.data();
  dl.device = {kDLCPU, 0};
  dl.ndim = int(dims.size());
  dl.dtype = {type.code, type.bits, 1};
  dl.shape = dims.data();
}

TestProgram::TestProgram(const std::string &bytes, int threads,
                         int cachedShapes)
    : package(bytes) {
  if (fp8rt_program_load_memory(package.data(), package.size(), nullptr,
                                &program) != FP8RT_OK) {
    error = fp8rt_error_message();
    return;
  }
  fp8rt_context_options_t options{};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.cached_shapes = cachedShapes;
  if (fp8rt_context_create(program, &options, &context) != FP8RT_OK)
    error = fp8rt_error_message();
}

TestProgram::~TestProgram() {
  fp8rt_program_destroy(program);
  fp8rt_context_destroy(context);
}

std::string TestProgram::call(std::vector<TestTensor *> inputs,
                              std::vector<TestTensor *> outputs) {
  if (!context)
    return error;
  std::vector<const DLTensor *> in;
  std::vector<DLTensor *> out;
  for (TestTensor *t : inputs)
    in.push_back(t ? &t->dl : nullptr);
  for (TestTensor *t : outputs)
    out.push_back(t ? &t->dl : nullptr);
  return fp8rt_context_call(context, in.data(), in.size(), out.data(),
                            out.size(), nullptr) == FP8RT_OK
             ? ""
             : fp8rt_error_message();
}
