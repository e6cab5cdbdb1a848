// RUN: fp8-opt %s | fp8-opt | FileCheck %s
// RUN: fp8-opt %s -mlir-print-op-generic | fp8-opt | FileCheck %s

// CHECK: fp8.global weight @w source = "weights/w" offset = 64 : tensor<64x32xf8E4M3FN>
fp8.global weight @w source = "weights/w" offset = 64 : tensor<64x32xf8E4M3FN>
// CHECK: fp8.global state @h source = "weights/h" : tensor<16xf32>
fp8.global state @h source = "weights/h" : tensor<16xf32>

// CHECK-LABEL: func @casts
func.func @casts(%x: f32, %v: vector<3xbf16>, %t: tensor<?x4xf16>, %q: f8E5M2) -> (f8E4M3FN, vector<3xf8E5M2>, tensor<?x4xf8E4M3FN>, bf16) {
  // CHECK: fp8.cast %{{.*}} : f32 to f8E4M3FN
  %0 = fp8.cast %x : f32 to f8E4M3FN
  // CHECK: fp8.cast %{{.*}} overflow = ieee : vector<3xbf16> to vector<3xf8E5M2>
  %1 = fp8.cast %v overflow = ieee : vector<3xbf16> to vector<3xf8E5M2>
  // CHECK: fp8.cast %{{.*}} : tensor<?x4xf16> to tensor<?x4xf8E4M3FN>
  %2 = fp8.cast %t overflow = saturate : tensor<?x4xf16> to tensor<?x4xf8E4M3FN>
  // CHECK: fp8.cast %{{.*}} : f8E5M2 to bf16
  %3 = fp8.cast %q : f8E5M2 to bf16
  return %0, %1, %2, %3 : f8E4M3FN, vector<3xf8E5M2>, tensor<?x4xf8E4M3FN>, bf16
}

// CHECK-LABEL: func @scaled
func.func @scaled(%x: tensor<?x64xbf16>, %s: tensor<?x1xf32>, %t: tensor<1x1xf32>, %h: tensor<16xf32>) {
  // CHECK: fp8.quantize %{{.*}} by %{{.*}} <1x?> : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xf8E4M3FN>
  %0 = fp8.quantize %x by %s <1x?> : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xf8E4M3FN>
  // CHECK: fp8.quantize %{{.*}} by %{{.*}} <?x?> mode = multiply overflow = ieee : tensor<?x64xbf16>, tensor<1x1xf32> -> tensor<?x64xf8E5M2>
  %1 = fp8.quantize %x by %t <?x?> mode = multiply overflow = ieee : tensor<?x64xbf16>, tensor<1x1xf32> -> tensor<?x64xf8E5M2>
  // CHECK: fp8.dequantize %{{.*}} by %{{.*}} <1x?> : tensor<?x64xf8E4M3FN>, tensor<?x1xf32> -> tensor<?x64xbf16>
  %2 = fp8.dequantize %0 by %s <1x?> : tensor<?x64xf8E4M3FN>, tensor<?x1xf32> -> tensor<?x64xbf16>
  // CHECK: fp8.amax %{{.*}} <1x32> : tensor<?x64xbf16> -> tensor<?x2xf32>
  %3 = fp8.amax %x <1x32> : tensor<?x64xbf16> -> tensor<?x2xf32>
  // CHECK: fp8.compute_scale %{{.*}} for f8E5M2 pow2 {eps = 9.99999996E-13 : f32, margin = 1 : i32} : tensor<?x2xf32> -> tensor<?x2xf32>, tensor<?x2xf32>
  %4, %5 = fp8.compute_scale %3 for f8E5M2 pow2 {eps = 1.0e-12 : f32, margin = 1 : i32} : tensor<?x2xf32> -> tensor<?x2xf32>, tensor<?x2xf32>
  // CHECK: fp8.update_history %{{.*}}, %{{.*}} reduce = most_recent : tensor<16xf32>, tensor<1x1xf32> -> tensor<f32>, tensor<16xf32>
  %6, %7 = fp8.update_history %h, %t reduce = most_recent : tensor<16xf32>, tensor<1x1xf32> -> tensor<f32>, tensor<16xf32>
  return
}

