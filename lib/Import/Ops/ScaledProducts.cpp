//===- ScaledProducts.cpp - Scaled products of f8 operands -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are those of torch._scaled_mm and its successor, and so are the
// messages where PyTorch has one.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

namespace {
/// How the scales of both operands are laid out, from PyTorch's ScalingType.
enum class Recipe {
  TensorWise,
  RowWise,
  Block1x16,
  Block1x32,
  Block1x128,
  Block128x128
};

/// A scale of rank 2 and the block that one of its numbers holds for.
struct Scale {
  Value tensor;
  SmallVector<int64_t> block;
};
} // namespace

static constexpr int64_t kWhole = ShapedType::kDynamic;

static std::string shapeText(GraphBuilder &g, Value tensor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(typeOf(tensor).getShape(), os, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      os << "?";
    else
      os << size;
  });
  os << ")";
  return text;
}

/// The operands' own rules.
static LogicalResult checkOperands(ImportContext &c, Value a, Value b) {
  if (rankOf(a) != 2 || rankOf(b) != 2)
    return c.error() << "expected matrices, got " << rankOf(a) << " and "
                     << rankOf(b) << " dims";
  for (Value operand : {a, b})
    if (!fp8::isF8Type(elementOf(operand)))
      return c.error() << "expected f8E4M3FN or f8E5M2 operands, got "
                       << elementOf(operand);
  if (isa<Float8E5M2Type>(elementOf(a)) && isa<Float8E5M2Type>(elementOf(b)))
    return c.error()
           << "Multiplication of two Float8_e5m2 matrices is not supported";
  GraphBuilder &g = c.graph;
  std::optional<int64_t> k = getConstantIntValue(g.size(a, 1));
  std::optional<int64_t> other = getConstantIntValue(g.size(b, 0));
  if (k && other && *k != *other)
    return c.error() << "mat1 and mat2 shapes cannot be multiplied: "
                     << shapeText(g, a) << " and " << shapeText(g, b);
  return success();
}

/// The scale of one operand (M, K) or (K, N) for a recipe; `rows` says which.
static FailureOr<Scale> makeScale(ImportContext &c, StringRef name,
                                  Value operand, Value scale, Recipe recipe,
                                  bool rows) {
  GraphBuilder &g = c.graph;
  SizeArith &arith = g.arith;
  Type type = elementOf(scale);
  bool isMX = recipe == Recipe::Block1x32;
  if (isMX ? !isa<Float8E8M0FNUType>(type) : !type.isF32())
    return c.error() << "'" << name << "' must be "
                     << (isMX ? "f8E8M0FNU" : "f32") << ", got " << type;
  Sizes sizes = g.sizes(operand);
  Scale result;
  switch (recipe) {
  case Recipe::TensorWise:
    if (!arith.equal(arith.product(g.sizes(scale)), arith.constant(1)))
      return c.error() << "'" << name
                       << "' must have one element for tensor-wise scaling, "
                          "got shape "
                       << shapeText(g, scale);
    result.block = {kWhole, kWhole};
    result.tensor = g.reshape(scale, {arith.constant(1), arith.constant(1)});
    return result;
  case Recipe::RowWise:
    result.block = rows ? SmallVector<int64_t>{1, kWhole}
                        : SmallVector<int64_t>{kWhole, 1};
    break;
  case Recipe::Block1x32:
    result.block =
        rows ? SmallVector<int64_t>{1, 32} : SmallVector<int64_t>{32, 1};
    break;
  case Recipe::Block1x128:
    result.block =
        rows ? SmallVector<int64_t>{1, 128} : SmallVector<int64_t>{128, 1};
    break;
  case Recipe::Block128x128:
    result.block = {128, 128};
    break;
  case Recipe::Block1x16:
    return c.error() << "'" << name
                     << "' has blocks of 1x16, which are for f4 operands: not "
                        "supported";
  }
  Sizes expected;
  for (auto [size, block] : llvm::zip(sizes, result.block))
    expected.push_back(block == kWhole
                           ? arith.constant(1)
                           : arith.ceilDiv(size, arith.constant(block)));
  Sizes got = g.sizes(scale);
  bool fits = got.size() == 2;
  for (unsigned i = 0; fits && i < 2; ++i) {
    std::optional<int64_t> e = getConstantIntValue(expected[i]);
    std::optional<int64_t> s = getConstantIntValue(got[i]);
    fits = !e || !s || *e == *s;
  }
  if (!fits)
    return c.error() << "'" << name << "' does not fit its operand: expected ("
                     << (rows ? "one a row and block of columns"
                              : "one a column and block of rows")
                     << "), got shape " << shapeText(g, scale) << " for "
                     << shapeText(g, operand);
  for (unsigned i = 0; i < 2; ++i)
    g.checkEqual(got[i], expected[i],
                 Twine("the scale '") + name + "' fits its operand");
  result.tensor = g.refine(scale, expected);
  return result;
}

