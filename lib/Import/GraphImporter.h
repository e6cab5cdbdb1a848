//===- GraphImporter.h - Imports one graph ----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_IMPORT_GRAPHIMPORTER_H
#define FP8C_LIB_IMPORT_GRAPHIMPORTER_H

#include "Values.h"

#include "fp8c/Import/ImportContext.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace fp8c::import {

/// Imports one exported program into a module: the signature, weights and state
/// (Signature.cpp), then node by node (Importer.cpp).
class GraphImporter final : public ImportContext, public ViewReplay {
public:
  GraphImporter(const ExportedProgram &program,
                const std::map<std::string, StorageEntry> &storage,
                mlir::ModuleOp module, GraphBuilder &graph,
                const ImportOptions &options)
      : ImportContext(graph, options), program(program), storage(storage),
        module(module), builder(graph.getBuilder()), values(*this) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult checkOperators();
  mlir::LogicalResult createFunction();
  mlir::LogicalResult importGlobals();
  mlir::LogicalResult importGlobal(llvm::StringRef argument,
                                   llvm::StringRef name);
  mlir::LogicalResult importChecks();
  mlir::LogicalResult importNode(const Node &node);
  mlir::LogicalResult importOutputs();
  /// A result of the function that is the archive's `tensor` ("" for none).
  void appendResult(mlir::Value value, llvm::StringRef name,
                    llvm::StringRef tensor);
  mlir::LogicalResult importMutations();
  mlir::LogicalResult storeState();
  void finish();

  /// The type that the archive states for a value; an error where it states
  /// none.
  mlir::FailureOr<mlir::RankedTensorType> getStatedType(llvm::StringRef name);
  /// Errors unless the archive says what each output of a node is.
  mlir::LogicalResult checkOutputs(const Node &node);
  /// An error where a result is not what the archive says of it.
  mlir::LogicalResult checkResult(llvm::StringRef name, mlir::Value value);

  /// True where an output of the node shows the memory of its tensor `self`.
  bool isAlias(const Node &node, const OpEntry &entry, llvm::StringRef self,
               llvm::StringRef output);
  /// True where the archive states row-major strides without gaps.
  bool isContiguous(const TensorMeta &meta);
  /// An error, at the model's own place where there is one.
  mlir::LogicalResult checkNewName(llvm::StringRef name);

  /// The location of a node: module path and source line.
  mlir::Location getLocation(const Node &node);
  /// Converts the node that is bound, under its own location.
  mlir::FailureOr<llvm::SmallVector<Result>> convert(const Node &node,
                                                     const OpEntry &entry);

  // ViewReplay.
  mlir::FailureOr<Result> replay(const Node &node, const OpEntry &entry,
                                 unsigned output) override;
  mlir::FailureOr<mlir::Value> scatter(const Node &node, const OpEntry &entry,
                                       unsigned output, mlir::Value base,
                                       mlir::Value written) override;

  // ImportContext.
  mlir::Value lookupTensor(llvm::StringRef name) override;
  mlir::OpFoldResult lookupSize(const SymInt &size) override;
  const TensorMeta *lookupMeta(llvm::StringRef name) override;

  const ExportedProgram &program;
  const std::map<std::string, StorageEntry> &storage;
  mlir::ModuleOp module;
  mlir::OpBuilder &builder;
  mlir::func::FuncOp function;
  Values values;
  llvm::StringMap<mlir::OpFoldResult> symbols;
  /// A global, and which dim of the model's tensor each of its dims is.
  struct Global {
    fp8::GlobalOp op;
    llvm::SmallVector<int64_t> order;
    /// The archive's entry that holds its bytes.
    std::string path;
  };
  /// Arguments of the graph that are weights or buffers, and their globals.
  std::map<std::string, Global> globals;
  fp8::GlobalOp lastGlobal;
  /// The first graph argument that shows a storage with a layout.
  std::map<std::string, std::string> shared;
  /// What the function returns, the attributes of the results, and which
  /// result each leaf of the model's output is (unit: None).
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Attribute> resultAttributes, leaves;
};

} // namespace fp8c::import

#endif // FP8C_LIB_IMPORT_GRAPHIMPORTER_H
