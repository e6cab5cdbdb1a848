//===- CompileFlags.cpp - Command line options of a compilation -----------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Pipelines/CompileFlags.h"

#include "fp8c/Runtime/fp8rt.h"

using namespace fp8c;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace cl = llvm::cl;

CompileFlags::CompileFlags()
    : category("compilation"),
      target("target",
             cl::desc("where the package runs, a plan each: cpu, sm_90a, ... "
                      "(default: the cpu and the GPU that is found, if any; "
                      "for a run the device that is asked for)"),
             cl::value_desc("target,..."), cl::init("cpu"), cl::cat(category)),
      recipe("recipe",
             cl::desc("how products become FP8: none (the graph as it is)"),
             cl::init("none"), cl::cat(category)),
      numerics("numerics", cl::desc("strict: the bytes of the unfused graph"),
               cl::init("strict"), cl::cat(category)),
      castOverflow("cast-overflow",
                   cl::desc("overflow of casts to f8: saturate or ieee "
                            "(default: saturate for f8E4M3FN, ieee for "
                            "f8E5M2, as PyTorch)"),
                   cl::cat(category)),
      divideByNumber("div-by-number",
                     cl::desc("division by a Python number: ieee, or "
                              "reciprocal as eager PyTorch on CUDA"),
                     cl::init("ieee"), cl::cat(category)),
      launch("launch",
             cl::desc("choices for the kernels of a GPU, to measure them: "
                      "{rows = 4, threads = 128}"),
             cl::value_desc("{name = number, ...}"), cl::Hidden,
             cl::cat(category)),
      assumeGuards("assume-guards",
                   cl::desc("leave out guards that cannot be read"),
                   cl::cat(category)) {}

/// One flag's value is not among those that work.
static Error reject(const cl::opt<std::string> &flag, StringRef allowed) {
  return llvm::createStringError("--%s=%s: expected %s", flag.ArgStr.data(),
                                 flag.getValue().c_str(),
                                 allowed.str().c_str());
}

Expected<CompileOptions> CompileFlags::get() const {
  CompileOptions options;
  options.targets.clear();
  llvm::SmallVector<StringRef> names;
  StringRef(target).split(names, ',');
  for (StringRef name : names) {
    const Target *found = findTarget(name);
    if (!found || !found->hasF8Products) {
      std::string all;
      for (const Target &known : getTargets())
        if (known.hasF8Products)
          all += (all.empty() ? "" : ", ") + known.name.str();
      return reject(target, "some of " + all);
    }
    if (llvm::is_contained(options.targets, found))
      return reject(target, "each target once");
    options.targets.push_back(found);
  }
  if (recipe != "none")
    return reject(recipe, "none, the only recipe so far");
  if (numerics != "strict")
    return reject(numerics, "strict, the only numerics so far");
  if (castOverflow == "saturate")
    options.import.castOverflow = fp8::Overflow::Saturate;
  else if (castOverflow == "ieee")
    options.import.castOverflow = fp8::Overflow::IEEE;
  else if (!castOverflow.empty())
    return reject(castOverflow, "saturate or ieee");
  StringRef choices = launch;
  if (!choices.empty() &&
      (!choices.starts_with("{") || !choices.ends_with("}") ||
       choices.drop_front().drop_back().find_first_not_of(
           "abcdefghijklmnopqrstuvwxyz0123456789=-, ") != StringRef::npos))
    return reject(launch, "{name = number, ...}");
  options.launch = launch;
  if (divideByNumber == "reciprocal")
    options.import.divideByReciprocal = true;
  else if (divideByNumber != "ieee")
    return reject(divideByNumber, "ieee or reciprocal");
  options.import.assumeGuards = assumeGuards;
  return options;
}

Expected<const Target *> fp8c::findDeviceTarget(StringRef device) {
  int capability = 0;
  if (fp8rt_device_capability(device.str().c_str(), &capability) != FP8RT_OK)
    return llvm::createStringError(fp8rt_error_message());
  if (const Target *target = findTargetForCapability(capability))
    return target;
  return llvm::createStringError(
      "%s has compute capability %d.%d, for which there is no target",
      device.str().c_str(), capability / 10, capability % 10);
}

Expected<DimRange> CompileFlags::parseDim(StringRef text) {
  DimRange range;
  auto [name, value] = text.rsplit('=');
  range.name = name.str();
  auto [bounds, multiple] = value.split(':');
  auto [min, max] = bounds.split("..");
  if (name.empty() || min.getAsInteger(10, range.min) ||
      (max.empty() ? (range.max = range.min, false)
                   : max.getAsInteger(10, range.max)) ||
      (!multiple.empty() && multiple.getAsInteger(10, range.multiple)) ||
      range.min < 0 || range.max < range.min || range.multiple < 1)
    return llvm::createStringError(
        "--dim=%s: expected NAME=MIN..MAX[:multiple], sizes that are not "
        "negative and MIN at most MAX",
        text.str().c_str());
  return range;
}
