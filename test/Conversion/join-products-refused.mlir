// RUN: fp8-opt %s --fp8-kernels-to-plan=target=sm_90a | FileCheck %s

// Not with a reduction over the row, nor where another command reads the result,
// nor with sums beyond the tensor core's own, nor over state that is multiplied,
// nor by heads.
// CHECK-NOT: product =
// CHECK-NOT: joins

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

func.func @forward(%q: tensor<?x64xf8E4M3FN> {fp8.name = "q", fp8.dims = ["s", 64]}, %w: tensor<64x128xf8E4M3FN> {fp8.name = "w"},
    %a: tensor<1x1xf32> {fp8.name = "a"}, %b: tensor<1x1xf32> {fp8.name = "b"})
    -> (tensor<?xf32> {fp8.name = "y"}, tensor<?x128xbf16> {fp8.name = "z"}, tensor<?x128xbf16> {fp8.name = "p"}, tensor<?x128xbf16> {fp8.name = "v"}) {
  %s = fp8.symbol "s" min = 1
  %p = fp8.scaled_matmul(%q by %a <?x?>, %w by %b <?x?>) fast_accum
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %y = fp8.kernel (%x = %p : tensor<?x128xbf16>, %n = %s : index) -> (tensor<?xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x128xbf16>) outs(%f : tensor<?xf32>) {
    ^bb1(%i: bf16, %o: f32):
      %0 = arith.extf %i : bf16 to f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    fp8.yield %t : tensor<?xf32>
  }
  %r = fp8.scaled_matmul(%q by %a <?x?>, %w by %b <?x?>) fast_accum
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %z = fp8.kernel (%x = %r : tensor<?x128xbf16>, %n = %s : index) -> (tensor<?x128xbf16>) {
    %e = tensor.empty(%n) : tensor<?x128xbf16>
    %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x128xbf16>) outs(%e : tensor<?x128xbf16>) {
    ^bb1(%i: bf16, %o: bf16):
      %0 = arith.addf %i, %i : bf16
      linalg.yield %0 : bf16
    } -> tensor<?x128xbf16>
    fp8.yield %u : tensor<?x128xbf16>
  }
  %k = fp8.scaled_matmul(%q by %a <?x?>, %w by %b <?x?>)
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %v = fp8.kernel (%x = %k : tensor<?x128xbf16>, %n = %s : index) -> (tensor<?x128xbf16>) {
    %e = tensor.empty(%n) : tensor<?x128xbf16>
    %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x128xbf16>) outs(%e : tensor<?x128xbf16>) {
    ^bb1(%i: bf16, %o: bf16):
      %0 = arith.mulf %i, %i : bf16
      linalg.yield %0 : bf16
    } -> tensor<?x128xbf16>
    fp8.yield %u : tensor<?x128xbf16>
  }
  return %y, %z, %r, %v : tensor<?xf32>, tensor<?x128xbf16>, tensor<?x128xbf16>, tensor<?x128xbf16>
}

fp8.global state @h source = "h" : tensor<256x128xf8E4M3FN>
func.func @step(%w: tensor<128x128xf8E4M3FN> {fp8.name = "w"}, %a: tensor<1x1xf32> {fp8.name = "a"}, %b: tensor<1x1xf32> {fp8.name = "b"}) {
  %h = fp8.global_load @h : tensor<256x128xf8E4M3FN>
  %p = fp8.scaled_matmul(%h by %a <?x?>, %w by %b <?x?>) fast_accum
    : tensor<256x128xf8E4M3FN>, tensor<1x1xf32>, tensor<128x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<256x128xbf16>
  %y = fp8.kernel (%x = %p : tensor<256x128xbf16>) -> (tensor<256x128xf8E4M3FN>) {
    %e = tensor.empty() : tensor<256x128xf8E4M3FN>
    %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<256x128xbf16>) outs(%e : tensor<256x128xf8E4M3FN>) {
    ^bb1(%i: bf16, %o: f8E4M3FN):
      %0 = fp8.cast %i overflow = saturate : bf16 to f8E4M3FN
      linalg.yield %0 : f8E4M3FN
    } -> tensor<256x128xf8E4M3FN>
    fp8.yield %u : tensor<256x128xf8E4M3FN>
  }
  fp8.global_store %y, @h : tensor<256x128xf8E4M3FN>
  return
}

#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

func.func @heads(%q: tensor<?x64xf8E4M3FN> {fp8.name = "q", fp8.dims = ["s", 64]}, %w: tensor<64x128xf8E4M3FN> {fp8.name = "w"},
    %a: tensor<1x1xf32> {fp8.name = "a"}, %b: tensor<1x1xf32> {fp8.name = "b"}) -> (tensor<?x4x32xbf16> {fp8.name = "y"}) {
  %s = fp8.symbol "s" min = 1
  %p = fp8.scaled_matmul(%q by %a <?x?>, %w by %b <?x?>) fast_accum
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %v = tensor.expand_shape %p [[0], [1, 2]] output_shape [%s, 4, 32] : tensor<?x128xbf16> into tensor<?x4x32xbf16>
  %y = fp8.kernel (%x = %v : tensor<?x4x32xbf16>, %n = %s : index) -> (tensor<?x4x32xbf16>) {
    %e = tensor.empty(%n) : tensor<?x4x32xbf16>
    %u = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<?x4x32xbf16>) outs(%e : tensor<?x4x32xbf16>) {
    ^bb1(%i: bf16, %o: bf16):
      %0 = arith.mulf %i, %i : bf16
      linalg.yield %0 : bf16
    } -> tensor<?x4x32xbf16>
    fp8.yield %u : tensor<?x4x32xbf16>
  }
  return %y : tensor<?x4x32xbf16>
}
