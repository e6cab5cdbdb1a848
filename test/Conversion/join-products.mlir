// RUN: fp8-opt %s "--fp8-kernels-to-plan=target=sm_90a" | FileCheck %s
// RUN: fp8-opt %s "--fp8-kernels-to-plan=target=sm_100a" | FileCheck %s --check-prefix=ELSEWHERE
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
