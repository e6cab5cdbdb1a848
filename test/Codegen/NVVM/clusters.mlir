// RUN: fp8-translate -plan-to-ptx -target=sm_90a %s | FileCheck %s
// RUN: fp8-translate -plan-to-ptx -target=sm_89 %s | FileCheck %s --check-prefix=ALONE

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// A long row is a cluster's: a group of eight blocks, whose warps send what
// they have come to to each of them. None waits for the whole cluster but to
// know that its blocks have begun.
// ALONE-NOT: cluster
// CHECK-LABEL: .entry long(
// CHECK: .maxntid 256
// CHECK: mov.u32 {{.*}}, %cluster_nctaid.x
// CHECK: mbarrier.init.shared
// CHECK: fence.mbarrier_init.release.cluster
// CHECK: barrier.cluster.arrive.relaxed.aligned
// CHECK: mov.u32 {{.*}}, %clusterid.x
// CHECK-NOT: bar.sync
// CHECK-COUNT-16: ld.global.v4.b32
// CHECK-COUNT-5: shfl.sync.bfly
// CHECK: barrier.cluster.wait.aligned
// CHECK-NOT: barrier.cluster
// CHECK: mbarrier.arrive.expect_tx
// CHECK: mapa.shared::cluster.u64
// CHECK: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32
// CHECK: mbarrier.try_wait.parity
// CHECK-NOT: bar.sync
// CHECK: cvt.rn.bf16x2.f32
// CHECK: }
plan.kernel @long unit_dims = [1, 0, 1] {
^bb0(%x: tensor<?x131072xbf16>, %w: tensor<131072xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x131072xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %t: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %t : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x131072xbf16>
  %y = linalg.generic {indexing_maps = [#id, #col, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w, %s : tensor<?x131072xbf16>, tensor<131072xbf16>, tensor<?xf32>) outs(%e1 : tensor<?x131072xbf16>) {
  ^bb1(%a: bf16, %b: bf16, %t: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %t : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<?x131072xbf16>
  fp8.yield %y : tensor<?x131072xbf16>
}

// Rows that a block holds are a cluster's where the launch says so, and else a
// block's; the version for few rows has one vector a thread, not four.
// CHECK-LABEL: .entry few(
// CHECK: .maxntid 128
// CHECK: setp.ne.b32 {{.*}}, 4;
// CHECK-COUNT-2: ld.global.v4.b32
// CHECK-NOT: ld.global.v4.b32
// CHECK: st.async
// CHECK: bar.sync
// CHECK: }
plan.kernel @few unit_dims = [1, 0, 1] attributes {fp8.launch = {cluster = 4, few = 33}} {
^bb0(%x: tensor<?x4096xbf16>, %w: tensor<4096xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x4096xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %t: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %t : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x4096xbf16>
  %y = linalg.generic {indexing_maps = [#id, #col, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w, %s : tensor<?x4096xbf16>, tensor<4096xbf16>, tensor<?xf32>) outs(%e1 : tensor<?x4096xbf16>) {
  ^bb1(%a: bf16, %b: bf16, %t: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %t : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<?x4096xbf16>
  fp8.yield %y : tensor<?x4096xbf16>
}
