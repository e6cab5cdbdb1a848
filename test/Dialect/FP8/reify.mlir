// RUN: fp8-opt %s -resolve-ranked-shaped-type-result-dims -cse -canonicalize | FileCheck %s

// Sizes of results come from operands: no value is computed to know its shape.

// CHECK-LABEL: func @scaled
// CHECK-SAME: %[[X:.+]]: tensor<?x?xbf16>, %[[S:.+]]: tensor<?x1xf32>
func.func @scaled(%x: tensor<?x?xbf16>, %s: tensor<?x1xf32>) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: fp8.
  // CHECK-DAG: %[[ROWS:.+]] = tensor.dim %[[X]], %c0
  // CHECK-DAG: %[[COLUMNS:.+]] = tensor.dim %[[X]], %c1
  // CHECK: %[[BLOCKS:.+]] = arith.ceildivsi %[[COLUMNS]], %c128
  // CHECK: return %[[COLUMNS]], %[[ROWS]], %[[BLOCKS]]
  %q = fp8.quantize %x by %s <1x?> : tensor<?x?xbf16>, tensor<?x1xf32> -> tensor<?x?xf8E4M3FN>
  %w = fp8.dequantize %q by %s <1x?> : tensor<?x?xf8E4M3FN>, tensor<?x1xf32> -> tensor<?x?xbf16>
  %a = fp8.amax %w <1x128> : tensor<?x?xbf16> -> tensor<?x?xf32>
  %scale, %inverse = fp8.compute_scale %a for f8E4M3FN : tensor<?x?xf32> -> tensor<?x?xf32>, tensor<?x?xf32>
  %0 = tensor.dim %w, %c1 : tensor<?x?xbf16>
  %1 = tensor.dim %inverse, %c0 : tensor<?x?xf32>
  %2 = tensor.dim %scale, %c1 : tensor<?x?xf32>
  return %0, %1, %2 : index, index, index
}

// CHECK-LABEL: func @products
// CHECK-SAME: %[[A:.+]]: tensor<?x64xbf16>, %[[B:.+]]: tensor<64x?xbf16>
func.func @products(%a: tensor<?x64xbf16>, %b: tensor<64x?xbf16>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-DAG: %[[M:.+]] = tensor.dim %[[A]], %c0
  // CHECK-DAG: %[[N:.+]] = tensor.dim %[[B]], %c1
  // CHECK: return %[[M]], %[[N]]
  %d = fp8.matmul %a, %b : tensor<?x64xbf16>, tensor<64x?xbf16> -> tensor<?x?xbf16>
  %0 = tensor.dim %d, %c0 : tensor<?x?xbf16>
  %1 = tensor.dim %d, %c1 : tensor<?x?xbf16>
  return %0, %1 : index, index
}
