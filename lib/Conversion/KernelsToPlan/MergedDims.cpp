//===- MergedDims.cpp - Dims of a kernel that are one ---------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MergedDims.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::toplan;

//===----------------------------------------------------------------------===//
// Which dims
//===----------------------------------------------------------------------===//

MergedDims::MergedDims(fp8::KernelOp op, ArrayRef<Layout> operands,
                       SizeArith &arith)
    : body(op.getBody().front()), operands(operands), arith(arith) {
  bool reduces = llvm::any_of(
      body.getOps<linalg::GenericOp>(),
      [](linalg::GenericOp part) { return part.getNumReductionLoops() > 0; });
  // Sizes of operands in the body would have to be those of merged dims.
  if (!reduces || !body.getOps<tensor::DimOp>().empty())
    return;
  SmallVector<int64_t> unitDims;
  for (const Layout &operand : operands)
    unitDims.push_back(operand.getUnitDim());
  std::string why;
  program = codegen::RowProgram::analyze(body, unitDims, why);
  if (failed(program))
    return;
  collect();
  findPairs();
  while (removeConflicts())
    ;
}

void MergedDims::collect() {
  auto add = [&](Value tensor, ArrayRef<int64_t> dims) {
    firstAccess.try_emplace(tensor, accesses.size());
    accesses.push_back({tensor, SmallVector<int64_t>(dims)});
  };
  for (Operation &inner : body) {
    if (isa<linalg::FillOp, fp8::AmaxOp>(inner)) {
      ArrayRef<int64_t> loops = program->getLoops(&inner);
      if (auto fill = dyn_cast<linalg::FillOp>(inner)) {
        add(fill.output(), loops);
        add(fill.result(), loops);
      } else {
        add(inner.getOperand(0), loops);
        // The slot has dims of one element, as many as the tensor has.
        add(inner.getResult(0), loops);
      }
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    if (!generic)
      continue;
    ArrayRef<int64_t> loops = program->getLoops(generic);
    auto addMapped = [&](Value tensor, AffineMap map) {
      SmallVector<int64_t> dims;
      for (AffineExpr expr : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        dims.push_back(dim ? loops[dim.getPosition()] : -1);
        if (!dim)
          for (auto [i, loop] : llvm::enumerate(loops))
            if (expr.isFunctionOfDim(i))
              fixed.insert(loop);
      }
      add(tensor, dims);
    };
    for (OpOperand &operand : generic->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        addMapped(operand.get(), generic.getMatchingIndexingMap(&operand));
    for (OpOperand &init : generic.getDpsInitsMutable())
      addMapped(generic.getTiedOpResult(&init),
                generic.getMatchingIndexingMap(&init));
    generic.getBody()->walk([&](Operation *part) {
      if (auto index = dyn_cast<linalg::IndexOp>(part))
        fixed.insert(loops[index.getDim()]);
      // Indices of such reads are of the operand as it is.
      if (auto extract = dyn_cast<tensor::ExtractOp>(part))
        add(extract.getTensor(),
            SmallVector<int64_t>(extract.getIndices().size(), -1));
    });
  }
  Operation *yield = body.getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (!value.getDefiningOp<fp8::AmaxOp>())
      add(value, program->getResultLoops(i));
}

/// Dims that every use of a tensor and every nest have side by side, or not.
void MergedDims::findPairs() {
  for (const Access &access : accesses)
    for (size_t i = 1; i < access.dims.size(); ++i)
      if (access.dims[i - 1] >= 0 && access.dims[i] >= 0)
        pairs.insert({access.dims[i - 1], access.dims[i]});
  pairs.remove_if([&](Pair pair) {
    auto [first, second] = pair;
    if (fixed.contains(first) || fixed.contains(second))
      return true;
    for (const Access &access : accesses) {
      const auto *left = llvm::find(access.dims, first);
      const auto *right = llvm::find(access.dims, second);
      // A tensor that ends with the first has not the second: it is broadcast.
      if ((left == access.dims.end()) != (right == access.dims.end()) ||
          (left != access.dims.end() && right != left + 1))
        return true;
    }
    for (auto part : body.getOps<linalg::GenericOp>()) {
      ArrayRef<int64_t> loops = program->getLoops(part);
      const auto *left = llvm::find(loops, first);
      const auto *right = llvm::find(loops, second);
      if ((left == loops.end()) != (right == loops.end()))
        return true;
      auto iterators = part.getIteratorTypesArray();
      if (left != loops.end() &&
          iterators[left - loops.begin()] != iterators[right - loops.begin()])
        return true;
    }
    return false;
  });
}

/// Removes pairs that a tensor has at one use and not at another, or that do
/// not lie one after the other in memory. True if there were any.
bool MergedDims::removeConflicts() {
  SmallVector<Pair> removed;
  for (const Access &access : accesses) {
    const Access &first = accesses[firstAccess.lookup(access.tensor)];
    for (size_t i = 1; i < access.dims.size(); ++i) {
      Pair here(access.dims[i - 1], access.dims[i]);
      Pair there(first.dims[i - 1], first.dims[i]);
      if (pairs.contains(here) == pairs.contains(there))
        continue;
      removed.push_back(pairs.contains(here) ? here : there);
    }
  }
  auto check = [&](Value tensor, const Layout &layout) {
    auto found = firstAccess.find(tensor);
    if (found == firstAccess.end() || tensor.getDefiningOp<fp8::AmaxOp>())
      return;
    ArrayRef<int64_t> dims = accesses[found->second].dims;
    for (size_t i = 1; i < dims.size(); ++i)
      if (isMerged(dims[i - 1], dims[i]) &&
          !arith.equal(layout.strides[i - 1],
                       arith.mul(layout.strides[i], layout.sizes[i])))
        removed.push_back({dims[i - 1], dims[i]});
  };
  unsigned number = 0;
  for (BlockArgument argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      check(argument, operands[number++]);
  for (Value result : body.getTerminator()->getOperands())
    check(result, operands[number++]);
  for (Pair pair : removed)
    pairs.remove(pair);
  return !removed.empty();
}

//===----------------------------------------------------------------------===//
// The kernel over fewer dims
//===----------------------------------------------------------------------===//

SmallVector<ReassociationIndices> MergedDims::getGroups(Value tensor) const {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  auto found = firstAccess.find(tensor);
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i) {
    bool joins = false;
    if (found != firstAccess.end() && i > 0) {
      ArrayRef<int64_t> dims = accesses[found->second].dims;
      joins = isMerged(dims[i - 1], dims[i]);
    }
    if (joins)
      groups.back().push_back(i);
    else
      groups.push_back({i});
  }
  return groups;
}

Type MergedDims::getType(Value tensor) const {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return tensor.getType();
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : getGroups(tensor)) {
    int64_t size = 1;
    for (int64_t dim : group)
      size = ShapedType::isDynamic(size) || type.isDynamicDim(dim)
                 ? ShapedType::kDynamic
                 : size * type.getDimSize(dim);
    shape.push_back(size);
  }
  return RankedTensorType::get(shape, type.getElementType());
}

Layout MergedDims::apply(unsigned index, const Layout &layout) const {
  SmallVector<Value> tensors;
  for (BlockArgument argument : body.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      tensors.push_back(argument);
  llvm::append_range(tensors, body.getTerminator()->getOperands());
  SmallVector<ReassociationIndices> groups = getGroups(tensors[index]);
  Sizes sizes;
  for (const ReassociationIndices &group : groups) {
    SmallVector<OpFoldResult> parts;
    for (int64_t dim : group)
      parts.push_back(layout.sizes[dim]);
    sizes.push_back(arith.product(parts));
  }
  return *layout.collapse(arith, groups, sizes);
}

void MergedDims::cloneGeneric(linalg::GenericOp part, OpBuilder &builder,
                              IRMapping &mapping) const {
  ArrayRef<int64_t> loops = program->getLoops(part);
  MLIRContext *context = builder.getContext();
  // The first of merged loops stays.
  SmallVector<AffineExpr> exprs;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<bool> stays;
  for (auto [i, loop] : llvm::enumerate(loops)) {
    auto isSecond = [dim = loop](Pair pair) { return pair.second == dim; };
    stays.push_back(loop < 0 || llvm::none_of(pairs, isSecond));
    exprs.push_back(getAffineDimExpr(iterators.size(), context));
    if (stays.back())
      iterators.push_back(part.getIteratorTypesArray()[i]);
  }
  SmallVector<AffineMap> maps;
  for (AffineMap map : part.getIndexingMapsArray()) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || stays[dim.getPosition()])
        results.push_back(expr.replaceDims(exprs));
    }
    maps.push_back(AffineMap::get(iterators.size(), 0, results, context));
  }
  auto lookup = [&](ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values)
      result.push_back(mapping.lookup(value));
    return result;
  };
  SmallVector<Value> inits = lookup(part.getOutputs());
  auto made = linalg::GenericOp::create(
      builder, part.getLoc(), TypeRange(ValueRange(inits)),
      lookup(part.getInputs()), inits, maps, iterators);
  made->setDiscardableAttrs(part->getDiscardableAttrDictionary());
  part.getRegion().cloneInto(&made.getRegion(), mapping);
  made.getBody()->walk([&](linalg::IndexOp index) {
    auto dim = cast<AffineDimExpr>(exprs[index.getDim()]);
    index.setDim(dim.getPosition());
  });
  mapping.map(part.getResults(), made.getResults());
}

