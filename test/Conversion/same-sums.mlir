// RUN: fp8-opt %s --fp8-recompute-values=target=sm_90a | FileCheck %s --check-prefix=JOINED
// RUN: fp8-opt %s --fp8-recompute-values=target=sm_90a --fp8-convert-to-plan=target=sm_90a | FileCheck %s

// A kernel that computes the sums of two others again joins all three, and
// their readers: each has the threads of the first, and its vectors, though it
// reads wider elements too.

// JOINED-COUNT-4: fp8.kernel {{.+}} attributes {fp8.same_sums = 0 : i64}

// CHECK: plan.kernel @k0 {{.*}}fp8.launch = {sums = 1 : index}, threads = 128 : i32
// CHECK: plan.kernel @k1 {{.*}}threads = 128 : index, width = 8 : index}, threads = 128 : i32
// CHECK: plan.kernel @k2 {{.*}}threads = 128 : index, width = 8 : index}, threads = 128 : i32
// CHECK: plan.kernel @k3 {{.*}}threads = 128 : index, width = 8 : index}, threads = 128 : i32
// CHECK: plan.entry

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0, d1) -> (0, 0)>

func.func @two_makers(%x: tensor<64x4096xbf16> {fp8.name = "x"}, %y: tensor<64x4096xbf16> {fp8.name = "y"}, %wide: tensor<64x4096xf32> {fp8.name = "wide"})
    -> (tensor<1x1xf32>, tensor<1x1xf32>, tensor<64x4096xf8E4M3FN>, tensor<64x4096xf8E4M3FN>) {
  %v:2 = fp8.kernel (%a = %x : tensor<64x4096xbf16>) -> (tensor<64x4096xbf16>, tensor<1x1xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x4096xbf16>
    %f = tensor.empty() : tensor<64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<64x4096xbf16>) outs(%z : tensor<64xf32>) {
    ^bb0(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<64xf32>
    %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %sum : tensor<64x4096xbf16>, tensor<64xf32>) outs(%e : tensor<64x4096xbf16>) {
    ^bb0(%p: bf16, %k: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<64x4096xbf16>
    %m = fp8.amax %t <?x?> : tensor<64x4096xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<64x4096xbf16>, tensor<1x1xf32>
  }
  %w:2 = fp8.kernel (%a = %y : tensor<64x4096xbf16>) -> (tensor<64x4096xbf16>, tensor<1x1xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x4096xbf16>
    %f = tensor.empty() : tensor<64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<64x4096xbf16>) outs(%z : tensor<64xf32>) {
    ^bb0(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<64xf32>
    %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %sum : tensor<64x4096xbf16>, tensor<64xf32>) outs(%e : tensor<64x4096xbf16>) {
    ^bb0(%p: bf16, %k: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.mulf %0, %k : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<64x4096xbf16>
    %m = fp8.amax %t <?x?> : tensor<64x4096xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<64x4096xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#0 : tensor<64x4096xbf16>, %b = %v#1 : tensor<1x1xf32>) -> (tensor<64x4096xf8E4M3FN>) {
    %e = tensor.empty() : tensor<64x4096xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<64x4096xbf16>, tensor<1x1xf32>) outs(%e : tensor<64x4096xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<64x4096xf8E4M3FN>
    fp8.yield %t : tensor<64x4096xf8E4M3FN>
  }
  %q2 = fp8.kernel (%a = %v#0 : tensor<64x4096xbf16>, %c = %w#0 : tensor<64x4096xbf16>, %b = %w#1 : tensor<1x1xf32>, %c2 = %wide : tensor<64x4096xf32>) -> (tensor<64x4096xf8E4M3FN>) {
    %e = tensor.empty() : tensor<64x4096xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #id, #id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %c, %c2, %b : tensor<64x4096xbf16>, tensor<64x4096xbf16>, tensor<64x4096xf32>, tensor<1x1xf32>) outs(%e : tensor<64x4096xf8E4M3FN>) {
    ^bb0(%p: bf16, %k2: bf16, %g: f32, %k: f32, %o: f8E4M3FN):
      %3 = arith.addf %p, %k2: bf16
      %4 = arith.extf %3 : bf16 to f32
      %0 = arith.addf %4, %g : f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<64x4096xf8E4M3FN>
    fp8.yield %t : tensor<64x4096xf8E4M3FN>
  }
  return %v#1, %w#1, %q, %q2 : tensor<1x1xf32>, tensor<1x1xf32>, tensor<64x4096xf8E4M3FN>, tensor<64x4096xf8E4M3FN>
}
