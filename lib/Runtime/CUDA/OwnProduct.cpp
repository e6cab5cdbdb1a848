//===- OwnProduct.cpp - Products that no library computes -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixParams.h"
#include "OwnKernels.h"

#include <algorithm>

using namespace fp8c::rt;
using namespace fp8c::rt::cuda;

namespace {

class OwnProduct : public Command {
public:
  OwnProduct(CudaQueue &queue, const PreparedStep &step, std::string why)
      : queue(queue), step(step), why(std::move(why)),
        function(queue.device.ownKernels().product()) {
    const MatmulArgs &args = step.matmul;
    const ProductSizes &sizes = step.product;
    setBatches(*args.d);
    parameters.a = matrix(args.a);
    parameters.b = matrix(args.b);
    parameters.d = matrix(args.d);
    parameters.bias = matrix(args.bias);
    parameters.aScale = scale(args.aScale, args.aBlockM, args.aBlockK);
    parameters.bScale = scale(args.bScale, args.bBlockK, args.bBlockN);
    parameters.bDecode = scale(args.bDecode, args.bBlockK, args.bBlockN);
    parameters.bDecodeType = getType(args.bDecodeDType);
    parameters.m = sizes.m;
    parameters.n = sizes.n;
    parameters.k = sizes.k;
    int64_t segment = getScaleSegment(args);
    parameters.segment = segment ? segment : std::max<int64_t>(sizes.k, 1);
    parameters.saturate = args.saturate;
    auto tiles = [](int64_t extent) {
      return (extent + kProductTile - 1) / kProductTile;
    };
    int64_t grid = 0;
    require(!__builtin_mul_overflow(tiles(sizes.m), tiles(sizes.n), &grid) &&
                grid <= INT32_MAX && sizes.k <= INT32_MAX,
            FP8RT_INCOMPATIBLE, "a product of ", sizes.m, " x ", sizes.n, " x ",
            sizes.k, " is too large for a GPU");
    gridX = uint32_t(grid);
  }

  std::string describe() const override { return "own kernel: " + why; }

  void run() override {
    const MatmulArgs &args = step.matmul;
    if (args.amax)
      queue.driver.check(
          queue.driver.set32Async(reinterpret_cast<Pointer>(args.amax->data), 0,
                                  1, queue.stream),
          "cuMemsetD32Async");
    if (!gridX)
      return;
    parameters.a.data = args.a->data;
    parameters.b.data = args.b->data;
    parameters.d.data = args.d->data;
    parameters.bias.data = data(args.bias);
    parameters.aScale.scale.data = data(args.aScale);
    parameters.bScale.scale.data = data(args.bScale);
    parameters.bDecode.scale.data = data(args.bDecode);
    parameters.resultScale =
        reinterpret_cast<const float *>(data(args.resultScale));
    parameters.amax = reinterpret_cast<uint32_t *>(data(args.amax));
    // The second dim of a grid is short.
    constexpr int64_t kMaxBatches = 65535;
    require(step.product.batch <= kMaxBatches, FP8RT_INCOMPATIBLE,
            "a product of ", step.product.batch, " batches, the GPU's own has ",
            kMaxBatches);
    if (!step.product.batch)
      return;
    void *arguments[] = {&parameters};
    queue.launch(function, gridX, uint32_t(step.product.batch), kProductThreads,
                 0, arguments);
  }

private:
  static char *data(const Tensor *tensor) {
    return tensor ? tensor->data : nullptr;
  }

  void setBatches(const Tensor &d) {
    for (uint32_t i = 0; i + 2 < d.rank; ++i) {
      if (d.dims[i] == 1)
        continue;
      require(batchDims.size() < kMaxDims, FP8RT_INCOMPATIBLE,
              "a product of more than ", kMaxDims, " batch dims");
      parameters.batchDims[batchDims.size()] = d.dims[i];
      batchDims.push_back(d.rank - 1 - i);
    }
    parameters.batchRank = uint32_t(batchDims.size());
  }

  MatrixParams matrix(const Tensor *tensor) const {
    return makeMatrix(tensor, batchDims);
  }
  ScaleParams scale(const Tensor *tensor, int64_t block0,
                    int64_t block1) const {
    return makeScale(tensor, block0, block1, batchDims);
  }

  CudaQueue &queue;
  const PreparedStep &step;
  std::string why;
  Function function;
  /// Dims of the result that are batches, counted from the last.
  std::vector<uint32_t> batchDims;
  ProductParams parameters{};
  uint32_t gridX;
};

} // namespace

std::unique_ptr<Command>
fp8c::rt::cuda::makeOwnProduct(CudaQueue &queue, const PreparedStep &step,
                               std::string why) {
  return std::make_unique<OwnProduct>(queue, step, std::move(why));
}
