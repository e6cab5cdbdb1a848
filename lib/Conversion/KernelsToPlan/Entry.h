//===- Entry.h - From a function to a plan entry ----------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Four steps: sizes (Shapes), signature (Entry.cpp), where each value is
// written (Placement.cpp), and the commands in order (Commands.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CONVERSION_KERNELSTOPLAN_ENTRY_H
#define FP8C_LIB_CONVERSION_KERNELSTOPLAN_ENTRY_H

#include "KernelTable.h"
#include "Layout.h"
#include "Shapes.h"
#include "Sweeps.h"

#include "fp8c/Target/Target.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/MapVector.h"

namespace fp8c::toplan {

/// The layout of a view op's result, given its source's. Nothing where `op` is
/// no view, or strides cannot express it.
std::optional<Layout> getViewLayout(mlir::Operation *op, const Layout &source,
                                    Shapes &shapes);
/// The layout that the source of a view op must have for its result to have
/// `result`. Nothing where `op` is no view of all of its source, or strides
/// cannot express it.
std::optional<Layout> getSourceLayout(mlir::Operation *op, const Layout &result,
                                      Shapes &shapes);
/// True for ops that only reshape, slice, transpose or rename: a view where
/// strides can express that.
bool isView(mlir::Operation *op);
/// True for ops that write their results to memory that may be chosen. A
/// `tensor.empty` whose elements are read is zeros.
bool isProducer(mlir::Operation *op);

/// Converts one function.
class Entry {
public:
  Entry(mlir::func::FuncOp func, plan::EntryOp entry, KernelTable &kernels,
        const Target &target);

  mlir::LogicalResult run();

private:
  /// Padded rows: the ends that are zeros, and the value that is the rows
  /// without their ends.
  struct Padded {
    Layout ends;
    mlir::Value value;
    int64_t size = 0, zeros = 0;
    bool isCleared = false;
  };

  // Signature: Entry.cpp.
  mlir::LogicalResult makeInputs();
  mlir::LogicalResult makeOutputs();
  void storeState();
  void copyOutputs();
  /// No tensor of the function needs more memory than can be addressed.
  mlir::LogicalResult checkSizes();

  /// A command that is no kernel has gone through its operands and results.
  void noteSweep(mlir::Operation *op);

  // Memory: Entry.cpp.
  /// New memory of the entry for a tensor's sizes.
  Layout allocate(mlir::Value tensor);
  Layout allocate(const Sizes &sizes, mlir::Type element, llvm::StringRef node);
  /// The memory of a weight or of state, before anything is stored to it.
  Layout getGlobal(mlir::FlatSymbolRefAttr name, mlir::Type type);
  /// The buffer op of a layout.
  mlir::Value getBuffer(const Layout &layout, mlir::Type element,
                        llvm::StringRef node = "");
  /// The buffer of a tensor of the function.
  mlir::Value getBuffer(mlir::Value tensor);
  plan::CopyOp copy(mlir::Location loc, const Layout &from, const Layout &to,
                    mlir::Type element);

  // Where values are written: Placement.cpp.
  void place();
  void placeConcat(mlir::tensor::ConcatOp op);
  void placeInsert(mlir::tensor::InsertSliceOp op);
  void placeFlatten(mlir::tensor::CollapseShapeOp op);
  void placeStore(fp8::GlobalStoreOp op);
  void placeAttention(fp8::AttentionOp op);
  void placeAmaxSlots();
  /// Whether the library wants longer rows of the left operand.
  bool wantsPadding(fp8::ScaledMatmulOp op);
  /// Has what makes the left operand of a product write rows that are as long
  /// as the library wants them, with zeros at their ends.
  void placePadded(fp8::ScaledMatmulOp op);
  /// Has the producer of `value` write so that `value` has `layout`, unless it
  /// writes elsewhere already.
  bool tryPlace(mlir::Value value, Layout layout);
  /// True if `producer` may write to the buffer `root` when it runs: nobody
  /// reads what state or a weight held before.
  bool mayWrite(mlir::Operation *producer, mlir::Value root);
  /// Position of the last command that may read memory that `value` is in.
  size_t getLastRead(mlir::Value value);
  size_t getPosition(mlir::Operation *op) { return positions.lookup(op); }

