//===- ThreadPool.h - The CPU device's threads ------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_CPU_THREADPOOL_H
#define FP8C_LIB_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace fp8c::rt {

/// A fixed set of threads that share out ranges of tasks. The caller's thread
/// works too. Which thread runs which task is open, so tasks may not depend on
/// it.
class ThreadPool {
public:
  /// `size` threads, the caller's included.
  explicit ThreadPool(int size);
  ~ThreadPool();

  /// Threads of the pool, the caller's included.
  int size() const { return static_cast<int>(workers.size()) + 1; }
  /// Cores that this process may use.
  static int defaultSize();

  /// Runs `fn(begin, end, thread)` over [0, tasks) in pieces of at most `grain`
  /// tasks. Returns when all are done. `fn` must not throw.
  template <typename Fn> void run(int64_t tasks, int64_t grain, Fn &&fn) {
    if (tasks <= 0)
      return;
    if (workers.empty() || tasks <= grain) {
      fn(int64_t(0), tasks, 0);
      return;
    }
    Job job{tasks, grain,
            [](void *body, int64_t begin, int64_t end, int thread) {
              (*static_cast<std::remove_reference_t<Fn> *>(body))(begin, end,
                                                                  thread);
            },
            const_cast<void *>(static_cast<const void *>(&fn))};
    runJob(job);
  }

private:
  /// What the threads work on.
  struct Job {
    int64_t tasks;
    int64_t grain;
    void (*call)(void *, int64_t, int64_t, int);
    void *body;
    std::atomic<int64_t> next{0};
  };
  void runJob(Job &job);
  static void work(Job &job, int thread);
  void workerMain(int thread);

  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::atomic<uint64_t> generation{0};
  std::atomic<int> busy{0};
  Job *current = nullptr;
  bool stopping = false;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_CPU_THREADPOOL_H
