// RUN: fp8-opt %s -fp8-expand-scaled-ops -split-input-file | FileCheck %s
// RUN: fp8-opt %s -fp8-expand-scaled-ops=keep-tensor-amax -split-input-file | FileCheck %s --check-prefix=KEEP

// CHECK-DAG: #[[$ID:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.+]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func @quantize_row
func.func @quantize_row(%x: tensor<?x64xbf16>, %s: tensor<?x1xf32>) -> tensor<?x64xf8E4M3FN> {
  // CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ROW]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
  // CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x1xf32>)
  // CHECK-SAME: attrs = {fp8.node = "convert"}
  // CHECK: ^bb0(%[[X:.+]]: bf16, %[[S:.+]]: f32, %{{.*}}: f8E4M3FN):
  // CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[X]] : bf16 to f32
  // CHECK-NEXT: %[[QUOTIENT:.+]] = arith.divf %[[WIDE]], %[[S]] : f32
  // CHECK-NEXT: %[[Q:.+]] = fp8.cast %[[QUOTIENT]] : f32 to f8E4M3FN
  // CHECK-NEXT: linalg.yield %[[Q]]
  %0 = fp8.quantize %x by %s <1x?> {fp8.node = "convert"} : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xf8E4M3FN>
  return %0 : tensor<?x64xf8E4M3FN>
}

// -----

// CHECK-DAG: #[[$ONE:.+]] = affine_map<(d0, d1) -> (0, 0)>
// CHECK-LABEL: func @quantize_tensor_multiply
func.func @quantize_tensor_multiply(%x: tensor<4x64xf32>, %s: tensor<1x1xbf16>) -> tensor<4x64xf8E5M2> {
  // CHECK: indexing_maps = [#{{.*}}, #[[$ONE]], #{{.*}}]
  // CHECK: ^bb0(%[[X:.+]]: f32, %[[S:.+]]: bf16, %{{.*}}: f8E5M2):
  // CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[S]] : bf16 to f32
  // CHECK-NEXT: %[[PRODUCT:.+]] = arith.mulf %[[X]], %[[WIDE]] : f32
  // CHECK-NEXT: fp8.cast %[[PRODUCT]] overflow = ieee : f32 to f8E5M2
  %0 = fp8.quantize %x by %s <?x?> mode = multiply overflow = ieee : tensor<4x64xf32>, tensor<1x1xbf16> -> tensor<4x64xf8E5M2>
  return %0 : tensor<4x64xf8E5M2>
}

// -----

// Blocks of an expanded dim and of a dim as it is.
// CHECK-DAG: #[[$EXPANDED:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
// CHECK-DAG: #[[$BLOCK:.+]] = affine_map<(d0, d1) -> (d0, d1 floordiv 128)>
// CHECK-LABEL: func @quantize_blocks
func.func @quantize_blocks(%x: tensor<?x2x128xbf16>, %s: tensor<?x2x1xf32>, %y: tensor<?x200xbf16>, %t: tensor<?x2xf32>)
    -> (tensor<?x2x128xf8E4M3FN>, tensor<?x200xf8E4M3FN>) {
  // CHECK: indexing_maps = [#{{.*}}, #[[$EXPANDED]], #{{.*}}]
  // CHECK: indexing_maps = [#{{.*}}, #[[$BLOCK]], #{{.*}}]
  %0 = fp8.quantize %x by %s <1x1x128> : tensor<?x2x128xbf16>, tensor<?x2x1xf32> -> tensor<?x2x128xf8E4M3FN>
  %1 = fp8.quantize %y by %t <1x128> : tensor<?x200xbf16>, tensor<?x2xf32> -> tensor<?x200xf8E4M3FN>
  return %0, %1 : tensor<?x2x128xf8E4M3FN>, tensor<?x200xf8E4M3FN>
}

// -----

