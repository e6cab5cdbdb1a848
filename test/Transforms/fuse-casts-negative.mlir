// RUN: fp8-opt %s --fp8-fuse-casts --remarks-filter=fp8-fuse-casts --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// What is not fused, and the reason that is given.

#id = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0, d1) -> ()>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#none = affine_map<() -> ()>
#bh = affine_map<(d0, d1, d2) -> (d0, d2)>

// The wide value is one more result, not a second kernel.
// CHECK-LABEL: @negative_two_users_of_the_wide_value
// CHECK: %[[K:.+]]:2 = fp8.kernel
// CHECK-SAME: (tensor<?x64xbf16>, tensor<?x64xf8E4M3FN>)
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @negative_two_users_of_the_wide_value(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>, %y: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xbf16>) outs(%f2 : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %v = arith.mulf %w, %w : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e3 = tensor.empty(%s0) : tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e3 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %m = arith.divf %a, %n : f32
    %r = math.rsqrt %m : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e4 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd : tensor<?x64xbf16>, tensor<?xf32>) outs(%e4 : tensor<?x64xbf16>) attrs = {fp8.node = "norm"} {
  ^bb0(%a: bf16, %b: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = arith.mulf %w, %b : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e5 = tensor.empty(%s0) : tensor<?x64xf32>
  %qd = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<?x64xbf16>, tensor<f32>) outs(%e5 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %s: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.divf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %e6 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  // expected-remark @below {{cast is in the kernel of its producer: 5 ops, 1 reductions}}
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%qd : tensor<?x64xf32>) outs(%e6 : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %h, %q : tensor<?x64xbf16>, tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: @negative_amax_over_another_axis
// CHECK: fp8.kernel
// CHECK: math.rsqrt
// CHECK: fp8.kernel
// CHECK: arith.maximumf
// CHECK-NOT: fp8.kernel
// CHECK: fp8.cast
// CHECK: return
func.func @negative_amax_over_another_axis(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>) -> (tensor<64xf32>, tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xbf16>) outs(%f2 : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %v = arith.mulf %w, %w : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e3 = tensor.empty(%s0) : tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e3 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %m = arith.divf %a, %n : f32
    %r = math.rsqrt %m : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e4 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd : tensor<?x64xbf16>, tensor<?xf32>) outs(%e4 : tensor<?x64xbf16>) attrs = {fp8.node = "norm"} {
  ^bb0(%a: bf16, %b: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = arith.mulf %w, %b : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e5 = tensor.empty() : tensor<64xf32>
  %f6 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<64xf32>) -> tensor<64xf32>
  // expected-remark @below {{Node=amax, Reason="reductions run over different axes", Remark="amax is not in the kernel of its producer"}}
  %am = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%h : tensor<?x64xbf16>) outs(%f6 : tensor<64xf32>) attrs = {fp8.node = "amax"} {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %b = math.absf %w : f32
    %s = arith.maximumf %acc, %b : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  %e7 = tensor.empty() : tensor<64xf32>
  %sc = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%am : tensor<64xf32>) outs(%e7 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 448.0 : f32
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %e8 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  // expected-remark @below {{Reason="reductions run over different axes", Remark="cast is not in the kernel of its producer"}}
  %q = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %sc : tensor<?x64xbf16>, tensor<64xf32>) outs(%e8 : tensor<?x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %d = arith.divf %w, %b : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %sc, %q : tensor<64xf32>, tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: @negative_graph_input
// CHECK: fp8.kernel
// CHECK: fp8.cast
func.func @negative_graph_input(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>) -> (tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  // expected-remark @below {{Reason="its input is the graph input 'x'", Remark="cast has no producer to fuse with"}}
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e1 : tensor<?x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %o: f8E4M3FN):
    %r = fp8.cast %a : bf16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}
