//===- Attention.h - Attention on the CPU -----------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_ATTENTION_H
#define FP8C_LIB_RUNTIME_CPU_ATTENTION_H

#include "../Operations.h"

namespace fp8c::rt {

/// softmax(scale * Q x K^T + mask) x V at fixed sizes, in f32: the exponentials
/// are rounded to V's type before the second product, the result once. A task
/// is a tile of queries of one head; keys come in blocks with a running maximum
/// and sum, so no queries x keys matrix exists.
class Attention {
public:
  /// Of operands that checkAttention has checked.
  explicit Attention(const AttentionArgs &args);

  int64_t tasks() const { return batches * heads * queryTiles; }
  /// Bytes that a running task needs.
  int64_t scratchBytes() const;
  void begin() const {}
  /// Computes tasks [first, last).
  void run(int64_t first, int64_t last, void *scratch) const;

private:
  struct Work;
  void runTask(int64_t task, float *scratch) const;
  void scoreTile(const Work &w, int64_t key0, int64_t keys,
                 float *scores) const;
  void softmaxBlock(const Work &w, int64_t keys) const;
  void addTile(const Work &w, int64_t key0, int64_t keys,
               const float *scores) const;

  AttentionArgs args;
  int64_t batches, heads, group, querySize, keySize, headSize, valueSize;
  int64_t queryTiles;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CPU_ATTENTION_H
