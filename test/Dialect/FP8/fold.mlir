// RUN: fp8-opt %s -canonicalize | FileCheck %s

// A constant and an argument give the same bytes: the folder is the host's
// exact cast, and each value here is one that went wrong somewhere.

// 500 and 465 saturate; 464 is a tie and rounds to 448.
// CHECK-LABEL: func @overflow
func.func @overflow() -> (tensor<6xf8E4M3FN>, tensor<6xf8E4M3FN>) {
  %c = arith.constant dense<[500.0, 464.0, 465.0, 1.0625, -0.0, 0x7FC00000]> : tensor<6xf32>
  // CHECK-DAG: arith.constant dense<[4.480000e+02, 4.480000e+02, 4.480000e+02, 1.000000e+00, -0.000000e+00, 0x7F]> : tensor<6xf8E4M3FN>
  %0 = fp8.cast %c : tensor<6xf32> to tensor<6xf8E4M3FN>
  // CHECK-DAG: arith.constant dense<[0x7F, 4.480000e+02, 0x7F, 1.000000e+00, -0.000000e+00, 0x7F]> : tensor<6xf8E4M3FN>
  %1 = fp8.cast %c overflow = ieee : tensor<6xf32> to tensor<6xf8E4M3FN>
  return %0, %1 : tensor<6xf8E4M3FN>, tensor<6xf8E4M3FN>
}

// The first value above the tie is 0x43E80001.
// CHECK-LABEL: func @boundaries
func.func @boundaries() -> (tensor<13xi8>, tensor<13xi8>) {
  %c = arith.constant dense<[0.0, -0.0, 447.9, 448.0, 464.0, 0x43E80001, 465.0, 480.0, 500.0, 1.0e30, -1.0e30, 0x7FC00000, -1.0e-8]> : tensor<13xf32>
  %0 = fp8.cast %c : tensor<13xf32> to tensor<13xf8E4M3FN>
  %1 = fp8.cast %c overflow = ieee : tensor<13xf32> to tensor<13xf8E4M3FN>
  // CHECK-DAG: arith.constant dense<[0, -128, 126, 126, 126, 126, 126, 126, 126, 126, -2, 127, -128]> : tensor<13xi8>
  // CHECK-DAG: arith.constant dense<[0, -128, 126, 126, 126, 127, 127, 127, 127, 127, -1, 127, -128]> : tensor<13xi8>
  %2 = arith.bitcast %0 : tensor<13xf8E4M3FN> to tensor<13xi8>
  %3 = arith.bitcast %1 : tensor<13xf8E4M3FN> to tensor<13xi8>
  return %2, %3 : tensor<13xi8>, tensor<13xi8>
}

// Subnormals are exact, and ties go to even: 2^-10, the value above it, 1.5,
// 2.5 and 7.5 times 2^-9, the value below 2^-6, 2^-6, and others.
// CHECK-LABEL: func @subnormals_and_ties
func.func @subnormals_and_ties() -> (tensor<15xi8>, tensor<6xi8>) {
  %c = arith.constant dense<[0x3A800000, 0x3A800001, 0x3B400000, 0x3BA00000, 0x3C700000, 0x3C7FFFFF, 0x3C800000, 1.0625, 0x3F880001, 1.1875, 17.0, 19.0, 240.0, 256.0, 288.0]> : tensor<15xf32>
  // CHECK-DAG: arith.constant dense<[0, 1, 2, 2, 8, 8, 8, 56, 57, 58, 88, 90, 119, 120, 121]> : tensor<15xi8>
  %0 = fp8.cast %c : tensor<15xf32> to tensor<15xf8E4M3FN>
  %1 = arith.bitcast %0 : tensor<15xf8E4M3FN> to tensor<15xi8>
  %d = arith.constant dense<[0x37000000, 0x37000001, 0x37C00000, 0x38600000, 1.125, 1.375]> : tensor<6xf32>
  // CHECK-DAG: arith.constant dense<[0, 1, 2, 4, 60, 62]> : tensor<6xi8>
  %2 = fp8.cast %d overflow = ieee : tensor<6xf32> to tensor<6xf8E5M2>
  %3 = arith.bitcast %2 : tensor<6xf8E5M2> to tensor<6xi8>
  return %1, %3 : tensor<15xi8>, tensor<6xi8>
}

// One rounding: through bf16 it would be 1.0.
// CHECK-LABEL: func @no_double_rounding
func.func @no_double_rounding() -> f8E4M3FN {
  %c = arith.constant 0x3F880008 : f32
  // CHECK: arith.constant 1.125000e+00 : f8E4M3FN
  %0 = fp8.cast %c : f32 to f8E4M3FN
  return %0 : f8E4M3FN
}

// An explicit rounding to bf16 stays: the product is above the tie in f32, on
// it in bf16.
// CHECK-LABEL: func @explicit_bf16_rounding
func.func @explicit_bf16_rounding(%x: f32) -> (f8E4M3FN, f8E4M3FN) {
  %a = arith.constant 1.0078125 : bf16
  %b = arith.constant 1.0546875 : bf16
  // CHECK-DAG: arith.constant 1.000000e+00 : f8E4M3FN
  %0 = arith.mulf %a, %b : bf16
  %1 = fp8.cast %0 : bf16 to f8E4M3FN
  // CHECK: %[[ROUNDED:.+]] = arith.truncf %{{.*}} : f32 to bf16
  // CHECK: fp8.cast %[[ROUNDED]] : bf16 to f8E4M3FN
  %2 = arith.truncf %x : f32 to bf16
  %3 = fp8.cast %2 : bf16 to f8E4M3FN
  return %1, %3 : f8E4M3FN, f8E4M3FN
}

