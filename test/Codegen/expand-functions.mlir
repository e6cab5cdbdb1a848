// RUN: fp8-opt %s -fp8-expand-functions -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @vectors
// CHECK-NOT: math.exp
// CHECK: math.roundeven {{.*}} : vector<8xf32>
// CHECK: math.fma {{.*}} : vector<8xf32>
func.func @vectors(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// A narrow type by way of f32, one rounding at the end.
// CHECK-LABEL: func @narrow
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK-NOT: math.tanh
// CHECK: %[[Y:.+]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: return %[[Y]]
func.func @narrow(%x: bf16) -> bf16 {
  %0 = math.tanh %x : bf16
  return %0 : bf16
}

// What is an instruction stays.
// CHECK-LABEL: func @instructions
// CHECK: math.sqrt
// CHECK: math.floor
func.func @instructions(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.floor %0 : f32
  return %1 : f32
}

// -----

func.func @negative_unknown(%x: f32) -> f32 {
  // expected-error @+1 {{no expansion of 'math.asinh' on 'f32'}}
  %0 = math.asinh %x : f32
  return %0 : f32
}

// -----

func.func @negative_double(%x: f64) -> f64 {
  // expected-error @+1 {{no expansion of 'math.exp' on 'f64'}}
  %0 = math.exp %x : f64
  return %0 : f64
}
