//===- ArchiveMutator.h - Archives that are almost sound --------*- C++ -*-===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FP8C_TEST_FUZZ_ARCHIVEMUTATOR_H
#define FP8C_TEST_FUZZ_ARCHIVEMUTATOR_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace fp8c::test {

/// Changes some places of an archive's JSON and writes the archive again, so
/// that what a fuzzer tries passes the zip and the JSON parser: numbers, names
/// and subtrees of models/model.json become others, nodes get operators of the
/// table with arguments of their schemas. What is no archive becomes a small
/// sound one.
std::string mutateArchive(const uint8_t *data, size_t size, unsigned seed);

} // namespace fp8c::test

#endif // FP8C_TEST_FUZZ_ARCHIVEMUTATOR_H
