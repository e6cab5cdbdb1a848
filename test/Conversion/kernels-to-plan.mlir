// RUN: fp8-opt %s --fp8-convert-to-plan --cse --split-input-file | FileCheck %s

// A gated MLP: quantise, product, gate, product.

// CHECK: plan.kernel @k0 unit_dims = [1, 1, 1]
// CHECK-LABEL: plan.entry @forward
// CHECK-DAG: %[[S0:.*]] = fp8.symbol "s0"
// CHECK-DAG: %[[S1:.*]] = fp8.symbol "s1"
// CHECK-DAG: %[[D1:.*]] = arith.muli %[[S1]], %c2
// CHECK: %[[X:.*]] = plan.input "x"[%[[S0]], %[[D1]]] node "x"
// CHECK: %[[Y:.*]] = plan.output "y"[%[[S0]], %[[D1]]]
// CHECK: %[[Q:.*]] = plan.alloc[%[[ROWS:.*]]] node "to_1"
// CHECK: %[[FLAT:.*]] = plan.view %[[X]]
// CHECK: plan.launch @k0 reads(%[[FLAT]], %{{.*}}) writes(%[[Q]]) sizes[%[[ROWS]], %c64, %c64, %c1, %c1, %c1, %c64, %c1, %[[ROWS]]]
// CHECK: %[[W:.*]] = plan.view %{{.*}} sizes[%c64, %c128] strides[%c1, %c64]
// CHECK: %[[P:.*]] = plan.view %[[Y]] offset %c0 sizes[%[[ROWS]], %c128] strides[%c128, %c1] node "scaled_mm"
// CHECK: plan.matmul(%[[Q]], %[[W]]) into %[[P]]

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
  %p = fp8.scaled_matmul(%q by %ws <?x?>, %wt by %ws <?x?>) {fp8.node = "scaled_mm"}
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [%s0, %d1, 128] : tensor<?x128xbf16> into tensor<?x?x128xbf16>
  return %y : tensor<?x?x128xbf16>
}

// -----

// A transpose and flatten of attention's result is a view: attention writes
// with the strides that it needs, here into the output.

// CHECK-LABEL: plan.entry @forward
// CHECK: %[[Y:.*]] = plan.output
// CHECK: %[[V:.*]] = plan.view %[[Y]] offset %c0 sizes[%c2, %c4, %c8, %c16] strides[%c512, %c16, %c64, %c1]
// CHECK: plan.attention %[[Q:.*]], %[[Q]], %[[Q]] into %[[V]]
// CHECK-NOT: plan.copy

func.func @forward(%q: tensor<2x4x8x16xbf16>) -> tensor<2x8x64xbf16> {
  %a = fp8.attention %q, %q, %q scale = 2.5e-01 : tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16> -> tensor<2x4x8x16xbf16>
  %e = tensor.empty() : tensor<2x8x4x16xbf16>
  %t = linalg.transpose ins(%a : tensor<2x4x8x16xbf16>) outs(%e : tensor<2x8x4x16xbf16>) permutation = [0, 2, 1, 3]
  %f = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<2x8x4x16xbf16> into tensor<2x8x64xbf16>
  return %f : tensor<2x8x64xbf16>
}

// -----

// A reshape that no strides can express copies.

// CHECK-LABEL: plan.entry @forward
// CHECK: %[[DENSE:.*]] = plan.alloc : memref<8x4xbf16>
// CHECK: %[[T:.*]] = plan.view
// CHECK: plan.copy %[[T]] to %[[DENSE]]
// CHECK: %[[ROW:.*]] = plan.view %[[DENSE]] offset %c0 sizes[%c1, %c32]
// CHECK: plan.matmul(%[[ROW]],

func.func @forward(%x: tensor<4x8xbf16>, %w: tensor<32x2xbf16>) -> tensor<1x2xbf16> {
  %e = tensor.empty() : tensor<8x4xbf16>
  %t = linalg.transpose ins(%x : tensor<4x8xbf16>) outs(%e : tensor<8x4xbf16>) permutation = [1, 0]
  %f = tensor.collapse_shape %t [[0, 1]] : tensor<8x4xbf16> into tensor<32xbf16>
  %r = tensor.expand_shape %f [[0, 1]] output_shape [1, 32] : tensor<32xbf16> into tensor<1x32xbf16>
  %p = fp8.matmul %r, %w : tensor<1x32xbf16>, tensor<32x2xbf16> -> tensor<1x2xbf16>
  return %p : tensor<1x2xbf16>
}

// -----

// Parts of a concatenation are written in place.

// CHECK-LABEL: plan.entry @forward
// CHECK: %[[Y:.*]] = plan.output
// CHECK: %[[P:.*]] = plan.view %[[Y]] offset %c0 sizes[%c4, %c2] strides[%c4, %c1]
// CHECK: plan.matmul({{.*}}) into %[[P]]
// CHECK: %[[Q:.*]] = plan.view %[[Y]] offset %c2 sizes[%c4, %c2] strides[%c4, %c1]
// CHECK: plan.matmul({{.*}}) into %[[Q]]
// CHECK-NOT: plan.copy

