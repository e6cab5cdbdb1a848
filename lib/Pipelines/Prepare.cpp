//===- Prepare.cpp - Runs @prepare at compile time ------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Prepare.h"

#include "fp8c/Dialect/Plan/Plan.h"
#include "fp8c/Package/PlanWriter.h"
#include "fp8c/Runtime/fp8rt.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace fp8c;
using llvm::Error;

/// The last failed call's message.
static Error runtimeError() {
  return llvm::createStringError("weights cannot be prepared: %s",
                                 fp8rt_error_message());
}

/// Reads the state buffer that `info` describes into `bytes`.
static Error getState(fp8rt_state_t *state, const fp8rt_tensor_info_t &info,
                      std::string &bytes) {
  DLTensor tensor = {};
  tensor.data = bytes.data();
  tensor.device = {kDLCPU, 0};
  tensor.dtype = info.dtype;
  tensor.ndim = info.ndim;
  tensor.shape = const_cast<int64_t *>(info.dims);
  if (fp8rt_state_get(state, info.name, &tensor))
    return runtimeError();
  return Error::success();
}

/// Loads the package, calls @prepare and gets the named buffers.
static Error callPrepare(llvm::StringRef path,
                         llvm::ArrayRef<fp8::GlobalOp> globals,
                         package::PackageContents &contents,
                         std::list<std::string> &prepared) {
  fp8rt_program_t *program = nullptr;
  fp8rt_context_t *context = nullptr;
  fp8rt_state_t *state = nullptr;
  llvm::scope_exit destroy([&] {
    fp8rt_state_destroy(state);
    fp8rt_context_destroy(context);
    fp8rt_program_destroy(program);
  });
  fp8rt_context_options_t options = {};
  options.struct_size = sizeof(options);
  options.entry = "prepare";
  if (fp8rt_program_load_file(path.str().c_str(), nullptr, &program) ||
      fp8rt_context_create(program, &options, &context) ||
      fp8rt_context_call(context, nullptr, 0, nullptr, 0, nullptr) ||
      fp8rt_context_state(context, &state))
    return runtimeError();
  llvm::StringMap<fp8rt_tensor_info_t> infos;
  size_t count = 0;
  if (fp8rt_program_num_states(program, &count))
    return runtimeError();
  for (size_t i = 0; i < count; ++i) {
    fp8rt_tensor_info_t info = {};
    info.struct_size = sizeof(info);
    if (fp8rt_program_state(program, i, &info))
      return runtimeError();
    infos[info.name] = info;
  }
  for (fp8::GlobalOp global : globals) {
    auto type = cast<RankedTensorType>(global.getType());
    StringRef name = global.getSymName();
    std::string &bytes =
        prepared.emplace_back(package::getByteSize(type), '\0');
    if (Error error = getState(state, infos.lookup(name), bytes))
      return error;
    contents.weights.push_back({name.str(), type, bytes});
  }
  return Error::success();
}

Error fp8c::runPrepare(ModuleOp plan, package::PackageContents &contents,
                       std::list<std::string> &prepared) {
  auto entry = plan.lookupSymbol<plan::EntryOp>("prepare");
  if (!entry)
    return Error::success();
  // For the runtime, what @prepare writes is state that begins as zeros.
  OwningOpRef<ModuleOp> copy = plan.clone();
  for (auto other : llvm::make_early_inc_range(copy->getOps<plan::EntryOp>()))
    if (other.getSymName() != "prepare")
      other.erase();
  llvm::SmallVector<fp8::GlobalOp> written;
  package::PackageContents package = contents;
  std::list<std::string> zeros;
  for (auto global : plan.getOps<fp8::GlobalOp>()) {
    if (global.getSource())
      continue;
    auto type = cast<RankedTensorType>(global.getType());
    written.push_back(global);
    copy->lookupSymbol<fp8::GlobalOp>(global.getSymName())
        .setKind(fp8::GlobalKind::State);
    package.weights.push_back(
        {global.getSymName().str(), type,
         zeros.emplace_back(package::getByteSize(type), '\0')});
  }
  auto bytes = package::writePlan(*copy, "cpu");
  if (failed(bytes))
    return llvm::createStringError("the plan of @prepare cannot be written");
  package.plans = {{"cpu", std::move(*bytes)}};

  llvm::SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("prepare", "fp8", path))
    return llvm::createStringError("no temporary file: " + error.message());
  llvm::scope_exit remove([&] { llvm::sys::fs::remove(path); });
  if (Error error = package::writePackage(path, package))
    return error;
  if (Error error = callPrepare(path, written, contents, prepared))
    return error;
  entry.erase();
  return Error::success();
}
