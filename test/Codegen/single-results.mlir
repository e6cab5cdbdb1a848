// RUN: fp8-opt %s -fp8-generate-cpu-kernels | FileCheck %s --check-prefix=CPU
// RUN: fp8-opt %s -fp8-generate-gpu-kernels=target=sm_90a | FileCheck %s --check-prefix=GPU

// A result of one element that no task has.

// On a CPU who has the first task writes it; without rows there is no task.

// CPU-LABEL: func @k0(
// CPU-SAME: %[[FROM:[a-z0-9]+]]: i64, %[[TO:[a-z0-9]+]]: i64, %{{[a-z0-9]+}}: !llvm.ptr)
// CPU: %[[FIRST:.+]] = arith.cmpi eq, %[[FROM]], %{{.+}} : i64
// CPU: scf.if %[[FIRST]] {
// CPU: arith.divf
// CPU: llvm.store %{{.+}} : f32
// CPU: %[[END:.+]] = arith.minsi %[[TO]], %{{.+}} : i64
// CPU: scf.for %{{.+}} = %[[FROM]] to %[[END]]

// On a GPU it is the first thread of the first block. All others compute it
// when they have asked for their elements.

// GPU-LABEL: llvm.func @k0
// GPU: %[[ID:.+]] = arith.ori %{{.+}}, %{{.+}} : i32
// GPU: %[[MINE:.+]] = arith.cmpi eq, %[[ID]], %{{.+}} : i32
// GPU: scf.if %[[MINE]] {
// GPU: arith.divf
// GPU: llvm.store %{{.+}} : f32, !llvm.ptr<1>
// GPU: scf.for
// GPU: llvm.load %{{.+}} : !llvm.ptr<1> -> f32
// GPU: llvm.load %{{.+}} : !llvm.ptr<1> -> vector<4xi32>
// GPU: arith.divf

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>
#none = affine_map<() -> ()>

plan.kernel @k0 unit_dims = [1, -1, 1, -1] attributes {threads = 64 : i32} {
^bb0(%x: tensor<?x64xbf16>, %amax: tensor<f32>, %n: index):
  %largest = arith.constant 448.0 : f32
  %f = tensor.empty() : tensor<f32>
  %s = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%amax : tensor<f32>) outs(%f : tensor<f32>) {
  ^bb1(%p: f32, %o: f32):
    %0 = arith.divf %p, %largest : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %e = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
  %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x64xbf16>, tensor<f32>) outs(%e : tensor<?x64xf8E4M3FN>) {
  ^bb1(%p: bf16, %k: f32, %o: f8E4M3FN):
    %0 = arith.extf %p : bf16 to f32
    %1 = arith.divf %0, %k : f32
    %2 = fp8.cast %1 : f32 to f8E4M3FN
    linalg.yield %2 : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  fp8.yield %t, %s : tensor<?x64xf8E4M3FN>, tensor<f32>
}
