/*===- header.c - fp8rt.h is a C header ---------------------------*- C -*-===*\
|*                                                                            *|
|* Part of fp8c, under the Apache License v2.0 with LLVM Exceptions.          *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#include "fp8c/Runtime/fp8rt.h"

/* Uses the interface as a C program does; gives the status of a bad load. */
int fp8c_test_c_header(void) {
  fp8rt_program_t *program = NULL;
  fp8rt_context_options_t options = {.struct_size = sizeof(options)};
  fp8rt_status_t status =
      fp8rt_program_load_file("/nonexistent.fp8", NULL, &program);
  (void)options;
  fp8rt_program_destroy(program);
  return (int)status;
}
