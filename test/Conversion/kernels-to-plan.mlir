// RUN: fp8-opt %s --fp8-convert-to-plan --cse --split-input-file | FileCheck %s

// A gated MLP: quantise, product, gate, product.

fp8.global weight @up source = "up" : tensor<128x64xf8E4M3FN>
fp8.global weight @up_scale source = "up_scale" : tensor<1x1xf32>
func.func @forward(
    %x: tensor<?x?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", "2*s1", 64]})
    -> (tensor<?x?x128xbf16> {fp8.name = "y"}) {
  %s0 = fp8.symbol "s0" min = 1 max = 64
  %s1 = fp8.symbol "s1" min = 1 max = 64
  %c2 = arith.constant 2 : index
  %d1 = arith.muli %s1, %c2 : index
  %rows = arith.muli %s0, %d1 : index
  %w = fp8.global_load constant @up : tensor<128x64xf8E4M3FN>
  %ws = fp8.global_load constant @up_scale : tensor<1x1xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xbf16> into tensor<?x64xbf16>
  %q = fp8.kernel (%a = %flat : tensor<?x64xbf16>, %s = %ws : tensor<1x1xf32>, %n = %rows : index) -> (tensor<?x64xf8E4M3FN>) attributes {fp8.nodes = ["to_1"]} {
    %e = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0, 0)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%a, %s : tensor<?x64xbf16>, tensor<1x1xf32>) outs(%e : tensor<?x64xf8E4M3FN>) {
    ^bb0(%in: bf16, %scale: f32, %out: f8E4M3FN):
      %0 = arith.extf %in : bf16 to f32
      %1 = arith.divf %0, %scale : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<?x64xf8E4M3FN>
    fp8.yield %g : tensor<?x64xf8E4M3FN>
  }
  %e = tensor.empty() : tensor<64x128xf8E4M3FN>
  %wt = linalg.transpose ins(%w : tensor<128x64xf8E4M3FN>) outs(%e : tensor<64x128xf8E4M3FN>) permutation = [1, 0]
  %p = fp8.scaled_matmul (%q by %ws #fp8.scaling<?x?>, %wt by %ws #fp8.scaling<?x?>) {fp8.node = "scaled_mm"}
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [%s0, %d1, 128] : tensor<?x128xbf16> into tensor<?x?x128xbf16>
  return %y : tensor<?x?x128xbf16>
}
