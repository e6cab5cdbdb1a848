// RUN: fp8-opt %s | fp8-opt | FileCheck %s
// RUN: fp8-opt %s -mlir-print-op-generic | fp8-opt | FileCheck %s

fp8.global weight @w source = "w" : tensor<64x32xbf16>

// CHECK: plan.kernel @k0 unit_dims = [1, 1, 1] {
// CHECK: ^bb0(%{{.*}}: tensor<?x64xbf16>, %{{.*}}: tensor<?x1xf32>, %{{.*}}: index):
// CHECK: fp8.yield
plan.kernel @k0 unit_dims = [1, 1, 1] {
^bb0(%x: tensor<?x64xbf16>, %s: tensor<?x1xf32>, %n: index):
  %q = fp8.quantize %x by %s <1x?> : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xf8E4M3FN>
  fp8.yield %q : tensor<?x64xf8E4M3FN>
}

// CHECK: plan.entry @forward {
plan.entry @forward {
  %n = fp8.symbol "s0" min = 0
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[X:.+]] = plan.input "x"[%[[N:.+]]] node "x" : memref<?x64xbf16>
  %x = plan.input "x" [%n] node "x" : memref<?x64xbf16>
  // CHECK: %[[S:.+]] = plan.alloc[%[[N]]] : memref<?x1xf32>
  %s = plan.alloc [%n] : memref<?x1xf32>
  // CHECK: %[[Q:.+]] = plan.alloc[%[[N]]] node "convert" : memref<?x64xf8E4M3FN>
  %q = plan.alloc [%n] node "convert" : memref<?x64xf8E4M3FN>
  // CHECK: %[[W:.+]] = plan.global @w : memref<64x32xbf16>
  %w = plan.global @w : memref<64x32xbf16>
  // CHECK: %[[Y:.+]] = plan.output "y"[%[[N]]] : memref<?x32xbf16>
  %y = plan.output "y" [%n] : memref<?x32xbf16>
  // CHECK: plan.output_index "length", %[[N]]
  plan.output_index "length", %n
  // CHECK: plan.output_none "nothing"
  plan.output_none "nothing"
  // CHECK: plan.fill %[[S]] with 0 : memref<?x1xf32>
  plan.fill %s with 0 : memref<?x1xf32>
  // CHECK: plan.launch @k0 reads(%[[X]], %[[S]]) writes(%[[Q]]) sizes[{{.*}}] tasks %[[N]] scratch %{{.*}} : (memref<?x64xbf16>, memref<?x1xf32>) -> (memref<?x64xf8E4M3FN>)
  plan.launch @k0 reads(%x, %s) writes(%q) sizes[%n, %c64, %c64, %c1, %c1, %c1, %c64, %c1, %n] tasks %n scratch %c0
    : (memref<?x64xbf16>, memref<?x1xf32>) -> (memref<?x64xf8E4M3FN>)
  // CHECK: plan.matmul(%[[X]], %[[W]]) into %[[Y]] a_block = [0, 0] b_block = [0, 0] : memref<?x64xbf16>, memref<64x32xbf16> -> memref<?x32xbf16>
  plan.matmul(%x, %w) into %y a_block = [0, 0] b_block = [0, 0] : memref<?x64xbf16>, memref<64x32xbf16> -> memref<?x32xbf16>
  // CHECK: %[[V:.+]] = plan.view %[[X]] offset %{{.*}} sizes[%{{.*}}, %[[N]]] strides[%{{.*}}, %{{.*}}] node "t" : memref<?x64xbf16> to memref<64x?xbf16, strided<[1, 64]>>
  %v = plan.view %x offset %c0 sizes[%c64, %n] strides[%c1, %c64] node "t" : memref<?x64xbf16> to memref<64x?xbf16, strided<[1, 64]>>
  // CHECK: %[[T:.+]] = plan.alloc[%[[N]]] : memref<64x?xbf16>
  %t = plan.alloc [%n] : memref<64x?xbf16>
  // CHECK: plan.copy %[[V]] to %[[T]]
  plan.copy %v to %t : memref<64x?xbf16, strided<[1, 64]>> to memref<64x?xbf16>
}

// CHECK: plan.entry @attend {
plan.entry @attend {
  %q = plan.input "q" : memref<2x8x4x64xbf16>
  %o = plan.output "o" : memref<2x8x4x64xbf16>
  // CHECK: plan.attention %[[Q:.+]], %[[Q]], %[[Q]] into %{{.*}} scale = 1.250000e-01 causal :
  plan.attention %q, %q, %q into %o scale = 0.125 causal : memref<2x8x4x64xbf16>, memref<2x8x4x64xbf16>, memref<2x8x4x64xbf16> -> memref<2x8x4x64xbf16>
}
