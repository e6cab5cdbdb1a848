//===- PlanText.cpp - A plan as text --------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanText.h"

#include "Error.h"
#include "Program.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

using namespace fp8c::rt;
using wire::ExprKind;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static bool isLeaf(const wire::Expr &e) {
  return e.kind() == ExprKind::Const || e.kind() == ExprKind::Symbol;
}

/// The expression with its operands as `print` gives them.
static std::string
printExpr(const wire::Plan &plan, uint32_t index,
          const std::function<std::string(uint32_t)> &print) {
  const wire::Expr &e = *plan.exprs()->Get(index);
  switch (e.kind()) {
  case ExprKind::Const:
    return std::to_string(e.value());
  case ExprKind::Symbol:
    return plan.symbols()->Get(e.lhs())->name()->str();
  case ExprKind::Min:
    return "min(" + print(e.lhs()) + ", " + print(e.rhs()) + ")";
  case ExprKind::Max:
    return "max(" + print(e.lhs()) + ", " + print(e.rhs()) + ")";
  default:
    break;
  }
  bool divides =
      e.kind() == ExprKind::FloorDiv || e.kind() == ExprKind::CeilDiv;
  auto operand = [&](uint32_t i) {
    const wire::Expr &inner = *plan.exprs()->Get(i);
    bool binds = isLeaf(inner) || inner.kind() == ExprKind::Min ||
                 inner.kind() == ExprKind::Max ||
                 (inner.kind() == ExprKind::Mul && !divides);
    std::string text = print(i);
    // A name or "..." needs no parentheses either.
    return binds || text.find_first_of(" *") == std::string::npos
               ? text
               : "(" + text + ")";
  };
  if (e.kind() == ExprKind::Not)
    return "not " + operand(e.lhs());
  static constexpr const char *kOperators[] = {
      "", "", " + ",  " - ",  "*",   " // ", " ceildiv ", " % ",
      "", "", " == ", " != ", " < ", " <= ", " and ",     " or "};
  return operand(e.lhs()) + kOperators[size_t(e.kind())] + operand(e.rhs());
}

std::string fp8c::rt::exprText(const wire::Plan &plan, uint32_t expr) {
  // An expression may share subexpressions so often that its text explodes.
  int depth = 6;
  std::function<std::string(uint32_t)> print = [&](uint32_t i) {
    if (depth == 0 && !isLeaf(*plan.exprs()->Get(i)))
      return std::string("...");
    --depth;
    std::string text = printExpr(plan, i, print);
    ++depth;
    return text;
  };
  return printExpr(plan, expr, print);
}

namespace {

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Writes one plan.
class Printer {
public:
  explicit Printer(const wire::Plan &plan) : plan(plan) {}

  std::string run();

private:
  /// Expressions of more leaves have a name.
  static constexpr uint32_t kMaxLeaves = 6;
  /// Plans may share their parts so often that the text explodes.
  static constexpr size_t kMaxText = size_t(256) << 20;

