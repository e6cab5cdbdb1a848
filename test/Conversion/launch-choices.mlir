// RUN: fp8-opt %s "--fp8-convert-to-plan=target=sm_90a launch=\"{threads = 128, rows = 4, stages = 2, dependent = 1}\"" | FileCheck %s
// RUN: not fp8-opt %s "--fp8-convert-to-plan=target=sm_90a launch=\"{row = 4}\"" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fp8-opt %s "--fp8-convert-to-plan=target=sm_90a launch=\"{stages = 3}\"" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not fp8-opt %s "--fp8-convert-to-plan=target=sm_90a launch=4" 2>&1 | FileCheck %s --check-prefix=KIND

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A block does up to 4 rows; the rows are dealt out to so many tasks that all
// have as much to do, and that number ends the launch's sizes.

// CHECK: plan.kernel @k0 unit_dims = [1, 0, 1] attributes {dependent, fp8.launch = {dependent = 1 : i64, rows = 4 : i64, stages = 2 : i64, threads = 128 : i64}, threads = 128 : i32}
// CHECK: %[[S:.*]] = fp8.symbol "s"
// CHECK: %[[WAVES:.*]] = arith.ceildivsi
// CHECK: %[[MOST:.*]] = arith.minsi %{{.*}}, %[[S]]
// CHECK: %[[PARTS:.*]] = arith.maxsi %[[MOST]], %{{.*}}
// CHECK: plan.launch @k0 {{.*}} sizes[{{.*}}, %[[PARTS]]] tasks %{{.*}} scratch %c16384
// NAME: error: launch={row = 4}: expected numbers named threads, width,
// RANGE: error: launch={stages = 3}: expected stages to be 0 to 8, a power of two
// KIND: error: launch=4: expected a dictionary
func.func @forward(%x: tensor<?x4096xbf16> {fp8.name = "x", fp8.dims = ["s", 4096]})
    -> (tensor<?xf32> {fp8.name = "y"}, tensor<?x4096xbf16> {fp8.name = "z"}) {
  %s = fp8.symbol "s" min = 1
  %y, %z = fp8.kernel (%a = %x : tensor<?x4096xbf16>, %n = %s : index) -> (tensor<?xf32>, tensor<?x4096xbf16>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<?x4096xbf16>) outs(%f : tensor<?xf32>) {
    ^bb1(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    %g = tensor.empty(%n) : tensor<?x4096xbf16>
    %u = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %t : tensor<?x4096xbf16>, tensor<?xf32>) outs(%g : tensor<?x4096xbf16>) {
    ^bb1(%p: bf16, %q: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.mulf %0, %q : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<?x4096xbf16>
    fp8.yield %t, %u : tensor<?xf32>, tensor<?x4096xbf16>
  }
  return %y, %z : tensor<?xf32>, tensor<?x4096xbf16>
}
