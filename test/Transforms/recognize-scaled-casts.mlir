// RUN: fp8-opt %s --fp8-recognize-scaled-casts | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> (0, 0)>
#none = affine_map<(d0, d1) -> ()>

// `x.abs().max()`: exact in f32 whatever the input's type.
// CHECK-LABEL: @amax
// CHECK-SAME: %[[X:.+]]: tensor<?x64xbf16>
// CHECK: %[[A:.+]] = fp8.amax %[[X]] <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
// CHECK: %[[R:.+]] = tensor.collapse_shape %[[A]] []
// CHECK-SAME: fp8.node = "max"
// CHECK: return %[[R]]
func.func @amax(%x: tensor<?x64xbf16> {fp8.dims = ["s0", 64]}) -> tensor<f32> {
  %s0 = fp8.symbol "s0" min = 1
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%s0) : tensor<?x64xbf16>
  %abs = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %b = math.absf %a : bf16
    linalg.yield %b : bf16
  } -> tensor<?x64xbf16>
  %e1 = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%abs : tensor<?x64xbf16>) outs(%f1 : tensor<f32>) attrs = {fp8.node = "max"} {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.maximumf %acc, %w : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %max : tensor<f32>
}

// The maximum of signed values is something else.
// CHECK-LABEL: @negative_signed_max
// CHECK-NOT: fp8.amax
// CHECK: return
func.func @negative_signed_max(%x: tensor<4x64xbf16>) -> tensor<f32> {
  %low = arith.constant 0xFF800000 : f32
  %e1 = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<4x64xbf16>) outs(%f1 : tensor<f32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.maximumf %acc, %w : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %max : tensor<f32>
}

// maxnumf drops NaN, fp8.amax keeps it.
// CHECK-LABEL: @negative_maxnum
// CHECK-NOT: fp8.amax
// CHECK: return
func.func @negative_maxnum(%x: tensor<4x64xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<4x64xf32>) outs(%f1 : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = math.absf %a : f32
    %r = arith.maxnumf %acc, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %max : tensor<f32>
}

// `weight.to(bf16) * scale` on the way to a product stays one byte an element.
// CHECK-LABEL: @weight_only
// CHECK-SAME: %{{.+}}: tensor<4x64xbf16>, %[[W:.+]]: tensor<32x64xf8E4M3FN>, %[[S:.+]]: tensor<1x1xbf16>
// CHECK: %[[D:.+]] = fp8.dequantize %[[W]] by %[[S]] <?x?>
// CHECK: linalg.transpose ins(%[[D]]
// CHECK: fp8.matmul
func.func @weight_only(%x: tensor<4x64xbf16>, %w: tensor<32x64xf8E4M3FN>, %s: tensor<1x1xbf16>) -> tensor<4x32xbf16> {
  %e = tensor.empty() : tensor<32x64xbf16>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<32x64xf8E4M3FN>) outs(%e : tensor<32x64xbf16>) {
  ^bb0(%a: f8E4M3FN, %o: bf16):
    %b = fp8.cast %a : f8E4M3FN to f32
    %t = arith.truncf %b : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x64xbf16>
  %d = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %s : tensor<32x64xbf16>, tensor<1x1xbf16>) outs(%e : tensor<32x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w2 = arith.extf %b : bf16 to f32
    %m = arith.mulf %v, %w2 : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x64xbf16>
  %et = tensor.empty() : tensor<64x32xbf16>
  %t = linalg.transpose ins(%d : tensor<32x64xbf16>) outs(%et : tensor<64x32xbf16>) permutation = [1, 0]
  %p = fp8.matmul %x, %t : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
  return %p : tensor<4x32xbf16>
}