// CHECK-LABEL: func @widen
func.func @widen() -> (tensor<2xbf16>, f16, vector<4xf32>) {
  %c = arith.constant dense<[448.0, -0.001953125]> : tensor<2xf8E4M3FN>
  // CHECK-DAG: arith.constant dense<[4.480000e+02, -1.953130e-03]> : tensor<2xbf16>
  %0 = fp8.cast %c : tensor<2xf8E4M3FN> to tensor<2xbf16>
  // CHECK-DAG: arith.constant 0x7C00 : f16
  %d = arith.constant 0x7C : f8E5M2
  %1 = fp8.cast %d : f8E5M2 to f16
  // CHECK-DAG: arith.constant dense<1.500000e+00> : vector<4xf32>
  %e = arith.constant dense<1.5> : vector<4xf8E4M3FN>
  %2 = fp8.cast %e : vector<4xf8E4M3FN> to vector<4xf32>
  return %0, %1, %2 : tensor<2xbf16>, f16, vector<4xf32>
}

// CHECK-LABEL: func @widen_and_back
// CHECK-SAME: %[[X:.+]]: f8E4M3FN
func.func @widen_and_back(%x: f8E4M3FN) -> f8E4M3FN {
  %0 = fp8.cast %x : f8E4M3FN to bf16
  %1 = fp8.cast %0 : bf16 to f8E4M3FN
  // CHECK: return %[[X]]
  return %1 : f8E4M3FN
}

// Inf would become 57344, and three NaNs one.
// CHECK-LABEL: func @negative_widen_and_back_e5m2
func.func @negative_widen_and_back_e5m2(%x: f8E5M2) -> (f8E5M2, f8E5M2) {
  %0 = fp8.cast %x : f8E5M2 to f32
  // CHECK: fp8.cast %{{.*}} : f32 to f8E5M2
  %1 = fp8.cast %0 : f32 to f8E5M2
  // CHECK: fp8.cast %{{.*}} overflow = ieee : f32 to f8E5M2
  %2 = fp8.cast %0 overflow = ieee : f32 to f8E5M2
  return %1, %2 : f8E5M2, f8E5M2
}

// A narrowing loses digits, so what follows it must see it.
// CHECK-LABEL: func @negative_narrow_and_back
func.func @negative_narrow_and_back(%x: f32) -> f32 {
  // CHECK: %[[Q:.+]] = fp8.cast %{{.*}} : f32 to f8E4M3FN
  %0 = fp8.cast %x : f32 to f8E4M3FN
  // CHECK: fp8.cast %[[Q]] : f8E4M3FN to f32
  %1 = fp8.cast %0 : f8E4M3FN to f32
  return %1 : f32
}

// The scale of delayed scaling, with amax 7, 0, NaN, Inf and 1e-40: each select
// stays as it is, so that an arm that is not taken does not leak its NaN or Inf.
// CHECK-LABEL: func @delayed_scale_where
func.func @delayed_scale_where() -> tensor<5xf32> {
  %amax = arith.constant dense<[7.0, 0.0, 0x7FC00000, 0x7F800000, 1.0e-40]> : tensor<5xf32>
  // CHECK-DAG: %[[AMAX:.+]] = arith.constant dense<[7.000000e+00, 0.000000e+00, 0x7FC00000, 0x7F800000,
  %old = arith.constant dense<7.0> : tensor<5xf32>
  // CHECK-DAG: %[[OLD:.+]] = arith.constant dense<7.000000e+00>
  %max = arith.constant dense<448.0> : tensor<5xf32>
  %margin = arith.constant dense<8.0> : tensor<5xf32>
  %zero = arith.constant dense<0.0> : tensor<5xf32>
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<0.000000e+00>
  %inf = arith.constant dense<0x7F800000> : tensor<5xf32>
  // CHECK-DAG: %[[INF:.+]] = arith.constant dense<0x7F800000>
  %largest = arith.constant dense<0x7F7FFFFF> : tensor<5xf32>
  // CHECK-DAG: %[[LARGEST:.+]] = arith.constant dense<3.40282347E+38>
  %quotient = arith.divf %max, %amax : tensor<5xf32>
  %scale = arith.divf %quotient, %margin : tensor<5xf32>
  // CHECK-DAG: %[[SCALE:.+]] = arith.constant dense<[8.000000e+00, 0x7F800000, 0x7FC00000, 0.000000e+00, 0x7F800000]>
  // CHECK: %[[POSITIVE:.+]] = arith.cmpf ogt, %[[AMAX]], %[[ZERO]]
  // CHECK: %[[S0:.+]] = arith.select %[[POSITIVE]], %[[SCALE]], %[[OLD]]
  // CHECK: %[[FINITE:.+]] = arith.cmpf one, %[[AMAX]], %[[INF]]
  // CHECK: %[[S1:.+]] = arith.select %[[FINITE]], %[[S0]], %[[OLD]]
  // CHECK: %[[OVERFLOW:.+]] = arith.cmpf oeq, %[[S1]], %[[INF]]
  // CHECK: %[[S2:.+]] = arith.select %[[OVERFLOW]], %[[LARGEST]], %[[S1]]
  // CHECK: return %[[S2]]
  %positive = arith.cmpf ogt, %amax, %zero : tensor<5xf32>
  %0 = arith.select %positive, %scale, %old : tensor<5xi1>, tensor<5xf32>
  %finite = arith.cmpf one, %amax, %inf : tensor<5xf32>
  %1 = arith.select %finite, %0, %old : tensor<5xi1>, tensor<5xf32>
  %overflow = arith.cmpf oeq, %1, %inf : tensor<5xf32>
  %2 = arith.select %overflow, %largest, %1 : tensor<5xi1>, tensor<5xf32>
  return %2 : tensor<5xf32>
}
