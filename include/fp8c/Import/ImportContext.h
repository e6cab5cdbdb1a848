//===- ImportContext.h - What a converter sees ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_IMPORT_IMPORTCONTEXT_H
#define FP8C_IMPORT_IMPORTCONTEXT_H

#include "fp8c/Dialect/FP8/FP8.h"
#include "fp8c/Import/GraphBuilder.h"
#include "fp8c/Import/OpTable.h"
#include "fp8c/Import/Schema.h"

namespace fp8c::import {

/// Choices that change what operators mean.
struct ImportOptions {
  /// Overrides PyTorch's overflow policy of casts to f8.
  std::optional<fp8::Overflow> castOverflow;
  /// Division by a Python number multiplies with its reciprocal, as eager
  /// PyTorch on CUDA does.
  bool divideByReciprocal = false;
  /// Guards that cannot be read are left out instead of being errors.
  bool assumeGuards = false;
};

/// A Python number: a float, an integer or a bool, or a size.
struct Number {
  bool isFloat = false;
  double floating = 0;
  int64_t integer = 0;
  /// Not null where the number is a size of the call.
  mlir::OpFoldResult size;
  double asDouble() const { return isFloat ? floating : (double)integer; }
};

/// The element type of a schema dtype number; null for one that is not read.
/// `isUnsigned` is set for u8, u16, ....
mlir::Type getElementType(mlir::MLIRContext *context, int64_t dtype,
                          bool *isUnsigned = nullptr);

/// The node that is being converted: its arguments by the names of its schema,
/// defaults filled in, and the builder. Kinds have been checked against the
/// schema; an accessor that finds None, or a number for a tensor, is an error
/// of the builder and gives some value.
class ImportContext {
public:
  ImportContext(GraphBuilder &graph, const ImportOptions &options)
      : graph(graph), options(options) {}
  virtual ~ImportContext() = default;

  GraphBuilder &graph;
  const ImportOptions &options;

  const Node &getNode() const { return *node; }
  const OpEntry &getEntry() const { return *entry; }

  /// True unless the argument is None (given or by default).
  bool has(llvm::StringRef name) const;
  /// True where a `Tensor` parameter holds a Python number (archives have
  /// `add.Tensor(x, 1)`): read it with `number`. Binding accepts a number for
  /// any `Tensor` parameter but the first.
  bool isNumber(llvm::StringRef name) const;
  /// An operand of arithmetic whose elements are unsigned bytes is i16: that
  /// holds them, and the low byte of what is computed is the result
  /// (`narrow`).
  mlir::Value tensor(llvm::StringRef name);
  /// Null for None.
  mlir::Value optionalTensor(llvm::StringRef name);
  /// A null value for each None of a `Tensor?[]`.
  llvm::SmallVector<mlir::Value> tensors(llvm::StringRef name);
  int64_t integer(llvm::StringRef name);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name);
  mlir::OpFoldResult size(llvm::StringRef name);
  Sizes sizes(llvm::StringRef name);
  Number number(llvm::StringRef name);
  double floating(llvm::StringRef name);
  llvm::SmallVector<double> floats(llvm::StringRef name);
  bool boolean(llvm::StringRef name);
  llvm::StringRef string(llvm::StringRef name);
  /// The element type of a `ScalarType` argument; null for None.
  mlir::Type dtype(llvm::StringRef name);
  /// True for a tensor of the archive whose elements are unsigned bytes, which
  /// have the signless type of signed ones.
  bool isUnsignedByte(llvm::StringRef tensor);
  /// True where the tensor of this argument, or the dtype, is unsigned.
  bool isUnsigned(llvm::StringRef name);

  /// The element type that the archive states for output `index` (lists
  /// flattened), which has to be a tensor; i16 for unsigned bytes that are
  /// computed.
  mlir::Type outputType(unsigned index = 0);
  /// The sizes that the archive states for output `index`.
  Sizes outputSizes(unsigned index = 0);
  /// The number of outputs, lists flattened.
  unsigned getNumOutputs() const;
  /// While a view is scattered: which of its outputs was written.
  unsigned getViewIndex() const { return viewIndex; }

  /// An error at the node's own source line that names the operator.
  mlir::InFlightDiagnostic error();

protected:
  /// The current value of a named tensor or size.
  virtual mlir::Value lookupTensor(llvm::StringRef name) = 0;
  virtual mlir::OpFoldResult lookupSize(const SymInt &size) = 0;
  virtual const TensorMeta *lookupMeta(llvm::StringRef name) = 0;

  /// Binds a node's arguments to an entry's parameters; an error where one
  /// does not fit.
  mlir::LogicalResult bind(const Node &node, const OpEntry &entry);

  /// The results with those that the archive states as unsigned bytes made such
  /// again.
  void narrow(llvm::MutableArrayRef<Result> results);

  const Node *node = nullptr;
  const OpEntry *entry = nullptr;
  unsigned viewIndex = 0;
  /// One an entry's parameter.
  llvm::SmallVector<Argument> bound;

private:
  /// The operand of a name, widened where `tensor` says so.
  mlir::Value lookupOperand(llvm::StringRef name);
  const Argument &argument(llvm::StringRef name) const;
  const std::string &outputName(unsigned index) const;
};

} // namespace fp8c::import

#endif // FP8C_IMPORT_IMPORTCONTEXT_H