// CHECK-LABEL: func @dequantize
func.func @dequantize(%x: tensor<8x4xf8E4M3FN>, %s: tensor<8x1xbf16>, %t: tensor<8x1xf32>)
    -> (tensor<8x4xbf16>, tensor<8x4xf32>, tensor<8x4xf16>) {
  // The product of an f8 and a bf16 is exact in f32.
  // CHECK: %[[WIDE:.+]] = fp8.cast %{{.*}} : f8E4M3FN to f32
  // CHECK-NEXT: %[[S:.+]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK-NEXT: %[[PRODUCT:.+]] = arith.mulf %[[WIDE]], %[[S]] : f32
  // CHECK-NEXT: %[[ROUNDED:.+]] = arith.truncf %[[PRODUCT]] : f32 to bf16
  // CHECK-NEXT: linalg.yield %[[ROUNDED]]
  %0 = fp8.dequantize %x by %s <1x?> : tensor<8x4xf8E4M3FN>, tensor<8x1xbf16> -> tensor<8x4xbf16>
  // CHECK: arith.mulf
  // CHECK-NEXT: %[[ROUNDED:.+]] = arith.truncf %{{.*}} : f32 to bf16
  // CHECK-NEXT: %[[BACK:.+]] = arith.extf %[[ROUNDED]] : bf16 to f32
  // CHECK-NEXT: linalg.yield %[[BACK]]
  %1 = fp8.dequantize %x by %s <1x?> : tensor<8x4xf8E4M3FN>, tensor<8x1xbf16> -> tensor<8x4xf32>
  // CHECK: arith.mulf
  // CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
  %2 = fp8.dequantize %x by %t <1x?> : tensor<8x4xf8E4M3FN>, tensor<8x1xf32> -> tensor<8x4xf16>
  return %0, %1, %2 : tensor<8x4xbf16>, tensor<8x4xf32>, tensor<8x4xf16>
}

// -----

