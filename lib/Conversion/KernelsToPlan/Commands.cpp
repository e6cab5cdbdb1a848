//===- Commands.cpp - The commands of a plan entry ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackEnd.h"
#include "Entry.h"
#include "MemoryOrder.h"
#include "MergedDims.h"

#include "fp8c/Codegen/LaunchShape.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

void Entry::nameCommand(Operation *command, Operation *op) {
  llvm::SetVector<StringRef> names;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (inner != op)
      if (auto name = inner->getAttrOfType<StringAttr>(fp8::kNodeAttr))
        names.insert(name.getValue());
  });
  for (Value result : op->getResults())
    if (StringRef name = getNodeName(result); !name.empty())
      names.insert(name);
  if (!names.empty())
    command->setDiscardableAttr(fp8::kNodeAttr,
                                builder.getStringAttr(llvm::join(names, "+")));
}

Entry::Padded *Entry::findPadded(const Layout &layout) {
  auto it = padded.find(layout.root);
  return it == padded.end() || it->second.isCleared ? nullptr : &it->second;
}

void Entry::fillEnds(Padded &rows, Value result) {
  rows.isCleared = true;
  Value ends = getBuffer(rows.ends, getElementTypeOrSelf(result));
  plan::FillOp::create(builder, result.getLoc(), ends, 0)
      ->setDiscardableAttr(fp8::kNodeAttr, builder.getStringAttr("padding"));
}

const Layout &Entry::define(Value result) {
  auto it = placements.find(result);
  const Layout &layout = layouts[result] =
      it != placements.end() ? it->second : allocate(result);
  if (Padded *rows = findPadded(layout);
      rows && !result.getDefiningOp<fp8::KernelOp>())
    fillEnds(*rows, result);
  return layout;
}

//===----------------------------------------------------------------------===//
// Views and movement
//===----------------------------------------------------------------------===//

void Entry::convertView(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  auto it = layouts.find(source);
  // What a product decodes has no memory.
  if (it == layouts.end())
    return;
  Layout from = it->second;
  std::optional<Layout> layout = getViewLayout(op, from, shapes);
  if (!layout) {
    // No strides can express the reshape: make it dense first.
    Layout dense = allocate(shapes.sizes(source), getElementTypeOrSelf(source),
                            getNodeName(source));
    nameCommand(copy(op->getLoc(), from, dense, getElementTypeOrSelf(source)),
                op);
    layout = getViewLayout(op, dense, shapes);
  }
  layouts[result] = std::move(*layout);
  if (!getNodeName(result).empty())
    getBuffer(result);
}

void Entry::convertConcat(tensor::ConcatOp op) {
  Layout whole = define(op.getResult());
  Type element = getElementTypeOrSelf(op.getResult());
  for (OpOperand &operand : op->getOpOperands()) {
    if (inPlace.contains(&operand))
      continue;
    Layout part = getConcatSlice(op, operand.getOperandNumber(), whole);
    nameCommand(
        copy(op.getLoc(), layouts.find(operand.get())->second, part, element),
        op);
  }
  getBuffer(op.getResult());
}

void Entry::convertInsert(tensor::InsertSliceOp op) {
  Layout whole = define(op.getResult());
  Type element = getElementTypeOrSelf(op.getResult());
  // The slice may lie in the buffer that it is inserted into.
  Layout part = layouts.find(op.getSource())->second;
  if (part.root == whole.root) {
    Layout saved = allocate(part.sizes, element, "");
    copy(op.getLoc(), part, saved, element);
    part = saved;
  }
  auto into = layouts.find(op.getDest());
  if (into != layouts.end() && !into->second.isSame(shapes.arith, whole)) {
    Layout from = into->second;
    if (from.root == whole.root) {
      Layout saved = allocate(from.sizes, element, "");
      copy(op.getLoc(), from, saved, element);
      from = saved;
    }
    nameCommand(copy(op.getLoc(), from, whole, element), op);
  }
  Layout target =
      whole.slice(shapes.arith, shapes.map(op.getMixedOffsets()),
                  shapes.map(op.getMixedSizes()),
                  shapes.map(op.getMixedStrides()), op.getDroppedDims());
  nameCommand(copy(op.getLoc(), part, target, element), op);
  getBuffer(op.getResult());
}

