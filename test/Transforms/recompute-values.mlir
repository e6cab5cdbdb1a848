// RUN: fp8-opt %s --fp8-recompute-values=target=sm_90a | FileCheck %s
// RUN: fp8-opt %s --fp8-recompute-values=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: fp8-opt %s --fp8-recompute-values=target=sm_90a --remarks-filter=fp8-recompute-values --remark-policy=all --remark-format=emitRemark -verify-diagnostics -o /dev/null
// RUN: not fp8-opt %s --fp8-recompute-values=target=sm_1 2>&1 | FileCheck %s --check-prefix=TARGET

// A cast that waits for the amax of the whole tensor: what is cast is computed
// again from fewer bytes than writing and reading it takes.

// TARGET: error: 'sm_1' is not a target

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#r = affine_map<(d0) -> (d0)>
#one = affine_map<(d0, d1) -> ()>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// The amax alone is written; the cast reads the input.

// CHECK-LABEL: @elementwise(%arg0
// CHECK: %[[AMAX:.+]] = fp8.kernel (%{{.+}} = %arg0 : tensor<?x64xbf16>, %{{.+}} = %{{.+}} : index) -> (tensor<1x1xf32>) attributes {fp8.nodes = [""]}
// CHECK: math.tanh
// CHECK: fp8.amax
// CHECK: fp8.yield %{{[^,]+}} : tensor<1x1xf32>
// CHECK: fp8.kernel (%[[X:.+]] = %arg0 : tensor<?x64xbf16>, %{{.+}} = %arg1 : tensor<f32>, %{{.+}} = %{{.+}} : index) -> (tensor<?x64xf8E4M3FN>)
// CHECK: linalg.generic {{.+}} ins(%[[X]]
// CHECK: math.tanh
// CHECK: fp8.cast
// CPU-LABEL: @elementwise
// CPU: fp8.kernel {{.+}} -> (tensor<?x64xbf16>, tensor<1x1xf32>)
func.func @elementwise(%x: tensor<?x64xbf16> {fp8.dims = ["s", 64], fp8.name = "x"}, %scale: tensor<f32>)
    -> (tensor<1x1xf32>, tensor<?x64xf8E4M3FN>) {
  %s = fp8.symbol "s" min = 0
  // expected-remark@+1 {{that reads 2 bytes an element, to write the value and to read it takes 4}}
  %v:2 = fp8.kernel (%a = %x : tensor<?x64xbf16>, %n = %s : index) -> (tensor<?x64xbf16>, tensor<1x1xf32>) attributes {fp8.nodes = ["act", ""]} {
    %e = tensor.empty(%n) : tensor<?x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
    ^bb0(%p: bf16, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = math.tanh %0 : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<?x64xbf16>
    %m = fp8.amax %t <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<?x64xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#0 : tensor<?x64xbf16>, %b = %scale : tensor<f32>, %n = %s : index) -> (tensor<?x64xf8E4M3FN>) {
    %e = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x64xbf16>, tensor<f32>) outs(%e : tensor<?x64xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<?x64xf8E4M3FN>
    fp8.yield %t : tensor<?x64xf8E4M3FN>
  }
  return %v#1, %q : tensor<1x1xf32>, tensor<?x64xf8E4M3FN>
}

// What is written anyway is read, not what it comes from; and both kernels add
// in the same order.

// CHECK-LABEL: @residual(%arg0
// CHECK: %[[R:.+]]:2 = fp8.kernel {{.+}} -> (tensor<?x64xbf16>, tensor<1x1xf32>) attributes {fp8.same_sums = 0 : i64}
// CHECK: fp8.kernel (%[[X:.+]] = %[[R]]#0 : tensor<?x64xbf16>, %{{.+}} = %arg2 : tensor<f32>, {{.+}}) -> (tensor<?x64xf8E4M3FN>) attributes {fp8.same_sums = 0 : i64}
// CHECK-NOT: arith.addf %{{.+}}, %{{.+}} : bf16
// CHECK: iterator_types = ["parallel", "reduction"]{{.+}} ins(%[[X]]
func.func @residual(%x: tensor<?x64xbf16> {fp8.dims = ["s", 64], fp8.name = "x"}, %y: tensor<?x64xbf16> {fp8.dims = ["s", 64], fp8.name = "y"}, %scale: tensor<f32>)
    -> (tensor<?x64xbf16>, tensor<1x1xf32>, tensor<?x64xf8E4M3FN>) {
  %s = fp8.symbol "s" min = 0
  // expected-remark@+1 {{that reads 2 bytes an element, to write the value and to read it takes 4}}
  %v:3 = fp8.kernel (%a = %x : tensor<?x64xbf16>, %b = %y : tensor<?x64xbf16>, %n = %s : index) -> (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<1x1xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?x64xbf16>
    %f = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
    ^bb0(%p: bf16, %k: bf16, %o: bf16):
      %0 = arith.addf %p, %k : bf16
      linalg.yield %0 : bf16
    } -> tensor<?x64xbf16>
    %z = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%r : tensor<?x64xbf16>) outs(%z : tensor<?xf32>) {
    ^bb0(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%r, %sum : tensor<?x64xbf16>, tensor<?xf32>) outs(%e : tensor<?x64xbf16>) {
    ^bb0(%p: bf16, %k: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<?x64xbf16>
    %m = fp8.amax %t <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
    fp8.yield %r, %t, %m : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#1 : tensor<?x64xbf16>, %b = %scale : tensor<f32>, %n = %s : index) -> (tensor<?x64xf8E4M3FN>) {
    %e = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x64xbf16>, tensor<f32>) outs(%e : tensor<?x64xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<?x64xf8E4M3FN>
    fp8.yield %t : tensor<?x64xf8E4M3FN>
  }
  return %v#0, %v#2, %q : tensor<?x64xbf16>, tensor<1x1xf32>, tensor<?x64xf8E4M3FN>
}

// As many bytes either way: it stays in memory.

// CHECK-LABEL: @two_inputs
// CHECK: fp8.kernel {{.+}} -> (tensor<?x64xbf16>, tensor<1x1xf32>)
func.func @two_inputs(%x: tensor<?x64xbf16> {fp8.dims = ["s", 64], fp8.name = "x"}, %y: tensor<?x64xbf16> {fp8.dims = ["s", 64], fp8.name = "y"}, %scale: tensor<f32>)
    -> (tensor<1x1xf32>, tensor<?x64xf8E4M3FN>) {
  %s = fp8.symbol "s" min = 0
  // expected-remark@+1 {{to compute it again reads 4 bytes an element, to write the value and to read it takes 4: no bytes are saved}}
  %v:2 = fp8.kernel (%a = %x : tensor<?x64xbf16>, %b = %y : tensor<?x64xbf16>, %n = %s : index) -> (tensor<?x64xbf16>, tensor<1x1xf32>) {
    %e = tensor.empty(%n) : tensor<?x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
    ^bb0(%p: bf16, %k: bf16, %o: bf16):
      %0 = arith.mulf %p, %k : bf16
      linalg.yield %0 : bf16
    } -> tensor<?x64xbf16>
    %m = fp8.amax %t <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<?x64xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#0 : tensor<?x64xbf16>, %b = %scale : tensor<f32>, %n = %s : index) -> (tensor<?x64xf8E4M3FN>) {
    %e = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x64xbf16>, tensor<f32>) outs(%e : tensor<?x64xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<?x64xf8E4M3FN>
    fp8.yield %t : tensor<?x64xf8E4M3FN>
  }
  return %v#1, %q : tensor<1x1xf32>, tensor<?x64xf8E4M3FN>
}

// A kernel that reads it along other loops, or something else than a kernel,
// needs it in memory.

// CHECK-LABEL: @turned
// CHECK: fp8.kernel {{.+}} -> (tensor<64x64xbf16>, tensor<1x1xf32>)
func.func @turned(%x: tensor<64x64xbf16> {fp8.name = "x"}, %scale: tensor<f32>)
    -> (tensor<1x1xf32>, tensor<64x64xf8E4M3FN>) {
  %v:2 = fp8.kernel (%a = %x : tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<1x1xf32>) {
    %e = tensor.empty() : tensor<64x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) {
    ^bb0(%p: bf16, %o: bf16):
      %0 = arith.negf %p : bf16
      linalg.yield %0 : bf16
    } -> tensor<64x64xbf16>
    %m = fp8.amax %t <?x?> : tensor<64x64xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<64x64xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#0 : tensor<64x64xbf16>, %b = %scale : tensor<f32>) -> (tensor<64x64xf8E4M3FN>) {
    %e = tensor.empty() : tensor<64x64xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#turned, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<64x64xbf16>, tensor<f32>) outs(%e : tensor<64x64xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<64x64xf8E4M3FN>
    fp8.yield %t : tensor<64x64xf8E4M3FN>
  }
  return %v#1, %q : tensor<1x1xf32>, tensor<64x64xf8E4M3FN>
}

