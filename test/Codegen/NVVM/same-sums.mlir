// RUN: fp8-translate -plan-to-ptx %s | FileCheck %s

// Two kernels compute these sums: where elements are moved one by one (after
// the vectors' part) they are added as they are where vectors are, each thread
// eight neighbours, without a loop over the row. Other kernels have a loop.

// CHECK-LABEL: .visible .entry again(
// CHECK: ld.global.v4.b32
// CHECK: add{{.*}}.f32
// CHECK: shfl.sync.bfly
// CHECK: ld.global.b16
// CHECK-COUNT-7: ld.global.b16
// CHECK: add{{.*}}.f32
// CHECK: shfl.sync.bfly
// CHECK-LABEL: .visible .entry alone(
// CHECK: ld.global.v4.b32
// CHECK: ld.global.b16
// CHECK-NOT: ld.global.b16
// CHECK: setp.lt.u64 {{.+}}, 248;

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

plan.kernel @again unit_dims = [1, 0] attributes {fp8.launch = {sums = 1 : index}, threads = 128 : i32} {
^bb0(%x: tensor<?x256xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x256xbf16>) outs(%z : tensor<?xf32>) {
  ^bb1(%p: bf16, %o: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  fp8.yield %s : tensor<?xf32>
}

plan.kernel @alone unit_dims = [1, 0] attributes {threads = 128 : i32} {
^bb0(%x: tensor<?x256xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x256xbf16>) outs(%z : tensor<?xf32>) {
  ^bb1(%p: bf16, %o: f32):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  fp8.yield %s : tensor<?xf32>
}
