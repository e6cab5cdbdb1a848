//===- HeaderTest.cpp - The interface from C ------------------------------===//
//
// Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fp8c/Runtime/fp8rt.h"

#include <gtest/gtest.h>

extern "C" int fp8c_test_c_header(void);

TEST(Header, WorksFromC) {
  EXPECT_EQ(fp8c_test_c_header(), FP8RT_IO_ERROR);
  EXPECT_STREQ(fp8rt_error_message(),
               "cannot open \"/nonexistent.fp8\": No such file or directory");
  EXPECT_STREQ(fp8rt_status_name(FP8RT_IO_ERROR), "FP8RT_IO_ERROR");
  EXPECT_EQ(fp8rt_version(), uint32_t(FP8RT_VERSION));
}
