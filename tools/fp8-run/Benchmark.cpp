//===- Benchmark.cpp - Times of calls and of their steps ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Benchmark.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <thread>

using namespace fp8c;
using namespace fp8c::run;

/// Bytes that sets of inputs and outputs take together at least, unless there
/// are kSets of them: more than caches hold.
static constexpr size_t kSetBytes = 200 << 20;
static constexpr size_t kSets = 8;
/// Calls of a shape before its times count: they choose algorithms and make
/// graphs.
static constexpr int kWarmups = 3;
/// Rounds of device and of host time, and about how long one is.
static constexpr int kRounds = 9;
static constexpr double kRoundSeconds = 0.005;
/// The device rests before a round: one that was busy for long is slower.
static constexpr std::chrono::milliseconds kRest(20);
/// Longer than it takes to launch a graph.
static constexpr double kGraphSeconds = 1e-3;

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {
/// Median, least and most of some times, in milliseconds.
struct Summary {
  double median, least, most;

  explicit Summary(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    median = seconds[seconds.size() / 2] * 1e3;
    least = seconds.front() * 1e3;
    most = seconds.back() * 1e3;
  }
};
} // namespace

/// Seconds of a call from its start until its results are there.
static std::vector<double> measureCalls(Session &session, size_t sets,
                                        bool isHost) {
  constexpr size_t kLeast = 5, kMost = 10000;
  const double enough = isHost ? 1 : 0.1;
  std::vector<double> seconds;
  double total = 0;
  while (seconds.size() < kLeast ||
         (total < enough && seconds.size() < kMost)) {
    const double start = now();
    session.enqueue(seconds.size() % sets);
    session.wait();
    seconds.push_back(now() - start);
    total += seconds.back();
  }
  return seconds;
}

/// Seconds that the device needs for a call: calls one behind the other, in a
/// graph if calls may be graphs, so that nothing waits for the host.
static std::vector<double> measureDevice(Session &session, size_t sets,
                                         double callSeconds, bool isGraph) {
  const int calls =
      int(std::clamp(kRoundSeconds / callSeconds, double(sets), 64.0));
  auto callAll = [&](void *stream) {
    for (int i = 0; i < calls; ++i)
      session.enqueue(size_t(i) % sets, stream);
  };
  std::unique_ptr<rt::Recording> recording;
  if (isGraph)
    recording = session.getDevice().record(callAll);
  std::unique_ptr<rt::Stopwatch> stopwatch =
      session.getDevice().makeStopwatch();
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) {
    std::this_thread::sleep_for(kRest);
    recording ? recording->replay(nullptr) : session.enqueue();
    // The host puts a good part of a round before the device begins.
    stopwatch->stall(isGraph ? kGraphSeconds
                             : std::min(calls * callSeconds, 5 * kRoundSeconds),
                     nullptr);
    stopwatch->mark(0, nullptr);
    recording ? recording->replay(nullptr) : callAll(nullptr);
    stopwatch->mark(1, nullptr);
    seconds.push_back(stopwatch->seconds(0) / calls);
  }
  return seconds;
}

/// Seconds that the host needs to put a call into the stream of a busy device.
static std::vector<double> measureHost(Session &session, size_t sets) {
  std::unique_ptr<rt::Stopwatch> stopwatch =
      session.getDevice().makeStopwatch();
  std::vector<double> seconds;
  for (int round = 0; round < kRounds; ++round) {
    stopwatch->stall(kRoundSeconds, nullptr);
    const double start = now();
    session.enqueue(size_t(round) % sets);
    seconds.push_back(now() - start);
    session.wait();
  }
  return seconds;
}