// CHECK-LABEL: func @products
func.func @products(%a: tensor<2x?x64xf8E4M3FN>, %sa: tensor<2x?x1xf32>, %b: tensor<2x64x32xf8E5M2>, %sb: tensor<1x1x32xf32>,
                    %t: tensor<1x1x1xf32>, %bias: tensor<32xbf16>, %x: tensor<4x64xbf16>, %w: tensor<64x32xbf16>) {
  // CHECK: fp8.scaled_matmul(%{{.*}} by %{{.*}} <1x1x?>, %{{.*}} by %{{.*}} <?x?x1>) bias(%{{.*}} : tensor<32xbf16>) : tensor<2x?x64xf8E4M3FN>, tensor<2x?x1xf32>, tensor<2x64x32xf8E5M2>, tensor<1x1x32xf32> -> tensor<2x?x32xbf16>
  %0 = fp8.scaled_matmul(%a by %sa <1x1x?>, %b by %sb <?x?x1>) bias(%bias : tensor<32xbf16>) : tensor<2x?x64xf8E4M3FN>, tensor<2x?x1xf32>, tensor<2x64x32xf8E5M2>, tensor<1x1x32xf32> -> tensor<2x?x32xbf16>
  // CHECK: fp8.scaled_matmul(%{{.*}} by %{{.*}} <?x?x?>, %{{.*}} by %{{.*}} <?x?x?>) result_scale(%{{.*}} : tensor<1x1x1xf32>) fast_accum : {{.*}} -> tensor<2x?x32xf8E4M3FN> amax tensor<f32>
  %1, %2 = fp8.scaled_matmul(%a by %t <?x?x?>, %b by %t <?x?x?>) result_scale(%t : tensor<1x1x1xf32>) fast_accum : tensor<2x?x64xf8E4M3FN>, tensor<1x1x1xf32>, tensor<2x64x32xf8E5M2>, tensor<1x1x1xf32> -> tensor<2x?x32xf8E4M3FN> amax tensor<f32>
  // CHECK: fp8.matmul %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<32xbf16>) : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
  %3 = fp8.matmul %x, %w bias(%bias : tensor<32xbf16>) : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
  return
}

// CHECK-LABEL: func @attention
func.func @attention(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x?x64xbf16>, %v: tensor<?x2x?x32xbf16>, %m: tensor<?x1x?x?xi1>) {
  // CHECK: fp8.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<?x1x?x?xi1>) scale = 1.250000e-01 causal : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x8x?x32xbf16>
  %0 = fp8.attention %q, %k, %v mask(%m : tensor<?x1x?x?xi1>) scale = 0.125 causal : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>, tensor<?x2x?x32xbf16> -> tensor<?x8x?x32xbf16>
  return
}

// CHECK-LABEL: func @kernel
func.func @kernel(%x: tensor<?x64xbf16>, %n: index) -> tensor<?x1xf32> {
  // CHECK: fp8.kernel (%[[A:.+]] = %{{.*}} : tensor<?x64xbf16>, %{{.*}} = %{{.*}} : index) -> (tensor<?x1xf32>) attributes {fp8.nodes = ["amax"]} {
  // CHECK: fp8.yield %{{.*}} : tensor<?x1xf32>
  %0 = fp8.kernel (%a = %x : tensor<?x64xbf16>, %m = %n : index) -> (tensor<?x1xf32>) attributes {fp8.nodes = ["amax"]} {
    %1 = fp8.amax %a <1x?> : tensor<?x64xbf16> -> tensor<?x1xf32>
    fp8.yield %1 : tensor<?x1xf32>
  }
  // CHECK: fp8.kernel () -> () {
  fp8.kernel () -> () {
  }
  return %0 : tensor<?x1xf32>
}

// CHECK-LABEL: func @sizes
func.func @sizes() -> index {
  // CHECK: %[[S:.+]] = fp8.symbol "s0" min = 1 max = 4096 multiple = 16
  %0 = fp8.symbol "s0" min = 1 max = 4096 multiple = 16
  // CHECK: fp8.symbol "s1" min = 0{{$}}
  %1 = fp8.symbol "s1" min = 0
  %2 = arith.cmpi eq, %0, %1 : index
  // CHECK: fp8.check %{{.*}}, "expected x's dim 0 to be y's"
  fp8.check %2, "expected x's dim 0 to be y's"
  return %0 : index
}

// CHECK-LABEL: func @globals
func.func @globals() {
  // CHECK: fp8.global_load constant @w : tensor<64x32xf8E4M3FN>
  %0 = fp8.global_load constant @w : tensor<64x32xf8E4M3FN>
  // CHECK: %[[H:.+]] = fp8.global_load @h : tensor<16xf32>
  %1 = fp8.global_load @h : tensor<16xf32>
  // CHECK: fp8.global_store %[[H]], @h : tensor<16xf32>
  fp8.global_store %1, @h : tensor<16xf32>
  return
}