/// The recipe that the shapes of `_scaled_mm`'s scales mean.
static FailureOr<std::pair<Recipe, Recipe>>
inferRecipes(ImportContext &c, Value a, Value b, Value scaleA, Value scaleB) {
  GraphBuilder &g = c.graph;
  SizeArith &arith = g.arith;
  OpFoldResult unit = arith.constant(1);
  auto isOne = [&](Value scale) {
    return arith.equal(arith.product(g.sizes(scale)), unit);
  };
  if (isOne(scaleA) && isOne(scaleB))
    return std::make_pair(Recipe::TensorWise, Recipe::TensorWise);
  if (rankOf(scaleA) == 2 && rankOf(scaleB) == 2) {
    OpFoldResult k = g.size(a, 1), m = g.size(a, 0), n = g.size(b, 1);
    Sizes sa = g.sizes(scaleA), sb = g.sizes(scaleB);
    auto fits = [&](OpFoldResult got, OpFoldResult size, int64_t block) {
      return arith.equal(got, block == kWhole
                                  ? unit
                                  : arith.ceilDiv(size, arith.constant(block)));
    };
    if (fits(sa[0], m, 1) && fits(sa[1], k, kWhole) && fits(sb[0], k, kWhole) &&
        fits(sb[1], n, 1))
      return std::make_pair(Recipe::RowWise, Recipe::RowWise);
    bool isMX = isa<Float8E8M0FNUType>(elementOf(scaleA));
    if (isMX && fits(sa[0], m, 1) && fits(sa[1], k, 32) && fits(sb[0], k, 32) &&
        fits(sb[1], n, 1))
      return std::make_pair(Recipe::Block1x32, Recipe::Block1x32);
    bool a128 = fits(sa[0], m, 1) && fits(sa[1], k, 128);
    bool aTile = fits(sa[0], m, 128) && fits(sa[1], k, 128);
    bool b128 = fits(sb[0], k, 128) && fits(sb[1], n, 1);
    bool bTile = fits(sb[0], k, 128) && fits(sb[1], n, 128);
    if ((a128 || aTile) && (b128 || bTile))
      return std::make_pair(a128 ? Recipe::Block1x128 : Recipe::Block128x128,
                            bTile && !b128 ? Recipe::Block128x128
                                           : Recipe::Block1x128);
  }
  return c.error()
         << "Invalid scaling configuration: expected one element in "
            "both scales, or (M, 1) and (1, N), or blocks; got shapes "
         << shapeText(g, scaleA) << " and " << shapeText(g, scaleB)
         << " for operands " << shapeText(g, a) << " and " << shapeText(g, b);
}

/// The bias' own rules, which depend on the output's type.
static LogicalResult checkBias(ImportContext &c, Value bias, Value b,
                               Type result) {
  if (!bias)
    return success();
  if (result.isF32())
    return c.error()
           << "Bias is not supported when out_dtype is set to Float32";
  GraphBuilder &g = c.graph;
  Type type = elementOf(bias);
  if (!isa<BFloat16Type, Float16Type>(type) ||
      (isa<BFloat16Type, Float16Type>(result) && type != result))
    return c.error() << "Bias must be "
                     << (isa<Float16Type>(result) ? "Half" : "BFloat16 or Half")
                     << " for an output of " << result << ", got " << type;
  if (rankOf(bias) != 1 || !g.arith.equal(g.size(bias, 0), g.size(b, 1)))
    return c.error() << "Bias must be a vector of the size of mat2's columns, "
                        "got shape "
                     << shapeText(g, bias);
  return success();
}

