// RUN: fp8-opt %s -fp8-generate-cpu-kernels -split-input-file -verify-diagnostics | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Rows of 64: two runs of vectors over the last dim and no tail.
// CHECK-LABEL: func @row_max(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr)
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: vector.shuffle
// CHECK: scf.for
// CHECK: arith.divf {{.*}} : vector<16xf32>
// CHECK: llvm.store {{.*}} : vector<16xi8>
// CHECK-NOT: scf.for
plan.kernel @row_max unit_dims = [1, 1] {
^bb0(%x: tensor<?x64xf32>, %n: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xf32>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: f32, %s: f32):
    %0 = math.absf %a : f32
    %1 = arith.maximumf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x64xf8E5M2>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<?x64xf32>, tensor<?xf32>) outs(%e1 : tensor<?x64xf8E5M2>) {
  ^bb1(%a: f32, %s: f32, %o: f8E5M2):
    %0 = arith.divf %a, %s : f32
    %1 = fp8.cast %0 : f32 to f8E5M2
    linalg.yield %1 : f8E5M2
  } -> tensor<?x64xf8E5M2>
  fp8.yield %q : tensor<?x64xf8E5M2>
}

// -----

// Rows and columns of one tensor cannot both be reduced in one kernel.
// expected-error @+1 {{kernel 'crossed' cannot be generated: reductions run over each other's rows}}
module {
  plan.kernel @crossed unit_dims = [1, 1] {
  ^bb0(%x: tensor<?x?xf32>, %n: index, %m: index):
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty(%n) : tensor<?xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf32>) outs(%f0 : tensor<?xf32>) {
    ^bb1(%a: f32, %s: f32):
      %1 = arith.addf %s, %a : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    %e1 = tensor.empty(%m) : tensor<?xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf32>) outs(%f1 : tensor<?xf32>) {
    ^bb1(%a: f32, %s: f32):
      %1 = arith.addf %s, %a : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    %e2 = tensor.empty(%n, %m) : tensor<?x?xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%r, %c : tensor<?xf32>, tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %1 = arith.addf %a, %b : f32
      linalg.yield %1 : f32
    } -> tensor<?x?xf32>
    fp8.yield %y : tensor<?x?xf32>
  }
}

// -----

// expected-error @+1 {{kernel 'unexpanded' cannot be generated: 'fp8.quantize' in a kernel}}
module {
  plan.kernel @unexpanded unit_dims = [1, -1, 1] {
  ^bb0(%x: tensor<?x64xf32>, %s: tensor<1x1xf32>):
    %q = fp8.quantize %x by %s <?x?> : tensor<?x64xf32>, tensor<1x1xf32> -> tensor<?x64xf8E4M3FN>
    fp8.yield %q : tensor<?x64xf8E4M3FN>
  }
}
