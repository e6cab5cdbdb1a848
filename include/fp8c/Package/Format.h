//===- Format.h - Names inside a .fp8 package -------------------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A package is a zip whose entries are stored, not compressed:
//
//   manifest.json        format, versions, files with sizes and hashes, plans,
//                        objects
//   plan.TARGET.fb       the plan for a target (plan.fbs, identifier "FP8P")
//   weights.safetensors  prepared weights and initial states; absent if none
//   kernels/ISA.so       ELF shared objects of the CPU's kernels; absent when
//                        the plan launches none
//   kernels/TARGET.ptx   the kernels of a GPU
//   kernels/TARGET.cubin the same assembled, where there was an assembler
//   report.json          what the compiler decided; optional
//
// manifest.json:
//
//   {"format": "fp8c-package", "version": 1, "producer": "fp8c 0.1.0",
//    "files": {"plan.cpu.fb": {"size": 1234, "sha256": "<64 hex digits>"},
//    ...}, "plans": [{"target": "cpu", "file": "plan.cpu.fb"},
//              {"target": "sm_90a", "file": "plan.sm_90a.fb"}],
//    "objects": [{"device": "cpu", "isa": "x86-64-v3",
//                 "file": "kernels/x86-64-v3.so"},
//                {"device": "cuda", "isa": "sm_90a",
//                 "file": "kernels/sm_90a.ptx"}, ...],
//    "external_weights": ["name", ...]}
//
// All plans have one signature and one list of states, and share weights.
// Every other entry of the zip is in `files`; sha256 may be missing for
// weights.safetensors alone (it is not checked when a package is loaded).
// Data of entries start at multiples of 64 bytes where the writer can arrange
// it. Weights named in external_weights are bound by the caller.
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_PACKAGE_FORMAT_H
#define FP8C_PACKAGE_FORMAT_H

#include <cstdint>

namespace fp8c::package {

/// The manifest's "format".
inline constexpr const char *kFormat = "fp8c-package";
/// The manifest's "version"; a reader refuses others.
inline constexpr int64_t kVersion = 1;
/// plan.fbs' `version`; a reader refuses others.
inline constexpr uint32_t kPlanVersion = 1;
inline constexpr const char *kManifestFile = "manifest.json";
inline constexpr const char *kWeightsFile = "weights.safetensors";
inline constexpr const char *kReportFile = "report.json";
/// Objects' "isa" values, best first.
inline constexpr const char *kIsaV4 = "x86-64-v4";
inline constexpr const char *kIsaV3 = "x86-64-v3";
/// The "target" of the CPU's plan, and objects' "device" values.
inline constexpr const char *kCpu = "cpu";
inline constexpr const char *kCuda = "cuda";
/// Where entries' data should start.
inline constexpr uint64_t kAlignment = 64;

} // namespace fp8c::package

#endif // FP8C_PACKAGE_FORMAT_H
