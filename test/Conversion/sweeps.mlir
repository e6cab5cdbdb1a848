// RUN: fp8-opt %s --fp8-convert-to-plan=target=sm_90a | FileCheck %s
// RUN: fp8-opt %s --fp8-convert-to-plan=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: fp8-opt %s "--fp8-convert-to-plan=target=sm_90a launch=\"{backwards = 0}\"" | FileCheck %s --check-prefix=CHOSEN

// A kernel begins where the command before it ended: what that did last is in
// the cache. A product goes forward, so the kernel that reads its result goes
// backwards, and the one that reads that forward again. Vectors that rows share
// do not count.

// CHECK: plan.kernel @k0 {{.*}}fp8.launch = {backwards = 1 : index}
// CHECK: plan.kernel @k1 unit_dims = [1, 0, 1] attributes {dependent, threads
// CHECK: plan.kernel @k2 {{.*}}fp8.launch = {backwards = 1 : index}
// CHECK: plan.entry
// CHECK: plan.matmul
// CHECK: plan.launch @k0
// CHECK: plan.launch @k1
// CHECK: plan.launch @k2
// CPU-NOT: backwards
// CHOSEN-NOT: backwards = 1

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

func.func @forward(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s", 64]}, %w: tensor<64x64xbf16> {fp8.name = "w", fp8.dims = [64, 64]},
    %v: tensor<64xbf16> {fp8.name = "v", fp8.dims = [64]})
    -> (tensor<?x64xbf16> {fp8.name = "y"}, tensor<?x64xbf16> {fp8.name = "z"}, tensor<?x64xf32> {fp8.name = "u"}) {
  %s = fp8.symbol "s" min = 1
  %m = fp8.matmul %x, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  %y = fp8.kernel (%a = %m : tensor<?x64xbf16>, %n = %s : index) -> (tensor<?x64xbf16>) {
    %e = tensor.empty(%n) : tensor<?x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
    ^bb0(%p: bf16, %o: bf16):
      %0 = arith.negf %p : bf16
      linalg.yield %0 : bf16
    } -> tensor<?x64xbf16>
    fp8.yield %t : tensor<?x64xbf16>
  }
  %z = fp8.kernel (%a = %y : tensor<?x64xbf16>, %b = %v : tensor<64xbf16>, %n = %s : index) -> (tensor<?x64xbf16>) {
    %e = tensor.empty(%n) : tensor<?x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x64xbf16>, tensor<64xbf16>) outs(%e : tensor<?x64xbf16>) {
    ^bb0(%p: bf16, %q: bf16, %o: bf16):
      %0 = arith.addf %p, %q : bf16
      linalg.yield %0 : bf16
    } -> tensor<?x64xbf16>
    fp8.yield %t : tensor<?x64xbf16>
  }
  %u = fp8.kernel (%a = %z : tensor<?x64xbf16>, %n = %s : index) -> (tensor<?x64xf32>) {
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x64xbf16>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      linalg.yield %0 : f32
    } -> tensor<?x64xf32>
    fp8.yield %t : tensor<?x64xf32>
  }
  return %y, %z, %u : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xf32>
}