LogicalResult Entry::convertFill(Operation *op, Attribute value) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(value))
    value = splat.getSplatValue<Attribute>();
  APInt bits;
  if (auto number = dyn_cast_if_present<FloatAttr>(value))
    bits = number.getValue().bitcastToAPInt();
  else if (auto integer = dyn_cast_if_present<IntegerAttr>(value))
    bits = integer.getValue();
  else
    return op->emitError("is not in a kernel and its value is not one number");
  define(op->getResult(0));
  Value target = getBuffer(op->getResult(0));
  nameCommand(
      plan::FillOp::create(builder, op->getLoc(), target, bits.getZExtValue()),
      op);
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Entry::checkNotEmpty(Location loc, const Kernel &kernel, unsigned result,
                          ValueRange extents) {
  Operation *amax = kernel.program.getResult(result).getDefiningOp();
  for (int64_t dim : kernel.program.getLoops(amax)) {
    if (dim < 0 || !ShapedType::isDynamic(kernel.program.getDims()[dim].size))
      continue;
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value isSome = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         extents[dim], zero);
    std::string message = "the amax of an empty tensor has no value";
    if (auto name = loc->findInstanceOf<NameLoc>())
      message += (" (in " + name.getName().getValue() + ")").str();
    fp8::CheckOp::create(builder, loc, isSome, message);
  }
}

DictionaryAttr Entry::getChoices(fp8::KernelOp op, bool backwards) {
  NamedAttrList choices;
  if (Attribute sums = op->getAttr(fp8::kSameSumsAttr)) {
    choices = NamedAttrList(sameSums.lookup(sums));
    choices.set("sums", builder.getIndexAttr(1));
  }
  if (backwards)
    choices.set("backwards", builder.getIndexAttr(1));
  return choices.empty() ? DictionaryAttr()
                         : choices.getDictionary(op.getContext());
}

LogicalResult Entry::convertKernel(fp8::KernelOp op) {
  SmallVector<Value> tensors, captured;
  SmallVector<Layout> operands;
  for (Value capture : op.getCaptures()) {
    if (capture.getType().isIndex()) {
      captured.push_back(shapes.arith.value(shapes.index(capture)));
      continue;
    }
    operands.push_back(layouts.find(capture)->second);
    tensors.push_back(capture);
  }
  for (Value result : op.getResults()) {
    operands.push_back(define(result));
    tensors.push_back(result);
  }
  Region body;
  SmallVector<Value> buffers;
  if (MergedDims merged(op, operands, shapes.arith); !merged.empty()) {
    merged.cloneInto(body);
    SmallVector<Layout> before = operands;
    for (auto [i, tensor] : llvm::enumerate(tensors)) {
      operands[i] = merged.apply(i, before[i]);
      buffers.push_back(getBuffer(operands[i], getElementTypeOrSelf(tensor),
                                  getNodeName(tensor)));
    }
  } else if (orderByMemory(op, operands.front(), shapes.arith, body)) {
    // In this order of dims it is no node's value.
    buffers = {
        getBuffer(operands.front(), getElementTypeOrSelf(tensors[0]), ""),
        getBuffer(tensors[1])};
  } else {
    for (Value tensor : tensors)
      buffers.push_back(getBuffer(tensor));
  }
  size_t numReads = tensors.size() - op.getNumResults();
  ArrayRef<Value> reads = ArrayRef(buffers).take_front(numReads);
  ArrayRef<Value> writes = ArrayRef(buffers).drop_front(numReads);
  SmallVector<int64_t> unitDims;
  for (const Layout &operand : operands)
    unitDims.push_back(operand.getUnitDim());
  bool backwards = !target.isCPU() &&
                   sweeps.isBackwards(ArrayRef(operands).take_front(numReads));
  sweeps.note(operands, backwards);
  // Where the results' padded rows are rows of their own.
  SmallVector<int64_t> zeros;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    const Layout &operand = operands[numReads + i];
    Padded *rows = findPadded(operand);
    bool isRow = rows && rows->value == result &&
                 isConstantIntValue(operand.sizes.back(), rows->size) &&
                 isConstantIntValue(operand.strides.back(), 1);
    zeros.push_back(isRow ? rows->zeros : 0);
  }
  bool hasZeros = llvm::any_of(zeros, [](int64_t count) { return count > 0; });
  Kernel *kernel = kernels.get(op, body.empty() ? op.getBody() : body, unitDims,
                               getChoices(op, backwards),
                               hasZeros ? builder.getDenseI64ArrayAttr(zeros)
                                        : DenseI64ArrayAttr());
  if (!kernel)
    return failure();
  SmallVector<Value> ends;
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    Padded *rows = findPadded(operands[numReads + i]);
    if (rows && zeros[i] && codegen::writesZeros(kernel->program, i)) {
      rows->isCleared = true;
      ends.push_back(getBuffer(rows->ends, getElementTypeOrSelf(result)));
    } else if (rows) {
      fillEnds(*rows, result);
    }
  }

  Location loc = op.getLoc();
  SmallVector<Value> sizes;
  for (const codegen::Dim &dim : kernel->program.getDims())
    sizes.push_back(shapes.arith.value(
        dim.operand < 0 ? shapes.arith.constant(dim.size)
                        : operands[dim.operand].sizes[dim.operandDim]));
  SmallVector<Value> extents(sizes);
  for (const Layout &operand : operands)
    for (OpFoldResult stride : operand.strides)
      sizes.push_back(shapes.arith.value(stride));
  sizes.append(captured);
  Value tasks, scratch;
  if (target.isCPU()) {
    tasks = kernel->program.buildTasks(builder, loc, extents);
    scratch = kernel->program.buildScratch(builder, loc, extents);
  } else {
    auto shape = codegen::LaunchShape::choose(kernel->program, target);
    kernel->op.setThreads(shape.getThreads());
    kernel->op.setResident(shape.resident);
    kernel->op.setDependent(shape.dependent);
    kernel->op.setCluster(shape.cluster > 1 ? shape.cluster : 0);
    kernel->op.setClusterTasks(shape.cluster > 1 ? shape.clusterTasks : 0);
    if (Attribute sums = op->getAttr(fp8::kSameSumsAttr);
        sums && !sameSums.contains(sums))
      sameSums[sums] = builder.getDictionaryAttr(
          {builder.getNamedAttr("threads", builder.getIndexAttr(shape.group)),
           builder.getNamedAttr("width", builder.getIndexAttr(shape.width))});
    Value parts;
    if (shape.rows > 1) {
      parts = shape.buildParts(builder, loc, kernel->program, extents);
      sizes.push_back(parts);
    }
    tasks = shape.buildBlocks(builder, loc, kernel->program, extents, parts);
    scratch = arith::ConstantIndexOp::create(builder, loc, shape.sharedBytes);
  }
  if (!kernel->program.getSingleResults().empty())
    tasks = arith::MaxSIOp::create(
        builder, loc, tasks, arith::ConstantIndexOp::create(builder, loc, 1));

  for (unsigned result : kernel->program.getAtomicResults()) {
    checkNotEmpty(loc, *kernel, result, extents);
    if (!cleared.contains(op.getResult(result)))
      nameCommand(plan::FillOp::create(builder, loc, writes[result], 0), op);
  }
  nameCommand(plan::LaunchOp::create(
                  builder, loc, kernel->op.getSymName(), reads, writes, ends,
                  /*joins=*/ValueRange(), sizes, tasks, scratch),
              op);
  return success();
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// False for a use that asks for the size of a tensor alone, or writes what it
/// holds.
static bool readsElements(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
    return &use == &insert.getSourceMutable();
  auto written = dyn_cast<DestinationStyleOpInterface>(user);
  return !isa<tensor::DimOp>(user) && !(written && written.isDpsInit(&use));
}

