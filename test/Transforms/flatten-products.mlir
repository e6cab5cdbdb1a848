// RUN: fp8-opt %s --fp8-flatten-products | FileCheck %s

#repeat = affine_map<(d0, d1, d2) -> (d1, d2)>
#identity = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#rows = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: func.func @linear
// CHECK-SAME: %[[X:.*]]: tensor<?x?x64xbf16>, %[[W:.*]]: tensor<64x32xbf16>
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK: %[[PRODUCT:.*]] = fp8.matmul %[[ROWS]], %[[W]] {fp8.node = "bmm"} : tensor<?x64xbf16>, tensor<64x32xbf16> -> tensor<?x32xbf16>
// CHECK: %[[RESULT:.*]] = tensor.expand_shape %[[PRODUCT]] {{\[\[}}0, 1], [2]] output_shape {{.*}} : tensor<?x32xbf16> into tensor<?x?x32xbf16>
// CHECK: return %[[RESULT]]
func.func @linear(%x: tensor<?x?x64xbf16>, %w: tensor<64x32xbf16>, %empty: tensor<?x64x32xbf16>) -> tensor<?x?x32xbf16> {
  %0 = linalg.generic {indexing_maps = [#repeat, #identity], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<64x32xbf16>) outs(%empty : tensor<?x64x32xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<?x64x32xbf16>
  %1 = fp8.matmul %x, %0 {fp8.node = "bmm"} : tensor<?x?x64xbf16>, tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
  return %1 : tensor<?x?x32xbf16>
}

// A matrix of its own for each batch.
// CHECK-LABEL: func.func @negative_batches
// CHECK: fp8.matmul {{.*}} tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
func.func @negative_batches(%x: tensor<?x?x64xbf16>, %w: tensor<?x64x32xbf16>) -> tensor<?x?x32xbf16> {
  %0 = fp8.matmul %x, %w : tensor<?x?x64xbf16>, tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
  return %0 : tensor<?x?x32xbf16>
}

// Repeated along a dim of the matrix, not along the batch.
// CHECK-LABEL: func.func @negative_rows
// CHECK: fp8.matmul {{.*}} tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
func.func @negative_rows(%x: tensor<?x?x64xbf16>, %w: tensor<?x32xbf16>, %empty: tensor<?x64x32xbf16>) -> tensor<?x?x32xbf16> {
  %0 = linalg.generic {indexing_maps = [#rows, #identity], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<?x32xbf16>) outs(%empty : tensor<?x64x32xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<?x64x32xbf16>
  %1 = fp8.matmul %x, %0 : tensor<?x?x64xbf16>, tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
  return %1 : tensor<?x?x32xbf16>
}

// Repeated, and changed on the way.
// CHECK-LABEL: func.func @negative_computed
// CHECK: fp8.matmul {{.*}} tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
func.func @negative_computed(%x: tensor<?x?x64xbf16>, %w: tensor<64x32xbf16>, %empty: tensor<?x64x32xbf16>) -> tensor<?x?x32xbf16> {
  %0 = linalg.generic {indexing_maps = [#repeat, #identity], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<64x32xbf16>) outs(%empty : tensor<?x64x32xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %2 = arith.negf %in : bf16
    linalg.yield %2 : bf16
  } -> tensor<?x64x32xbf16>
  %1 = fp8.matmul %x, %0 : tensor<?x?x64xbf16>, tensor<?x64x32xbf16> -> tensor<?x?x32xbf16>
  return %1 : tensor<?x?x32xbf16>
}
