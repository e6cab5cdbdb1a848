// RUN: fp8-opt %s --fp8-convert-to-plan --split-input-file | FileCheck %s

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#vector = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>

// Rows of 16 x 128 elements that lie one after the other are rows of 2048; so
// are the vectors of each batch, which keep the batch a dim of its own.

// CHECK: plan.kernel @k0 unit_dims = [2, 1, 2, 1]
// CHECK: ^bb0(%{{.*}}: tensor<4x?x2048xbf16>, %{{.*}}: tensor<4x2048xbf16>, %[[N:.*]]: index):
// CHECK: tensor.empty(%[[N]]) : tensor<4x?x2048xbf16>
// CHECK: iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: plan.launch @k0 {{.*}}sizes[%c4, %[[S:[0-9]*]], %c2048,
func.func @forward(%x: tensor<4x?x16x128xbf16> {fp8.name = "x", fp8.dims = [4, "s", 16, 128]},
                   %v: tensor<4x16x128xbf16> {fp8.name = "v", fp8.dims = [4, 16, 128]})
    -> (tensor<4x?x16x128xbf16> {fp8.name = "y"}, tensor<4x?xf32> {fp8.name = "z"}) {
  %s = fp8.symbol "s" min = 1
  %y, %z = fp8.kernel (%a = %x : tensor<4x?x16x128xbf16>, %w = %v : tensor<4x16x128xbf16>, %n = %s : index)
      -> (tensor<4x?x16x128xbf16>, tensor<4x?xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<4x?x16x128xbf16>
    %m = linalg.generic {indexing_maps = [#id, #vector, #id],
        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%a, %w : tensor<4x?x16x128xbf16>, tensor<4x16x128xbf16>) outs(%e : tensor<4x?x16x128xbf16>) {
    ^bb1(%p: bf16, %q: bf16, %o: bf16):
      %0 = arith.mulf %p, %q : bf16
      linalg.yield %0 : bf16
    } -> tensor<4x?x16x128xbf16>
    %f = tensor.empty(%n) : tensor<4x?xf32>
    %g = linalg.fill ins(%zero : f32) outs(%f : tensor<4x?xf32>) -> tensor<4x?xf32>
    %t = linalg.generic {indexing_maps = [#id, #row],
        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%m : tensor<4x?x16x128xbf16>) outs(%g : tensor<4x?xf32>) {
    ^bb1(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    } -> tensor<4x?xf32>
    fp8.yield %m, %t : tensor<4x?x16x128xbf16>, tensor<4x?xf32>
  }
  return %y, %z : tensor<4x?x16x128xbf16>, tensor<4x?xf32>
}

// -----

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#row = affine_map<(d0, d1, d2) -> (d0)>

// Not where an operand has the dims in another order: it is captured through a
// transpose.

// CHECK: plan.kernel @k0 unit_dims = [2, 2, 0]
// CHECK: ^bb0(%{{.*}}: tensor<8x16x128xf32>, %{{.*}}: tensor<8x16x128xf32>):
// CHECK: plan.launch @k0
// CHECK-SAME: memref<8x16x128xf32, strided<[128, 1024, 1]>>
func.func @forward(%x: tensor<8x16x128xf32> {fp8.name = "x", fp8.dims = [8, 16, 128]},
                   %y: tensor<16x8x128xf32> {fp8.name = "y", fp8.dims = [16, 8, 128]})
    -> (tensor<8xf32> {fp8.name = "z"}) {
  %z = fp8.kernel (%a = %x : tensor<8x16x128xf32>, %b = %y : tensor<16x8x128xf32>) -> (tensor<8xf32>) {
    %zero = arith.constant 0.0 : f32
    %f = tensor.empty() : tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    %t = linalg.generic {indexing_maps = [#turned, #id, #row], iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%b, %a : tensor<16x8x128xf32>, tensor<8x16x128xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    fp8.yield %t : tensor<8xf32>
  }
  return %z : tensor<8xf32>
}

// -----

#turned = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1)>

// Attention writes where the cast of its rows finds them as one.

// CHECK: ^bb0(%{{.*}}: tensor<?x2048xbf16>,
// CHECK: plan.attention
// CHECK-SAME: -> memref<?x16x?x128xbf16, strided<[?, 128, 2048, 1]>>
func.func @forward(%q: tensor<?x16x?x128xbf16> {fp8.name = "q", fp8.dims = ["b", 16, "s", 128]},
                   %k: tensor<?x16x?x128xbf16> {fp8.name = "k", fp8.dims = ["b", 16, "s", 128]})
    -> (tensor<?x?xf32> {fp8.name = "y"}, tensor<?x?x16x128xbf16> {fp8.name = "z"}) {
  %b = fp8.symbol "b" min = 0
  %s = fp8.symbol "s" min = 0
  %a = fp8.attention %q, %k, %k scale = 1.250000e-01 : tensor<?x16x?x128xbf16>, tensor<?x16x?x128xbf16>, tensor<?x16x?x128xbf16> -> tensor<?x16x?x128xbf16>
  %y:2 = fp8.kernel (%c = %a : tensor<?x16x?x128xbf16>, %m = %b : index, %n = %s : index) -> (tensor<?x?xf32>, tensor<?x?x16x128xbf16>) {
    %zero = arith.constant 0.0 : f32
    %f = tensor.empty(%m, %n) : tensor<?x?xf32>
    %g = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
    %t = linalg.generic {indexing_maps = [#turned, #row], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%c : tensor<?x16x?x128xbf16>) outs(%g : tensor<?x?xf32>) {
    ^bb1(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    } -> tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?x16x128xbf16>
    %u = linalg.generic {indexing_maps = [#turned, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%c, %t : tensor<?x16x?x128xbf16>, tensor<?x?xf32>) outs(%e : tensor<?x?x16x128xbf16>) {
    ^bb1(%p: bf16, %r: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %0, %r : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<?x?x16x128xbf16>
    fp8.yield %t, %u : tensor<?x?xf32>, tensor<?x?x16x128xbf16>
  }
  return %y#0, %y#1 : tensor<?x?xf32>, tensor<?x?x16x128xbf16>
}
