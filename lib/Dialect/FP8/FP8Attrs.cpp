//===- FP8Attrs.cpp - Attributes of the fp8 dialect -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Dialect/FP8/FP8.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fp8c::fp8;

#define GET_ATTRDEF_CLASSES
#include "fp8c/Dialect/FP8/FP8Attrs.cpp.inc"

void FP8Dialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fp8c/Dialect/FP8/FP8Attrs.cpp.inc"
      >();
}

Attribute ScalingAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> block;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  if (failed(parser.parseOptionalGreater())) {
    if (parser.parseDimensionList(block, /*allowDynamic=*/true,
                                  /*withTrailingX=*/false) ||
        parser.parseGreater())
      return {};
  }
  return parser.getChecked<ScalingAttr>(loc, parser.getContext(), block);
}

void ScalingAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getBlock());
  printer << '>';
}

LogicalResult ScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> block) {
  for (int64_t extent : block)
    if (!ShapedType::isDynamic(extent) && extent < 1)
      return emitError() << "expected block extents of at least 1 or '?', got "
                         << extent;
  return success();
}

ScalingAttr ScalingAttr::tensor(MLIRContext *context, int64_t rank) {
  return get(context, SmallVector<int64_t>(rank, ShapedType::kDynamic));
}

ScalingAttr ScalingAttr::row(MLIRContext *context, int64_t rank) {
  SmallVector<int64_t> block(rank, 1);
  if (rank > 0)
    block.back() = ShapedType::kDynamic;
  return get(context, block);
}

bool ScalingAttr::isTensor() const {
  return llvm::all_of(getBlock(), ShapedType::isDynamic);
}

bool ScalingAttr::isRow() const {
  return !getBlock().empty() && ShapedType::isDynamic(getBlock().back()) &&
         llvm::all_of(getBlock().drop_back(),
                      [](int64_t extent) { return extent == 1; });
}
