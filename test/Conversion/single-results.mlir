// RUN: fp8-opt %s --fp8-join-scalar-kernels=target=sm_90a --fp8-convert-to-plan=target=sm_90a | FileCheck %s

// A result of one element beside a tensor: tasks are those of the tensor, and
// there is a launch also where it has no rows.

// CHECK: %[[TASKS:.+]] = arith.maxsi %{{.+}}, %c1{{.*}} : index
// CHECK: plan.launch @k0 {{.+}} tasks %[[TASKS]] scratch

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> ()>
#none = affine_map<() -> ()>

func.func @forward(%x: tensor<?x64xbf16> {fp8.dims = ["s", 64], fp8.name = "x"}, %amax: tensor<f32> {fp8.name = "amax"})
    -> (tensor<f32> {fp8.name = "scale"}, tensor<?x64xf8E4M3FN> {fp8.name = "codes"}) {
  %s = fp8.symbol "s" min = 0
  %scale = fp8.kernel (%a = %amax : tensor<f32>) -> (tensor<f32>) {
    %largest = arith.constant 448.0 : f32
    %e = tensor.empty() : tensor<f32>
    %t = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%a : tensor<f32>) outs(%e : tensor<f32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.divf %p, %largest : f32
      linalg.yield %0 : f32
    } -> tensor<f32>
    fp8.yield %t : tensor<f32>
  }
  %q = fp8.kernel (%a = %x : tensor<?x64xbf16>, %b = %scale : tensor<f32>, %n = %s : index) -> (tensor<?x64xf8E4M3FN>) {
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
  return %scale, %q : tensor<f32>, tensor<?x64xf8E4M3FN>
}
