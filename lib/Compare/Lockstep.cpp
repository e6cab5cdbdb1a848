//===- Lockstep.cpp - Command by command against a trace ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/Lockstep.h"

#include "fp8c/Compare/Distance.h"
#include "fp8c/Compare/HostStep.h"
#include "fp8c/Compare/References.h"
#include "fp8c/Compare/TensorCores.h"

#include <algorithm>
#include <cmath>

using namespace fp8c;
using namespace fp8c::compare;
using fp8c::rt::ObservedStep;
using fp8c::rt::ObservedValue;
namespace wire = fp8c::plan::wire;

/// Share of f8 codes, and of bf16 and f16 values, that may be one unit away.
static constexpr double kF8Share = 0.001, kHalfShare = 0.01;
/// Bound on wider results, relative to the whole and to the largest value.
static constexpr double kWideError = 1e-6, kWideLargest = 1e-5;
/// Where a product's sums cancel: of the sum of the terms' absolute values.
static constexpr double kCancellation = 1e-6;
/// Where a kernel's sum cancels, as a norm's x - mean: of the row's largest
/// value, two units of f32.
static constexpr double kKernelCancellation = 0x1p-22;
/// Share of a kernel's values for which, on another device, a value between
/// (rounded to bf16 after a sum or a function) may have been the next one.
static constexpr double kFlipShare = 2e-4;
/// Attention's error against f64 as a multiple of PyTorch's, and what both may
/// have anyway (f32).
static constexpr double kAttentionRatio = 1.2, kAttentionFloor = 1e-6;

/// The root buffer of a value of the plan.
static uint32_t getRoot(const wire::Plan &plan, uint32_t value) {
  while (plan.values()->Get(value)->kind() == wire::ValueKind::View)
    value = plan.values()->Get(value)->base();
  return value;
}

/// Whether a step computes the node that `value` stands for, alone or fused.
static bool hasNode(const wire::Step &step, const ObservedValue &value) {
  return !value.node.empty() && step.name() &&
         step.name()->string_view().find(value.node) != std::string_view::npos;
}

/// The position after the last step that makes `value`: writes to the very
/// value, or anywhere in its buffer where `value` is the whole of it. Once the
/// step of its node has written the whole, other nodes' writes change it.
static uint32_t getEnd(const ObservedStep &step, const ObservedValue &value) {
  const auto &steps = *step.entry->steps();
  bool isWhole = value.index == value.root, hasOwn = false;
  uint32_t end = 0;
  for (uint32_t i = 0; i < steps.size(); ++i)
    for (uint32_t written : *steps.Get(i)->writes()) {
      const bool isNode = hasNode(*steps.Get(i), value);
      if (written == value.index)
        hasOwn |= isNode;
      else if (!isWhole || getRoot(*step.plan, written) != value.root ||
               (hasOwn && !isNode))
        continue;
      end = i + 1;
    }
  return end;
}

/// Whether the whole buffer `value` has changed since it was made.
static bool isChanged(const ObservedStep &step, const ObservedValue &value) {
  if (value.index != value.root)
    return false;
  for (uint32_t i = getEnd(step, value); i < step.index; ++i)
    for (uint32_t written : *step.entry->steps()->Get(i)->writes())
      if (getRoot(*step.plan, written) == value.root)
        return true;
  return false;
}

/// The name of a command in messages.
static std::string getCommandName(const ObservedStep &step) {
  switch (step.command) {
  case wire::Command::Launch:
    return std::string(step.kernel);
  case wire::Command::Matmul:
    return "matmul";
  case wire::Command::Attention:
    return "attention";
  case wire::Command::Copy:
    return "copy";
  case wire::Command::Fill:
    return "fill";
  default:
    return "unknown";
  }
}

static Bar getBar(const ObservedStep &step) {
  if (step.command == wire::Command::Matmul)
    return Bar::Product;
  if (step.command == wire::Command::Attention)
    return Bar::Attention;
  return step.exact ? Bar::Exact : Bar::Kernel;
}

/// The operand of the step that is value `index` of the plan.
static std::optional<TensorView> findOperand(const ObservedStep &step,
                                             uint32_t index) {
  for (const auto *values : {&step.reads, &step.writes})
    for (const ObservedValue &value : *values)
      if (value.index == index)
        return view(value);
  return std::nullopt;
}

/// The operands of a product step, unless some are missing.
static std::optional<Product> getProduct(const ObservedStep &step) {
  const wire::Matmul *op = step.wire->command_as_Matmul();
  auto a = findOperand(step, op->a()), b = findOperand(step, op->b()),
       d = findOperand(step, op->d());
  if (!a || !b || !d || a->dims.size() != d->dims.size() ||
      b->dims.size() != d->dims.size() || d->dims.size() < 2)
    return std::nullopt;
  Product product{*a, *b, *d, {}, {}, {}, {}, {}};
  product.bias = findOperand(step, op->bias());
  product.aScale = findOperand(step, op->a_scale());
  product.bScale = findOperand(step, op->b_scale());
  product.resultScale = findOperand(step, op->result_scale());
  product.bDecode = findOperand(step, op->b_decode());
  product.aBlockM = op->a_block_m();
  product.aBlockK = op->a_block_k();
  product.bBlockK = op->b_block_k();
  product.bBlockN = op->b_block_n();
  return product;
}

