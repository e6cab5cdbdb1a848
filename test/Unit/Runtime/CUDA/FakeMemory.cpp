//===- FakeMemory.cpp - Memory of the driver without a GPU ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeState.h"

#include <algorithm>
#include <cstring>

using namespace fp8c::test::fake;

namespace fp8c::rt::cuda {

Result fake_memoryAllocate(Pointer *out, size_t bytes) {
  ENTER(Freedom);
  auto &memory = state().memory.emplace_back(new char[bytes + 64]);
  *out = (reinterpret_cast<Pointer>(memory.get()) + 63) / 64 * 64;
  return kOk;
}
Result fake_memoryFree(Pointer pointer) {
  ENTER(Freedom);
  // Whatever runs may use it.
  state().legacy.runAll();
  for (auto &stream : state().streams)
    stream->runAll();
  auto &memory = state().memory;
  auto found = std::find_if(memory.begin(), memory.end(), [&](auto &m) {
    const Pointer begin = reinterpret_cast<Pointer>(m.get());
    return pointer >= begin && pointer < begin + 64;
  });
  if (found == memory.end())
    return kInvalidValue;
  memory.erase(found);
  return kOk;
}
Result fake_copyToDeviceAsync(Pointer to, const void *from, size_t n,
                              Stream s) {
  return put(s, {[=] { memcpy(reinterpret_cast<void *>(to), from, n); }});
}
Result fake_copyToHostAsync(void *to, Pointer from, size_t n, Stream s) {
  return put(s, {[=] { memcpy(to, reinterpret_cast<void *>(from), n); }});
}
Result fake_copyAsync(Pointer to, Pointer from, size_t n, Stream s) {
  return put(s, {[=] {
               memcpy(reinterpret_cast<void *>(to),
                      reinterpret_cast<void *>(from), n);
             }});
}
Result fake_set8Async(Pointer to, unsigned char value, size_t n, Stream s) {
  Node node{[=] { memset(reinterpret_cast<void *>(to), value, n); }};
  node.type = kMemsetNode;
  node.fill = {to, 0, value, 1, n, 1};
  return put(s, std::move(node));
}
Result fake_set32Async(Pointer to, unsigned value, size_t n, Stream s) {
  return put(
      s, {[=] { std::fill_n(reinterpret_cast<unsigned *>(to), n, value); }});
}

} // namespace fp8c::rt::cuda