func.func @forward(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16>) -> tensor<4x4xbf16> {
  %p = fp8.matmul %x, %w : tensor<4x8xbf16>, tensor<8x2xbf16> -> tensor<4x2xbf16>
  %q = fp8.matmul %x, %w : tensor<4x8xbf16>, tensor<8x2xbf16> -> tensor<4x2xbf16>
  %c = tensor.concat dim(1) %p, %q : (tensor<4x2xbf16>, tensor<4x2xbf16>) -> tensor<4x4xbf16>
  return %c : tensor<4x4xbf16>
}

// -----

// State is overwritten when nobody reads its old value any more: the old value
// is an output.

// CHECK-LABEL: plan.entry @forward
// CHECK: %[[Y:.*]] = plan.output
// CHECK: %[[CACHE:.*]] = plan.global @cache
// CHECK: %[[NEW:.*]] = plan.alloc
// CHECK: plan.matmul({{.*}}) into %[[NEW]]
// CHECK: plan.copy %[[CACHE]] to %[[Y]]
// CHECK: plan.copy %[[NEW]] to %[[CACHE]]

fp8.global state @cache source = "cache" : tensor<4x2xbf16>
func.func @forward(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16>) -> tensor<4x2xbf16> {
  %old = fp8.global_load @cache : tensor<4x2xbf16>
  %p = fp8.matmul %x, %w : tensor<4x8xbf16>, tensor<8x2xbf16> -> tensor<4x2xbf16>
  fp8.global_store %p, @cache : tensor<4x2xbf16>
  return %old : tensor<4x2xbf16>
}

// -----

// Nobody reads the old value after the product: it writes the state itself.

// CHECK-LABEL: plan.entry @forward
// CHECK: %[[CACHE:.*]] = plan.global @cache
// CHECK: plan.matmul({{.*}}) into %[[CACHE]]
// CHECK-NOT: plan.copy

fp8.global state @cache source = "cache" : tensor<4x2xbf16>
func.func @forward(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16>) {
  %p = fp8.matmul %x, %w : tensor<4x8xbf16>, tensor<8x2xbf16> -> tensor<4x2xbf16>
  fp8.global_store %p, @cache : tensor<4x2xbf16>
  return
}

// -----

// An f8 weight that is decoded for a product stays f8.

// CHECK-LABEL: plan.entry @forward
// CHECK: %[[W:.*]] = plan.global @w
// CHECK: %[[S:.*]] = plan.global @s
// CHECK: %[[WT:.*]] = plan.view %[[W]] offset %c0 sizes[%c8, %c2] strides[%c1, %c8]
// CHECK: %[[ST:.*]] = plan.view %[[S]] offset %c0 sizes[%c1, %c2]
// CHECK: plan.matmul({{.*}}, %[[WT]]) into %{{.*}} b_decode %[[ST]] a_block = [0, 0] b_block = [0, 1]

fp8.global weight @w source = "w" : tensor<2x8xf8E4M3FN>
fp8.global weight @s source = "s" : tensor<2x1xbf16>
func.func @forward(%x: tensor<4x8xbf16>) -> tensor<4x2xbf16> {
  %w = fp8.global_load constant @w : tensor<2x8xf8E4M3FN>
  %s = fp8.global_load constant @s : tensor<2x1xbf16>
  %d = fp8.dequantize %w by %s <1x?> : tensor<2x8xf8E4M3FN>, tensor<2x1xbf16> -> tensor<2x8xbf16>
  %e = tensor.empty() : tensor<8x2xbf16>
  %t = linalg.transpose ins(%d : tensor<2x8xbf16>) outs(%e : tensor<8x2xbf16>) permutation = [1, 0]
  %p = fp8.matmul %x, %t : tensor<4x8xbf16>, tensor<8x2xbf16> -> tensor<4x2xbf16>
  return %p : tensor<4x2xbf16>
}

// -----

// A tensor without values is zeros where something reads it: in the output
// itself, or in the part of a concatenation.

// CHECK-LABEL: plan.entry @forward
// CHECK-DAG: %[[Y:.*]] = plan.output "output0"
// CHECK-DAG: %[[Z:.*]] = plan.output "output1"
// CHECK-DAG: plan.fill %[[Y]] with 0
// CHECK-DAG: %[[LOW:.*]] = plan.view %[[Z]] offset %c0
// CHECK-DAG: %[[HIGH:.*]] = plan.view %[[Z]] offset %c15
// CHECK-DAG: plan.fill %[[HIGH]] with 0
// CHECK-NOT: plan.fill
func.func @forward(%x: tensor<3x5xf32>) -> (tensor<3x5xf8E4M3FN>, tensor<5x5xf32>) {
  %e = tensor.empty() : tensor<3x5xf8E4M3FN>
  %p = tensor.empty() : tensor<2x5xf32>
  %c = tensor.concat dim(0) %x, %p : (tensor<3x5xf32>, tensor<2x5xf32>) -> tensor<5x5xf32>
  return %e, %c : tensor<3x5xf8E4M3FN>, tensor<5x5xf32>
}
