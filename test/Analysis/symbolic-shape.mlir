// RUN: fp8-opt %s --fp8-propagate-reshapes --fp8-canonicalize-graph | FileCheck %s

// Sizes are equal by what they are, not by how they are written.

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// `(s0 * s1 * 64) floordiv 64` is `s1 * s0`: both reshapes split alike.
// CHECK-LABEL: @floordiv_of_product
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%{{.+}} : tensor<?x?xf32>)
// CHECK: tensor.collapse_shape
// CHECK: return
func.func @floordiv_of_product(%x: tensor<?x?xf32> {fp8.dims = ["s0", "s1"]}) -> tensor<?xf32> {
  %s0 = fp8.symbol "s0" min = 1
  %s1 = fp8.symbol "s1" min = 1
  %c64 = arith.constant 64 : index
  %a = arith.muli %s0, %s1 : index
  %b = arith.muli %a, %c64 : index
  %n = arith.floordivsi %b, %c64 : index
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %q = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%flat : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = math.tanh %v : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %q : tensor<?xf32>
}
