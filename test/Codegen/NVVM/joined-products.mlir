// RUN: fp8-opt %s --fp8-kernels-to-plan=target=sm_90a | fp8-translate -plan-to-ptx - -o %t.ptx
// RUN: FileCheck %s < %t.ptx

#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>

// The kernel itself, and both of its joined forms: tiles that the copy engine
// brings, a ring of barriers, all sums in the tensor core's registers, and what
// the kernel does in place of calls.
// CHECK: .entry k0(
// CHECK: .entry k0_product_64x256(
// CHECK: .maxntid 384
// CHECK-NOT: call
// CHECK: cp.async.bulk.tensor.5d.{{.*}}multicast::cluster
// CHECK: setmaxnreg.inc.sync.aligned.u32 232
// CHECK: wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3
// CHECK-NOT: {{call|local}}
// CHECK: st.shared.v4.b32
// CHECK: cvt.rn.satfinite.e4m3x2.f32
// CHECK: st.global.v{{2.b32|4.b16}}
// CHECK: .entry k0_product_128x128(
// CHECK: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
func.func @forward(%q: tensor<?x64xf8E4M3FN> {fp8.name = "q", fp8.dims = ["s", 64]}, %w: tensor<64x128xf8E4M3FN> {fp8.name = "w"},
    %a: tensor<1x1xf32> {fp8.name = "a"}, %b: tensor<1x1xf32> {fp8.name = "b"}, %c: tensor<f32> {fp8.name = "c"})
    -> (tensor<?x128xf8E4M3FN> {fp8.name = "y"}) {
  %s = fp8.symbol "s" min = 1
  %p = fp8.scaled_matmul(%q by %a <?x?>, %w by %b <?x?>) fast_accum
    : tensor<?x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x128xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x128xbf16>
  %y = fp8.kernel (%x = %p : tensor<?x128xbf16>, %t = %c : tensor<f32>, %n = %s : index) -> (tensor<?x128xf8E4M3FN>) {
    %e = tensor.empty(%n) : tensor<?x128xf8E4M3FN>
    %u = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %t : tensor<?x128xbf16>, tensor<f32>) outs(%e : tensor<?x128xf8E4M3FN>) {
    ^bb1(%i: bf16, %j: f32, %o: f8E4M3FN):
      %0 = arith.extf %i : bf16 to f32
      %1 = arith.divf %0, %j : f32
      %2 = fp8.cast %1 overflow = saturate : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<?x128xf8E4M3FN>
    fp8.yield %u : tensor<?x128xf8E4M3FN>
  }
  return %y : tensor<?x128xf8E4M3FN>
}
