//===- HostTensor.cpp - Tensors that files and calls share ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTensor.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace fp8c;
using namespace fp8c::run;

HostTensor HostTensor::make(DType dtype, std::vector<int64_t> dims) {
  const int64_t bytes = rt::byteSize(dtype, dims.data(), dims.size());
  if (bytes < 0)
    fail("a tensor of ", compare::formatDims(dims), " is too large");
  HostTensor tensor{dtype, std::move(dims), {}};
  tensor.data.resize(size_t(bytes));
  return tensor;
}

compare::TensorView HostTensor::view() const {
  return compare::TensorView::dense(dtype, dims, data.data());
}

DLTensor HostTensor::toDLPack() {
  DLTensor tensor{};
  tensor.data = data.data();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = int32_t(dims.size());
  tensor.dtype = rt::toDLPack(dtype);
  tensor.shape = dims.data();
  return tensor;
}

TensorMap run::readTensors(const std::string &path, rt::UnknownTypes unknown) {
  const std::vector<char> bytes = rt::readWholeFile(path);
  rt::Bytes file{reinterpret_cast<const unsigned char *>(bytes.data()),
                 bytes.size()};
  TensorMap tensors;
  for (const auto &[name, stored] :
       rt::readSafetensors(file, "\"" + path + "\"", unknown)) {
    const char *data = reinterpret_cast<const char *>(stored.data.data);
    tensors[name] = {stored.dtype, stored.dims,
                     std::vector<char>(data, data + stored.data.size)};
  }
  return tensors;
}

void run::writeTensors(const std::string &path, const TensorMap &tensors) {
  std::vector<rt::TensorToStore> stored;
  for (const auto &[name, tensor] : tensors)
    stored.push_back({name, tensor.dtype, tensor.dims, tensor.data.data()});
  rt::writeSafetensors(path, stored);
}

DType run::fromDLPack(DLDataType type) {
  for (int i = int(DType::MIN); i <= int(DType::MAX); ++i)
    if (rt::sameType(rt::toDLPack(DType(i)), type))
      return DType(i);
  fail("the package has a tensor of ", rt::dlpackName(type));
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

/// Longest .npy header that is read.
static constexpr size_t kMaxNpyHeader = 1 << 16;

/// The text between `open` and `close` after `'key':` in a .npy header, empty
/// where it has none.
static std::string getField(const std::string &header, const std::string &key,
                            char open, char close) {
  size_t at = header.find("'" + key + "'");
  if (at == std::string::npos)
    return {};
  at = header.find(open, header.find(':', at));
  const size_t end = at == std::string::npos ? at : header.find(close, at + 1);
  if (end == std::string::npos)
    return {};
  return header.substr(at + 1, end - at - 1);
}

/// The name that numpy has for a type, without its byte order.
static std::string getNumpyName(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "b1";
  case DType::U8:
    return "u1";
  case DType::I8:
    return "i1";
  case DType::I16:
    return "i2";
  case DType::I32:
    return "i4";
  case DType::I64:
    return "i8";
  case DType::F16:
    return "f2";
  case DType::F32:
    return "f4";
  case DType::F64:
    return "f8";
  default:
    return {};
  }
}

HostTensor run::readNpy(const std::string &path, DType dtype,
                        const std::string &what) {
  const std::vector<char> bytes = rt::readWholeFile(path);
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    fail("\"", path, "\" is not a .npy file");
  const unsigned char *raw =
      reinterpret_cast<const unsigned char *>(bytes.data());
  const bool wide = raw[6] >= 2;
  const size_t start = wide ? 12 : 10;
  const size_t length =
      raw[8] | raw[9] << 8 |
      (wide ? size_t(raw[10]) << 16 | size_t(raw[11]) << 24 : 0);
  if (length > kMaxNpyHeader || start + length > bytes.size())
    fail("\"", path, "\": header of ", length, " bytes in a file of ",
         bytes.size());
  const std::string header(bytes.data() + start, length);
  const std::string descr = getField(header, "descr", '\'', '\'');
  if (descr.size() < 3 || descr[0] == '>')
    fail("\"", path, "\": element type '", descr, "' is not little-endian");
  const std::string name = descr.substr(1);
  const std::string size = std::to_string(compare::elementBytes(dtype));
  const std::string expected = getNumpyName(dtype);
  const bool isBits =
      expected.empty() && (name == "u" + size || name == "V" + size);
  if (name != expected && !isBits)
    fail(what, ": expected ", rt::dtypeName(dtype), ", got '", descr, "' in \"",
         path, "\"");
  const size_t order = header.find("'fortran_order'");
  if (order == std::string::npos ||
      header.compare(header.find(':', order), 6, ": True") == 0)
    fail("\"", path, "\": expected C order");
  const std::string shape = getField(header, "shape", '(', ')');
  std::vector<int64_t> dims;
  for (const char *at = shape.c_str(); *at;) {
    char *end;
    errno = 0;
    const long long dim = std::strtoll(at, &end, 10);
    if (end == at || dim < 0 || errno)
      break;
    dims.push_back(dim);
    at = end + std::strspn(end, ", ");
  }
  HostTensor tensor = HostTensor::make(dtype, std::move(dims));
  if (tensor.data.size() != bytes.size() - start - length)
    fail("\"", path, "\": shape (", shape, ") does not give ",
         bytes.size() - start - length, " bytes of data");
  std::memcpy(tensor.data.data(), bytes.data() + start + length,
              tensor.data.size());
  return tensor;
}
