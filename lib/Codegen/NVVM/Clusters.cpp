//===- Clusters.cpp - One kernel for a GPU: several blocks a row ----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of a cluster are one group. What a warp has come to it writes to
// the shared memory of each block, where a barrier counts the bytes: no thread
// waits for more than those. All then combine them in the same order.
//
//===----------------------------------------------------------------------===//

#include "GpuKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::codegen;

/// The address space of a cluster's shared memory.
static constexpr unsigned kClusterSpace = 7;

/// The version in which a cluster does a row as one task. (In the others its
/// blocks are blocks like any.)
void GpuKernel::emitShared() {
  llvm::SaveAndRestore restore(isShared, true);
  llvm::SaveAndRestore restoreVectors(shape.vectors, shape.clusterVectors);
  llvm::SaveAndRestore restoreRows(shape.rows, 1u);
  llvm::SaveAndRestore restoreReads(shape.readsAhead, true);
  Value rank = NVVM::ClusterId::create(builder, loc, builder.getI32Type());
  Value before =
      arith::MulIOp::create(builder, loc, rank, i32(shape.getThreads()));
  Value inCluster = arith::AddIOp::create(builder, loc, before, threadInBlock);
  llvm::SaveAndRestore restoreThread(thread, inCluster);
  llvm::SaveAndRestore restoreGroup(shape.group, shape.group * shape.cluster);
  for (Value *slot : {&haveMet, &exchanges}) {
    *slot = makeSlot(builder.getI32Type());
    LLVM::StoreOp::create(builder, loc, i32(0), *slot);
  }
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        threadInBlock, i32(0));
  emitIf(isFirst, [&] {
    for (unsigned place : {0, 1})
      NVVM::MBarrierInitOp::create(builder, loc, arrivalsOf(i32(place)), i32(1),
                                   /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(builder, loc);
  });
  NVVM::ClusterArriveRelaxedOp::create(builder, loc, builder.getUnitAttr());
  emitTasks(buildTasks());
}

/// The barrier of a place in shared memory.
Value GpuKernel::arrivalsOf(Value place) {
  auto shared = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(builder, loc, shared, arrivalsName());
  return LLVM::GEPOp::create(builder, loc, shared, builder.getI64Type(), base,
                             ArrayRef<LLVM::GEPArg>{place});
}

/// Until all blocks of the cluster have begun, and made their barriers: from
/// then on their shared memory may be written.
void GpuKernel::meet() {
  Value met = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), haveMet);
  Value hasNot = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       met, i32(0));
  emitIf(hasNot, [&] {
    NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
    LLVM::StoreOp::create(builder, loc, i32(1), haveMet);
  });
}

/// The places take turns as those of one block do (turn()): who writes to one
/// has had all warps' values of the exchange between, which each sends after it
/// has read those of the one before.
void GpuKernel::exchangeInCluster(Stores stores, Value place) {
  meet();
  auto peer = LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
  Type i64 = builder.getI64Type();
  Value barrier = arrivalsOf(place);
  int64_t bytes = 0;
  SmallVector<Value> words;
  for (auto [value, address] : stores) {
    Type type = value.getType();
    if (auto vector = dyn_cast<VectorType>(type))
      type = builder.getIntegerType(vector.getNumElements() *
                                    vector.getElementTypeBitWidth());
    words.push_back(type == value.getType()
                        ? value
                        : LLVM::BitcastOp::create(builder, loc, type, value));
    bytes += type.getIntOrFloatBitWidth() / 8;
  }
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        threadInBlock, i32(0));
  emitIf(isFirst, [&] {
    NVVM::MBarrierArriveExpectTxOp::create(
        builder, loc, TypeRange(), barrier, i32(bytes * (shape.group / 32)),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  });
  Value isPeer = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       lane, i32(shape.cluster));
  emitIf(isPeer, [&] {
    auto of = [&](Value address) {
      return LLVM::PtrToIntOp::create(
          builder, loc, i64,
          NVVM::MapaOp::create(builder, loc, peer, address, lane));
    };
    Value counter = of(barrier);
    for (auto [word, store] : llvm::zip(words, stores)) {
      bool isWide = word.getType().getIntOrFloatBitWidth() == 64;
      std::string send = "st.async.weak.shared::cluster.mbarrier::"
                         "complete_tx::bytes.b";
      send += isWide ? "64 [$0], $1, [$2];" : "32 [$0], $1, [$2];";
      LLVM::InlineAsmOp::create(
          builder, loc, TypeRange(),
          ValueRange{of(store.second), word, counter}, send,
          isWide ? "l,l,l" : "l,r,l", /*has_side_effects=*/true,
          /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
          LLVM::AsmDialectAttr(), ArrayAttr());
    }
  });
  Value number =
      LLVM::LoadOp::create(builder, loc, builder.getI32Type(), exchanges);
  LLVM::StoreOp::create(builder, loc,
                        arith::AddIOp::create(builder, loc, number, i32(1)),
                        exchanges);
  Value phase = arith::ShRUIOp::create(builder, loc, number, i32(1));
  phase = arith::AndIOp::create(builder, loc, phase, i32(1));
  awaitPhase(barrier, phase);
}
