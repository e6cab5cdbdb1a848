//===- PlanVerifier.cpp - Checks of a plan that somebody else wrote -------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "fp8c/Package/Format.h"

#include <algorithm>
#include <unordered_set>

using namespace fp8c::rt;

/// Ranks above this are refused (PyTorch's own limit).
static constexpr size_t kMaxRank = 64;
/// Tables in one plan, a guard against buffers that refer to themselves.
static constexpr flatbuffers::uoffset_t kMaxTables = 10'000'000;

namespace {
/// One plan under verification.
class Verifier {
public:
  explicit Verifier(const wire::Plan &plan) : plan(plan) {}
  void run();

private:
  template <typename... Parts>
  void check(bool condition, const Parts &...parts) const {
    require(condition, FP8RT_INVALID_PACKAGE, "plan: ", parts...);
  }
  /// Flatbuffers' own verifier does not look at where elements of a vector lie.
  template <typename Vector> void checkAligned(const Vector *vector) const {
    check(vector->size() == 0 ||
              reinterpret_cast<uintptr_t>(vector->Data()) % 8 == 0,
          "a vector does not lie at a multiple of 8 bytes");
  }
  void verifyExprs();
  void verifyTables();
  void verifyValue(uint32_t index);
  void verifyEntry(const wire::EntryPoint &entry);
  void verifyStep(const wire::EntryPoint &entry, uint32_t index);
  void verifyJoined(const wire::EntryPoint &entry, uint32_t index,
                    const std::string &where);
  void verifyMatmul(const wire::Matmul &m, const std::string &where);
  void verifyAttention(const wire::Attention &a, const std::string &where);
  void checkExpr(uint32_t expr, const std::string &where) const {
    check(expr < plan.exprs()->size(), where, ": expression ", expr, " of ",
          plan.exprs()->size());
  }
  void checkValue(uint32_t value, const std::string &where) const {
    check(value < plan.values()->size(), where, ": value ", value, " of ",
          plan.values()->size());
  }
  const wire::Value &value(uint32_t index) const {
    return *plan.values()->Get(index);
  }
  size_t rank(uint32_t index) const { return value(index).dims()->size(); }

  const wire::Plan &plan;
};
} // namespace

void Verifier::run() {
  check(plan.version() == fp8c::package::kPlanVersion, "version ",
        plan.version(), ", this runtime reads ", fp8c::package::kPlanVersion);
  verifyExprs();
  verifyTables();
  for (uint32_t i = 0; i < plan.values()->size(); ++i)
    verifyValue(i);
  std::unordered_set<std::string> names;
  for (const wire::EntryPoint *entry : *plan.entry_points()) {
    check(names.insert(entry->name()->str()).second, "entry point \"",
          entry->name()->str(), "\" is there twice");
    verifyEntry(*entry);
  }
}

void Verifier::verifyExprs() {
  checkAligned(plan.exprs());
  for (uint32_t i = 0; i < plan.exprs()->size(); ++i) {
    const wire::Expr &e = *plan.exprs()->Get(i);
    switch (e.kind()) {
    case wire::ExprKind::Const:
      break;
    case wire::ExprKind::Symbol:
      check(e.lhs() < plan.symbols()->size(), "expression ", i, ": symbol ",
            e.lhs(), " of ", plan.symbols()->size());
      break;
    case wire::ExprKind::Not:
      check(e.lhs() < i, "expression ", i, ": refers to ", e.lhs(),
            ", not an earlier one");
      break;
    default:
      check(e.kind() <= wire::ExprKind::MAX, "expression ", i, ": kind ",
            int(e.kind()));
      check(e.lhs() < i && e.rhs() < i, "expression ", i, ": refers to ",
            e.lhs(), " and ", e.rhs(), ", not earlier ones");
    }
  }
}

