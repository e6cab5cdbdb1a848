//===- Zip.h - Zips made by hand --------------------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_UNIT_RUNTIME_ZIP_H
#define FP8C_TEST_UNIT_RUNTIME_ZIP_H

#include <map>
#include <string>

namespace fp8c::test {

/// A zip file with stored entries.
std::string makeZip(const std::map<std::string, std::string> &entries);

} // namespace fp8c::test

#endif // FP8C_TEST_UNIT_RUNTIME_ZIP_H
