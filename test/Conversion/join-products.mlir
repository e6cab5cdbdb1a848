// RUN: fp8-opt %s --split-input-file "--fp8-kernels-to-plan=target=sm_90a" | FileCheck %s
// RUN: fp8-opt %s --split-input-file "--fp8-kernels-to-plan=target=sm_100a" | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE-NOT: product =
// ELSEWHERE-NOT: joins

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

// A cast takes the product's result as it comes: the operands of the product
// stay until it has run.
// CHECK-LABEL: plan.kernel @k0
// CHECK-SAME: product = 0 : i32
// CHECK: plan.matmul(%[[A:.*]], %[[B:.*]]) into %[[D:.*]] a_scale %[[SA:.*]] b_scale %[[SB:.*]] a_block
// CHECK: plan.launch @k0 reads(%[[D]], %{{.*}}) writes(%{{.*}}) joins(%[[A]], %[[B]], %[[SA]], %[[SB]]) sizes
func.func @forward(%q: tensor<?x64xf8E4M3FN> {fp8.name = "q", fp8.dims = ["s", 64]}, %w: tensor<64x128xf8E4M3FN> {fp8.name = "w"},
    %a: tensor<1x1xf32> {fp8.name = "a"}, %b: tensor<1x1xf32> {fp8.name = "b"}, %c: tensor<f32> {fp8.name = "c"})
    -> (tensor<?x128xf8E4M3FN> {fp8.name = "y"}) {
  %s = fp8.symbol "s" min = 1
  %p = fp8.scaled_matmul(%q by %a <?x?>, %w by %b <?x?>) fast_accum
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %y = fp8.kernel (%x = %p : tensor<?x128xbf16>, %t = %c : tensor<f32>, %n = %s : index) -> (tensor<?x128xf8E4M3FN>) {
    %e = tensor.empty(%n) : tensor<?x128xf8E4M3FN>
    %u = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %t : tensor<?x128xbf16>, tensor<f32>) outs(%e : tensor<?x128xf8E4M3FN>) {
    ^bb1(%i: bf16, %j: f32, %o: f8E4M3FN):
      %0 = arith.extf %i : bf16 to f32
      %1 = arith.divf %0, %j : f32
      %2 = fp8.cast %1 overflow = saturate : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<?x128xf8E4M3FN>
    fp8.yield %u : tensor<?x128xf8E4M3FN>
  }
  return %y : tensor<?x128xf8E4M3FN>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Not with a reduction over the row, nor where another command reads the result,
// nor with sums beyond the tensor core's own.
// CHECK-NOT: product =
// CHECK-NOT: joins
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