void Verifier::verifyTables() {
  for (const wire::Symbol *symbol : *plan.symbols()) {
    std::string where = "symbol \"" + symbol->name()->str() + "\"";
    check(symbol->min() <= symbol->max(), where, ": range ", symbol->min(),
          " to ", symbol->max());
    check(symbol->multiple() >= 1, where, ": multiple ", symbol->multiple());
  }
  for (const wire::Check *c : *plan.checks())
    checkExpr(c->condition(), "check \"" + c->message()->str() + "\"");
  auto tensor = [&](const char *what, const flatbuffers::String *name,
                    DType dtype, const flatbuffers::Vector<int64_t> *dims) {
    check(dtype <= DType::MAX, what, " \"", name->str(), "\": dtype ",
          int(dtype));
    checkAligned(dims);
    check(dims->size() <= kMaxRank &&
              byteSize(dtype, dims->data(), dims->size()) >= 0,
          what, " \"", name->str(), "\": dims are not a size");
  };
  for (const wire::Weight *w : *plan.weights())
    tensor("weight", w->name(), w->dtype(), w->dims());
  std::unordered_set<std::string> names;
  for (const wire::State *s : *plan.states()) {
    tensor("state", s->name(), s->dtype(), s->dims());
    std::string name = s->name()->str();
    check(names.insert(name).second, "state \"", name, "\" is there twice");
    check(s->initial() < plan.weights()->size(), "state \"", name,
          "\": initial value ", s->initial(), " of ", plan.weights()->size());
    const wire::Weight &w = *plan.weights()->Get(s->initial());
    check(w.dtype() == s->dtype() &&
              std::equal(w.dims()->begin(), w.dims()->end(), s->dims()->begin(),
                         s->dims()->end()),
          "state \"", name, "\": its initial value has another dtype or dims");
  }
}

void Verifier::verifyValue(uint32_t index) {
  const wire::Value &v = value(index);
  std::string where = "value " + std::to_string(index);
  check(v.kind() <= wire::ValueKind::MAX, where, ": kind ", int(v.kind()));
  check(v.dtype() <= DType::MAX, where, ": dtype ", int(v.dtype()));
  check(v.dims()->size() == v.strides()->size() && v.dims()->size() <= kMaxRank,
        where, ": ", v.dims()->size(), " dims and ", v.strides()->size(),
        " strides");
  for (uint32_t dim : *v.dims())
    checkExpr(dim, where);
  for (uint32_t stride : *v.strides())
    checkExpr(stride, where);
  // A root's offset is 0 by definition and its field may be left out.
  auto stored = [&](DType dtype, const flatbuffers::Vector<int64_t> &dims) {
    check(dtype == v.dtype() && dims.size() == v.dims()->size(), where,
          ": dtype or rank is not that of what it refers to");
  };
  switch (v.kind()) {
  case wire::ValueKind::Weight:
    check(v.index() < plan.weights()->size(), where, ": weight ", v.index(),
          " of ", plan.weights()->size());
    stored(plan.weights()->Get(v.index())->dtype(),
           *plan.weights()->Get(v.index())->dims());
    break;
  case wire::ValueKind::State:
    check(v.index() < plan.states()->size(), where, ": state ", v.index(),
          " of ", plan.states()->size());
    stored(plan.states()->Get(v.index())->dtype(),
           *plan.states()->Get(v.index())->dims());
    break;
  case wire::ValueKind::View:
    checkExpr(v.offset(), where);
    check(v.base() < index, where, ": views ", v.base(),
          ", not an earlier value");
    check(elementSize(value(v.base()).dtype()) == elementSize(v.dtype()), where,
          ": views a value whose elements have another size");
    break;
  case wire::ValueKind::Arena:
    check(v.first() <= v.last(), where, ": live from ", v.first(), " to ",
          v.last());
    break;
  case wire::ValueKind::Input:
  case wire::ValueKind::Output:
    break;
  }
}

