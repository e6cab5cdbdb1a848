// RUN: not fp8-translate -plan-to-ptx %s 2>&1 | FileCheck %s
// RUN: not fp8-translate -plan-to-ptx --target=sm_100a %s 2>&1 | FileCheck %s --check-prefix=ELSEWHERE

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK: error: kernel 'sum' takes no product's result: the kernel does more than one thing for each element
// ELSEWHERE: error: kernel 'sum' takes no product's result: the target has no such products
plan.kernel @sum unit_dims = [1, 0] attributes {product = 0 : i32, threads = 128 : i32} {
^bb0(%x: tensor<?x128xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x128xbf16>) outs(%f : tensor<?xf32>) {
  ^bb1(%i: bf16, %o: f32):
    %0 = arith.extf %i : bf16 to f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  fp8.yield %t : tensor<?xf32>
}
