// RUN: fp8-opt %s -fp8-lower-casts -split-input-file -verify-diagnostics | FileCheck %s
// RUN: fp8-opt %s -fp8-lower-to-llvm -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=LLVM

// Case A9: no f8 type and no cast of one is left, whatever level spells it.
// LLVM-NOT: f8E
// LLVM-NOT: arith.
// CHECK-NOT: f8E
// CHECK-NOT: arith.truncf
// CHECK-LABEL: func @round_trip
// CHECK-SAME: (%{{.*}}: f32) -> (f32, i8)
func.func @round_trip(%x: f32) -> (f32, f8E4M3FN) {
  // Normal codes, rounded to even; subnormal codes; the largest code; NaN.
  // CHECK-DAG: %[[LARGEST:.+]] = arith.constant 126 : i32
  // CHECK: arith.minui %{{.*}}, %[[LARGEST]]
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  %0 = fp8.cast %x : f32 to f8E4M3FN
  %1 = fp8.cast %0 : f8E4M3FN to f32
  return %1, %0 : f32, f8E4M3FN
}

// CHECK-LABEL: func @spelled_in_arith
// CHECK: arith.minui {{.*}} : vector<3xi32>
func.func @spelled_in_arith(%x: vector<3xf32>, %y: f16, %z: bf16)
    -> (vector<3xf32>, f8E5M2, vector<3xf8E4M3FN>, bf16) {
  %0 = arith.truncf %x : vector<3xf32> to vector<3xf8E4M3FN>
  %1 = arith.extf %0 : vector<3xf8E4M3FN> to vector<3xf32>
  %2 = arith.truncf %y : f16 to f8E5M2
  %3 = fp8.cast %z : bf16 to f8E5M2
  %4 = fp8.cast %3 : f8E5M2 to bf16
  return %1, %2, %0, %4 : vector<3xf32>, f8E5M2, vector<3xf8E4M3FN>, bf16
}

// CHECK-LABEL: func @constants_and_blocks
func.func @constants_and_blocks(%c: i1) -> f8E4M3FN {
  // CHECK: arith.constant 56 : i8
  // CHECK: arith.constant dense<[56, 0]> : vector<2xi8>
  %0 = arith.constant 1.0 : f8E4M3FN
  %1 = arith.constant dense<[1.0, 0.0]> : vector<2xf8E4M3FN>
  %2 = vector.extract %1[1] : f8E4M3FN from vector<2xf8E4M3FN>
  // CHECK: scf.if %{{.*}} -> (i8)
  %3 = scf.if %c -> f8E4M3FN {
    scf.yield %0 : f8E4M3FN
  } else {
    scf.yield %2 : f8E4M3FN
  }
  return %3 : f8E4M3FN
}

// -----

func.func @another_kind(%x: f32) -> f8E4M3 {
  // expected-error @+1 {{'arith.truncf' op expected f8E4M3FN or f8E5M2, got 'f8E4M3'}}
  %0 = arith.truncf %x : f32 to f8E4M3
  return %0 : f8E4M3
}