// CHECK-LABEL: @returned
// CHECK: fp8.kernel {{.+}} -> (tensor<64x64xbf16>, tensor<1x1xf32>)
func.func @returned(%x: tensor<64x64xbf16> {fp8.name = "x"}) -> (tensor<64x64xbf16>, tensor<1x1xf32>) {
  %v:2 = fp8.kernel (%a = %x : tensor<64x64xbf16>) -> (tensor<64x64xbf16>, tensor<1x1xf32>) {
    %e = tensor.empty() : tensor<64x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) {
    ^bb0(%p: bf16, %o: bf16):
      %0 = arith.negf %p : bf16
      linalg.yield %0 : bf16
    } -> tensor<64x64xbf16>
    %m = fp8.amax %t <?x?> : tensor<64x64xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<64x64xbf16>, tensor<1x1xf32>
  }
  return %v#0, %v#1 : tensor<64x64xbf16>, tensor<1x1xf32>
}

// A row that is too long for registers would be read once more for each loop
// over it, one of an odd length is not.

// CHECK-LABEL: @long_rows
// CHECK: fp8.kernel {{.+}} -> (tensor<8x100000xbf16>, tensor<1x1xf32>)
// CHECK-LABEL: @odd_rows
// CHECK: fp8.kernel {{.+}} -> (tensor<1x1xf32>) attributes {fp8.same_sums
func.func @long_rows(%x: tensor<8x100000xbf16> {fp8.name = "x"}, %scale: tensor<f32>)
    -> (tensor<1x1xf32>, tensor<8x100000xf8E4M3FN>) {
  %v:2 = fp8.kernel (%a = %x : tensor<8x100000xbf16>) -> (tensor<8x100000xbf16>, tensor<1x1xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x100000xbf16>
    %f = tensor.empty() : tensor<8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<8x100000xbf16>) outs(%z : tensor<8xf32>) {
    ^bb0(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %sum : tensor<8x100000xbf16>, tensor<8xf32>) outs(%e : tensor<8x100000xbf16>) {
    ^bb0(%p: bf16, %k: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<8x100000xbf16>
    %m = fp8.amax %t <?x?> : tensor<8x100000xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<8x100000xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#0 : tensor<8x100000xbf16>, %b = %scale : tensor<f32>) -> (tensor<8x100000xf8E4M3FN>) {
    %e = tensor.empty() : tensor<8x100000xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<8x100000xbf16>, tensor<f32>) outs(%e : tensor<8x100000xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<8x100000xf8E4M3FN>
    fp8.yield %t : tensor<8x100000xf8E4M3FN>
  }
  return %v#1, %q : tensor<1x1xf32>, tensor<8x100000xf8E4M3FN>
}

func.func @odd_rows(%x: tensor<8x257xbf16> {fp8.name = "x"}, %scale: tensor<f32>)
    -> (tensor<1x1xf32>, tensor<8x257xf8E4M3FN>) {
  // expected-remark@+1 {{that reads 2 bytes an element, to write the value and to read it takes 4}}
  %v:2 = fp8.kernel (%a = %x : tensor<8x257xbf16>) -> (tensor<8x257xbf16>, tensor<1x1xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x257xbf16>
    %f = tensor.empty() : tensor<8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%f : tensor<8xf32>) -> tensor<8xf32>
    %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<8x257xbf16>) outs(%z : tensor<8xf32>) {
    ^bb0(%p: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %sum : tensor<8x257xbf16>, tensor<8xf32>) outs(%e : tensor<8x257xbf16>) {
    ^bb0(%p: bf16, %k: f32, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<8x257xbf16>
    %m = fp8.amax %t <?x?> : tensor<8x257xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<8x257xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#0 : tensor<8x257xbf16>, %b = %scale : tensor<f32>) -> (tensor<8x257xf8E4M3FN>) {
    %e = tensor.empty() : tensor<8x257xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<8x257xbf16>, tensor<f32>) outs(%e : tensor<8x257xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<8x257xf8E4M3FN>
    fp8.yield %t : tensor<8x257xf8E4M3FN>
  }
  return %v#1, %q : tensor<1x1xf32>, tensor<8x257xf8E4M3FN>
}

// A state that the call overwrites would have to be copied to be read again.

// CHECK-LABEL: @stored_state
// CHECK: fp8.kernel {{.+}} -> (tensor<4x64xbf16>, tensor<1x1xf32>)
fp8.global state @cache source = "cache" : tensor<4x64xbf16>
func.func @stored_state(%n: tensor<4x64xbf16>, %scale: tensor<f32>)
    -> (tensor<1x1xf32>, tensor<4x64xf8E4M3FN>) {
  %x = fp8.global_load @cache : tensor<4x64xbf16>
  %v:2 = fp8.kernel (%a = %x : tensor<4x64xbf16>) -> (tensor<4x64xbf16>, tensor<1x1xf32>) attributes {fp8.nodes = ["act", ""]} {
    %e = tensor.empty() : tensor<4x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x64xbf16>) outs(%e : tensor<4x64xbf16>) {
    ^bb0(%p: bf16, %o: bf16):
      %0 = arith.extf %p : bf16 to f32
      %1 = math.tanh %0 : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<4x64xbf16>
    %m = fp8.amax %t <?x?> : tensor<4x64xbf16> -> tensor<1x1xf32>
    fp8.yield %t, %m : tensor<4x64xbf16>, tensor<1x1xf32>
  }
  %q = fp8.kernel (%a = %v#0 : tensor<4x64xbf16>, %b = %scale : tensor<f32>) -> (tensor<4x64xf8E4M3FN>) {
    %e = tensor.empty() : tensor<4x64xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<4x64xbf16>, tensor<f32>) outs(%e : tensor<4x64xf8E4M3FN>) {
    ^bb0(%p: bf16, %k: f32, %o: f8E4M3FN):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.divf %0, %k : f32
      %2 = fp8.cast %1 : f32 to f8E4M3FN
      linalg.yield %2 : f8E4M3FN
    } -> tensor<4x64xf8E4M3FN>
    fp8.yield %t : tensor<4x64xf8E4M3FN>
  }
  fp8.global_store %n, @cache : tensor<4x64xbf16>
  return %v#1, %q : tensor<1x1xf32>, tensor<4x64xf8E4M3FN>
}