void MergedDims::cloneInto(Region &region) const {
  Block &merged = region.emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument : body.getArguments())
    mapping.map(argument,
                merged.addArgument(getType(argument), argument.getLoc()));
  OpBuilder builder(body.getParentOp()->getContext());
  builder.setInsertionPointToEnd(&merged);
  for (Operation &part : body) {
    Location loc = part.getLoc();
    if (auto generic = dyn_cast<linalg::GenericOp>(part)) {
      cloneGeneric(generic, builder, mapping);
      continue;
    }
    Operation *made = nullptr;
    auto type = part.getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(getType(part.getResult(0)))
                    : RankedTensorType();
    DenseElementsAttr elements;
    if (auto empty = dyn_cast<tensor::EmptyOp>(part)) {
      SmallVector<OpFoldResult> extents = empty.getMixedSizes();
      SmallVector<Value> sizes;
      for (auto [i, group] : llvm::enumerate(getGroups(empty.getResult()))) {
        if (!type.isDynamicDim(i))
          continue;
        Value size;
        for (int64_t dim : group) {
          auto value = dyn_cast<Value>(extents[dim]);
          Value factor =
              value ? mapping.lookup(value)
                    : arith::ConstantIndexOp::create(
                          builder, loc, empty.getType().getDimSize(dim))
                          .getResult();
          size =
              size ? arith::MulIOp::create(builder, loc, size, factor) : factor;
        }
        sizes.push_back(size);
      }
      made = tensor::EmptyOp::create(builder, loc, type, sizes);
    } else if (auto fill = dyn_cast<linalg::FillOp>(part)) {
      made = linalg::FillOp::create(builder, loc, mapping.lookup(fill.value()),
                                    mapping.lookup(fill.output()));
    } else if (auto amax = dyn_cast<fp8::AmaxOp>(part)) {
      made = fp8::AmaxOp::create(
          builder, loc, type, mapping.lookup(amax.getInput()),
          fp8::ScalingAttr::tensor(builder.getContext(), type.getRank()));
    } else if (matchPattern(&part, m_Constant(&elements)) && type) {
      made = arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(type, elements.getSplatValue<Attribute>()));
    } else {
      builder.clone(part, mapping);
      continue;
    }
    made->setDiscardableAttrs(part.getDiscardableAttrDictionary());
    mapping.map(part.getResults(), made->getResults());
  }
}
