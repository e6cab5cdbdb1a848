//===- PlanBuilder.h - Builds a plan in binary form -------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_PACKAGE_PLANBUILDER_H
#define FP8C_LIB_PACKAGE_PLANBUILDER_H

#include "SizeTable.h"

#include "fp8c/Dialect/Plan/Plan.h"
#include "fp8c/Package/Format.h"

namespace fp8c::package {

/// No value.
constexpr uint32_t kNone = 0xFFFFFFFF;

/// A value before it is written; lifetimes grow while commands are read.
struct PendingValue {
  plan::wire::ValueKind kind;
  plan::wire::DType dtype;
  std::vector<uint32_t> dims, strides;
  uint32_t offset = 0, index = 0, base = kNone;
  uint32_t first = 0, last = 0;
  bool used = false;
  std::string node;
};

/// Writes the plan of a module; one file a part: tables and entries, buffers,
/// commands.
class PlanBuilder {
public:
  PlanBuilder(mlir::ModuleOp module, mlir::StringRef target)
      : module(module), target(target) {}

  /// The plan, or the error that was told.
  mlir::FailureOr<std::string> run();

private:
  mlir::LogicalResult writeTables();
  mlir::LogicalResult writeEntry(plan::EntryOp entry);
  mlir::LogicalResult writeBuffer(mlir::Operation *op);
  mlir::LogicalResult writeView(plan::ViewOp view);
  mlir::LogicalResult writeCommand(mlir::Operation *op);
  mlir::LogicalResult pushStep(mlir::Operation *op, plan::wire::Command type,
                               flatbuffers::Offset<void> command,
                               mlir::ValueRange reads, mlir::ValueRange writes);

  mlir::FailureOr<flatbuffers::Offset<void>> launch(plan::LaunchOp op);
  flatbuffers::Offset<void> matmul(plan::MatmulOp op);

  mlir::FailureOr<std::vector<uint32_t>> sizesOf(mlir::ValueRange values);
  std::vector<uint32_t> denseStrides(mlir::ArrayRef<uint32_t> dims);
  uint32_t valueOf(mlir::Value buffer) {
    return buffer ? valueIds.lookup(buffer) : kNone;
  }
  std::vector<uint32_t> valuesOf(mlir::ValueRange buffers) {
    std::vector<uint32_t> ids;
    for (mlir::Value buffer : buffers)
      ids.push_back(valueOf(buffer));
    return ids;
  }

  mlir::ModuleOp module;
  mlir::StringRef target;
  flatbuffers::FlatBufferBuilder builder;
  SizeTable sizes;
  std::vector<PendingValue> values;
  llvm::DenseMap<mlir::Value, uint32_t> valueIds;
  llvm::StringMap<uint32_t> weightIds, stateIds, kernelIds;
  std::vector<flatbuffers::Offset<plan::wire::Weight>> weights;
  std::vector<flatbuffers::Offset<plan::wire::State>> states;
  std::vector<flatbuffers::Offset<plan::wire::Kernel>> kernels;
  std::vector<flatbuffers::Offset<plan::wire::Check>> checks;
  std::vector<flatbuffers::Offset<plan::wire::EntryPoint>> entries;
  // Of the entry that is being written.
  std::vector<flatbuffers::Offset<plan::wire::Step>> steps;
  std::vector<flatbuffers::Offset<plan::wire::Input>> inputs;
  std::vector<flatbuffers::Offset<plan::wire::Output>> outputs;
};

/// The module path and the model's source line of a location.
void describe(mlir::Location loc, std::string &path, std::string &place);

/// The element type in a plan; an error at `op` if plans have none.
mlir::FailureOr<plan::wire::DType> getDType(mlir::Operation *op,
                                            mlir::Type type);

} // namespace fp8c::package

#endif // FP8C_LIB_PACKAGE_PLANBUILDER_H
