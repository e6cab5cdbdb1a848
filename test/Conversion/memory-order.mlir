// RUN: fp8-opt %s --fp8-convert-to-plan=target=sm_90a -split-input-file | FileCheck %s

// Attention writes a token's heads one after the other for who reads them so;
// the amax of all reads them in that order too. What it reads is not the node's
// value, whose dims are others.

// CHECK: plan.kernel @k0 unit_dims = [3, 3]
// CHECK-NEXT: ^bb0(%[[X:.+]]: tensor<2x?x4x16xbf16>):
// CHECK-NEXT: fp8.amax %[[X]] <?x?x?x?>
// CHECK: %[[TOKENS:.+]] = plan.output "tokens"[%{{.+}}] : memref<2x?x4x16xbf16>
// CHECK: plan.attention
// CHECK: plan.launch @k0 reads(%[[TOKENS]])
func.func @forward(%q: tensor<2x4x?x16xbf16> {fp8.dims = [2, 4, "s", 16], fp8.name = "q"})
    -> (tensor<1x1x1x1xf32> {fp8.name = "amax"}, tensor<2x?x4x16xbf16> {fp8.name = "tokens"}) {
  %s = fp8.symbol "s" min = 1
  %a = fp8.attention %q, %q, %q scale = 2.500000e-01 {fp8.node = "sdpa"} : tensor<2x4x?x16xbf16>, tensor<2x4x?x16xbf16>, tensor<2x4x?x16xbf16> -> tensor<2x4x?x16xbf16>
  %m = fp8.kernel (%x = %a : tensor<2x4x?x16xbf16>) -> (tensor<1x1x1x1xf32>) {
    %0 = fp8.amax %x <?x?x?x?> : tensor<2x4x?x16xbf16> -> tensor<1x1x1x1xf32>
    fp8.yield %0 : tensor<1x1x1x1xf32>
  }
  %e = tensor.empty(%s) : tensor<2x?x4x16xbf16>
  %t = linalg.transpose ins(%a : tensor<2x4x?x16xbf16>) outs(%e : tensor<2x?x4x16xbf16>) permutation = [0, 2, 1, 3]
  return %m, %t : tensor<1x1x1x1xf32>, tensor<2x?x4x16xbf16>
}

// -----

// A tensor that lies as it is read stays.

// CHECK: plan.kernel @k0 unit_dims = [2, 2]
// CHECK-NEXT: ^bb0(%{{.+}}: tensor<2x4x16xbf16>):
func.func @forward(%x: tensor<2x4x16xbf16> {fp8.name = "x"}) -> (tensor<1x1x1xf32> {fp8.name = "amax"}) {
  %m = fp8.kernel (%a = %x : tensor<2x4x16xbf16>) -> (tensor<1x1x1xf32>) {
    %0 = fp8.amax %a <?x?x?> : tensor<2x4x16xbf16> -> tensor<1x1x1xf32>
    fp8.yield %0 : tensor<1x1x1xf32>
  }
  return %m : tensor<1x1x1xf32>
}
