//===- PrivateStream.h - Streams of our own ---------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_PRIVATESTREAM_H
#define FP8C_LIB_RUNTIME_CUDA_PRIVATESTREAM_H

#include "Driver.h"

namespace fp8c::rt::cuda {

/// A stream that no other waits for by itself: what is put into it, and waiting
/// for it, leaves a recording of any other stream alone. While it is made and
/// ends its device's context is current.
class PrivateStream {
public:
  explicit PrivateStream(const Driver &driver) : driver(driver) {
    driver.check(driver.streamCreate(&stream, kNonBlocking), "cuStreamCreate");
  }
  ~PrivateStream() { driver.streamDestroy(stream); }
  PrivateStream(const PrivateStream &) = delete;

  Stream get() const { return stream; }
  void synchronize() const {
    driver.check(driver.streamSynchronize(stream), "cuStreamSynchronize");
  }
  /// What is put into it from now on waits for what was put into `other`,
  /// unless that is recorded.
  void waitFor(Stream other) const;

private:
  const Driver &driver;
  Stream stream = nullptr;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_PRIVATESTREAM_H