static Results makeProduct(ImportContext &c, Value a, Value b, Scale scaleA,
                           Scale scaleB, Value bias, Value resultScale) {
  GraphBuilder &g = c.graph;
  Type type = c.outputType();
  bool isF8 = fp8::isF8Type(type);
  bool isTensorWise = scaleA.block[0] == kWhole && scaleA.block[1] == kWhole;
  if (!isF8 && !isa<BFloat16Type, Float16Type, Float32Type>(type))
    return c.error() << "expected an output of bf16, f16, f32 or f8, got "
                     << type;
  if (isF8 && !isTensorWise)
    return c.error() << "fp8 output unsupported for this scaling";
  if (isa<Float8E5M2Type>(type) && isa<Float8E4M3FNType>(elementOf(a)) &&
      isa<Float8E4M3FNType>(elementOf(b)))
    return c.error() << "a product of two f8E4M3FN matrices gives no f8E5M2";
  if (failed(checkBias(c, bias, b, type)))
    return failure();
  // PyTorch ignores the scale of a result that is no f8.
  if (!isF8)
    resultScale = Value();
  if (resultScale) {
    if (!elementOf(resultScale).isF32() ||
        !g.arith.equal(g.arith.product(g.sizes(resultScale)),
                       g.arith.constant(1)))
      return c.error() << "'scale_result' must be one f32, got shape "
                       << shapeText(g, resultScale);
    resultScale =
        g.reshape(resultScale, {g.arith.constant(1), g.arith.constant(1)});
  }
  OpBuilder &builder = g.getBuilder();
  MLIRContext *context = builder.getContext();
  Sizes sizes{g.size(a, 0), g.size(b, 1)};
  auto product = fp8::ScaledMatmulOp::create(
      builder, g.getLoc(), g.getType(sizes, type), /*amax=*/Type(), a, b,
      scaleA.tensor, scaleB.tensor, bias, resultScale,
      fp8::ScalingAttr::get(context, scaleA.block),
      fp8::ScalingAttr::get(context, scaleB.block),
      c.boolean("use_fast_accum") ? builder.getUnitAttr() : UnitAttr());
  g.setSizes(product.getResult(), sizes);
  return one(product.getResult());
}

static Results scaledMM(ImportContext &c) {
  Value a = c.tensor("self"), b = c.tensor("mat2");
  Value scaleA = c.tensor("scale_a"), scaleB = c.tensor("scale_b");
  if (failed(checkOperands(c, a, b)))
    return failure();
  auto recipes = inferRecipes(c, a, b, scaleA, scaleB);
  if (failed(recipes))
    return failure();
  FailureOr<Scale> left =
      makeScale(c, "scale_a", a, scaleA, recipes->first, /*rows=*/true);
  FailureOr<Scale> right =
      makeScale(c, "scale_b", b, scaleB, recipes->second, /*rows=*/false);
  if (failed(left) || failed(right))
    return failure();
  return makeProduct(c, a, b, *left, *right, c.optionalTensor("bias"),
                     c.optionalTensor("scale_result"));
}

/// One scale of `_scaled_mm_v2`, whose arguments are lists.
static FailureOr<Scale> readScale(ImportContext &c, StringRef side,
                                  Value operand, bool rows) {
  std::string name = ("scale_" + side).str();
  SmallVector<Value> scales = c.tensors(name);
  SmallVector<int64_t> recipes = c.integers(("recipe_" + side).str());
  SmallVector<int64_t> swizzles = c.integers(("swizzle_" + side).str());
  if (scales.size() != 1 || recipes.size() != 1 || !scales[0])
    return c.error() << "two-level scaling ('" << name << "' with "
                     << scales.size() << " tensors) is not supported";
  for (int64_t swizzle : swizzles)
    if (swizzle != 0)
      return c.error() << "'" << name << "' is swizzled (" << swizzle
                       << "): not supported";
  if (recipes[0] < 0 || recipes[0] > 5)
    return c.error() << "'recipe_" << side << "' must be in [0, 5], got "
                     << recipes[0];
  return makeScale(c, name, operand, scales[0], static_cast<Recipe>(recipes[0]),
                   rows);
}

static Results scaledMMv2(ImportContext &c) {
  Value a = c.tensor("self"), b = c.tensor("mat2");
  if (failed(checkOperands(c, a, b)))
    return failure();
  FailureOr<Scale> left = readScale(c, "a", a, /*rows=*/true);
  FailureOr<Scale> right = readScale(c, "b", b, /*rows=*/false);
  if (failed(left) || failed(right))
    return failure();
  if (left->block[0] == 128 && right->block[1] == 128 && right->block[0] == 128)
    return c.error() << "128x128 blocks on both sides are not supported";
  return makeProduct(c, a, b, *left, *right, c.optionalTensor("bias"), Value());
}

void fp8c::import::addFP8Ops(OpTable &table) {
  table.add("fp8", "aten._scaled_mm.default",
            "Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? "
            "bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, "
            "bool use_fast_accum=False",
            scaledMM);
  table.add("fp8", "aten._scaled_mm_v2.default",
            "Tensor self, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] "
            "swizzle_a, Tensor[] scale_b, int[] recipe_b, int[] swizzle_b, "
            "Tensor? bias, ScalarType? out_dtype, int[] contraction_dim=[], "
            "bool use_fast_accum=False",
            scaledMMv2);
}
