//===- Casts.cpp - Conversions, copies and what is dropped -------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace fp8c;
using namespace fp8c::import;

/// The first argument, converted to the type that the archive states.
static Results convertTo(ImportContext &c) {
  return one(c.graph.convert(c.tensor("self"), c.outputType(),
                             c.isUnsigned("self"), c.options.castOverflow));
}

/// The first argument as it is.
static Results identity(ImportContext &c) { return one(c.tensor("self")); }

static FailureOr<Value> writeThrough(ImportContext &, Value, Value written) {
  return written;
}

/// Dropout of a model in eval mode.
static Results dropout(ImportContext &c) {
  if (c.boolean("train") && c.number("p").asDouble() != 0)
    return c.error() << "dropout in training mode draws random numbers: export "
                        "the model in eval mode";
  return one(c.tensor("input"));
}

/// The same bytes read as another type.
static Results viewAs(ImportContext &c) {
  Value self = c.tensor("self");
  Type from = elementOf(self), to = c.outputType();
  if (from == to)
    return one(self);
  if (from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth() ||
      from.isInteger(1) || to.isInteger(1))
    return c.error() << "a view of " << from << " as " << to
                     << " changes the number of elements";
  return one(
      c.graph.elementwise(self, to, [&](Scalars &s, ValueRange v) -> Value {
        return arith::BitcastOp::create(s.getBuilder(), s.getLoc(), to, v[0]);
      }));
}

/// `src` as the new value of `self`: its type, broadcast to its sizes.
static Results copy(ImportContext &c) {
  Value self = c.tensor("self");
  Operand src = getOperand(c, "src");
  if (!src.tensor)
    return one(c.graph.full(c.graph.sizes(self),
                            getNumberAttr(elementOf(self), src.number)));
  Value converted = c.graph.convert(
      src.tensor, elementOf(self), c.isUnsigned("src"), c.options.castOverflow);
  return one(c.graph.expand(converted, c.graph.sizes(self)));
}

/// Says nothing about values.
static Results drop(ImportContext &c) { return SmallVector<Result>(); }

void fp8c::import::addCastOps(OpTable &table) {
  StringRef tail = ", bool non_blocking=False, bool copy=False, MemoryFormat? "
                   "memory_format=None";
  StringRef options = "*, ScalarType? dtype=None, Layout? layout=None, Device? "
                      "device=None, bool? pin_memory=None";
  table.add("casts", "aten.to.dtype",
            ("Tensor self, ScalarType dtype" + tail).str(), convertTo,
            OpKind::MaybeView, writeThrough);
  table.add("casts", "aten.to.device",
            ("Tensor self, Device device, ScalarType dtype" + tail).str(),
            convertTo, OpKind::MaybeView, writeThrough);
  table.add("casts", "aten.to.dtype_layout",
            ("Tensor self, " + options + tail).str(), convertTo,
            OpKind::MaybeView, writeThrough);
  table.add("casts", "aten.to.other",
            ("Tensor self, Tensor other" + tail).str(), convertTo,
            OpKind::MaybeView, writeThrough);
  table.add("casts", "aten._to_copy.default",
            ("Tensor self, " + options +
             ", bool non_blocking=False, MemoryFormat? memory_format=None")
                .str(),
            convertTo);
  table.add("casts", "aten.type_as.default", "Tensor self, Tensor other",
            convertTo, OpKind::MaybeView, writeThrough);
  table.add("casts", "prims.convert_element_type.default",
            "Tensor self, ScalarType dtype", convertTo);
  table.add("casts", "aten.view.dtype", "Tensor self, ScalarType dtype",
            viewAs);

  StringRef format = "Tensor self, *, MemoryFormat? memory_format=None";
  table.add("copies", "aten.clone.default", format, identity);
  table.add("copies", "aten.contiguous.default", format, identity,
            OpKind::MaybeView, writeThrough);
  table.add("copies", "aten.alias.default", "Tensor self", identity,
            OpKind::View, writeThrough);
  table.add("copies", "aten.detach.default", "Tensor self", identity,
            OpKind::View, writeThrough);
  table.add("copies", "aten.detach_.default", "Tensor self", identity);
  table.add("copies", "aten.lift_fresh_copy.default", "Tensor self", identity);
  table.add("copies", "aten.lift_fresh.default", "Tensor self", identity);
  table.add("copies", "aten.dropout.default",
            "Tensor input, float p, bool train", dropout, OpKind::MaybeView,
            writeThrough);
  table.add("copies", "aten.native_dropout.default",
            "Tensor input, float p, bool? train", dropout);
  table.add("copies", "aten.copy.default",
            "Tensor self, Tensor src, bool non_blocking=False", copy);
  table.add("copies", "aten.copy_.default",
            "Tensor self, Tensor src, bool non_blocking=False", copy,
            OpKind::InPlace);
  table.add("copies", "aten._assert_tensor_metadata.default",
            "Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? "
            "dtype=None, *, Device? device=None, Layout? layout=None",
            drop);
}
