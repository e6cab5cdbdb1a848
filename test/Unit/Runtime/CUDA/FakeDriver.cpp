//===- FakeDriver.cpp - A CUDA driver without a GPU -----------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <cstdio>

using namespace fp8c::test::fake;
using namespace fp8c::rt::cuda;

State &fp8c::test::fake::state() {
  static auto &state = *new State;
  return state;
}

static thread_local int threadMode = kGlobal;
static thread_local int contexts = 0;

int fp8c::test::fake::captureMode() { return threadMode; }
void fp8c::test::fake::end() { state().hasEnded = true; }
size_t fp8c::test::fake::countAllocations() { return state().memory.size(); }
size_t fp8c::test::fake::countStreams() { return state().streams.size(); }
size_t fp8c::test::fake::countEvents() { return state().events.size(); }

//===----------------------------------------------------------------------===//
// Work and its order
//===----------------------------------------------------------------------===//

void FakeStream::runUpTo(size_t count) {
  while (done < count) {
    Work work = std::move(pending.front());
    pending.pop_front();
    ++done;
    work();
  }
}

/// What the default stream waits for, and who waits for it.
static void addImplicitWaits(FakeStream &stream) {
  State &s = state();
  auto wait = [&](FakeStream &other) {
    stream.add([&other, count = other.end()] { other.runUpTo(count); });
  };
  if (&stream != &s.legacy) {
    if (stream.isBlocking)
      wait(s.legacy);
    return;
  }
  for (auto &other : s.streams)
    if (other->isBlocking)
      wait(*other);
}

bool fp8c::test::fake::endRecordingsOf(bool (*which)(const FakeStream &)) {
  bool any = false;
  for (auto &stream : state().streams)
    if (stream->capture && which(*stream))
      any = stream->capture->isInvalid = true;
  return any;
}

Result fp8c::test::fake::check(Need need) {
  State &s = state();
  if (s.hasEnded)
    return kDeinitialized;
  if (need >= Need::Context && contexts == 0)
    return kInvalidContext;
  if (need != Need::Freedom || threadMode == kRelaxed)
    return kOk;
  const bool isForbidden = endRecordingsOf([](const FakeStream &stream) {
    const Capture &capture = *stream.capture;
    return capture.thread == std::this_thread::get_id()
               ? capture.mode != kRelaxed
               : threadMode == kGlobal && capture.mode == kGlobal;
  });
  return isForbidden ? kCaptureUnsupported : kOk;
}

Result fp8c::test::fake::synchronizeAll() {
  std::lock_guard<std::recursive_mutex> lock(state().mutex);
  if (endRecordingsOf([](const FakeStream &) { return true; }))
    return kCaptureUnsupported;
  state().legacy.runAll();
  for (auto &stream : state().streams)
    stream->runAll();
  return kOk;
}

/// Of an operation that names the default stream.
static Result checkLegacy(bool endsRecordings) {
  for (auto &stream : state().streams)
    if (stream->capture && stream->isBlocking) {
      stream->capture->isInvalid |= endsRecordings;
      return kCaptureImplicit;
    }
  return kOk;
}

Result fp8c::test::fake::put(Stream where, Node node) {
  State &s = state();
  std::lock_guard<std::recursive_mutex> lock(s.mutex);
  if (Result result = check(Need::Driver))
    return result;
  FakeStream &stream = get(where);
  if (stream.capture) {
    if (stream.capture->isInvalid)
      return kCaptureInvalidated;
    stream.capture->nodes.push_back(std::move(node));
    return kOk;
  }
  if (!where)
    if (Result result = checkLegacy(true))
      return result;
  addImplicitWaits(stream);
  stream.add(node.work);
  if (node.event)
    node.event->set(stream);
  return kOk;
}

//===----------------------------------------------------------------------===//
// The driver's functions
//===----------------------------------------------------------------------===//

