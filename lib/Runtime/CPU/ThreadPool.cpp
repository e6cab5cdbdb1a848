//===- ThreadPool.cpp - The CPU device's threads --------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include "FloatMode.h"

#include <algorithm>
#include <sched.h>

using namespace fp8c::rt;

/// Looks at the generation before a thread goes to sleep; some 20 us.
static constexpr int kSpins = 2000;

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int ThreadPool::defaultSize() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(int size) {
  for (int i = 1; i < size; ++i)
    workers.emplace_back([this, i] { workerMain(i); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
    ++generation;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::work(Job &job, int thread) {
  while (true) {
    int64_t begin = job.next.fetch_add(job.grain, std::memory_order_relaxed);
    if (begin >= job.tasks)
      return;
    job.call(job.body, begin, std::min(job.tasks, begin + job.grain), thread);
  }
}

void ThreadPool::runJob(Job &job) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    current = &job;
    busy.store(static_cast<int>(workers.size()), std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
  }
  wake.notify_all();
  work(job, 0);
  for (int i = 0; i < kSpins; ++i) {
    if (busy.load(std::memory_order_acquire) == 0)
      return;
    pause();
  }
  std::unique_lock<std::mutex> lock(mutex);
  done.wait(lock, [&] { return busy.load(std::memory_order_acquire) == 0; });
}

void ThreadPool::workerMain(int thread) {
  FloatMode mode;
  uint64_t seen = 0;
  while (true) {
    for (int i = 0; i < kSpins; ++i) {
      if (generation.load(std::memory_order_acquire) != seen)
        break;
      pause();
    }
    Job *job;
    {
      std::unique_lock<std::mutex> lock(mutex);
      wake.wait(lock, [&] { return generation.load() != seen; });
      if (stopping)
        return;
      seen = generation.load();
      job = current;
    }
    work(*job, thread);
    if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      // Taken and given back so that the caller either sees 0 or sleeps.
      {
        std::lock_guard<std::mutex> lock(mutex);
      }
      done.notify_one();
    }
  }
}
