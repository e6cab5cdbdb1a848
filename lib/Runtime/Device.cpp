//===- Device.cpp - Where plans run ---------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "fp8c/Package/Format.h"

using namespace fp8c::rt;

std::shared_ptr<Device> fp8c::rt::openDevice(const std::string &name) {
  if (name == package::kCpu)
    return openCpu();
  const std::string cuda = package::kCuda;
  if (name == cuda)
    return openCuda(0);
  if (name.compare(0, cuda.size() + 1, cuda + ":") == 0) {
    std::string number = name.substr(cuda.size() + 1);
    if (!number.empty() && number.size() <= 4 &&
        number.find_first_not_of("0123456789") == std::string::npos)
      return openCuda(std::stoi(number));
  }
  fail(FP8RT_INCOMPATIBLE, "no device \"", name,
       "\", this runtime has cpu, cuda and cuda:N");
}
