//===- Target.cpp - What each target can do -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Target/Target.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::fp8;

static constexpr unsigned bit(ScaleLayout layout) {
  return 1u << static_cast<unsigned>(layout);
}

static constexpr unsigned kTensor = bit(ScaleLayout::Tensor);
static constexpr unsigned kHopper = kTensor | bit(ScaleLayout::Outer) |
                                    bit(ScaleLayout::Block1x128) |
                                    bit(ScaleLayout::Block128x128);
static constexpr unsigned kBlackwell = kTensor | bit(ScaleLayout::MX);

// clang-format off
static constexpr Target kTargets[] = {
    // name,     cc,  products, conversions, bf16x2, bulk, cluster, joins, again, scales, K-major, alignment, shared memory, PTX
    {"cpu",       0,  true,     false, false, false, 1, false, false, ~0u,        false,  1, 0, ""},
    {"sm_80",    80,  false,    false, false, false, 1, false, true,  0,          false, 16, 166912, "ptx70"},
    {"sm_89",    89,  true,     true,  false, false, 1, false, true,  kTensor,    true,  16, 101376, "ptx81"},
    {"sm_90a",   90,  true,     true,  true,  true,  8, true,  true,  kHopper,    true,  16, 232448, "ptx81"},
    {"sm_100a", 100,  true,     true,  true,  true,  8, false, true,  kBlackwell, false, 16, 232448, "ptx87"},
    {"sm_120a", 120,  true,     true,  true,  true,  8, false, true,  kBlackwell, true,  16, 101376, "ptx87"},
};
// clang-format on

ArrayRef<Target> fp8c::getTargets() { return kTargets; }

const Target *fp8c::findTarget(StringRef name) {
  const Target *target = llvm::find_if(
      kTargets, [&](const Target &target) { return target.name == name; });
  return target == std::end(kTargets) ? nullptr : target;
}

const Target *fp8c::findTargetForCapability(unsigned computeCapability) {
  const Target *best = nullptr;
  for (const Target &target : kTargets) {
    bool runs = target.isCPU() || target.name.ends_with("a")
                    ? target.computeCapability == computeCapability
                    : target.computeCapability <= computeCapability;
    if (runs && target.hasF8Products)
      best = &target;
  }
  return best;
}

ScaleLayout fp8c::getScaleLayout(ScalingAttr scaling, Type scaleElement,
                                 int64_t inner) {
  if (scaling.isTensor())
    return ScaleLayout::Tensor;
  ArrayRef<int64_t> block = scaling.getBlock();
  int64_t rank = block.size(), outer = 2 * rank - 3 - inner;
  // A batch of products is one product a batch: its dims have scales each.
  for (int64_t extent : block.take_front(rank - 2))
    if (extent != 1)
      return ScaleLayout::Other;
  bool isMX = isa<Float8E8M0FNUType>(scaleElement);
  if (block[outer] == 1 && ShapedType::isDynamic(block[inner]))
    return ScaleLayout::Outer;
  if (block[outer] == 1 && block[inner] == 32 && isMX)
    return ScaleLayout::MX;
  if (block[outer] == 1 && block[inner] == 128 && !isMX)
    return ScaleLayout::Block1x128;
  if (block[outer] == 128 && block[inner] == 128 && !isMX)
    return ScaleLayout::Block128x128;
  return ScaleLayout::Other;
}

std::string fp8c::whyUnsupported(Operation *op, const Target &target) {
  if (isa<ScaledMatmulOp>(op) && !target.hasF8Products)
    return ("needs sm_89 or later, or cpu: " + target.name +
            " has no product of f8 operands")
        .str();
  return "";
}

/// A static extent that is no multiple of `factor`.
static bool isNotMultiple(int64_t extent, int64_t factor) {
  return !ShapedType::isDynamic(extent) && extent % factor != 0;
}

std::string fp8c::whyNotLibrary(ScaledMatmulOp op, const Target &target) {
  if (std::string why = whyUnsupported(op, target); !why.empty())
    return why;
  if (target.isCPU())
    return "";
  auto lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  auto result = cast<RankedTensorType>(op.getResult().getType());
  int64_t rank = lhs.getRank();
  ScaleLayout a =
      getScaleLayout(op.getLhsScaling(),
                     op.getLhsScale().getType().getElementType(), rank - 1);
  ScaleLayout b =
      getScaleLayout(op.getRhsScaling(),
                     op.getRhsScale().getType().getElementType(), rank - 2);
  if (!target.hasLibraryScale(a) || !target.hasLibraryScale(b))
    return ("no scales of this shape on " + target.name).str();
  bool isBlock = a == ScaleLayout::Block1x128 || a == ScaleLayout::Block128x128;
  bool isOther = b == ScaleLayout::Block1x128 || b == ScaleLayout::Block128x128;
  if (a != b && !(isBlock && isOther))
    return "scales of two kinds";
  if (a == ScaleLayout::Block128x128 && b == ScaleLayout::Block128x128)
    return "128x128 blocks on both sides";
  int64_t m = lhs.getDimSize(rank - 2), n = rhs.getDimSize(rank - 1);
  int64_t k = lhs.getDimSize(rank - 1);
  if (isBlock && (isNotMultiple(m, 4) || isNotMultiple(n, 4)))
    return "block scales need M and N that 4 divides";
  if (op.getAmax() && !isF8Type(result.getElementType()))
    return "amax of a result that is not f8";
  if (isNotMultiple(k, target.libraryAlignment))
    return ("K of " + Twine(k) + " is no multiple of " +
            Twine(target.libraryAlignment))
        .str();
  unsigned bytes = result.getElementTypeBitWidth() / 8;
  if (!ShapedType::isDynamic(n) &&
      isNotMultiple(n * bytes, target.libraryAlignment))
    return ("rows of " + Twine(n) + " elements are no multiple of " +
            Twine(target.libraryAlignment) + " bytes")
        .str();
  return "";
}
