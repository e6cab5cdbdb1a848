//===- Decisions.cpp - What the compiler decided, and why -----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/Decisions.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <mutex>

using namespace mlir;
using namespace fp8c;

/// Passes run on several functions at once.
struct DecisionLog::Records {
  std::mutex mutex;
  std::vector<Decision> decisions;
};

static Decision::Kind getKind(llvm::remarks::Type type) {
  switch (type) {
  case llvm::remarks::Type::Passed:
    return Decision::Kind::Passed;
  case llvm::remarks::Type::Missed:
    return Decision::Kind::Missed;
  case llvm::remarks::Type::Failure:
    return Decision::Kind::Failed;
  default:
    return Decision::Kind::Analysis;
  }
}

namespace {
/// Writes down each remark as a decision.
class Recorder : public remark::detail::MLIRRemarkStreamerBase {
public:
  Recorder(std::mutex &mutex, std::vector<Decision> &decisions,
           std::shared_ptr<void> owner)
      : mutex(mutex), decisions(decisions), owner(std::move(owner)) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    Decision decision;
    decision.kind = getKind(remark.getRemarkType());
    decision.pass = remark.getCategoryName();
    decision.name = remark.getRemarkName();
    decision.function = remark.getFunction();
    for (const auto &argument : remark.getArgs()) {
      if (argument.key == "Remark")
        decision.message = argument.val;
      else if (argument.key == "Reason")
        decision.reason = argument.val;
      else
        decision.facts.push_back({argument.key, argument.val});
    }
    std::lock_guard<std::mutex> lock(mutex);
    decisions.push_back(std::move(decision));
  }

private:
  std::mutex &mutex;
  std::vector<Decision> &decisions;
  std::shared_ptr<void> owner;
};
} // namespace

StringRef Decision::getFact(StringRef key) const {
  for (const auto &[name, value] : facts)
    if (name == key)
      return value;
  return {};
}

DecisionLog::DecisionLog(MLIRContext &context)
    : records(std::make_shared<Records>()) {
  remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.failed =
      categories.analysis = ".*";
  // Fails only if a pattern is no regular expression.
  (void)remark::enableOptimizationRemarks(
      context,
      std::make_unique<Recorder>(records->mutex, records->decisions, records),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

DecisionLog::~DecisionLog() = default;

std::vector<Decision> DecisionLog::get() const {
  std::lock_guard<std::mutex> lock(records->mutex);
  std::map<std::string, std::vector<Decision>> byFunction;
  for (const Decision &decision : records->decisions)
    byFunction[decision.function].push_back(decision);
  std::vector<Decision> decisions;
  for (auto &[function, list] : byFunction)
    llvm::append_range(decisions, list);
  return decisions;
}