void Verifier::verifyEntry(const wire::EntryPoint &entry) {
  std::string where = "entry point \"" + entry.name()->str() + "\"";
  std::unordered_set<uint32_t> bound;
  for (const wire::Input *input : *entry.inputs()) {
    std::string name = where + ": input \"" + input->name()->str() + "\"";
    checkValue(input->value(), name);
    check(value(input->value()).kind() == wire::ValueKind::Input &&
              bound.insert(input->value()).second,
          name, ": value ", input->value(), " is not an input of its own");
  }
  for (const wire::Output *output : *entry.outputs()) {
    std::string name = where + ": output \"" + output->name()->str() + "\"";
    switch (output->kind()) {
    case wire::OutputKind::Tensor:
      checkValue(output->value(), name);
      check(value(output->value()).kind() == wire::ValueKind::Output &&
                bound.insert(output->value()).second,
            name, ": value ", output->value(), " is not an output of its own");
      break;
    case wire::OutputKind::Integer:
      checkExpr(output->expr(), name);
      break;
    case wire::OutputKind::None:
      break;
    default:
      check(false, name, ": kind ", int(output->kind()));
    }
  }
  for (uint32_t i = 0; i < entry.steps()->size(); ++i) {
    verifyStep(entry, i);
    const wire::Step &step = *entry.steps()->Get(i);
    forEachOperand(step, [&](uint32_t operand, bool isWrite) {
      uint32_t root = rootOf(plan, operand);
      const wire::Value &v = value(root);
      std::string name = where + ": step " + std::to_string(i) + ": value " +
                         std::to_string(operand);
      switch (v.kind()) {
      case wire::ValueKind::Input:
      case wire::ValueKind::Output:
        check(bound.count(root), name, " is not bound by the entry point");
        break;
      case wire::ValueKind::Arena:
        check(v.first() <= i && i <= v.last() &&
                  v.last() < entry.steps()->size(),
              name, " is live from step ", v.first(), " to ", v.last());
        break;
      default:
        break;
      }
      check(!isWrite || (v.kind() != wire::ValueKind::Input &&
                         v.kind() != wire::ValueKind::Weight),
            name, " is an input or a weight and is written");
    });
  }
}

void Verifier::verifyStep(const wire::EntryPoint &entry, uint32_t index) {
  const wire::Step &step = *entry.steps()->Get(index);
  std::string where = "entry point \"" + entry.name()->str() + "\": step " +
                      std::to_string(index);
  check(step.command_type() > wire::Command::NONE &&
            step.command_type() <= wire::Command::MAX,
        where, ": command ", int(step.command_type()));
  forEachOperand(step, [&](uint32_t v, bool) { checkValue(v, where); });
  switch (step.command_type()) {
  case wire::Command::Launch: {
    const wire::Launch &launch = *step.command_as_Launch();
    check(launch.kernel() < plan.kernels()->size(), where, ": kernel ",
          launch.kernel(), " of ", plan.kernels()->size());
    checkExpr(launch.tasks(), where);
    checkExpr(launch.scratch(), where);
    for (uint32_t size : *launch.sizes())
      checkExpr(size, where);
    if (launch.joins())
      verifyJoined(entry, index, where);
    break;
  }
  case wire::Command::Matmul:
    verifyMatmul(*step.command_as_Matmul(), where);
    break;
  case wire::Command::Attention:
    verifyAttention(*step.command_as_Attention(), where);
    break;
  case wire::Command::Copy: {
    const wire::Copy &copy = *step.command_as_Copy();
    check(sameBits(value(copy.src()).dtype(), value(copy.dst()).dtype()) &&
              rank(copy.src()) == rank(copy.dst()),
          where, ": copy between other dtypes or ranks");
    break;
  }
  default:
    break;
  }
}

void Verifier::verifyJoined(const wire::EntryPoint &entry, uint32_t index,
                            const std::string &where) {
  const wire::Launch &launch = *entry.steps()->Get(index)->command_as_Launch();
  const uint32_t operand = plan.kernels()->Get(launch.kernel())->product();
  const wire::Matmul *product =
      index == 0 ? nullptr : entry.steps()->Get(index - 1)->command_as_Matmul();
  check(product && operand < launch.operands()->size(), where,
        ": joins no product");
  const uint32_t result = rootOf(plan, product->d());
  const auto uses = std::count_if(
      launch.operands()->begin(), launch.operands()->end(),
      [&](uint32_t other) { return rootOf(plan, other) == result; });
  check(value(result).kind() == wire::ValueKind::Arena &&
            rootOf(plan, launch.operands()->Get(operand)) == result &&
            uses == 1 && value(result).first() == index - 1 &&
            value(result).last() == index,
        where, ": joins a product whose result others read");
  // Tiles of the result are written while others are multiplied.
  std::unordered_set<uint32_t> states;
  for (uint32_t read : *entry.steps()->Get(index - 1)->reads())
    if (uint32_t root = rootOf(plan, read);
        value(root).kind() == wire::ValueKind::State)
      states.insert(root);
  for (uint32_t write : *entry.steps()->Get(index)->writes())
    check(!states.count(rootOf(plan, write)), where,
          ": joins a product whose operands it overwrites");
}

