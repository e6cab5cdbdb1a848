// RUN: fp8-opt %s --fp8-canonicalize --fp8-graph-to-kernels | FileCheck %s
// RUN: fp8-opt %s --fp8-canonicalize --fp8-graph-to-kernels --remarks-filter=fp8-fuse-casts --remark-policy=all --remark-format=emitRemark -verify-diagnostics -o /dev/null

// Views between a producer and its cast, and equal casts: the pipeline's work.

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#one = affine_map<(d0, d1) -> (0, 0)>

// The reshape comes after the kernel.
// CHECK-LABEL: @reshape_between
// CHECK-SAME: %[[X:.+]]: tensor<?x?x64xbf16>
// CHECK: %[[K:.+]] = fp8.kernel (%{{.+}} = %[[X]] : tensor<?x?x64xbf16>
// CHECK: math.tanh
// CHECK: fp8.cast
// CHECK: fp8.yield
// CHECK-NOT: fp8.kernel
// CHECK: %[[R:.+]] = tensor.collapse_shape %[[K]] {{\[}}[0, 1], [2]]
// CHECK: return %[[R]]
func.func @reshape_between(%x: tensor<?x?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", "s1", 64]}, %s: tensor<1x1xf32>) -> tensor<?x64xf8E4M3FN> {
  %s0 = fp8.symbol "s0" min = 1
  %s1 = fp8.symbol "s1" min = 1
  %n = arith.muli %s0, %s1 : index
  %e = tensor.empty(%s0, %s1) : tensor<?x?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x64xbf16>) outs(%e : tensor<?x?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = math.tanh %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x?x64xbf16>
  %flat = tensor.collapse_shape %h [[0, 1], [2]] : tensor<?x?x64xbf16> into tensor<?x64xbf16>
  %eq = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
  // expected-remark @below {{cast is in the kernel of its producer: 2 ops, 0 reductions}}
  %q = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%flat, %s : tensor<?x64xbf16>, tensor<1x1xf32>) outs(%eq : tensor<?x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %d = arith.divf %w, %b : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: @transpose_between
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK: math.tanh
// CHECK: fp8.cast
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @transpose_between(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %s: tensor<1x1xf32>) -> tensor<64x?xf8E4M3FN> {
  %s0 = fp8.symbol "s0" min = 1
  %e = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = math.tanh %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %et = tensor.empty(%s0) : tensor<64x?xbf16>
  %ht = linalg.transpose ins(%h : tensor<?x64xbf16>) outs(%et : tensor<64x?xbf16>) permutation = [1, 0]
  %eq = tensor.empty(%s0) : tensor<64x?xf8E4M3FN>
  // expected-remark @below {{cast is in the kernel of its producer: 2 ops, 0 reductions}}
  %q = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%ht, %s : tensor<64x?xbf16>, tensor<1x1xf32>) outs(%eq : tensor<64x?xf8E4M3FN>) {
  ^bb0(%a: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %d = arith.divf %w, %b : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<64x?xf8E4M3FN>
  return %q : tensor<64x?xf8E4M3FN>
}

// Two products that spell the same cast share one; its name is the first's.
// CHECK-LABEL: @equal_casts
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK-SAME: fp8.nodes = ["to"]
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]], %[[K]]
func.func @equal_casts(%x: tensor<4x64xbf16> {fp8.name = "x", fp8.dims = [4, 64]}, %s: tensor<1x1xf32>) -> (tensor<4x64xf8E4M3FN>, tensor<4x64xf8E4M3FN>) {
  %e = tensor.empty() : tensor<4x64xf8E4M3FN>
  // expected-remark @below {{Reason="its input is the graph input 'x'"}}
  %q = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x64xbf16>, tensor<1x1xf32>) outs(%e : tensor<4x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %d = arith.divf %w, %b : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  %p = linalg.generic {indexing_maps = [#id2, #one, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x64xbf16>, tensor<1x1xf32>) outs(%e : tensor<4x64xf8E4M3FN>) attrs = {fp8.node = "to_1"} {
  ^bb0(%a: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %d = arith.divf %w, %b : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  return %q, %p : tensor<4x64xf8E4M3FN>, tensor<4x64xf8E4M3FN>
}

// CHECK-LABEL: @negative_attention_result
// CHECK: fp8.attention
// CHECK: fp8.kernel
// CHECK: fp8.cast
func.func @negative_attention_result(%q: tensor<1x4x8x16xbf16>, %s: tensor<1x1x1x1xf32>) -> tensor<1x4x8x16xf8E4M3FN> {
  %a = fp8.attention %q, %q, %q scale = 0.25 {fp8.node = "sdpa"} : tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16> -> tensor<1x4x8x16xbf16>
  %e = tensor.empty() : tensor<1x4x8x16xf8E4M3FN>
  // expected-remark @below {{Reason="its input is the result of fp8.attention 'sdpa'"}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (0, 0, 0, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %s : tensor<1x4x8x16xbf16>, tensor<1x1x1x1xf32>) outs(%e : tensor<1x4x8x16xf8E4M3FN>) {
  ^bb0(%x: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %x : bf16 to f32
    %d = arith.divf %w, %b : f32
    %c = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %c : f8E4M3FN
  } -> tensor<1x4x8x16xf8E4M3FN>
  return %r : tensor<1x4x8x16xf8E4M3FN>
}
