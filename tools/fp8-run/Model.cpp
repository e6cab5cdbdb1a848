//===- Model.cpp - From a file to a session -------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

using namespace fp8c;
using namespace fp8c::run;

/// Whether `path` ends with `suffix`.
static bool endsWith(const std::string &path, const std::string &suffix) {
  return path.size() >= suffix.size() &&
         path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::unique_ptr<Session> run::loadModel(const Options &options,
                                        std::vector<char> &package) {
  if (endsWith(options.model, ".pt2") || endsWith(options.model, ".mlir"))
    fail("compile \"", options.model, "\" with fp8-compile first");
  return Session::load(options.model, options.device);
}
