// RUN: fp8-translate -plan-to-ptx %s | FileCheck %s
// RUN: fp8-translate -plan-to-ptx -target=sm_89 %s | FileCheck %s --check-prefix=SM89
// Every run gives the same text.
// RUN: fp8-translate -plan-to-ptx %s -o %t.first
// RUN: fp8-translate -plan-to-ptx %s -o %t.second
// RUN: diff %t.first %t.second

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#id1 = affine_map<(d0) -> (d0)>
#scalar = affine_map<() -> ()>

module {

// A row of 2048 in 64 threads: 4 vectors each, read once, kept in registers
// over the reduction (shuffles, then shared memory) and cast by the row's scale.
// CHECK: .target sm_90a
// CHECK-LABEL: .entry row_amax(
// CHECK-NEXT: .param .align 8 .b8 row_amax_param_0[24],
// CHECK-NEXT: .param .align 8 .b8 row_amax_param_1[64]
// CHECK: .maxntid 64
// It may start before the kernel before it has ended.
// CHECK: griddepcontrol.launch_dependents
// CHECK-NEXT: griddepcontrol.wait
// SM89-NOT: griddepcontrol
// CHECK-COUNT-4: ld.global.v4.b32
// CHECK-NOT: ld.global
// CHECK: max.NaN.bf16x2
// CHECK: redux.sync.max.u32
// CHECK: st.shared.b32
// CHECK: bar.sync
// CHECK-NOT: ld.global
// CHECK: rcp.approx.ftz.f32
// CHECK: cvt.rn.satfinite.e4m3x2.f32
// CHECK: st.global.v2.b32
// Operands that are not aligned, and more tasks than 32 bits hold: element by
// element.
// CHECK: ld.global.b16
// CHECK: }
plan.kernel @row_amax unit_dims = [1, 0, 1] {
^bb0(%x: tensor<?x2048xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %max = arith.constant 448.0 : f32
  %min = arith.constant -448.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %amax = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x2048xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = math.absf %0 : f32
    %2 = arith.maximumf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  %scale = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%amax : tensor<?xf32>) outs(%e0 : tensor<?xf32>) {
  ^bb1(%a: f32, %o: f32):
    %0 = arith.divf %a, %max : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x2048xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scale : tensor<?x2048xbf16>, tensor<?xf32>) outs(%e1 : tensor<?x2048xf8E4M3FN>) {
  ^bb1(%a: bf16, %s: f32, %o: f8E4M3FN):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.divf %0, %s : f32
    %2 = arith.maximumf %1, %min : f32
    %3 = arith.minimumf %2, %max : f32
    %4 = fp8.cast %3 : f32 to f8E4M3FN
    linalg.yield %4 : f8E4M3FN
  } -> tensor<?x2048xf8E4M3FN>
  fp8.yield %scale, %q : tensor<?xf32>, tensor<?x2048xf8E4M3FN>
}

// A sum rounded to bf16 is one operation on pairs; sm_89 has it not. The amax
// of the whole tensor: one atomic operation a block at the end.
// CHECK-LABEL: .entry add_amax(
// CHECK: ld.global.v4.b32
// CHECK: add.rn.bf16x2
// CHECK: st.global.v4.b32
// CHECK: redux.sync.max.u32
// CHECK: bar.sync
// CHECK: redux.sync.max.u32
// CHECK: atom.{{.*}}global.max.u32
// CHECK: }
// SM89-LABEL: .entry add_amax(
// SM89-NOT: add.rn.bf16x2
// SM89: cvt.rn.bf16x2.f32
plan.kernel @add_amax unit_dims = [1, 1, 1, 1] {
^bb0(%x: tensor<?x4096xbf16>, %y: tensor<?x4096xbf16>, %n: index):
  %e = tensor.empty(%n) : tensor<?x4096xbf16>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x4096xbf16>, tensor<?x4096xbf16>) outs(%e : tensor<?x4096xbf16>) {
  ^bb1(%a: bf16, %b: bf16, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<?x4096xbf16>
  %amax = fp8.amax %sum <?x?> : tensor<?x4096xbf16> -> tensor<1x1xf32>
  fp8.yield %sum, %amax : tensor<?x4096xbf16>, tensor<1x1xf32>
}

// What is beyond E5M2 becomes Inf, which the hardware's cast does not give.
// CHECK-LABEL: .entry to_e5m2(
// CHECK: cvt.rn.satfinite.e5m2x2.f32
// CHECK: setp.{{(n)?}}{{ge|lt}}{{u?}}.f32
// CHECK: }
plan.kernel @to_e5m2 unit_dims = [1, 1] {
^bb0(%x: tensor<?x64xf32>, %n: index):
  %e = tensor.empty(%n) : tensor<?x64xf8E5M2>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf8E5M2>) {
  ^bb1(%a: f32, %o: f8E5M2):
    %0 = fp8.cast %a overflow = ieee : f32 to f8E5M2
    linalg.yield %0 : f8E5M2
  } -> tensor<?x64xf8E5M2>
  fp8.yield %q : tensor<?x64xf8E5M2>
}

// f8 to bf16 by way of f16.
// CHECK-LABEL: .entry from_f8(
// CHECK: cvt.rn.f16x2.e4m3x2
// CHECK: }
plan.kernel @from_f8 unit_dims = [1, 1] {
^bb0(%x: tensor<?x64xf8E4M3FN>, %n: index):
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xf8E4M3FN>) outs(%e : tensor<?x64xf32>) {
  ^bb1(%a: f8E4M3FN, %o: f32):
    %0 = arith.extf %a : f8E4M3FN to f32
    linalg.yield %0 : f32
  } -> tensor<?x64xf32>
  fp8.yield %q : tensor<?x64xf32>
}

