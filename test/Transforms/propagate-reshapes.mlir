// RUN: fp8-opt %s --fp8-propagate-reshapes --fp8-canonicalize-graph | FileCheck %s

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#bc3 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#row2 = affine_map<(d0, d1) -> (d0)>
#row3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>

// The merged dim of the consumer is split; the merge comes after it.
// CHECK-LABEL: @collapse_before_cast
// CHECK-SAME: %[[X:.+]]: tensor<?x?x64xbf16>
// CHECK-NOT: collapse_shape
// CHECK: %[[Q:.+]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel"]
// CHECK-SAME: ins(%[[X]] : tensor<?x?x64xbf16>)
// CHECK-SAME: fp8.node = "to"
// CHECK: %[[R:.+]] = tensor.collapse_shape %[[Q]] {{\[}}[0, 1], [2]]
// CHECK: return %[[R]]
func.func @collapse_before_cast(%x: tensor<?x?x64xbf16> {fp8.dims = ["s0", "s1", 64]}) -> tensor<?x64xf8E4M3FN> {
  %s0 = fp8.symbol "s0" min = 1
  %s1 = fp8.symbol "s1" min = 1
  %n = arith.muli %s1, %s0 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xbf16> into tensor<?x64xbf16>
  %e = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%flat : tensor<?x64xbf16>) outs(%e : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: bf16, %o: f8E4M3FN):
    %r = fp8.cast %a : bf16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// A row is split into the blocks that a later op wants, and so is the norm's
// reduction; no reshape is left between the two.
// CHECK-LABEL: @split_row
// CHECK: %[[S:.+]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction", "reduction"]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: expand_shape
// CHECK: return
func.func @split_row(%x: tensor<?x256xbf16> {fp8.dims = ["s0", 256]}, %g: tensor<256xf32>) -> (tensor<?xf32>, tensor<?x2xf32>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id2, #last, #row2], iterator_types = ["parallel", "reduction"]}
      ins(%x, %g : tensor<?x256xbf16>, tensor<256xf32>) outs(%f1 : tensor<?xf32>) {
  ^bb0(%a: bf16, %b: f32, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %p = arith.mulf %w, %b : f32
    %r = arith.addf %acc, %p : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %blocks = tensor.expand_shape %x [[0], [1, 2]] output_shape [%s0, 2, 128] : tensor<?x256xbf16> into tensor<?x2x128xbf16>
  %e2 = tensor.empty(%s0) : tensor<?x2xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %amax = linalg.generic {indexing_maps = [#id3, #row3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%blocks : tensor<?x2x128xbf16>) outs(%f2 : tensor<?x2xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %b = math.absf %w : f32
    %r = arith.maximumf %acc, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x2xf32>
  return %sum, %amax : tensor<?xf32>, tensor<?x2xf32>
}

// Dims of size 1 go, the broadcast is a map.
// CHECK-LABEL: @units
// CHECK: %[[C:.+]] = tensor.collapse_shape %{{.+}} {{\[}}[0], [1, 2]] : tensor<?x1x64xbf16> into tensor<?x64xbf16>
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #{{.+}}, #{{.+}}]
// CHECK-SAME: ins(%{{.+}}, %[[C]] : tensor<?x?x64xbf16>, tensor<?x64xbf16>)
func.func @units(%x: tensor<?x?x64xbf16> {fp8.dims = ["s0", "s1", 64]}, %y: tensor<?x1x64xbf16> {fp8.dims = ["s0", 1, 64]}) -> tensor<?x?x64xf32> {
  %s0 = fp8.symbol "s0" min = 1
  %s1 = fp8.symbol "s1" min = 1
  %e = tensor.empty(%s0, %s1) : tensor<?x?x64xf32>
  %q = linalg.generic {indexing_maps = [#id3, #bc3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<?x?x64xbf16>, tensor<?x1x64xbf16>) outs(%e : tensor<?x?x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %v = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %r = arith.addf %v, %w : f32
    linalg.yield %r : f32
  } -> tensor<?x?x64xf32>
  return %q : tensor<?x?x64xf32>
}

// A transpose between producer and cast becomes the map of the cast.
// CHECK-LABEL: @transpose_between
// CHECK: %[[H:.+]] = linalg.generic
// CHECK: math.tanh
// CHECK-NOT: linalg.transpose
// CHECK: %[[Q:.+]] = linalg.generic
// CHECK-SAME: ins(%[[H]] : tensor<?x64xbf16>)
// CHECK: fp8.cast
// CHECK: return %[[Q]] : tensor<64x?xf8E4M3FN>
func.func @transpose_between(%x: tensor<?x64xbf16> {fp8.dims = ["s0", 64]}) -> tensor<64x?xf8E4M3FN> {
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
  %q = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%ht : tensor<64x?xbf16>) outs(%eq : tensor<64x?xf8E4M3FN>) {
  ^bb0(%a: bf16, %o: f8E4M3FN):
    %r = fp8.cast %a : bf16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<64x?xf8E4M3FN>
  return %q : tensor<64x?xf8E4M3FN>
}

// A product's name stands on the reshape of its result. The reshape goes, the
// name stays: lock-step compares the product by it.
// CHECK-LABEL: @product_keeps_name
// CHECK: fp8.matmul %{{.+}} {fp8.node = "linear"}
// CHECK-NOT: fp8.node
// CHECK: math.tanh
func.func @product_keeps_name(%a: tensor<6x16xbf16>, %b: tensor<16x8xbf16>) -> tensor<2x3x8xbf16> {
  %p = fp8.matmul %a, %b : tensor<6x16xbf16>, tensor<16x8xbf16> -> tensor<6x8xbf16>
  %s = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 3, 8] {fp8.node = "linear"} : tensor<6x8xbf16> into tensor<2x3x8xbf16>
  %e = tensor.empty() : tensor<2x3x8xbf16>
  %q = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x3x8xbf16>) outs(%e : tensor<2x3x8xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    %r = math.tanh %x : bf16
    linalg.yield %r : bf16
  } -> tensor<2x3x8xbf16>
  return %q : tensor<2x3x8xbf16>
}

// Places are computed from a loop's index: it is not split.
// CHECK-LABEL: @negative_index
// CHECK: tensor.expand_shape
// CHECK: return
func.func @negative_index() -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<32xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<32xf32>) {
  ^bb0(%o: f32):
    %k = linalg.index 0 : index
    %c = arith.index_cast %k : index to i32
    %r = arith.sitofp %c : i32 to f32
    linalg.yield %r : f32
  } -> tensor<32xf32>
  %s = tensor.expand_shape %i [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %e2 = tensor.empty() : tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4x8xf32>) outs(%e2 : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.cos %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %q : tensor<4x8xf32>
}
