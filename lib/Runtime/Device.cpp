//===- Device.cpp - Where plans run ---------------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"

#include "ShapeInstance.h"

#include "fp8c/Package/Format.h"

using namespace fp8c::rt;

/// The number of a cuda device's name, -1 for other names.
static int getCudaNumber(const std::string &name) {
  const std::string cuda = fp8c::package::kCuda;
  if (name == cuda)
    return 0;
  if (name.compare(0, cuda.size() + 1, cuda + ":") != 0)
    return -1;
  const std::string number = name.substr(cuda.size() + 1);
  const bool isNumber =
      !number.empty() && number.size() <= 4 &&
      number.find_first_not_of("0123456789") == std::string::npos;
  return isNumber ? std::stoi(number) : -1;
}

void Queue::run(const PreparedStep &step) {
  if (step.isJoined)
    return;
  if (step.joined)
    step.joined->run();
  else
    runAlone(step);
}

void Queue::runAlone(const PreparedStep &step) {
  ownScratch = step.ownScratch;
  ownScratchBytes = step.ownScratchBytes;
  step.command->run();
}

bool fp8c::rt::isDeviceName(const std::string &name) {
  return name == fp8c::package::kCpu || getCudaNumber(name) >= 0;
}

/// The same; an error for a name that is no device's.
static int requireCudaNumber(const std::string &name) {
  const int cuda = getCudaNumber(name);
  require(cuda >= 0, FP8RT_INCOMPATIBLE, "no device \"", name,
          "\", this runtime has cpu, cuda and cuda:N");
  return cuda;
}

std::shared_ptr<Device> fp8c::rt::openDevice(const std::string &name) {
  return name == fp8c::package::kCpu ? openCpu()
                                     : openCuda(requireCudaNumber(name));
}

int fp8c::rt::readCapability(const std::string &name) {
  return name == fp8c::package::kCpu
             ? 0
             : readCudaCapability(requireCudaNumber(name));
}
