//===- MutationTest.cpp - Archives that are almost sound ------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What importer-fuzzer does, for some seconds: nodes with any operator of the
// table and arguments that only have the right kinds. Other seeds are tried
// with --gtest_shuffle --gtest_random_seed=N.
//
//===----------------------------------------------------------------------===//

#include "../../Fuzz/ArchiveMutator.h"
#include "../../Fuzz/ImportAny.h"

#include "llvm/Support/Signals.h"

#include <gtest/gtest.h>

using namespace fp8c::test;

TEST(Mutation, ImportsGiveAModuleOrAnError) {
  llvm::sys::PrintStackTraceOnErrorSignal("ImportTests");
  constexpr unsigned kCount = 3000;
  unsigned first = testing::UnitTest::GetInstance()->random_seed() * kCount;
  std::unique_ptr<mlir::MLIRContext> context;
  std::string archive;
  for (unsigned i = 0; i < kCount; ++i) {
    if (i % 256 == 0)
      context = std::make_unique<mlir::MLIRContext>(
          mlir::MLIRContext::Threading::DISABLED);
    // Every so often from a sound archive again.
    if (i % 6 == 0)
      archive.clear();
    archive = mutateArchive(reinterpret_cast<const uint8_t *>(archive.data()),
                            archive.size(), first + i);
    SCOPED_TRACE(first + i);
    EXPECT_TRUE(importAny(*context, archive)) << "seed " << first + i;
  }
}
