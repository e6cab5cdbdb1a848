//===- FakeState.h - What the driver without a GPU knows --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_RUNTIME_CUDA_FAKESTATE_H
#define FP8C_TEST_UNIT_RUNTIME_CUDA_FAKESTATE_H

#include "FakeDriver.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

/// The functions by the names that the loader looks for.
#define FP8C_DECLARE_FAKE(NAME, SYMBOL, PARAMETERS)                            \
  extern "C" fp8c::rt::cuda::Result fake_##NAME PARAMETERS asm(SYMBOL);
namespace fp8c::rt::cuda {
FP8C_CUDA_FUNCTIONS(FP8C_DECLARE_FAKE)
} // namespace fp8c::rt::cuda

namespace fp8c::test::fake {

using namespace rt::cuda;
using Work = std::function<void()>;

struct FakeEvent;

/// What is put into a stream, or a graph.
struct Node {
  Work work;
  int type = -1;
  Function function = nullptr;
  MemsetNode fill{};
  /// Set behind it.
  FakeEvent *event = nullptr;
};

struct Capture {
  int mode;
  std::thread::id thread;
  bool isInvalid = false;
  std::vector<Node> nodes;
};

struct FakeStream {
  bool isBlocking = true;
  /// What it is recorded to.
  std::shared_ptr<Capture> capture;
  std::deque<Work> pending;
  size_t done = 0;

  size_t end() const { return done + pending.size(); }
  void add(Work work) { pending.push_back(std::move(work)); }
  void runUpTo(size_t count);
  void runAll() { runUpTo(end()); }
};

struct FakeEvent {
  FakeStream *stream = nullptr;
  size_t count = 0;
  /// Where it was recorded to last.
  std::shared_ptr<Capture> capture;
  /// When it was reached.
  std::shared_ptr<double> microseconds = std::make_shared<double>(0);

  void set(FakeStream &where) {
    stream = &where;
    count = where.end();
  }
  void wait() const {
    if (stream)
      stream->runUpTo(count);
  }
};

struct State {
  std::recursive_mutex mutex;
  bool hasEnded = false;
  FakeStream legacy;
  /// Events and waits of others may name those that are gone.
  std::vector<std::unique_ptr<FakeStream>> streams, gone;
  std::vector<std::unique_ptr<char[]>> memory;
  std::vector<std::unique_ptr<FakeEvent>> events;
  /// Also those that are ready to run.
  std::vector<std::unique_ptr<std::vector<Node>>> graphs;
  /// What kernels would have taken until now.
  double microseconds = 0;
};
State &state();

/// Takes what `handle` names out of the list of its owners.
template <typename T>
std::unique_ptr<T> take(std::vector<std::unique_ptr<T>> &owners, void *handle) {
  auto found = std::find_if(owners.begin(), owners.end(),
                            [&](auto &owner) { return owner.get() == handle; });
  std::unique_ptr<T> taken = std::move(*found);
  owners.erase(found);
  return taken;
}

inline FakeStream &get(Stream stream) {
  return stream ? *reinterpret_cast<FakeStream *>(stream) : state().legacy;
}
inline FakeEvent &get(Event event) {
  return *reinterpret_cast<FakeEvent *>(event);
}

/// What a function needs: a driver, a context besides, and that no recording
/// forbids the thread what may be unsafe.
enum class Need { Driver, Context, Freedom };
/// What forbids a call, which ends the recordings that do.
Result check(Need need);
/// Ends recordings of streams; false if there are none.
bool endRecordingsOf(bool (*which)(const FakeStream &));
Result put(Stream stream, Node node);

} // namespace fp8c::test::fake

/// Holds the lock; returns what forbids the call.
#define ENTER(NEED)                                                            \
  std::lock_guard<std::recursive_mutex> lock(state().mutex);                   \
  if (Result result = check(Need::NEED))                                       \
  return result

#endif // FP8C_TEST_UNIT_RUNTIME_CUDA_FAKESTATE_H