// Rows of a table: each at an address that is read.
// CHECK-LABEL: .entry gather(
// CHECK: ld.global.b64
// CHECK: ld.global
// CHECK: st.global.v4.b32
// CHECK: }
plan.kernel @gather unit_dims = [1, 0, 1] {
^bb0(%table: tensor<?x64xbf16>, %ids: tensor<?xi64>, %n: index):
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %q = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x64xbf16>) {
  ^bb1(%i: i64, %o: bf16):
    %0 = arith.index_cast %i : i64 to index
    %1 = linalg.index 1 : index
    %2 = tensor.extract %table[%0, %1] : tensor<?x64xbf16>
    linalg.yield %2 : bf16
  } -> tensor<?x64xbf16>
  fp8.yield %q : tensor<?x64xbf16>
}

// The sums of columns: each thread has its own, nothing is shared.
// CHECK-LABEL: .entry columns(
// CHECK-NOT: shfl
// CHECK: st.global.b32
// CHECK: }
plan.kernel @columns unit_dims = [1, 0] {
^bb0(%x: tensor<?x64xf32>):
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb1(%a: f32, %s: f32):
    %0 = arith.addf %s, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  fp8.yield %sum : tensor<64xf32>
}

// One number: one thread.
// CHECK-LABEL: .entry scalar(
// CHECK: .maxntid 32
// CHECK: ld.global.b32
// CHECK: st.global.b32
// CHECK: }
plan.kernel @scalar unit_dims = [-1, -1] {
^bb0(%x: tensor<f32>):
  %e = tensor.empty() : tensor<f32>
  %one = arith.constant 1.0 : f32
  %y = linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []}
      ins(%x : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb1(%a: f32, %o: f32):
    %0 = arith.divf %one, %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  fp8.yield %y : tensor<f32>
}