// CHECK-LABEL: func @dequantize_mx
func.func @dequantize_mx(%x: tensor<8x64xf8E4M3FN>, %s: tensor<8x2xf8E8M0FNU>) -> tensor<8x64xf32> {
  // CHECK: %[[CODE:.+]] = arith.bitcast %{{.*}} : f8E8M0FNU to i8
  // CHECK: arith.extui %[[CODE]] : i8 to i32
  // CHECK: arith.shli
  // CHECK: arith.mulf
  %0 = fp8.dequantize %x by %s <1x32> : tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU> -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

// -----

// CHECK-LABEL: func @amax_row
// CHECK-SAME: %[[X:.+]]: tensor<?x64xbf16>
func.func @amax_row(%x: tensor<?x64xbf16>) -> (tensor<?x1xf32>, tensor<?x1xbf16>) {
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[INIT:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<?x1xf32>)
  // CHECK: linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "reduction"]
  // CHECK-SAME: outs(%[[INIT]] : tensor<?x1xf32>)
  // CHECK: ^bb0(%[[IN:.+]]: bf16, %[[ACC:.+]]: f32):
  // CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[IN]] : bf16 to f32
  // CHECK-NEXT: %[[ABS:.+]] = math.absf %[[WIDE]] : f32
  // CHECK-NEXT: arith.maximumf %[[ACC]], %[[ABS]] : f32
  %0 = fp8.amax %x <1x?> : tensor<?x64xbf16> -> tensor<?x1xf32>
  // The largest is one of the inputs, so it is exact in bf16.
  // CHECK: arith.maximumf
  // CHECK: arith.truncf
  %1 = fp8.amax %x <1x?> : tensor<?x64xbf16> -> tensor<?x1xbf16>
  return %0, %1 : tensor<?x1xf32>, tensor<?x1xbf16>
}

// -----

// CHECK-LABEL: func @amax_tensor
// CHECK-NOT: fp8.amax
// CHECK: iterator_types = ["reduction", "reduction"]
// KEEP-LABEL: func @amax_tensor
// KEEP: fp8.amax
func.func @amax_tensor(%x: tensor<?x64xbf16>) -> tensor<1x1xf32> {
  %0 = fp8.amax %x <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

// What lies beyond the data counts as 0.
// CHECK-LABEL: func @amax_blocks
// CHECK-SAME: %[[X:.+]]: tensor<3x200xf32>
func.func @amax_blocks(%x: tensor<3x200xf32>) -> tensor<3x2xf32> {
  // CHECK: linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: %[[IN:.+]] = arith.cmpi slt, %{{.*}}, %c200
  // CHECK: tensor.extract %[[X]]
  // CHECK: arith.select %[[IN]]
  // CHECK: arith.maximumf
  %0 = fp8.amax %x <1x128> : tensor<3x200xf32> -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func @compute_scale
func.func @compute_scale(%amax: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  // CHECK: %[[EPS:.+]] = arith.constant 9.99999996E-13 : f32
  // CHECK: arith.cmpf olt, %{{.*}}, %[[EPS]]
  // CHECK: %[[AMAX:.+]] = arith.select
  // CHECK: %[[MAX:.+]] = arith.constant 4.480000e+02 : f32
  // CHECK: %[[QUOTIENT:.+]] = arith.divf %[[MAX]], %[[AMAX]]
  // CHECK: %[[MARGIN:.+]] = arith.constant 8.000000e+00 : f32
  // CHECK: arith.divf %[[QUOTIENT]], %[[MARGIN]]
  // CHECK: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
  // CHECK: %[[SCALE:.+]] = arith.select %{{.*}}, %[[ONE]], %{{.*}} : f32
  // CHECK: %[[INVERSE:.+]] = arith.divf %[[ONE]], %[[SCALE]]
  // CHECK: linalg.yield %[[SCALE]], %[[INVERSE]]
  %0, %1 = fp8.compute_scale %amax for f8E4M3FN pow2 {margin = 3 : i32, eps = 1.0e-12 : f32} : tensor<?x1xf32> -> tensor<?x1xf32>, tensor<?x1xf32>
  return %0, %1 : tensor<?x1xf32>, tensor<?x1xf32>
}

// -----

// CHECK-LABEL: func @update_history
// CHECK-SAME: %[[H:.+]]: tensor<4xf32>, %[[AMAX:.+]]: tensor<1x1xf32>
func.func @update_history(%h: tensor<4xf32>, %amax: tensor<1x1xf32>) -> (tensor<f32>, tensor<4xf32>) {
  // CHECK: %[[USED:.+]] = linalg.generic {{.*}} ins(%[[H]] : tensor<4xf32>)
  // CHECK-SAME: attrs = {fp8.node = "amax"}
  // CHECK: arith.maximumf
  // CHECK: %[[UPDATED:.+]] = linalg.generic {{.*}} ins(%[[AMAX]] : tensor<1x1xf32>)
  // CHECK-SAME: attrs = {fp8.node = "copy"}
  // CHECK: tensor.extract %[[H]]
  // CHECK: return %[[USED]], %[[UPDATED]]
  %0, %1 = fp8.update_history %h, %amax reduce = max {fp8.node = ["amax", "copy"]} : tensor<4xf32>, tensor<1x1xf32> -> tensor<f32>, tensor<4xf32>
  return %0, %1 : tensor<f32>, tensor<4xf32>
}

// -----

// Sizes come from where the value was written, not from the value.
// CHECK-LABEL: func @sizes
// CHECK-SAME: %[[N:.+]]: index
func.func @sizes(%n: index, %s: tensor<?x1xf32>, %v: bf16) -> tensor<?x64xf8E4M3FN> {
  // CHECK: fp8.kernel
  // CHECK-NOT: tensor.dim
  %0 = fp8.kernel (%m = %n : index, %t = %s : tensor<?x1xf32>) -> (tensor<?x64xf8E4M3FN>) {
    %one = arith.constant 1.0 : bf16
    %empty = tensor.empty(%m) : tensor<?x64xbf16>
    %fill = linalg.fill ins(%one : bf16) outs(%empty : tensor<?x64xbf16>) -> tensor<?x64xbf16>
    %q = fp8.quantize %fill by %t <1x?> : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xf8E4M3FN>
    fp8.yield %q : tensor<?x64xf8E4M3FN>
  }
  return %0 : tensor<?x64xf8E4M3FN>
}
