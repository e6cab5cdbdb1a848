// RUN: fp8-translate -plan-to-ptx %s | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#batch = affine_map<(d0, d1, d2) -> (d0, d2)>

// Rows of an odd length begin anywhere: a warp a row moves elements, and
// computes pairs; the vector that all rows share is moved in pairs.
// CHECK-LABEL: .entry odd(
// CHECK: .maxntid 128
// CHECK-COUNT-8: ld.global.b16
// CHECK-NOT: bar.sync
// CHECK-COUNT-4: ld.global.b32
// CHECK: mul.rn.bf16x2
// CHECK: st.global.b16
// CHECK: }
plan.kernel @odd unit_dims = [1, 0, 1] {
^bb0(%x: tensor<?x257xbf16>, %w: tensor<257xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x257xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %t: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %t : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x257xbf16>
  %y = linalg.generic {indexing_maps = [#id, #col, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w, %s : tensor<?x257xbf16>, tensor<257xbf16>, tensor<?xf32>) outs(%e1 : tensor<?x257xbf16>) {
  ^bb1(%a: bf16, %b: bf16, %t: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    %4 = arith.extf %3 : bf16 to f32
    %5 = arith.addf %4, %t : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<?x257xbf16>
  fp8.yield %y : tensor<?x257xbf16>
}

// Numbers of tasks have 32 bits, where those hold them and vectors are moved;
// the version that moves elements has 64.
// CHECK-LABEL: .entry batched(
// CHECK: setp.gt.s64 {{.*}}, 2147483647
// CHECK-NOT: div.u64
// CHECK: div.u32
// CHECK-NOT: div.u64
// CHECK: ld.global.v4.b32
// CHECK: div.u64
// CHECK: }
plan.kernel @batched unit_dims = [2, 1, 2] {
^bb0(%x: tensor<?x?x2048xbf16>, %w: tensor<?x2048xbf16>, %m: index, %n: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#id3, #row3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?x2048xbf16>) outs(%f0 : tensor<?x?xf32>) {
  ^bb1(%a: bf16, %t: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %t : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  %e1 = tensor.empty(%m, %n) : tensor<?x?x2048xbf16>
  %y = linalg.generic {indexing_maps = [#id3, #batch, #row3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %w, %s : tensor<?x?x2048xbf16>, tensor<?x2048xbf16>, tensor<?x?xf32>) outs(%e1 : tensor<?x?x2048xbf16>) {
  ^bb1(%a: bf16, %b: bf16, %t: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %t : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<?x?x2048xbf16>
  fp8.yield %y : tensor<?x?x2048xbf16>
}

// Few elements are shared out a vector a thread, or two, many by four.
// CHECK-LABEL: .entry elements(
// CHECK: setp.lt.s64 {{.*}}, 8388609
// CHECK: setp.lt.s64 {{.*}}, 1081345
// CHECK: }
plan.kernel @elements unit_dims = [1, 1] {
^bb0(%x: tensor<?x4096xbf16>, %n: index):
  %e = tensor.empty(%n) : tensor<?x4096xbf16>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4096xbf16>) outs(%e : tensor<?x4096xbf16>) {
  ^bb1(%a: bf16, %o: bf16):
    %0 = arith.negf %a : bf16
    linalg.yield %0 : bf16
  } -> tensor<?x4096xbf16>
  fp8.yield %y : tensor<?x4096xbf16>
}

// Rows of a warp: two a task, whose shared vector is read once, and the next
// row's loads begin before the row is done.
// CHECK-LABEL: .entry pairs(
// CHECK: .maxntid 128
// CHECK-NOT: bar.sync
// CHECK-COUNT-9: ld.global.v2.b32
// CHECK-COUNT-9: ld.global.v2.b32
// CHECK: setp.g{{[te]}}.s64
// CHECK-COUNT-9: ld.global.v2.b32
// CHECK: shfl.sync.bfly
// CHECK: }
plan.kernel @pairs unit_dims = [1, 0, 1] attributes {fp8.launch = {rows = 2, stages = 0, threads = 32, width = 4}} {
^bb0(%x: tensor<?x1152xbf16>, %w: tensor<1152xbf16>, %n: index):
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty(%n) : tensor<?xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x1152xbf16>) outs(%f0 : tensor<?xf32>) {
  ^bb1(%a: bf16, %t: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %t : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?x1152xbf16>
  %y = linalg.generic {indexing_maps = [#id, #col, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w, %s : tensor<?x1152xbf16>, tensor<1152xbf16>, tensor<?xf32>) outs(%e1 : tensor<?x1152xbf16>) {
  ^bb1(%a: bf16, %b: bf16, %t: f32, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %2, %t : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<?x1152xbf16>
  fp8.yield %y : tensor<?x1152xbf16>
}
