// RUN: fp8-opt %s --fp8-join-scalar-kernels=target=sm_90a | FileCheck %s
// RUN: fp8-opt %s --fp8-join-scalar-kernels=target=cpu | FileCheck %s --check-prefix=CPU
// RUN: fp8-opt %s --fp8-join-scalar-kernels=target=sm_90a --remarks-filter=fp8-join-scalar-kernels --remark-policy=all --remark-format=emitRemark -verify-diagnostics -o /dev/null
// RUN: not fp8-opt %s --fp8-join-scalar-kernels=target=sm_1 2>&1 | FileCheck %s --check-prefix=TARGET

// A scale that a cast and a product need is computed by the cast.

// TARGET: error: 'sm_1' is not a target

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>
#none = affine_map<() -> ()>

// The reshape for the product goes behind the cast. Tensors are captured before
// indices, and results keep their nodes.

// CHECK-LABEL: @shared(%arg0
// CHECK-NEXT: %[[S:.+]] = fp8.symbol
// CHECK-NEXT: %[[Q:.+]]:2 = fp8.kernel (%{{.+}} = %arg0 : tensor<?x64xbf16>, %{{.+}} = %arg1 : tensor<f32>, %{{.+}} = %[[S]] : index) -> (tensor<?x64xf8E4M3FN>, tensor<f32>) attributes {fp8.nodes = ["to", "div"]}
// CHECK: %[[V:.+]] = linalg.generic {{.+}} iterator_types = []}
// CHECK: %[[C:.+]] = linalg.generic {{.+}} ins(%{{.+}}, %[[V]] :
// CHECK: fp8.yield %[[C]], %[[V]]
// CHECK: tensor.expand_shape %[[Q]]#1
// CPU-LABEL: @shared
// CPU-COUNT-2: fp8.kernel
func.func @shared(%x: tensor<?x64xbf16> {fp8.dims = ["s", 64], fp8.name = "x"}, %amax: tensor<f32>)
    -> (tensor<1x1xf32>, tensor<?x64xf8E4M3FN>) {
  %s = fp8.symbol "s" min = 0
  // expected-remark@+1 {{one element is computed in the kernel that reads it first}}
  %scale = fp8.kernel (%a = %amax : tensor<f32>) -> (tensor<f32>) attributes {fp8.nodes = ["div"]} {
    %largest = arith.constant 448.0 : f32
    %e = tensor.empty() : tensor<f32>
    %t = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%a : tensor<f32>) outs(%e : tensor<f32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.divf %p, %largest : f32
      linalg.yield %0 : f32
    } -> tensor<f32>
    fp8.yield %t : tensor<f32>
  }
  %forProduct = tensor.expand_shape %scale [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %q = fp8.kernel (%a = %x : tensor<?x64xbf16>, %b = %scale : tensor<f32>, %n = %s : index) -> (tensor<?x64xf8E4M3FN>) attributes {fp8.nodes = ["to"]} {
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
  return %forProduct, %q : tensor<1x1xf32>, tensor<?x64xf8E4M3FN>
}

// Chains join link by link, and what nobody else reads is no result.

// CHECK-LABEL: @chain
// CHECK: fp8.kernel {{.+}} -> (tensor<4x64xbf16>) {
// CHECK: arith.addf
// CHECK: arith.negf
// CHECK: arith.mulf
// CHECK: fp8.yield %{{[^,]+}} : tensor<4x64xbf16>
// CHECK-NOT: fp8.kernel
func.func @chain(%x: tensor<4x64xbf16>, %y: tensor<bf16>) -> tensor<4x64xbf16> {
  // expected-remark@+1 {{less time than a launch takes}}
  %a = fp8.kernel (%in = %y : tensor<bf16>) -> (tensor<bf16>) {
    %e = tensor.empty() : tensor<bf16>
    %t = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%in : tensor<bf16>) outs(%e : tensor<bf16>) {
    ^bb0(%p: bf16, %o: bf16):
      %0 = arith.addf %p, %p : bf16
      linalg.yield %0 : bf16
    } -> tensor<bf16>
    fp8.yield %t : tensor<bf16>
  }
  // expected-remark@+1 {{less time than a launch takes}}
  %b = fp8.kernel (%in = %a : tensor<bf16>) -> (tensor<bf16>) {
    %e = tensor.empty() : tensor<bf16>
    %t = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%in : tensor<bf16>) outs(%e : tensor<bf16>) {
    ^bb0(%p: bf16, %o: bf16):
      %0 = arith.negf %p : bf16
      linalg.yield %0 : bf16
    } -> tensor<bf16>
    fp8.yield %t : tensor<bf16>
  }
  %c = fp8.kernel (%in = %x : tensor<4x64xbf16>, %k = %b : tensor<bf16>) -> (tensor<4x64xbf16>) {
    %e = tensor.empty() : tensor<4x64xbf16>
    %t = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in, %k : tensor<4x64xbf16>, tensor<bf16>) outs(%e : tensor<4x64xbf16>) {
    ^bb0(%p: bf16, %q: bf16, %o: bf16):
      %0 = arith.mulf %p, %q : bf16
      linalg.yield %0 : bf16
    } -> tensor<4x64xbf16>
    fp8.yield %t : tensor<4x64xbf16>
  }
  return %c : tensor<4x64xbf16>
}

// What something else than a kernel reads first stays a kernel.

// CHECK-LABEL: @product_first
// CHECK-COUNT-2: fp8.kernel
func.func @product_first(%x: tensor<4x64xf8E4M3FN>, %w: tensor<64x64xf8E4M3FN>, %y: tensor<1x1xf32>) -> tensor<4x64xf32> {
  // expected-remark@+1 {{what reads it first is no kernel}}
  %a = fp8.kernel (%in = %y : tensor<1x1xf32>) -> (tensor<1x1xf32>) {
    %e = tensor.empty() : tensor<1x1xf32>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%in : tensor<1x1xf32>) outs(%e : tensor<1x1xf32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.addf %p, %p : f32
      linalg.yield %0 : f32
    } -> tensor<1x1xf32>
    fp8.yield %t : tensor<1x1xf32>
  }
  %d = fp8.scaled_matmul(%x by %a <?x?>, %w by %a <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x64xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x64xf32>
  %c = fp8.kernel (%in = %d : tensor<4x64xf32>, %k = %a : tensor<1x1xf32>) -> (tensor<4x64xf32>) {
    %e = tensor.empty() : tensor<4x64xf32>
    %t = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (0, 0)>, #id], iterator_types = ["parallel", "parallel"]}
        ins(%in, %k : tensor<4x64xf32>, tensor<1x1xf32>) outs(%e : tensor<4x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<4x64xf32>
    fp8.yield %t : tensor<4x64xf32>
  }
  return %c : tensor<4x64xf32>
}
