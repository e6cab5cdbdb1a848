// RUN: fp8-opt %s -fp8-canonicalize -fp8-graph-to-kernels | FileCheck %s
// RUN: fp8-compile %s -o %t.fp8
// RUN: fp8-run %t.fp8 --random --dim n=5 --dim m=0 -v | FileCheck %s --check-prefix=CALL

// RUN: not fp8-run %t.fp8 --random --dim n=9 2>&1 | FileCheck %s --check-prefix=RANGE

// Elementwise ops of whole tensors are kernels like others.
// CALL: x: 5x3x0

// A symbol that arguments alone name stays, with its range.
// RANGE: symbol n: got 9, expected n from 1 to 8
// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<?x3x?xf32> {fp8.name = "x", fp8.dims = ["n", 3, "m"]}, %s: tensor<f32> {fp8.name = "s", fp8.dims = []})
    -> (tensor<?x3x?xf8E4M3FN> {fp8.name = "output0"}, tensor<f8E5M2> {fp8.name = "output1"}) {
  // CHECK: fp8.symbol "n" min = 1 max = 8
  // CHECK: fp8.kernel
  // CHECK: linalg.generic
  // CHECK: arith.addf {{.*}} : f32
  // CHECK: fp8.cast {{.*}} : f32 to f8E4M3FN
  %n = fp8.symbol "n" min = 1 max = 8
  %0 = arith.addf %x, %x : tensor<?x3x?xf32>
  %1 = fp8.cast %0 : tensor<?x3x?xf32> to tensor<?x3x?xf8E4M3FN>
  // CHECK: fp8.cast {{.*}} : f32 to f8E5M2
  %2 = fp8.cast %s : tensor<f32> to tensor<f8E5M2>
  return %1, %2 : tensor<?x3x?xf8E4M3FN>, tensor<f8E5M2>
}
