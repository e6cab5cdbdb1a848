//===- TraceKey.cpp - What a trace has a value under ----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Compare/Lockstep.h"

using namespace fp8c;
using fp8c::rt::ObservedStep;
using fp8c::rt::ObservedValue;
namespace wire = fp8c::plan::wire;

std::string compare::getTraceKey(const ObservedStep &step,
                                 const ObservedValue &value) {
  if (!value.node.empty())
    return std::string(value.node);
  auto isEmpty = [](const flatbuffers::String *text) {
    return !text || text->size() == 0;
  };
  for (const wire::Step *writer : *step.entry->steps()) {
    unsigned number = 0;
    for (uint32_t written : *writer->writes()) {
      if (written == value.index)
        return isEmpty(writer->name()) ? std::string()
                                       : "#" + std::to_string(number) + " of " +
                                             writer->name()->str();
      number += isEmpty(step.plan->values()->Get(written)->node());
    }
  }
  return {};
}