LogicalResult Entry::convert(Operation *op) {
  if (isView(op)) {
    convertView(op);
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](fp8::GlobalLoadOp load) {
        auto it = stored.find(load.getGlobalAttr());
        layouts[load] = it != stored.end()
                            ? layouts.find(it->second)->second
                            : getGlobal(load.getGlobalAttr(), load.getType());
        if (!getNodeName(load).empty())
          getBuffer(load.getResult());
        return success();
      })
      .Case([&](fp8::GlobalStoreOp store) {
        stored[store.getGlobalAttr()] = store.getValue();
        return success();
      })
      .Case([&](fp8::KernelOp kernel) { return convertKernel(kernel); })
      .Case([&](fp8::MatmulOp matmul) { return convertMatmul(matmul); })
      .Case([&](fp8::ScaledMatmulOp matmul) {
        convertScaledMatmul(matmul);
        return success();
      })
      .Case([&](fp8::AttentionOp attention) {
        convertAttention(attention);
        return success();
      })
      .Case([&](tensor::ConcatOp concat) {
        convertConcat(concat);
        return success();
      })
      .Case([&](tensor::InsertSliceOp insert) {
        convertInsert(insert);
        return success();
      })
      .Case([&](fp8::DequantizeOp dequantize) {
        return checkDecoded(dequantize);
      })
      .Case([&](linalg::FillOp fill) {
        Attribute value;
        matchPattern(fill.getInputs().front(), m_Constant(&value));
        return convertFill(fill, value);
      })
      .Case([&](arith::ConstantOp constant) {
        // Uninteresting ones are numbers that bodies or sizes use.
        if (!isa<RankedTensorType>(constant.getType()) || constant.use_empty())
          return success();
        return convertFill(constant, constant.getValue());
      })
      .Case([&](tensor::EmptyOp empty) -> LogicalResult {
        if (llvm::none_of(empty->getUses(), readsElements))
          return success();
        return convertFill(
            empty, builder.getZeroAttr(getElementTypeOrSelf(empty.getType())));
      })
      .Case<fp8::SymbolOp, fp8::CheckOp, tensor::DimOp, func::ReturnOp>(
          [](auto) { return success(); })
      .Default([&](Operation *) -> LogicalResult {
        if (isa<arith::ArithDialect>(op->getDialect()) &&
            llvm::none_of(op->getResultTypes(),
                          [](Type type) { return isa<ShapedType>(type); }))
          return success();
        return op->emitError()
               << "'" << op->getName() << "' is not part of any kernel";
      });
}
