// RUN: fp8-translate -plan-to-ptx %s | FileCheck %s

// An attribute that is not of the kernel's results has no effect.

// CHECK: .entry k0(

#id = affine_map<(d0, d1) -> (d0, d1)>

plan.kernel @k0 unit_dims = [1, 1] attributes {fp8.zeros = array<i64: 15, 15>, threads = 96 : i32} {
^bb0(%x: tensor<9x257xf32>):
  %e = tensor.empty() : tensor<9x257xf8E4M3FN>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<9x257xf32>) outs(%e : tensor<9x257xf8E4M3FN>) {
  ^bb0(%in: f32, %out: f8E4M3FN):
    %1 = fp8.cast %in : f32 to f8E4M3FN
    linalg.yield %1 : f8E4M3FN
  } -> tensor<9x257xf8E4M3FN>
  fp8.yield %0 : tensor<9x257xf8E4M3FN>
}
