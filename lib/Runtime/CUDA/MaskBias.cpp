//===- MaskBias.cpp - A mask as the library takes it ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskBias.h"

#include "Attention.h"
#include "OwnKernels.h"

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

static uint32_t countBlocks(int64_t items, int64_t perBlock) {
  const int64_t blocks = (items + perBlock - 1) / perBlock;
  require(blocks <= INT32_MAX, FP8RT_INCOMPATIBLE, "attention over ", items,
          " rows is too large for a GPU");
  return uint32_t(blocks);
}

MaskBias::MaskBias(CudaQueue &owner, const AttentionArgs &attention)
    : queue(owner), args(attention),
      type(attention.mask->dtype == DType::Bool ? attention.query->dtype
                                                : attention.mask->dtype) {
  for (int i = 0; i < 4; ++i)
    extents[i] = args.mask->dims[i];
  // A row of its own for each query if keys beyond it are masked besides.
  if (args.causal)
    extents[2] = args.query->dims[2];
  extents[3] = args.key->dims[2];
  constexpr int64_t kUnit = 16;
  const int64_t perUnit = kUnit / elementSize(type);
  rows = extents[0] * extents[1] * extents[2];
  rowPitch = (extents[3] + perUnit - 1) / perUnit * perUnit;
  biasBytes = rows * rowPitch * elementSize(type);
}

void MaskBias::write(char *memory) const {
  MaskBiasParams parameters{};
  parameters.mask = getOperand(args.mask);
  parameters.mask.data = args.mask->data;
  parameters.batches = extents[0];
  parameters.heads = extents[1];
  parameters.queries = extents[2];
  parameters.keys = extents[3];
  parameters.pitch = rowPitch;
  parameters.bias = memory;
  parameters.type = static_cast<Type>(type);
  parameters.isEmpty = reinterpret_cast<uint8_t *>(memory + biasBytes);
  parameters.causal = args.causal;
  void *arguments[] = {&parameters};
  queue.launch(queue.device.ownKernels().maskBias(),
               countBlocks(rows, kMaskBiasThreads / 32), 1, kMaskBiasThreads, 0,
               arguments);
}

void MaskBias::clearRows(const char *memory) const {
  ClearRowsParams parameters{};
  parameters.out = getOperand(args.out);
  parameters.out.data = args.out->data;
  const int64_t *q = args.query->dims;
  parameters.batches = q[0];
  parameters.heads = q[1];
  parameters.queries = q[2];
  parameters.valueDim = args.value->dims[3];
  parameters.isEmpty = reinterpret_cast<const uint8_t *>(memory + biasBytes);
  int64_t stride = 1;
  for (int i = 2; i >= 0; --i) {
    parameters.emptyStrides[i] = extents[i] == 1 ? 0 : stride;
    stride *= extents[i];
  }
  void *arguments[] = {&parameters};
  queue.launch(queue.device.ownKernels().clearRows(),
               countBlocks(q[0] * q[1] * q[2], kMaskBiasThreads), 1,
               kMaskBiasThreads, 0, arguments);
}