void run::benchmarkSession(Session &session, std::vector<HostTensor> &arguments,
                           Results &results, double loadSeconds,
                           const Options &options) {
  const bool json = options.json;
  size_t bytes = 1;
  for (const HostTensor &tensor : arguments)
    bytes += tensor.data.size();
  for (const std::optional<HostTensor> &tensor : results)
    bytes += tensor ? tensor->data.size() : 0;
  const bool isHost = session.getDevice().dlpack().device_type == kDLCPU;
  const size_t sets =
      isHost ? 1 : std::min(kSets, (kSetBytes + bytes - 1) / bytes);
  session.bind(arguments, results, sets);
  for (size_t i = 0; i < kWarmups * sets; ++i)
    session.enqueue(i % sets);
  session.wait();
  std::vector<double> seconds = measureCalls(session, sets, isHost);
  const size_t calls = seconds.size();
  const Summary call(std::move(seconds));
  std::printf(json ? "{\"calls\": %zu, \"median_ms\": %.6f, \"min_ms\": %.6f, "
                     "\"max_ms\": %.6f, \"load_ms\": %.6f"
                   : "%zu calls: median %.4f ms, min %.4f ms, max %.4f ms; "
                     "loaded in %.4f ms\n",
              calls, call.median, call.least, call.most, loadSeconds * 1e3);
  if (!isHost) {
    const Summary device(measureDevice(session, sets, call.median * 1e-3,
                                       options.graphs != FP8RT_GRAPHS_OFF)),
        host(measureHost(session, sets));
    std::printf(json ? ", \"device_ms\": %.6f, \"device_min_ms\": %.6f, "
                       "\"device_max_ms\": %.6f, \"host_ms\": %.6f, "
                       "\"sets\": %zu"
                     : "device: median %.4f ms, min %.4f ms, max %.4f ms; "
                       "host: median %.4f ms; %zu sets of inputs and outputs\n",
                device.median, device.least, device.most, host.median, sets);
  }
  if (json)
    std::printf("}\n");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Bytes of the elements of a value, each counted once.
static int64_t countBytes(const rt::ObservedValue &value) {
  int64_t bytes = compare::elementBytes(value.dtype);
  for (int64_t dim : value.dims)
    bytes *= dim;
  return bytes;
}

namespace {
/// What a step costs: the median of its calls.
class Profile : public rt::Observer {
public:
  /// `markSeconds` is what the marks around a step add to its time.
  Profile(const rt::DeviceLimits &limits, double markSeconds)
      : limits(limits), markSeconds(markSeconds) {}

  bool readsValues() const override { return false; }
  void afterStep(const rt::ObservedStep &step, double seconds) override;
  /// A row a step, the slowest first; `callSeconds` is a call without marks.
  void print(double callSeconds);

private:
  struct Row {
    std::string command, name, path, how;
    std::vector<double> calls;
    double seconds = 0;
    int64_t bytes = 0, operations = 0;
    /// Operations of its kind that the device does a second at most.
    double peak = 0;
  };
  const rt::DeviceLimits limits;
  const double markSeconds;
  std::vector<Row> rows;
};
} // namespace

void Profile::afterStep(const rt::ObservedStep &step, double seconds) {
  if (rows.size() <= step.index)
    rows.resize(step.index + 1);
  Row &row = rows[step.index];
  row.calls.push_back(seconds);
  if (row.calls.size() > 1)
    return;
  row.command = step.kernel.empty() ? plan::wire::EnumNameCommand(step.command)
                                    : std::string(step.kernel);
  row.name = step.name;
  row.path = step.path;
  row.how = step.how;
  for (const rt::ObservedValue &value : step.reads)
    row.bytes += countBytes(value);
  for (const rt::ObservedValue &value : step.writes)
    row.bytes += countBytes(value);
  row.operations =
      2 * step.m * step.n * step.k * std::max<int64_t>(step.batch, 1);
  // Two products; causal ones of the keys up to the query's place alone.
  if (const auto *attention = step.wire->command_as_Attention()) {
    row.operations *= 2;
    const int64_t both = std::min(step.m, step.n);
    if (attention->causal() && both)
      row.operations = row.operations / (step.m * step.n) *
                       (both * (both + 1) / 2 + (step.m - both) * step.n);
  }
  if (row.operations)
    switch (compare::elementBytes(step.reads.front().dtype)) {
    case 1:
      row.peak = limits.f8;
      break;
    case 2:
      row.peak = limits.half;
      break;
    default:
      row.peak = limits.single;
    }
}

void Profile::print(double callSeconds) {
  std::vector<const Row *> order;
  double total = 0;
  for (Row &row : rows) {
    if (row.calls.empty())
      continue;
    std::sort(row.calls.begin(), row.calls.end());
    row.seconds =
        std::max(row.calls[row.calls.size() / 2] - markSeconds, 1e-12);
    order.push_back(&row);
    total += row.seconds;
  }
  std::sort(order.begin(), order.end(),
            [](const Row *a, const Row *b) { return a->seconds > b->seconds; });
  std::printf("%10s %7s %12s %9s %9s %7s  %-20s %s\n", "us", "share", "bytes",
              "GB/s", "GFLOP/s", "limit", "command", "module: nodes");
  for (const Row *row : order) {
    const double seconds = row->seconds;
    double limit = 0;
    if (limits.copyBytes > 0)
      limit = double(row->bytes) / limits.copyBytes;
    if (row->peak > 0)
      limit = std::max(limit, double(row->operations) / row->peak);
    char share[16] = "-";
    if (limit > 0)
      std::snprintf(share, sizeof(share), "%.1f%%", 100 * limit / seconds);
    std::printf(
        "%10.2f %6.1f%% %12" PRId64 " %9.2f %9.2f %7s  %-20s %s: %s%s%s%s\n",
        seconds * 1e6, 100 * seconds / std::max(total, 1e-12), row->bytes,
        double(row->bytes) / seconds * 1e-9,
        double(row->operations) / seconds * 1e-9, share, row->command.c_str(),
        row->path.c_str(), row->name.c_str(), row->how.empty() ? "" : " (",
        row->how.c_str(), row->how.empty() ? "" : ")");
  }
  std::printf("%10.2f us are the rows together; a call takes %.2f us, of which "
              "they explain %.1f %%\n",
              total * 1e6, callSeconds * 1e6, 100 * total / callSeconds);
  if (markSeconds > 0)
    std::printf(
        "%10.2f us that marks between commands add to each are left out "
        "(measured now)\n",
        markSeconds * 1e6);
  if (limits.copyBytes > 0)
    std::printf(
        "limit: the larger of bytes at a copy's %.0f GB/s (measured now) "
        "and operations at %.0f (8 bits), %.0f (16) or %.0f (32) TFLOP/s\n",
        limits.copyBytes * 1e-9, limits.f8 * 1e-12, limits.half * 1e-12,
        limits.single * 1e-12);
}

void run::profileSession(Session &session, std::vector<HostTensor> &arguments,
                         Results &results) {
  constexpr int kCalls = 10;
  rt::Device &device = session.getDevice();
  session.bind(arguments, results);
  for (int i = 0; i < kWarmups; ++i)
    session.enqueue();
  session.wait();
  std::unique_ptr<rt::Stopwatch> stopwatch = device.makeStopwatch();
  const double markSeconds = stopwatch->markSeconds();
  Profile profile(device.getLimits(), markSeconds);
  // The device rests before each call, as a busy one slows down, and the host
  // is ahead of it.
  constexpr double kStall = 2e-3;
  std::vector<double> seconds;
  for (int i = 0; i < kCalls; ++i) {
    std::this_thread::sleep_for(kRest);
    stopwatch->stall(kStall, nullptr);
    stopwatch->mark(0, nullptr);
    session.enqueue();
    stopwatch->mark(1, nullptr);
    seconds.push_back(stopwatch->seconds(0));
  }
  session.setObserver(&profile);
  for (int i = 0; i < kCalls; ++i) {
    std::this_thread::sleep_for(kRest);
    session.enqueue();
    session.wait();
  }
  session.setObserver(nullptr);
  profile.print(Summary(std::move(seconds)).median * 1e-3);
}
