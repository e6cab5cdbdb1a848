// RUN: fp8-opt %s | fp8-opt | FileCheck %s

// CHECK-LABEL: func.func @takes_f8(
// CHECK-SAME: tensor<4x8xf8E4M3FN>
func.func @takes_f8(%x: tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E4M3FN> {
  return %x : tensor<4x8xf8E4M3FN>
}
