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

bool isF8(DType type) { return type == DType::E4M3FN || type == DType::E5M2; }

/// Elements of K over which scales of a product on tensor cores do not change.
int64_t getDepth(const MatmulArgs &args) {
  constexpr int64_t kBytes = 128;
  return kBytes / elementSize(args.a->dtype);
}

/// Why tensor cores do not compute it, or "".
std::string whyNoTensorCores(const MatmulArgs &args) {
  DType a = args.a->dtype, b = args.b->dtype;
  bool isHalf = (a == DType::BF16 || a == DType::F16) && a == b;
  if (args.bDecode)
    return "weights that are decoded";
  if (!isHalf && !(isF8(a) && isF8(b)))
    return std::string("operands of ") + dtypeName(a) + " and " + dtypeName(b);
  int64_t segment = getScaleSegment(args);
  if (segment % getDepth(args))
    return "scales of " + std::to_string(segment) + " elements of K";
  return "";
}

/// Whether the form for few rows computes it: both operands are read in pieces
/// of 16 bytes along K.
bool hasFewRows(const MatmulArgs &args, const ProductSizes &sizes) {
  DType a = args.a->dtype, b = args.b->dtype;
  if (sizes.m > kMostRows || sizes.n == 0 || sizes.k == 0)
    return false;
  if (args.bDecode) {
    bool isBlock = args.bDecode->elements == 1 ||
                   args.bDecode->dims[args.bDecode->rank - 2] == 1 ||
                   args.bBlockK % (2 * getDepth(args)) == 0;
    if (a != args.bDecodeDType || (a != DType::BF16 && a != DType::F16) ||
        !isF8(b) || !isBlock || args.bDecode->rank < 2 || getScaleSegment(args))
      return false;
  } else if (!whyNoTensorCores(args).empty()) {
    return false;
  }
  constexpr int64_t kUnit = 16;
  auto isAligned = [&](const Tensor &t, uint32_t alongK) {
    int64_t size = elementSize(t.dtype);
    if (strideFromLast(t, alongK) != 1)
      return false;
    for (uint32_t back = 0; back < t.rank; ++back)
      if (back != alongK && strideFromLast(t, back) * size % kUnit)
        return false;
    return sizes.k * size % kUnit == 0;
  };
  return isAligned(*args.a, 0) && isAligned(*args.b, 1);
}

/// A way to compute a product.
struct Form {
  Function function = nullptr;
  uint32_t grid = 0, threads = 0, shared = 0;
  const char *name = "";
};

class OwnProduct : public Command {
public:
  OwnProduct(CudaQueue &queue, const PreparedStep &step, std::string why)
      : queue(queue), step(step), why(std::move(why)) {
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
    setForms();
  }

  std::string describe() const override {
    const Form &form = rows.function ? rows : any;
    return "own kernel, " + (form.name + (": " + why)) +
           (whyNot.empty() || rows.function ? ""
                                            : "; no tensor cores: " + whyNot);
  }

  void run() override {
    const MatmulArgs &args = step.matmul;
    if (args.amax)
      queue.driver.check(
          queue.driver.set32Async(reinterpret_cast<Pointer>(args.amax->data), 0,
                                  1, queue.stream),
          "cuMemsetD32Async");
    if (!any.grid)
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
    constexpr uintptr_t kUnit = 16;
    bool isAligned = (reinterpret_cast<uintptr_t>(args.a->data) |
                      reinterpret_cast<uintptr_t>(args.b->data)) %
                         kUnit ==
                     0;
    const Form &form = rows.function && isAligned ? rows : any;
    void *arguments[] = {&parameters};
    queue.launch(form.function, form.grid, uint32_t(step.product.batch),
                 form.threads, form.shared, arguments);
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

  void setForms() {
    const MatmulArgs &args = step.matmul;
    const ProductSizes &sizes = step.product;
    OwnKernels &kernels = queue.device.ownKernels();
    const Type a = getType(args.a->dtype), b = getType(args.b->dtype);
    auto tiles = [&](int64_t height, int64_t width) {
      int64_t count = 0;
      require(!__builtin_mul_overflow((sizes.m + height - 1) / height,
                                      (sizes.n + width - 1) / width, &count) &&
                  count <= INT32_MAX && sizes.k <= INT32_MAX,
              FP8RT_INCOMPATIBLE, "a product of ", sizes.m, " x ", sizes.n,
              " x ", sizes.k, " is too large for a GPU");
      return uint32_t(count);
    };
    if (hasFewRows(args, sizes))
      rows = {kernels.rowProduct(a, b, sizes.m > kMostRows / 2),
              tiles(kMostRows, kRowColumns), kRowThreads, 0, "few rows"};
    whyNot = whyNoTensorCores(args);
    if (!whyNot.empty()) {
      any = {kernels.product(), tiles(kProductTile, kProductTile),
             kProductThreads, 0, "simple"};
      return;
    }
    // Large tiles where they keep the GPU busy and are not mostly empty.
    const bool isLarge =
        sizes.m > kSmallTile && tiles(kLargeTile, kLargeTile) * sizes.batch >=
                                    queue.device.multiprocessors();
    // Sums in f32 by themselves cost small tiles little, and results in f32
    // show what tensor cores lose.
    const DType d = args.d->dtype;
    const bool isPromoted =
        getScaleSegment(args) || d == DType::F32 || d == DType::F64 ||
        (isF8(args.a->dtype) && !(args.fastAccum && isLarge));
    const uint32_t side = isLarge ? kLargeTile : kSmallTile;
    any.function = kernels.tileProduct(a, b, isLarge, isPromoted, any.shared);
    any.grid = tiles(side, side);
    any.threads = isLarge ? kLargeTileThreads : kSmallTileThreads;
    any.name = isLarge ? "tiles of 128" : "tiles of 64";
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
  /// Why no library, and why no tensor cores.
  std::string why, whyNot;
  /// For few rows at aligned addresses; for any.
  Form rows, any;
  /// Dims of the result that are batches, counted from the last.
  std::vector<uint32_t> batchDims;
  ProductParams parameters{};
};

} // namespace

std::unique_ptr<Command>
fp8c::rt::cuda::makeOwnProduct(CudaQueue &queue, const PreparedStep &step,
                               std::string why) {
  return std::make_unique<OwnProduct>(queue, step, std::move(why));
}

bool fp8c::rt::cuda::decodesRows(const PreparedStep &step) {
  return step.matmul.bDecode && hasFewRows(step.matmul, step.product);
}
