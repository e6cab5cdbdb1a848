//===- Form.h - What a joined product is compiled for -----------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_CODEGEN_NVVM_DEVICE_FORM_H
#define FP8C_LIB_CODEGEN_NVVM_DEVICE_FORM_H

#include "fp8c/Package/JoinedProduct.h"

#define FP8C_SHARED __attribute__((address_space(3)))
#define FP8C_INLINE inline __attribute__((always_inline))

namespace fp8c::joined {

using package::JoinedForm;
using package::JoinedProductParams;
using package::kJoinedForms;

constexpr JoinedForm kForm = kJoinedForms[FP8C_FORM];
constexpr uint32_t kRows = kForm.rows, kColumns = kForm.columns;
constexpr uint32_t kStages = kForm.stages, kStage = kForm.getStageBytes();
constexpr uint32_t kTileA = kRows * 128;
constexpr bool kIsPair = kForm.cluster == 2;
/// 64 rows of a tile are one multiplication.
constexpr uint32_t kParts = kRows / 64;
static_assert(kForm.cluster <= 2 && kRows % 64 == 0 && kColumns % 64 == 0);
/// Where things are in shared memory.
constexpr uint32_t kSlotsAt = kStages * kStage, kSlots = kRows * kColumns * 2;
constexpr uint32_t kBiasAt = kSlotsAt + 2 * kSlots;
constexpr uint32_t kBarriersAt = kBiasAt + 2 * kColumns * 2;
static_assert(kBarriersAt + 16 * kStages + 1024 <= kForm.getSharedBytes());
/// Bytes between the chunks of one thread.
constexpr uint32_t kSlot = 128 * 16;
/// Tiles of so many neighbouring rows of tiles come before the next columns, so
/// that operands are read from the cache.
constexpr uint32_t kRowsTogether = 16;

} // namespace fp8c::joined

#endif // FP8C_LIB_CODEGEN_NVVM_DEVICE_FORM_H
