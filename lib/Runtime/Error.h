//===- Error.h - Failures inside the runtime --------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inside the library a failure is an exception of class Error; none leaves the
// C interface, which turns it into a status and a message. Nothing is thrown in
// a call whose sizes were seen before and whose tensors fit.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_LIB_RUNTIME_ERROR_H
#define FP8C_LIB_RUNTIME_ERROR_H

#include "fp8c/Runtime/fp8rt.h"

#include <cstddef>
#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace fp8c::rt {

/// A failure: a status and what is told to the user.
class Error : public std::exception {
public:
  Error(fp8rt_status_t status, std::string message)
      : status(status), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }

  fp8rt_status_t status;
  std::string message;
};

/// Throws an Error whose message is its arguments written one after the other.
template <typename... Parts>
[[noreturn]] void fail(fp8rt_status_t status, const Parts &...parts) {
  std::ostringstream os;
  (os << ... << parts);
  throw Error(status, os.str());
}

/// Throws unless `condition` holds.
template <typename... Parts>
void require(bool condition, fp8rt_status_t status, const Parts &...parts) {
  if (!condition)
    fail(status, parts...);
}

/// Bytes that somebody else owns.
struct Bytes {
  const unsigned char *data = nullptr;
  size_t size = 0;
};

} // namespace fp8c::rt

#endif // FP8C_LIB_RUNTIME_ERROR_H