// SiLU of a bf16 value: two operations of the hardware's.
// CHECK-LABEL: .entry silu(
// CHECK: ex2.approx.ftz.f32
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: div.rn
// CHECK: }
plan.kernel @silu unit_dims = [1, 1] {
^bb0(%x: tensor<?x64xbf16>, %n: index):
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb1(%a: bf16, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.negf %0 : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.divf %0, %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<?x64xbf16>
  fp8.yield %q : tensor<?x64xbf16>
}

// GELU, spelled with tanh, by ex2 and rcp; nothing of tanh's expansion is left.
// CHECK-LABEL: .entry gelu(
// CHECK: ex2.approx.ftz.f32
// CHECK: rcp.approx.ftz.f32
// CHECK-NOT: div.rn
// CHECK: }
plan.kernel @gelu unit_dims = [1, 1] {
^bb0(%x: tensor<?x64xbf16>, %n: index):
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 0.797884583 : f32
  %cubic = arith.constant 0.044715 : f32
  %e = tensor.empty(%n) : tensor<?x64xbf16>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb1(%a: bf16, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.mulf %2, %cubic : f32
    %4 = arith.addf %0, %3 : f32
    %5 = arith.mulf %4, %root : f32
    %6 = math.tanh %5 : f32
    %7 = arith.mulf %0, %half : f32
    %8 = arith.addf %6, %one : f32
    %9 = arith.mulf %7, %8 : f32
    %10 = arith.truncf %9 : f32 to bf16
    linalg.yield %10 : bf16
  } -> tensor<?x64xbf16>
  fp8.yield %q : tensor<?x64xbf16>
}

// Mean and variance: the threads exchange what they have once.
// CHECK-LABEL: .entry moments(
// CHECK: rsqrt.approx.f32
// CHECK: ld.global.v4.b32
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK-NOT: shfl.sync
// CHECK: st.shared.v2.b32
// CHECK: }
plan.kernel @moments unit_dims = [1, 1] {
^bb0(%x: tensor<?x2048xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 2048.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x2048xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e0 : tensor<?xf32>) {
  ^bb1(%a: f32, %o: f32):
    %0 = arith.divf %a, %size : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : tensor<?x2048xbf16>, tensor<?xf32>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %m: f32, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.subf %0, %m : f32
    %2 = arith.mulf %1, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x2048xbf16>
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %squares : tensor<?x2048xbf16>, tensor<?xf32>, tensor<?xf32>) outs(%e1 : tensor<?x2048xbf16>) {
  ^bb1(%a: bf16, %m: f32, %s: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.subf %0, %m : f32
    %2 = math.rsqrt %s : f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<?x2048xbf16>
  fp8.yield %y : tensor<?x2048xbf16>
}

// Rows of one table are scaled and shifted by vectors that all share: several
// rows a block, brought ahead by bulk copies. sm_89 has none.
// CHECK-LABEL: .entry modulate(
// CHECK: mbarrier.init.shared.b64
// CHECK: cp.async.bulk.shared::cluster.global
// CHECK: mbarrier.try_wait.parity.shared.b64
// CHECK: ld.shared.v4.b32
// CHECK: bar.sync
// CHECK: cp.async.bulk.shared::cluster.global
// CHECK: }
// SM89-LABEL: .entry modulate(
// SM89-NOT: cp.async.bulk
plan.kernel @modulate unit_dims = [1, 0, 0, 1] {
^bb0(%x: tensor<?x4096xbf16>, %scale: tensor<4096xbf16>, %shift: tensor<4096xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x4096xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %s: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x4096xbf16>
  %centred = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x4096xbf16>, tensor<?xf32>) outs(%e1 : tensor<?x4096xbf16>) {
  ^bb1(%a: bf16, %s: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.subf %0, %s : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<?x4096xbf16>
  %scaled = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%centred, %scale : tensor<?x4096xbf16>, tensor<4096xbf16>) outs(%e1 : tensor<?x4096xbf16>) {
  ^bb1(%a: bf16, %s: bf16, %o: bf16):
    %0 = arith.mulf %a, %s : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x4096xbf16>
  %shifted = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%scaled, %shift : tensor<?x4096xbf16>, tensor<4096xbf16>) outs(%e1 : tensor<?x4096xbf16>) {
  ^bb1(%a: bf16, %s: bf16, %o: bf16):
    %0 = arith.addf %a, %s : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x4096xbf16>
  fp8.yield %shifted : tensor<?x4096xbf16>
}

}