namespace fp8c::rt::cuda {

Result fake_init(unsigned) { return kOk; }
Result fake_getErrorName(Result result, const char **out) {
  static thread_local char text[16];
  snprintf(text, sizeof(text), "error %d", result);
  *out = text;
  return kOk;
}
Result fake_deviceGetCount(int *out) { return *out = 1, kOk; }
Result fake_deviceGet(DeviceId *out, int) { return *out = 0, kOk; }
Result fake_deviceGetAttribute(int *out, int which, DeviceId) {
  *out = which == kMajor ? 9 : which == kMinor ? 0 : 100;
  return kOk;
}
Result fake_primaryRetain(ContextHandle *out, DeviceId) {
  ENTER(Driver);
  *out = reinterpret_cast<ContextHandle>(&state());
  return kOk;
}
Result fake_pushContext(ContextHandle) {
  ENTER(Driver);
  ++contexts;
  return kOk;
}
Result fake_popContext(ContextHandle *) {
  ENTER(Context);
  --contexts;
  return kOk;
}
Result fake_exchangeCaptureMode(int *mode) {
  ENTER(Driver);
  std::swap(*mode, threadMode);
  return kOk;
}

Result fake_streamCreate(Stream *out, unsigned flags) {
  ENTER(Freedom);
  auto &made = state().streams.emplace_back(new FakeStream);
  made->isBlocking = flags != kNonBlocking;
  *out = reinterpret_cast<Stream>(made.get());
  return kOk;
}
Result fake_streamCreateWithPriority(Stream *out, unsigned flags, int) {
  return fake_streamCreate(out, flags);
}
Result fake_streamDestroy(Stream stream) {
  ENTER(Freedom);
  get(stream).runAll();
  state().gone.push_back(take(state().streams, stream));
  return kOk;
}
Result fake_streamSynchronize(Stream stream) {
  ENTER(Freedom);
  if (!stream) {
    if (Result result = checkLegacy(true))
      return result;
    addImplicitWaits(get(stream));
  }
  if (get(stream).capture) {
    get(stream).capture->isInvalid = true;
    return kCaptureUnsupported;
  }
  get(stream).runAll();
  return kOk;
}
Result fake_eventCreate(Event *out, unsigned) {
  ENTER(Freedom);
  auto &made = state().events.emplace_back(new FakeEvent);
  *out = reinterpret_cast<Event>(made.get());
  return kOk;
}
Result fake_eventDestroy(Event event) {
  ENTER(Freedom);
  take(state().events, event);
  return kOk;
}
Result fake_eventRecord(Event event, Stream stream) {
  if (get(stream).capture)
    return get(event).capture = get(stream).capture, kOk;
  return fake_eventRecordWithFlags(event, stream, 0);
}
Result fake_eventRecordWithFlags(Event event, Stream stream, unsigned flags) {
  if (flags == kRecordExternal && !get(stream).capture)
    return kInvalidValue;
  get(event).capture.reset();
  Node node{[at = get(event).microseconds] { *at = state().microseconds; }};
  node.type = -1;
  node.event = &get(event);
  return put(stream, std::move(node));
}
Result fake_streamWaitEvent(Stream stream, Event event, unsigned) {
  ENTER(Driver);
  if (get(event).capture)
    return get(stream).capture = get(event).capture, kOk;
  return put(stream, {[at = get(event)] { at.wait(); }});
}
Result fake_eventSynchronize(Event event) {
  ENTER(Freedom);
  if (get(event).capture)
    return kCaptureUnsupported;
  get(event).wait();
  return kOk;
}
Result fake_eventElapsed(float *out, Event from, Event to) {
  ENTER(Freedom);
  *out = float(*get(to).microseconds - *get(from).microseconds) * 1e-3f;
  return kOk;
}

Result fake_moduleLoadData(Module *out, const void *, unsigned, int *,
                           void **) {
  ENTER(Freedom);
  *out = reinterpret_cast<Module>(&state());
  return kOk;
}
Result fake_moduleUnload(Module) {
  ENTER(Freedom);
  return kOk;
}
Result fake_moduleGetFunction(Function *out, Module, const char *) {
  ENTER(Freedom);
  *out = reinterpret_cast<Function>(&state());
  return kOk;
}
/// Kernels do nothing but take time.
static Result launch(Function function, unsigned blocks, Stream stream) {
  Node node{[=] { state().microseconds += kBlockMicroseconds * blocks; }};
  node.type = kKernelNode;
  node.function = function;
  return put(stream, std::move(node));
}
Result fake_launch(Function function, unsigned blocks, unsigned, unsigned,
                   unsigned, unsigned, unsigned, unsigned, Stream stream,
                   void **, void **) {
  return launch(function, blocks, stream);
}
Result fake_launchConfigured(const LaunchConfig *config, Function function,
                             void **, void **) {
  return launch(function, config->gridX, config->stream);
}

Result fake_streamIsCapturing(Stream stream, int *out) {
  ENTER(Driver);
  if (!stream)
    if (Result result = checkLegacy(false))
      return result;
  const auto &capture = get(stream).capture;
  *out = !capture ? 0 : capture->isInvalid ? 2 : 1;
  return kOk;
}

} // namespace fp8c::rt::cuda
