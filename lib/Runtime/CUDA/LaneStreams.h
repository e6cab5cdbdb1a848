//===- LaneStreams.h - Lanes as streams that are recorded -------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CUDA_LANESTREAMS_H
#define FP8C_LIB_RUNTIME_CUDA_LANESTREAMS_H

#include "../Lanes.h"
#include "CudaDevice.h"

#include <functional>

namespace fp8c::rt::cuda {

/// Streams beside one that is being recorded, which become branches of its
/// graph.
class LaneStreams {
public:
  explicit LaneStreams(std::shared_ptr<CudaDevice> device);
  ~LaneStreams();
  LaneStreams(const LaneStreams &) = delete;

  /// Puts steps into streams, of which `origin` is the first: it begins and
  /// ends alone. `put` gets a step's number, its stream, and whether all that
  /// it waits for is what was put into that stream before.
  void run(Stream origin, const std::vector<LaneStep> &steps,
           const std::function<void(size_t, Stream, bool)> &put);

private:
  Stream stream(uint32_t lane);
  Event event(size_t index);

  std::shared_ptr<CudaDevice> device;
  const Driver &driver;
  /// One a lane.
  std::vector<Stream> streams;
  std::vector<Event> events;
};

} // namespace fp8c::rt::cuda

#endif // FP8C_LIB_RUNTIME_CUDA_LANESTREAMS_H
