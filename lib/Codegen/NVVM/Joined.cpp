//===- Joined.cpp - What a kernel does with a product's result ------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel without reductions that reads a product's result can have it from
// the multiprocessor that computes it (include/fp8c/Package/JoinedProduct.h).
// Here are the functions that do so with vectors at a row and a column, emitted
// from the same program as the kernel itself; Device/JoinedProduct.cpp calls
// them.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The actions of one element.
static ArrayRef<Action> getInnermost(ArrayRef<Action> actions) {
  while (actions.size() == 1 && actions[0].kind == Action::Kind::Loop)
    actions = actions[0].body;
  return actions;
}

/// The outer dims' indices at a row of the product's result.
void GpuKernel::bindRow(Value row) {
  const unsigned last = program.getDims().size() - 1;
  for (unsigned dim = last; dim-- > 1;)
    std::tie(row, indices[dim]) = divideTask(row, extent(dim));
  indices[0] = row;
}

void GpuKernel::buildTake(StringRef name, unsigned operand, Places places) {
  MLIRContext *context = builder.getContext();
  auto ptr = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  constexpr unsigned kWords = 4, kFirst = 4;
  SmallVector<Type> types = {ptr, ptr, i64, i64};
  types.append(places.size(), VectorType::get(kWords, builder.getI32Type()));
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types));
  function.setAlwaysInline(true);
  OpBuilder::InsertionGuard guard(builder);
  entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  readParameters(program.getNumSizes(), /*areOwn=*/false);
  mainWidth = width = shape.width;
  givenOperand = operand;

  const unsigned last = program.getDims().size() - 1;
  const DimSet all = (DimSet(1) << (last + 1)) - 1;
  ArrayRef<Action> actions = getInnermost(program.getActions());
  hoist(actions, /*bound=*/0);
  struct Vector {
    Value values;
    SmallVector<Value> indices;
    Frame frame;
  };
  SmallVector<Vector> vectors;
  llvm::MapVector<int64_t, SmallVector<Value>> rows;
  for (auto [i, place] : llvm::enumerate(places)) {
    Vector &vector = vectors.emplace_back();
    auto at = [&](Value first, int64_t offset) -> Value {
      return offset
                 ? arith::AddIOp::create(builder, loc, first, integer(offset))
                 : first;
    };
    SmallVector<Value> &row = rows[place.first];
    if (row.empty()) {
      bindRow(at(entry->getArgument(2), place.first));
      row.assign(indices.begin(), indices.end());
    }
    vector.indices = row;
    vector.indices[last] = at(entry->getArgument(3), place.second);
    vector.values = bitcast(VectorType::get(shape.width, builder.getI16Type()),
                            entry->getArgument(kFirst + i));
  }
  auto inVector = [&](Vector &vector, function_ref<void()> body) {
    indices.assign(vector.indices.begin(), vector.indices.end());
    given = vector.values;
    frames.push_back(std::move(vector.frame));
    body();
    vector.frame = std::move(frames.back());
    frames.pop_back();
  };
  // What else is read is on its way before anything is computed.
  for (Vector &vector : vectors)
    inVector(vector, [&] { hoist(actions, all, /*readsOnly=*/true); });
  auto emitVectors = [&] {
    for (Vector &vector : vectors)
      inVector(vector, [&] {
        Frame before = frames.back();
        emitActions(actions, all);
        frames.back() = std::move(before);
      });
  };
  indices.assign(vectors.front().indices.begin(),
                 vectors.front().indices.end());
  if (Value divisor = findDivisor(actions)) {
    // One choice for all vectors.
    Division division = divideBy(divisor);
    auto choice = scf::IfOp::create(builder, loc, division.isUsual, true);
    for (Block *block : {choice.thenBlock(), choice.elseBlock()}) {
      OpBuilder::InsertionGuard inner(builder);
      builder.setInsertionPointToStart(block);
      division.isChosen = true;
      division.isExact = block == choice.elseBlock();
      divisions[divisor] = division;
      emitVectors();
    }
    divisions.erase(divisor);
  } else {
    emitVectors();
  }
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
}

/// A vector that the function was given.
std::optional<Lanes> GpuKernel::readGiven(OpOperand *read) {
  if (!givenOperand || program.getOperandIndex(
                           cast<BlockArgument>(read->get())) != *givenOperand)
    return std::nullopt;
  return Lanes{given, Lanes::Varying};
}