  void nameExprs();
  std::string expr(uint32_t index) const;
  /// "[e, e]".
  std::string exprs(const flatbuffers::Vector<uint32_t> &list) const;
  /// "%v, %v".
  std::string values(const flatbuffers::Vector<uint32_t> &list) const;
  static std::string value(uint32_t index) {
    return "%" + std::to_string(index);
  }
  /// ` keyword %v`, or nothing.
  static std::string optional(const char *keyword, uint32_t value) {
    return value == kNone
               ? ""
               : std::string(" ") + keyword + " %" + std::to_string(value);
  }
  template <typename... Parts> void line(int indent, const Parts &...parts) {
    size_t start = text.size();
    text.append(size_t(indent) * 2, ' ');
    (text.append(parts), ...);
    // Names are of any bytes: none ends the line or the text.
    std::replace_if(
        text.begin() + ptrdiff_t(start), text.end(),
        [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
    text += '\n';
    require(text.size() <= kMaxText, FP8RT_INVALID_PACKAGE,
            "plan: its text has more than ", kMaxText, " bytes");
  }

  void printTables();
  void printValue(uint32_t index);
  void printEntry(const wire::EntryPoint &entry);
  std::string command(const wire::Step &step) const;
  std::string matmul(const wire::Matmul &m) const;

  const wire::Plan &plan;
  /// Leaves and `not`s of each expression, those of a named operand counting
  /// as one.
  std::vector<uint32_t> leaves;
  std::string text;
};

} // namespace

void Printer::nameExprs() {
  for (const wire::Expr *e : *plan.exprs()) {
    auto count = [&](uint32_t i) {
      return leaves[i] > kMaxLeaves ? 1 : leaves[i];
    };
    uint32_t own = isLeaf(*e) ? 1 : count(e->lhs());
    // A `not` counts as a leaf: chains of them have an end too.
    if (!isLeaf(*e))
      own += e->kind() == ExprKind::Not ? 1 : count(e->rhs());
    leaves.push_back(own);
  }
}

std::string Printer::expr(uint32_t index) const {
  if (leaves[index] > kMaxLeaves)
    return "e" + std::to_string(index);
  return printExpr(plan, index, [this](uint32_t i) { return expr(i); });
}

std::string Printer::exprs(const flatbuffers::Vector<uint32_t> &list) const {
  std::string joined;
  for (uint32_t index : list)
    joined += (joined.empty() ? "" : ", ") + expr(index);
  return "[" + joined + "]";
}

std::string Printer::values(const flatbuffers::Vector<uint32_t> &list) const {
  std::string joined;
  for (uint32_t index : list)
    joined += (joined.empty() ? "" : ", ") + value(index);
  return joined;
}

static std::string quoted(const flatbuffers::String *string) {
  return "\"" + (string ? string->str() : std::string()) + "\"";
}

static std::string dimsOf(const flatbuffers::Vector<int64_t> &dims) {
  std::string joined;
  for (int64_t dim : dims)
    joined += (joined.empty() ? "" : ", ") + std::to_string(dim);
  return "[" + joined + "]";
}

void Printer::printTables() {
  for (const wire::Symbol *s : *plan.symbols())
    line(0, "symbol ", s->name()->str(), " in ", std::to_string(s->min()), "..",
         s->max() == INT64_MAX ? "" : std::to_string(s->max()),
         s->multiple() > 1 ? " multiple " + std::to_string(s->multiple()) : "");
  for (uint32_t i = 0; i < plan.exprs()->size(); ++i)
    if (leaves[i] > kMaxLeaves)
      line(0, "size e", std::to_string(i), " = ",
           printExpr(plan, i, [this](uint32_t j) { return expr(j); }));
  for (const wire::Check *check : *plan.checks())
    line(0, "check ", expr(check->condition()), " else ",
         quoted(check->message()));
  for (const wire::Weight *w : *plan.weights())
    line(0, "weight ", quoted(w->name()), " ", dtypeName(w->dtype()),
         dimsOf(*w->dims()), " key ", quoted(w->key()));
  for (const wire::State *s : *plan.states())
    line(0, "state ", quoted(s->name()), " ", dtypeName(s->dtype()),
         dimsOf(*s->dims()), " initial ",
         quoted(plan.weights()->Get(s->initial())->name()));
  for (const wire::Kernel *kernel : *plan.kernels()) {
    auto number = [](const char *name, uint32_t n) {
      return n ? std::string(" ") + name + " " + std::to_string(n) : "";
    };
    line(0, "kernel @", kernel->name()->str(), " symbol ",
         kernel->symbol()->str(), kernel->exact() ? " exact" : "",
         number("threads", kernel->threads()),
         number("resident", kernel->resident()),
         kernel->dependent() ? " dependent" : "",
         number("cluster", kernel->cluster()),
         number("cluster_tasks", kernel->cluster_tasks()),
         kernel->product() == kNone
             ? ""
             : " product " + std::to_string(kernel->product()));
  }
}

void Printer::printValue(uint32_t index) {
  const wire::Value &v = *plan.values()->Get(index);
  std::string where;
  switch (v.kind()) {
  case wire::ValueKind::Input:
  case wire::ValueKind::Output:
    where =
        std::string(v.kind() == wire::ValueKind::Input ? "input" : "output") +
        " " + std::to_string(v.index());
    break;
  case wire::ValueKind::Weight:
    where = "weight " + quoted(plan.weights()->Get(v.index())->name());
    break;
  case wire::ValueKind::State:
    where = "state " + quoted(plan.states()->Get(v.index())->name());
    break;
  case wire::ValueKind::Arena:
    where = "arena live " + std::to_string(v.first()) + ".." +
            std::to_string(v.last());
    break;
  case wire::ValueKind::View:
    where = "view of " + value(v.base()) + " offset " + expr(v.offset()) +
            " strides " + exprs(*v.strides());
    break;
  }
  bool named = v.node() && v.node()->size();
  line(0, value(index), " = ", where, " : ", dtypeName(v.dtype()),
       exprs(*v.dims()), named ? " node " + quoted(v.node()) : "");
}

std::string Printer::matmul(const wire::Matmul &m) const {
  std::string made = "matmul (" + value(m.a()) + ", " + value(m.b()) +
                     ") into " + value(m.d());
  made += optional("bias", m.bias());
  auto scale = [&](const char *keyword, uint32_t scale, int64_t outer,
                   int64_t inner) {
    if (scale == kNone)
      return std::string();
    return optional(keyword, scale) + " block " + std::to_string(outer) + "x" +
           std::to_string(inner);
  };
  made += scale("a_scale", m.a_scale(), m.a_block_m(), m.a_block_k());
  made += scale("b_scale", m.b_scale(), m.b_block_k(), m.b_block_n());
  made += scale("b_decode", m.b_decode(), m.b_block_k(), m.b_block_n());
  if (m.b_decode() != kNone)
    made += std::string(" as ") + dtypeName(m.b_decode_dtype());
  made += optional("result_scale", m.result_scale());
  made += optional("amax", m.amax());
  made += optional("a_padded", m.a_padded());
  if (!m.saturate())
    made += " ieee";
  if (m.fast_accum())
    made += " fast_accum";
  return made;
}

std::string Printer::command(const wire::Step &step) const {
  switch (step.command_type()) {
  case wire::Command::Launch: {
    const wire::Launch &l = *step.command_as_Launch();
    return "launch @" + plan.kernels()->Get(l.kernel())->name()->str() + " (" +
           values(*l.operands()) + ") sizes " + exprs(*l.sizes()) + " tasks " +
           expr(l.tasks()) + " scratch " + expr(l.scratch()) +
           (l.joins() ? " joins" : "");
  }
  case wire::Command::Matmul:
    return matmul(*step.command_as_Matmul());
  case wire::Command::Attention: {
    const wire::Attention &a = *step.command_as_Attention();
    char number[32];
    auto end = std::to_chars(number, number + sizeof number, a.scale());
    return "attention (" + value(a.query()) + ", " + value(a.key()) + ", " +
           value(a.value()) + ") into " + value(a.out()) +
           optional("mask", a.mask()) + " scale " +
           std::string(number, end.ptr) + (a.causal() ? " causal" : "");
  }
  case wire::Command::Copy:
    return "copy " + value(step.command_as_Copy()->src()) + " to " +
           value(step.command_as_Copy()->dst());
  case wire::Command::Fill:
    return "fill " + value(step.command_as_Fill()->dst()) + " with " +
           std::to_string(step.command_as_Fill()->pattern());
  case wire::Command::NONE:
    break;
  }
  return "nothing";
}

void Printer::printEntry(const wire::EntryPoint &entry) {
  line(0, "entry @", entry.name()->str());
  for (const wire::Input *input : *entry.inputs())
    line(1, "input ", quoted(input->name()), " ", value(input->value()));
  for (const wire::Output *output : *entry.outputs())
    line(1, "output ", quoted(output->name()), " ",
         output->kind() == wire::OutputKind::Tensor    ? value(output->value())
         : output->kind() == wire::OutputKind::Integer ? expr(output->expr())
                                                       : "None");
  for (uint32_t i = 0; i < entry.steps()->size(); ++i) {
    const wire::Step &step = *entry.steps()->Get(i);
    auto part = [](const char *before, const flatbuffers::String *string) {
      return string && string->size() ? before + string->str() : std::string();
    };
    line(1, std::to_string(i), " ", command(step));
    line(2, "reads (", values(*step.reads()), ") writes (",
         values(*step.writes()), ")", part(" name ", step.name()),
         part(" path ", step.path()), part(" at ", step.location()));
  }
}

std::string Printer::run() {
  nameExprs();
  line(0, "plan version ", std::to_string(plan.version()), " for ",
       plan.target()->str());
  printTables();
  for (uint32_t i = 0; i < plan.values()->size(); ++i)
    printValue(i);
  for (const wire::EntryPoint *entry : *plan.entry_points())
    printEntry(*entry);
  return std::move(text);
}

std::string fp8c::rt::planText(const wire::Plan &plan) {
  return Printer(plan).run();
}