  // Commands: Commands.cpp.
  mlir::LogicalResult convert(mlir::Operation *op);
  void convertView(mlir::Operation *op);
  mlir::LogicalResult checkDecoded(fp8::DequantizeOp op);
  /// A call fails where a dim that the amax of `result` runs over is 0.
  void checkNotEmpty(mlir::Location loc, const Kernel &kernel, unsigned result,
                     mlir::ValueRange extents);
  mlir::LogicalResult convertKernel(fp8::KernelOp op);
  /// What is chosen for a kernel alone: which way it goes, the threads of those
  /// with the same sums.
  mlir::DictionaryAttr getChoices(fp8::KernelOp op, bool backwards);
  mlir::LogicalResult convertMatmul(fp8::MatmulOp op);
  void convertScaledMatmul(fp8::ScaledMatmulOp op);
  /// The left operand with its rows' padding, if it has some.
  mlir::Value getPadded(fp8::ScaledMatmulOp op);
  void convertAttention(fp8::AttentionOp op);
  void convertConcat(mlir::tensor::ConcatOp op);
  void convertInsert(mlir::tensor::InsertSliceOp op);
  mlir::LogicalResult convertFill(mlir::Operation *op, mlir::Attribute value);
  /// The padding of rows of this layout that are not cleared yet, or null.
  Padded *findPadded(const Layout &layout);
  void fillEnds(Padded &rows, mlir::Value result);
  /// The layout that a producer writes its result to. The ends of padded rows
  /// become zeros before, unless a kernel writes them.
  const Layout &define(mlir::Value result);
  /// The slice of `whole` that operand `number` of a concatenation is.
  Layout getConcatSlice(mlir::tensor::ConcatOp op, unsigned number,
                        const Layout &whole);
  /// Names the command after the nodes it stands for.
  void nameCommand(mlir::Operation *command, mlir::Operation *op);

  mlir::func::FuncOp func;
  mlir::OpBuilder builder;
  KernelTable &kernels;
  /// Who runs the plan.
  const Target &target;
  Shapes shapes;
  /// Where the values of the function are.
  llvm::DenseMap<mlir::Value, Layout> layouts;
  /// Where producers will write their results.
  llvm::DenseMap<mlir::Value, Layout> placements;
  /// The buffers of values, where they were asked for.
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  llvm::StringMap<Layout> globals;
  /// The sizes of root buffers.
  llvm::DenseMap<mlir::Value, Sizes> rootSizes;
  /// The value that a global was given last.
  llvm::MapVector<mlir::Attribute, mlir::Value> stored;
  llvm::DenseMap<mlir::Operation *, size_t> positions;
  /// The buffers of outputs that are tensors.
  llvm::SmallVector<mlir::Value> outputs;
  /// Slots that the fill at the start clears.
  llvm::DenseSet<mlir::Value> cleared;
  Sweeps sweeps;
  /// By their buffers.
  llvm::DenseMap<mlir::Value, Padded> padded;
  /// The launch choices of kernels that compute the same sums, by
  /// fp8::kSameSumsAttr.
  llvm::DenseMap<mlir::Attribute, mlir::DictionaryAttr> sameSums;
  /// Operands of concatenations that their producers write in place.
  llvm::DenseSet<mlir::OpOperand *> inPlace;
};

/// The name of the node whose value a result is, or "".
llvm::StringRef getNodeName(mlir::Value value);

} // namespace fp8c::toplan

#endif // FP8C_LIB_CONVERSION_KERNELSTOPLAN_ENTRY_H
