// RUN: fp8-opt %s --fp8-prepare-weights | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK: fp8.global weight @wide
// CHECK: fp8.global weight @f8
// CHECK: fp8.global weight @[[P:.+]] : tensor<256x512xf8E4M3FN>
// CHECK-LABEL: func.func @prepare
// CHECK: %[[W:.+]] = fp8.global_load constant @wide
// CHECK: %[[Q:.+]] = linalg.generic
// CHECK: fp8.cast
// CHECK: fp8.global_store %[[Q]], @[[P]]
// CHECK-LABEL: func.func @forward
// CHECK: fp8.global_load constant @[[P]]
// The f8 weight is decoded where it was, not made bigger.
// CHECK: fp8.global_load constant @f8
// CHECK: linalg.generic
// CHECK-SAME: tensor<256x512xf32>
// CHECK: return
module {
  fp8.global weight @wide source = "wide" : tensor<256x512xbf16>
  fp8.global weight @f8 source = "f8" : tensor<256x512xf8E4M3FN>
  func.func @forward() -> (tensor<256x512xf8E4M3FN>, tensor<256x512xf32>) {
    %w = fp8.global_load constant @wide : tensor<256x512xbf16>
    %e = tensor.empty() : tensor<256x512xf8E4M3FN>
    %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w : tensor<256x512xbf16>) outs(%e : tensor<256x512xf8E4M3FN>) {
    ^bb0(%a: bf16, %o: f8E4M3FN):
      %r = fp8.cast %a : bf16 to f8E4M3FN
      linalg.yield %r : f8E4M3FN
    } -> tensor<256x512xf8E4M3FN>
    %v = fp8.global_load constant @f8 : tensor<256x512xf8E4M3FN>
    %e2 = tensor.empty() : tensor<256x512xf32>
    %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%v : tensor<256x512xf8E4M3FN>) outs(%e2 : tensor<256x512xf32>) {
    ^bb0(%a: f8E4M3FN, %o: f32):
      %r = fp8.cast %a : f8E4M3FN to f32
      linalg.yield %r : f32
    } -> tensor<256x512xf32>
    return %q, %d : tensor<256x512xf8E4M3FN>, tensor<256x512xf32>
  }
}
