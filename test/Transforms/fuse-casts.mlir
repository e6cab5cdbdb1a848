// RUN: fp8-opt %s --fp8-fuse-casts | FileCheck %s

// One kernel a producer kind, whatever it computes: the cast sits in it. The
// tests name models' parts, the pass knows none of them.

#id = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#one = affine_map<(d0, d1) -> ()>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#none = affine_map<() -> ()>
#bh = affine_map<(d0, d1, d2) -> (d0, d2)>

// CHECK-LABEL: @layer_norm
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK-SAME: fp8.nodes = ["to"]
// CHECK: fp8.cast
// CHECK: fp8.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @layer_norm(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>) -> (tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xbf16>) outs(%f2 : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %v = arith.addf %w, %zero : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e3 = tensor.empty(%s0) : tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e3 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e4 = tensor.empty(%s0) : tensor<?xf32>
  %f5 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<?xf32>) -> tensor<?xf32>
  %sq = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : tensor<?x64xbf16>, tensor<?xf32>) outs(%f5 : tensor<?xf32>) {
  ^bb0(%a: bf16, %m: f32, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %c = arith.subf %w, %m : f32
    %v = arith.mulf %c, %c : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e6 = tensor.empty(%s0) : tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sq : tensor<?xf32>) outs(%e6 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %m = arith.divf %a, %n : f32
    %r = math.rsqrt %m : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e7 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %rstd : tensor<?x64xbf16>, tensor<?xf32>, tensor<?xf32>) outs(%e7 : tensor<?x64xbf16>) attrs = {fp8.node = "layer_norm"} {
  ^bb0(%a: bf16, %m: f32, %b: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %c = arith.subf %w, %m : f32
    %r = arith.mulf %c, %b : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e8 = tensor.empty(%s0) : tensor<?x64xf32>
  %qd = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<?x64xbf16>, tensor<f32>) outs(%e8 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %s: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.divf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %e9 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%qd : tensor<?x64xf32>) outs(%e9 : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: @rms_norm
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK: fp8.cast
// CHECK: fp8.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @rms_norm(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>) -> (tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xbf16>) outs(%f2 : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %v = arith.mulf %w, %w : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e3 = tensor.empty(%s0) : tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e3 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %m = arith.divf %a, %n : f32
    %r = math.rsqrt %m : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e4 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd : tensor<?x64xbf16>, tensor<?xf32>) outs(%e4 : tensor<?x64xbf16>) attrs = {fp8.node = "norm"} {
  ^bb0(%a: bf16, %b: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = arith.mulf %w, %b : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e5 = tensor.empty(%s0) : tensor<?x64xf32>
  %qd = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<?x64xbf16>, tensor<f32>) outs(%e5 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %s: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.divf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %e6 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%qd : tensor<?x64xf32>) outs(%e6 : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: @residual_norm
// CHECK: %[[K:.+]]:2 = fp8.kernel
// CHECK-SAME: (tensor<?x64xbf16>, tensor<?x64xf8E4M3FN>)
// CHECK-SAME: fp8.nodes = ["add", "to"]
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @residual_norm(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>, %y: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?x64xbf16>
  %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e1 : tensor<?x64xbf16>) attrs = {fp8.node = "add"} {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %r = arith.addf %v, %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e2 = tensor.empty(%s0) : tensor<?xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%z : tensor<?x64xbf16>) outs(%f3 : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %v = arith.mulf %w, %w : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e4 = tensor.empty(%s0) : tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e4 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %m = arith.divf %a, %n : f32
    %r = math.rsqrt %m : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e5 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%z, %rstd : tensor<?x64xbf16>, tensor<?xf32>) outs(%e5 : tensor<?x64xbf16>) attrs = {fp8.node = "norm"} {
  ^bb0(%a: bf16, %b: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = arith.mulf %w, %b : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e6 = tensor.empty(%s0) : tensor<?x64xf32>
  %qd = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<?x64xbf16>, tensor<f32>) outs(%e6 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %s: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.divf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %e7 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%qd : tensor<?x64xf32>) outs(%e7 : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %z, %q : tensor<?x64xbf16>, tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: @gelu
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK: fp8.cast
// CHECK: fp8.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @gelu(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>) -> (tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e1 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %c = arith.constant 0.5 : f32
    %g = math.erf %w : f32
    %p = arith.mulf %w, %g : f32
    %r = arith.mulf %p, %c : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e2 = tensor.empty(%s0) : tensor<?x64xf32>
  %qd = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<?x64xbf16>, tensor<f32>) outs(%e2 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %s: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.divf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %e3 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%qd : tensor<?x64xf32>) outs(%e3 : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: @swiglu
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK: fp8.cast
// CHECK: fp8.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @swiglu(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>, %up: tensor<?x64xbf16>) -> (tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?x64xbf16>
  %si = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e1 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %n = arith.negf %w : f32
    %ex = math.exp %n : f32
    %c = arith.constant 1.0 : f32
    %d = arith.addf %ex, %c : f32
    %r = arith.divf %w, %d : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e2 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%si, %up : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e2 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %r = arith.mulf %v, %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e3 = tensor.empty(%s0) : tensor<?x64xf32>
  %qd = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<?x64xbf16>, tensor<f32>) outs(%e3 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %s: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.divf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %e4 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%qd : tensor<?x64xf32>) outs(%e4 : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// x * tanh(softplus(x))
// CHECK-LABEL: @unforeseen_activation
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK: math.log1p
// CHECK: math.tanh
// CHECK: fp8.cast
// CHECK: fp8.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @unforeseen_activation(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["s0", 64]}, %scale: tensor<f32>) -> (tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?x64xbf16>
  %sp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e1 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %ex = math.exp %w : f32
    %r = math.log1p %ex : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e2 = tensor.empty(%s0) : tensor<?x64xbf16>
  %th = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sp : tensor<?x64xbf16>) outs(%e2 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = math.tanh %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e3 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %th : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e3 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %r = arith.mulf %v, %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e4 = tensor.empty(%s0) : tensor<?x64xf32>
  %qd = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %scale : tensor<?x64xbf16>, tensor<f32>) outs(%e4 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %s: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.divf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %e5 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%qd : tensor<?x64xf32>) outs(%e5 : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// `1 + scale` is cheap and smaller: it is computed in the kernel, not in memory.
// CHECK-LABEL: @modulation
// CHECK: %[[K:.+]] = fp8.kernel
// CHECK: fp8.cast
// CHECK: fp8.yield
// CHECK-NOT: linalg.generic
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @modulation(%x: tensor<?x?x64xbf16> {fp8.dims = ["s0", "s1", 64]}, %sc: tensor<?x64xbf16> {fp8.dims = ["s0", 64]}, %sh: tensor<?x64xbf16> {fp8.dims = ["s0", 64]}) -> (tensor<?x?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %s1 = fp8.symbol "s1" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?x64xbf16>
  %s1p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sc : tensor<?x64xbf16>) outs(%e1 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %c = arith.constant 1.0 : f32
    %r = arith.addf %w, %c : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e2 = tensor.empty(%s0, %s1) : tensor<?x?x64xbf16>
  %m = linalg.generic {indexing_maps = [#id3, #bh, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s1p : tensor<?x?x64xbf16>, tensor<?x64xbf16>) outs(%e2 : tensor<?x?x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %r = arith.mulf %v, %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x?x64xbf16>
  %e3 = tensor.empty(%s0, %s1) : tensor<?x?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id3, #bh, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%m, %sh : tensor<?x?x64xbf16>, tensor<?x64xbf16>) outs(%e3 : tensor<?x?x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %r = arith.addf %v, %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x?x64xbf16>
  %e4 = tensor.empty(%s0, %s1) : tensor<?x?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%h : tensor<?x?x64xbf16>) outs(%e4 : tensor<?x?x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %o: f8E4M3FN):
    %r = fp8.cast %a : bf16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x?x64xf8E4M3FN>
  return %q : tensor<?x?x64xf8E4M3FN>
}

// The row's amax and scale sit with the norm and the cast.
// CHECK-LABEL: @row_scale
// CHECK: %[[K:.+]]:2 = fp8.kernel
// CHECK: arith.maximumf
// CHECK: fp8.cast
// CHECK-NOT: fp8.kernel
// CHECK: return %[[K]]
func.func @row_scale(%x: tensor<?x64xbf16> {fp8.dims = ["s0", 64]}) -> (tensor<?xf32>, tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xbf16>) outs(%f2 : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %v = arith.mulf %w, %w : f32
    %s = arith.addf %acc, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e3 = tensor.empty(%s0) : tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%e3 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 64.0 : f32
    %m = arith.divf %a, %n : f32
    %r = math.rsqrt %m : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e4 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd : tensor<?x64xbf16>, tensor<?xf32>) outs(%e4 : tensor<?x64xbf16>) attrs = {fp8.node = "norm"} {
  ^bb0(%a: bf16, %b: f32, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = arith.mulf %w, %b : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e5 = tensor.empty(%s0) : tensor<?xf32>
  %f6 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<?xf32>) -> tensor<?xf32>
  %am = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<?x64xbf16>) outs(%f6 : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %b = math.absf %w : f32
    %s = arith.maximumf %acc, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %e7 = tensor.empty(%s0) : tensor<?xf32>
  %sc = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%am : tensor<?xf32>) outs(%e7 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 448.0 : f32
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %e8 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %sc : tensor<?x64xbf16>, tensor<?xf32>) outs(%e8 : tensor<?x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %d = arith.divf %w, %b : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %sc, %q : tensor<?xf32>, tensor<?x64xf8E4M3FN>
}

// The amax of all elements ends with the producer; scale and cast come after it,
// and the widening is computed again rather than written.
// CHECK-LABEL: @tensor_amax
// CHECK: %[[P:.+]]:2 = fp8.kernel
// CHECK: math.exp
// CHECK: fp8.amax
// CHECK: fp8.yield %{{.+}}, %{{.+}} : tensor<?x64xbf16>, tensor<1x1xf32>
// CHECK: %[[S:.+]] = fp8.kernel
// CHECK: arith.divf
// CHECK: %[[Q:.+]] = fp8.kernel
// CHECK-SAME: %[[P]]#0
// CHECK: arith.extf
// CHECK: fp8.cast
// CHECK: return %[[S]], %[[Q]]
func.func @tensor_amax(%x: tensor<?x64xbf16> {fp8.dims = ["s0", 64]}) -> (tensor<f32>, tensor<?x64xf8E4M3FN>) {
  %s0 = fp8.symbol "s0" min = 1
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty(%s0) : tensor<?x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e1 : tensor<?x64xbf16>) attrs = {fp8.node = "exp"} {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %r = math.exp %w : f32
    %t = arith.truncf %r : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %am = fp8.amax %h <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
  %am0 = tensor.collapse_shape %am [] : tensor<1x1xf32> into tensor<f32>
  %e2 = tensor.empty(%s0) : tensor<?x64xf32>
  %fl = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<?x64xbf16>) outs(%e2 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<?x64xf32>
  %e3 = tensor.empty() : tensor<f32>
  %sc = linalg.generic {indexing_maps = [#none, #none], iterator_types = []}
      ins(%am0 : tensor<f32>) outs(%e3 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.constant 448.0 : f32
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %e4 = tensor.empty(%s0) : tensor<?x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%fl, %sc : tensor<?x64xf32>, tensor<f32>) outs(%e4 : tensor<?x64xf8E4M3FN>) {
  ^bb0(%a: f32, %b: f32, %o: f8E4M3FN):
    %d = arith.divf %a, %b : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %sc, %q : tensor<f32>, tensor<?x64xf8E4M3FN>
}

// A constant tensor that is also a result is written by a kernel; reductions
// repeat it instead of reading it.
// CHECK-LABEL: @fill_in_memory
// CHECK-SAME: %[[X:.+]]: tensor<4x64xf32>
// CHECK: fp8.kernel () -> (tensor<4xf32>)
// CHECK: linalg.fill
// CHECK: fp8.kernel (%{{.+}} = %[[X]] : tensor<4x64xf32>) -> (tensor<4xf32>)
// CHECK: linalg.fill
// CHECK: return
func.func @fill_in_memory(%x: tensor<4x64xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x64xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %f, %sum : tensor<4xf32>, tensor<4xf32>
}