void Verifier::verifyMatmul(const wire::Matmul &m, const std::string &where) {
  size_t r = rank(m.a());
  check(r >= 2 && rank(m.b()) == r && rank(m.d()) == r, where,
        ": product of ranks ", r, ", ", rank(m.b()), " and ", rank(m.d()));
  for (uint32_t v : {m.a(), m.b(), m.d()})
    check(isFloat(value(v).dtype()), where, ": product with ",
          dtypeName(value(v).dtype()));
  auto scale = [&](uint32_t v, const char *name) {
    if (v != kNone)
      check(isFloat(value(v).dtype()), where, ": ", name, " of ",
            dtypeName(value(v).dtype()));
  };
  scale(m.a_scale(), "a_scale");
  scale(m.b_scale(), "b_scale");
  scale(m.b_decode(), "b_decode");
  if (m.bias() != kNone)
    check(rank(m.bias()) >= 1 && rank(m.bias()) <= r &&
              isFloat(value(m.bias()).dtype()),
          where, ": bias of rank ", rank(m.bias()));
  if (m.result_scale() != kNone)
    check(value(m.result_scale()).dtype() == DType::F32, where,
          ": result_scale is not f32");
  if (m.amax() != kNone)
    check(value(m.amax()).dtype() == DType::F32, where, ": amax is not f32");
  if (m.a_padded() != kNone)
    check(r == 2 && rank(m.a_padded()) == 2 &&
              value(m.a_padded()).dtype() == value(m.a()).dtype(),
          where, ": a_padded of rank ", rank(m.a_padded()), " and ",
          dtypeName(value(m.a_padded()).dtype()));
  if (m.b_decode() != kNone)
    check(m.b_decode_dtype() == DType::BF16 ||
              m.b_decode_dtype() == DType::F16 ||
              m.b_decode_dtype() == DType::F32,
          where, ": b is decoded to dtype ", int(m.b_decode_dtype()));
  for (int64_t block :
       {m.a_block_m(), m.a_block_k(), m.b_block_k(), m.b_block_n()})
    check(block >= 0, where, ": block of ", block);
}

void Verifier::verifyAttention(const wire::Attention &a,
                               const std::string &where) {
  for (uint32_t v : {a.query(), a.key(), a.value(), a.out()})
    check(rank(v) == 4 && isFloat(value(v).dtype()), where,
          ": attention with a value of rank ", rank(v), " and ",
          dtypeName(value(v).dtype()));
  if (a.mask() != kNone)
    check(rank(a.mask()) == 4 && (isFloat(value(a.mask()).dtype()) ||
                                  value(a.mask()).dtype() == DType::Bool),
          where, ": mask of rank ", rank(a.mask()), " and ",
          dtypeName(value(a.mask()).dtype()));
}

uint32_t fp8c::rt::rootOf(const wire::Plan &plan, uint32_t value) {
  // Views refer to earlier values, so this ends.
  while (plan.values()->Get(value)->kind() == wire::ValueKind::View)
    value = plan.values()->Get(value)->base();
  return value;
}

const wire::Plan *fp8c::rt::verifyPlan(Bytes bytes) {
  flatbuffers::Verifier buffer(bytes.data, bytes.size, 64, kMaxTables);
  require(bytes.size < FLATBUFFERS_MAX_BUFFER_SIZE &&
              wire::VerifyPlanBuffer(buffer),
          FP8RT_INVALID_PACKAGE, "plan: not a valid buffer of schema FP8P");
  const wire::Plan *plan = wire::GetPlan(bytes.data);
  Verifier(*plan).run();
  return plan;
}
