//===- KernelObject.cpp - The generated kernels of the CPU ----------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelObject.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace fp8c::rt;

KernelObject::KernelObject(Bytes object,
                           const std::vector<std::string> &symbols) {
  if (symbols.empty())
    return;
  require(object.size >= 4 && !std::memcmp(object.data, "\177ELF", 4),
          FP8RT_INVALID_PACKAGE, "the CPU kernels are not an ELF object");
  // A destructor does not run for what its constructor throws: clean up here.
  try {
    fd = memfd_create("fp8c-kernels", MFD_CLOEXEC);
    require(fd >= 0, FP8RT_IO_ERROR,
            "no memory file for the CPU kernels: ", std::strerror(errno));
    for (size_t done = 0; done < object.size;) {
      ssize_t n = write(fd, object.data + done, object.size - done);
      if (n < 0 && errno == EINTR)
        continue;
      require(n > 0, FP8RT_OUT_OF_MEMORY,
              "no memory for the CPU kernels: ", std::strerror(errno));
      done += size_t(n);
    }
    std::string path = "/proc/self/fd/" + std::to_string(fd);
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      const char *why = dlerror();
      fail(FP8RT_INVALID_PACKAGE,
           "the CPU kernels cannot be loaded: ", why ? why : "unknown reason");
    }
    for (const std::string &symbol : symbols) {
      void *function = dlsym(handle, symbol.c_str());
      require(function, FP8RT_INVALID_PACKAGE,
              "the CPU kernels have no function \"", symbol, "\"");
      functions.push_back(reinterpret_cast<KernelFn>(function));
    }
  } catch (...) {
    release();
    throw;
  }
}

KernelObject::~KernelObject() { release(); }

void KernelObject::release() {
  if (handle)
    dlclose(handle);
  if (fd >= 0)
    close(fd);
}
