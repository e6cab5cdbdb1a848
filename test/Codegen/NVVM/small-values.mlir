// RUN: fp8-translate -plan-to-ptx %s | FileCheck %s

// The amax of x * 0.5 * (1 + tanh(y)): vectors whose elements are no larger
// than the largest value so far are not computed. All loads come first.

// CHECK-LABEL: .visible .entry gated(
// CHECK: ld.volatile.global.b32
// CHECK: ld.global.v4.b32
// CHECK-COUNT-3: ld.global.v4.b32
// CHECK: setp.le.u32
// CHECK: bra
// CHECK: redux.sync.max.u32

// A product of two operands, or with what may be larger than 1, is computed.

// CHECK-LABEL: .visible .entry two(
// CHECK-NOT: ld.volatile
// CHECK-LABEL: .visible .entry larger(
// CHECK-NOT: ld.volatile

#id = affine_map<(d0, d1) -> (d0, d1)>

plan.kernel @gated unit_dims = [1, 1] attributes {threads = 64 : i32} {
^bb0(%x: tensor<?x64xbf16>, %n: index):
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb1(%p: bf16, %o: bf16):
    %0 = arith.extf %p : bf16 to f32
    %1 = math.tanh %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.extf %p : bf16 to f32
    %4 = arith.mulf %3, %half : f32
    %5 = arith.mulf %4, %2 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x64xbf16>
  %m = fp8.amax %t <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
  fp8.yield %m : tensor<1x1xf32>
}

plan.kernel @two unit_dims = [1, 1, 1] attributes {threads = 64 : i32} {
^bb0(%x: tensor<?x64xbf16>, %y: tensor<?x64xbf16>, %n: index):
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb1(%p: bf16, %q: bf16, %o: bf16):
    %0 = arith.extf %q : bf16 to f32
    %1 = math.tanh %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.extf %p : bf16 to f32
    %4 = arith.mulf %3, %half : f32
    %5 = arith.mulf %4, %2 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x64xbf16>
  %m = fp8.amax %t <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
  fp8.yield %m : tensor<1x1xf32>
}

plan.kernel @larger unit_dims = [1, 1] attributes {threads = 64 : i32} {
^bb0(%x: tensor<?x64xbf16>, %n: index):
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.75 : f32
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb1(%p: bf16, %o: bf16):
    %0 = arith.extf %p : bf16 to f32
    %1 = math.tanh %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.extf %p : bf16 to f32
    %4 = arith.mulf %3, %half : f32
    %5 = arith.mulf %4, %2 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x64xbf16>
  %m = fp8.amax %t <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
  fp8.yield %m : tensor<1x1xf32>
}
