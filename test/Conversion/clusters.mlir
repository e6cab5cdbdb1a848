// RUN: fp8-opt %s --fp8-convert-to-plan=target=sm_90a | FileCheck %s
// RUN: fp8-opt %s --fp8-convert-to-plan=target=sm_89 | FileCheck %s --check-prefix=ALONE
// RUN: fp8-opt %s "--fp8-convert-to-plan=target=sm_90a launch=\"{cluster = 8, few = 16}\"" | FileCheck %s --check-prefix=CHOSEN

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A long row is a cluster's in every launch, of at most so many tasks as 31
// bits can number its blocks, or of as many as the launch choices say.

// CHECK: plan.kernel @k0 {{.*}}cluster = 4 : i32, cluster_tasks = 268435455 : i32
// CHECK: fp8.symbol "s"
// CHECK: plan.launch @k0 {{.*}} tasks %{{.*}} scratch %c0
// ALONE-NOT: cluster
// CHOSEN: plan.kernel @k0 {{.*}}cluster = 8 : i32, cluster_tasks = 16 : i32
func.func @forward(%x: tensor<?x65536xbf16> {fp8.name = "x", fp8.dims = ["s", 65536]})
    -> (tensor<?xf32> {fp8.name = "y"}, tensor<?x65536xbf16> {fp8.name = "z"}) {
  %s = fp8.symbol "s" min = 1
  %y, %z = fp8.kernel (%a = %x : tensor<?x65536xbf16>, %n = %s : index) -> (tensor<?xf32>, tensor<?x65536xbf16>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<?x65536xbf16>) outs(%f : tensor<?xf32>) {
    ^bb1(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    %g = tensor.empty(%n) : tensor<?x65536xbf16>
    %u = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %t : tensor<?x65536xbf16>, tensor<?xf32>) outs(%g : tensor<?x65536xbf16>) {
    ^bb1(%p: bf16, %q: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.mulf %0, %q : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<?x65536xbf16>
    fp8.yield %t, %u : tensor<?xf32>, tensor<?x65536xbf16>
  }
  return %y, %z : tensor<?xf32>, tensor<?x65536xbf16>
}
