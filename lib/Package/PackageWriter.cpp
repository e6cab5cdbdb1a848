//===- PackageWriter.cpp - Writes .fp8 packages ---------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Package/PackageWriter.h"

#include "ZipWriter.h"

#include "fp8c/Package/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace fp8c::package;
using llvm::Error;
using llvm::StringRef;

uint64_t fp8c::package::getByteSize(RankedTensorType type) {
  return uint64_t(type.getNumElements()) *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// The name of an element type in safetensors.
static StringRef getDTypeName(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case<Float16Type>([](auto) { return "F16"; })
      .Case<BFloat16Type>([](auto) { return "BF16"; })
      .Case<Float32Type>([](auto) { return "F32"; })
      .Case<Float64Type>([](auto) { return "F64"; })
      .Case<Float8E4M3FNType>([](auto) { return "F8_E4M3"; })
      .Case<Float8E5M2Type>([](auto) { return "F8_E5M2"; })
      .Case<Float8E8M0FNUType>([](auto) { return "F8_E8M0"; })
      .Default([](Type other) -> StringRef {
        auto integer = cast<IntegerType>(other);
        switch (integer.getWidth()) {
        case 1:
          return "BOOL";
        case 8:
          return integer.isUnsigned() ? "U8" : "I8";
        case 16:
          return "I16";
        case 32:
          return "I32";
        default:
          return "I64";
        }
      });
}

/// The header of a safetensors file with these tensors in this order. Its data
/// begin at a multiple of 64 bytes.
static std::string makeSafetensorsHeader(ArrayRef<const WeightData *> weights) {
  std::string json;
  llvm::raw_string_ostream os(json);
  llvm::json::OStream stream(os);
  uint64_t offset = 0;
  stream.object([&] {
    for (const WeightData *weight : weights)
      stream.attributeObject(weight->name, [&] {
        StringRef name = getDTypeName(weight->type.getElementType());
        stream.attribute("dtype",
                         weight->isUnsigned && name == "I8" ? "U8" : name);
        stream.attributeArray("shape", [&] {
          for (int64_t dim : weight->type.getShape())
            stream.value(dim);
        });
        stream.attributeArray("data_offsets", [&] {
          stream.value(offset);
          offset += weight->bytes.size();
          stream.value(offset);
        });
      });
  });
  json.append(llvm::alignTo(json.size() + 8, kAlignment) - json.size() - 8,
              ' ');
  std::string header(8, '\0');
  for (unsigned i = 0; i < 8; ++i)
    header[i] = char(uint64_t(json.size()) >> (8 * i));
  return header + json;
}

static std::string hash(ArrayRef<StringRef> parts) {
  llvm::SHA256 sha;
  for (StringRef part : parts)
    sha.update(part);
  auto digest = sha.final();
  return llvm::toHex(digest, /*LowerCase=*/true);
}

namespace {
struct Entry {
  std::string name;
  llvm::SmallVector<StringRef> parts;
  bool hashed = true;
};
} // namespace

static std::string getFile(const TargetPlan &plan) {
  return "plan." + plan.target + ".fb";
}

static std::string makeManifest(ArrayRef<Entry> entries,
                                const PackageContents &contents) {
  std::string json;
  llvm::raw_string_ostream os(json);
  llvm::json::OStream stream(os, /*IndentSize=*/2);
  stream.object([&] {
    stream.attribute("format", kFormat);
    stream.attribute("version", kVersion);
    stream.attribute("producer", "fp8c 0.1.0");
    stream.attributeObject("files", [&] {
      for (const Entry &entry : entries)
        stream.attributeObject(entry.name, [&] {
          uint64_t size = 0;
          for (StringRef part : entry.parts)
            size += part.size();
          stream.attribute("size", size);
          if (entry.hashed)
            stream.attribute("sha256", hash(entry.parts));
        });
    });
    stream.attributeArray("plans", [&] {
      for (const TargetPlan &plan : contents.plans)
        stream.object([&] {
          stream.attribute("target", plan.target);
          stream.attribute("file", getFile(plan));
        });
    });
    stream.attributeArray("objects", [&] {
      for (const KernelObject &object : contents.objects)
        stream.object([&] {
          stream.attribute("device", object.device);
          stream.attribute("isa", object.isa);
          stream.attribute("file", object.getFile());
        });
    });
    stream.attributeArray("external_weights", [] {});
  });
  return json;
}

Error fp8c::package::writePackage(StringRef path,
                                  const PackageContents &contents) {
  // Wide elements first: each weight is aligned to its own element size.
  llvm::SmallVector<const WeightData *> weights;
  for (const WeightData &weight : contents.weights) {
    if (weight.bytes.size() != getByteSize(weight.type))
      return llvm::createStringError(
          "weight '%s' has %zu bytes, its type needs %llu", weight.name.c_str(),
          weight.bytes.size(), (unsigned long long)getByteSize(weight.type));
    weights.push_back(&weight);
  }
  llvm::stable_sort(weights, [](const WeightData *a, const WeightData *b) {
    return a->type.getElementTypeBitWidth() > b->type.getElementTypeBitWidth();
  });
  std::string header = makeSafetensorsHeader(weights);

  std::vector<Entry> entries;
  for (const TargetPlan &plan : contents.plans)
    entries.push_back({getFile(plan), {plan.bytes}});
  for (const KernelObject &object : contents.objects)
    entries.push_back({object.getFile(), {object.bytes}});
  if (!weights.empty()) {
    entries.push_back({kWeightsFile, {header}, /*hashed=*/false});
    for (const WeightData *weight : weights)
      entries.back().parts.push_back(weight->bytes);
  }
  if (!contents.report.empty())
    entries.push_back({kReportFile, {contents.report}});
  std::string manifest = makeManifest(entries, contents);

  // A rename would put a file in the place of a device.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    return llvm::createStringError("'%s' cannot be written: not a regular file",
                                   path.str().c_str());
  llvm::SmallString<128> temporary;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(
          path + ".%%%%%%.tmp", temporary,
          llvm::sys::fs::all_read | llvm::sys::fs::all_write))
    return llvm::createStringError("'%s' cannot be written: %s",
                                   path.str().c_str(), error.message().c_str());
  auto write = [&]() -> Error {
    auto zip = ZipWriter::create(temporary);
    if (!zip)
      return zip.takeError();
    if (Error error = zip->add(kManifestFile, StringRef(manifest)))
      return error;
    for (const Entry &entry : entries)
      if (Error error = zip->add(entry.name, entry.parts))
        return error;
    if (Error error = zip->finish())
      return error;
    if (std::error_code error = llvm::sys::fs::rename(temporary, path))
      return llvm::createStringError("'%s' cannot be written: %s",
                                     path.str().c_str(),
                                     error.message().c_str());
    return Error::success();
  };
  Error error = write();
  if (error)
    llvm::sys::fs::remove(temporary);
  return error;
}
