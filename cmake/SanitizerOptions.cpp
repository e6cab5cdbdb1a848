//===- SanitizerOptions.cpp - What AddressSanitizer is told ---------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

/// LLVM's allocators poison memory in code that is instrumented and do not
/// unpoison it in Debian's dylibs, which are not. Too little memory is an error
/// of the runtime, no finding.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:allocator_may_return_null=1";
}