/// A number as messages write it.
static std::string format(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

/// Marks the row as failed.
static void miss(LockstepRow &row, std::string reason) {
  row.passed = false;
  row.reason = std::move(reason);
}

/// The bar of attention: the error against f64 is not much above PyTorch's.
static void checkAttention(const ObservedStep &step, const TensorView &got,
                           const TensorView &expected, LockstepRow &row) {
  const wire::Attention *op = step.wire->command_as_Attention();
  auto q = findOperand(step, op->query()), k = findOperand(step, op->key()),
       v = findOperand(step, op->value());
  if (!q || !k || !v)
    return miss(row, "operands are not among the step's reads");
  Attention attention{
      *q,          *k,          *v, got, findOperand(step, op->mask()),
      op->scale(), op->causal()};
  const std::vector<double> reference = computeAttention(attention);
  const double ours = relativeError(got, reference);
  // Where the graph spells attention in f32 its trace has the last rounding
  // alone; PyTorch's attention rounds the probabilities too.
  const double theirs = std::max(
      relativeError(expected, reference),
      relativeError(computeAttention(attention, /*rounded=*/true), reference));
  row.relative = theirs > 0 ? ours / theirs : (ours > 0 ? INFINITY : 1);
  if (!(ours <= kAttentionRatio * theirs + kAttentionFloor))
    miss(row, "error against f64 is " + format(ours) + ", PyTorch's is " +
                  format(theirs));
}

/// The product, if tensor cores may have added its terms.
static std::optional<Product> getTensorCoreProduct(const ObservedStep &step) {
  if (step.command != wire::Command::Matmul || rt::isHostMemory(step))
    return std::nullopt;
  std::optional<Product> product = getProduct(step);
  if (product && elementBytes(product->a.dtype) <= 2)
    return product;
  return std::nullopt;
}

/// The number of elements, among those that are far apart, that are neither
/// next to the value without PyTorch's own errors nor explained by a sum that
/// cancels, nor (some, on another device) by a value between that flipped.
static int64_t countUnexplained(const ObservedStep &step, const TensorView &got,
                                const TensorView &expected,
                                const TensorView *exact,
                                const CodeDifference &codes) {
  std::optional<Product> product;
  if (step.command == wire::Command::Matmul)
    product = getProduct(step);
  int64_t unexplained = codes.farCount - int64_t(codes.far.size());
  int64_t flips =
      step.command == wire::Command::Launch && !rt::isHostMemory(step)
          ? std::ceil(kFlipShare * double(codes.count))
          : 0;
  for (int64_t position : codes.far) {
    const int64_t gotOffset = got.offset(position);
    if (exact &&
        countUnits(got, gotOffset, *exact, exact->offset(position)) <= 1)
      continue;
    const double a = loadValue(got.dtype, got.data, gotOffset);
    const double b =
        loadValue(expected.dtype, expected.data, expected.offset(position));
    if (step.command == wire::Command::Launch) {
      const double top = getRowTop(expected, position);
      if (std::abs(a - b) <= kKernelCancellation * top)
        continue;
      if (std::abs(a - b) <= 2 * getUnit(DType::BF16, top) && flips-- > 0)
        continue;
    }
    if (product) {
      const double sum = sumOfAbsoluteTerms(*product, position);
      if (std::abs(a - b) <= kCancellation * sum)
        continue;
    }
    ++unexplained;
  }
  return unexplained;
}

/// The bar of kernels with sums or functions, and of products.
static void checkRounded(const ObservedStep &step, const TensorView &got,
                         const TensorView &expected, const TensorView *exact,
                         const CodeDifference &codes, LockstepRow &row) {
  if (!isFloat(got.dtype)) {
    if (codes.equal != codes.count)
      miss(row, "integers differ");
    return;
  }
  if (std::optional<Product> product = getTensorCoreProduct(step)) {
    const bool fast = step.wire->command_as_Matmul()->fast_accum();
    std::string why =
        checkTensorCores(*product, got, expected, exact, fast, codes);
    if (!why.empty())
      miss(row, std::move(why));
    return;
  }
  const unsigned bytes = elementBytes(got.dtype);
  if (bytes >= 4) {
    const Distance distance = measure(got, expected);
    double top = 0;
    forEachOffset(expected, [&](int64_t offset) {
      const double v =
          std::abs(loadValue(expected.dtype, expected.data, offset));
      if (std::isfinite(v))
        top = std::max(top, v);
    });
    if (!(distance.relative <= kWideError &&
          distance.largest <= kWideLargest * top))
      miss(row, "relative distance " + format(distance.relative) +
                    ", largest difference " + format(distance.largest));
    return;
  }
  const int64_t unexplained =
      countUnexplained(step, got, expected, exact, codes);
  if (unexplained)
    return miss(row, std::to_string(unexplained) +
                         " values are more than one unit apart");
  const double share = bytes == 1 ? kF8Share : kHalfShare;
  const int64_t allowed = int64_t(share * double(codes.count));
  if (codes.count - codes.equal > allowed)
    miss(row, std::to_string(codes.count - codes.equal) + " of " +
                  std::to_string(codes.count) + " values differ, " +
                  std::to_string(allowed) + " may");
}

const TensorView *Lockstep::match(const ObservedStep &step,
                                  const ObservedValue &value,
                                  std::string &why) {
  const std::string node = getTraceKey(step, value);
  const TensorView *expected = trace(node);
  if (!expected) {
    why =
        value.node.empty() ? "stands for no node" : "the trace has no " + node;
    return nullptr;
  }
  if (expected->dtype != value.dtype) {
    why = node + " has another type in the trace";
    return nullptr;
  }
  if (expected->numElements() != view(value).numElements()) {
    why = node + " is " + formatDims(expected->dims) + " in the trace and " +
          formatDims(value.dims) + " here";
    return nullptr;
  }
  used.insert(node);
  return expected;
}

void Lockstep::beforeStep(const ObservedStep &step) {
  for (const ObservedValue &value : step.reads) {
    std::string why;
    if (!value.writable || getEnd(step, value) > step.index ||
        isChanged(step, value))
      continue;
    if (const TensorView *expected = match(step, value, why))
      storeElements(step, value, *expected);
  }
}

bool Lockstep::readsDrifted(const ObservedStep &step) const {
  const auto isAttention = [](const wire::Step *other) {
    return other->command_type() == wire::Command::Attention;
  };
  const auto isGuessed = [&](const ObservedValue &value) {
    return step.plan->values()->Get(value.root)->kind() ==
               wire::ValueKind::State &&
           guessed.count(value.rootName);
  };
  const auto &steps = *step.entry->steps();
  return std::any_of(steps.begin(), steps.end(), isAttention) &&
         std::any_of(step.reads.begin(), step.reads.end(), isGuessed);
}

LockstepRow Lockstep::compareResult(const ObservedStep &step,
                                    const ObservedValue &value,
                                    const TensorView &expected) {
  const TensorView *exact = trace(getTraceKey(step, value) + ".exact");
  LockstepRow row;
  row.step = step.index;
  row.node = value.node;
  row.command = getCommandName(step);
  row.path = step.path;
  row.location = step.location;
  row.bar = getBar(step);
  row.dtype = value.dtype;
  row.dims = value.dims;
  const TensorView got = view(value);
  const CodeDifference codes = compareCodes(got, expected);
  if (codes.count > 0)
    row.equal = double(codes.equal) / double(codes.count);
  row.worst = codes.worst == kApart ? -1 : codes.worst;
  row.relative = measure(got, expected).relative;
  switch (row.bar) {
  case Bar::Exact:
    if (codes.equal != codes.count)
      miss(row, std::to_string(codes.count - codes.equal) + " of " +
                    std::to_string(codes.count) +
                    " values differ and none may");
    break;
  case Bar::Attention:
    checkAttention(step, got, expected, row);
    break;
  case Bar::Kernel:
  case Bar::Product:
    checkRounded(step, got, expected, exact, codes, row);
    break;
  }
  return row;
}

void Lockstep::afterStep(const ObservedStep &running, double) {
  const HostStep host(running);
  const ObservedStep &step = host.get();
  std::vector<std::pair<const ObservedValue *, const TensorView *>> replaced;
  for (const ObservedValue &value : step.writes) {
    // A buffer that is filled first and finished later is judged at its end.
    if (getEnd(step, value) > step.index + 1)
      continue;
    std::string why;
    if (const TensorView *expected = match(step, value, why)) {
      LockstepRow row = compareResult(step, value, *expected);
      if (row.passed || !readsDrifted(step))
        rows.push_back(std::move(row));
      else
        unmatched.push_back(
            {step.index, row.command, std::string(step.name),
             "reads a state that the reference does not tell, and attention in "
             "earlier calls promises no bits: --state-in gives it"});
      replaced.emplace_back(&value, expected);
    } else {
      unmatched.push_back({step.index, getCommandName(step),
                           std::string(step.name), std::move(why)});
    }
  }
  for (auto &[value, expected] : replaced)
    storeElements(running, running.writes[value - step.writes.data()],
                  *expected);
}
