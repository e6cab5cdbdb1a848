//===- Library.cpp - Shared libraries opened at run time ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"

#include <dlfcn.h>

using namespace fp8c::rt;

Library::Library(std::initializer_list<const char *> names) {
  for (const char *name : names) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle)
      return;
    if (message.empty())
      if (const char *text = dlerror())
        message = text;
  }
}

void *Library::find(const char *name) const {
  return handle ? dlsym(handle, name) : nullptr;
}
