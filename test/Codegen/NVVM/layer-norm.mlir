// RUN: fp8-opt %s --fp8-canonicalize --fp8-graph-to-kernels --fp8-kernels-to-plan=target=sm_90a | fp8-translate -plan-to-ptx | FileCheck %s

// The sum of two tensors, its layer norm, modulation and static cast, as
// torch.export and the importer spell them: what is left of the mean is an op
// of its own. Mean and variance take one exchange between the threads: ten
// shuffles, a pair a warp and one barrier, before the root.
// CHECK-LABEL: .entry k0(
// CHECK: ld.global.v4.b32
// CHECK: add.rn.bf16x2
// CHECK-COUNT-10: shfl.sync.bfly.b32
// CHECK-NOT: shfl.sync
// CHECK: st.shared.v2
// CHECK: bar.sync
// CHECK-NOT: bar.sync
// CHECK: sqrt.rn.f32
// CHECK-NOT: bar.sync
// CHECK: cvt.rn.satfinite.e4m3x2.f32
// CHECK: }

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d0, 0, d2)>
#map4 = affine_map<(d0, d1, d2) -> (0, 0)>
module {
  fp8.global weight @scale source = "data/weights/weight_0" : tensor<1x1xf32>
  func.func @forward(%arg0: tensor<2x16x2048xbf16> {fp8.dims = [2, 16, 2048], fp8.name = "x"}, %arg1: tensor<2x16x2048xbf16> {fp8.dims = [2, 16, 2048], fp8.name = "y"}, %arg2: tensor<2x2048xbf16> {fp8.dims = [2, 2048], fp8.name = "scale"}, %arg3: tensor<2x2048xbf16> {fp8.dims = [2, 2048], fp8.name = "shift"}) -> (tensor<2x16x2048xbf16> {fp8.name = "output0"}, tensor<2x16x2048xf8E4M3FN> {fp8.name = "output1"}) attributes {fp8.out_spec = "[1, {\22type\22: \22builtins.tuple\22, \22context\22: \22null\22, \22children_spec\22: [{\22type\22: null, \22context\22: null, \22children_spec\22: []}, {\22type\22: null, \22context\22: null, \22children_spec\22: []}]}]", fp8.output_leaves = [0, 1]} {
    %0 = fp8.global_load constant @scale {fp8.node = "b_scale"} : tensor<1x1xf32>
    %1 = tensor.empty() : tensor<2x16x2048xbf16>
    %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %arg1 : tensor<2x16x2048xbf16>, tensor<2x16x2048xbf16>) outs(%1 : tensor<2x16x2048xbf16>) attrs =  {fp8.node = "add"} {
    ^bb0(%in: bf16, %in_6: bf16, %out: bf16):
      %33 = arith.extf %in : bf16 to f32
      %34 = arith.extf %in_6 : bf16 to f32
      %35 = arith.addf %33, %34 : f32
      %36 = arith.truncf %35 : f32 to bf16
      linalg.yield %36 : bf16
    } -> tensor<2x16x2048xbf16>
    %3 = tensor.empty() : tensor<2x16xf32>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<2x16xf32>) -> tensor<2x16xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<2x16x2048xbf16>) outs(%4 : tensor<2x16xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %33 = arith.extf %in : bf16 to f32
      %34 = arith.addf %out, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<2x16xf32>
    %expanded = tensor.expand_shape %5 [[0], [1, 2]] output_shape [2, 16, 1] : tensor<2x16xf32> into tensor<2x16x1xf32>
    %cst_0 = arith.constant 2.048000e+03 : f32
    %6 = tensor.empty() : tensor<2x16x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded : tensor<2x16x1xf32>) outs(%6 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.divf %in, %cst_0 : f32
      linalg.yield %33 : f32
    } -> tensor<2x16x1xf32>
    %8 = tensor.empty() : tensor<2x16x2048xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %7 : tensor<2x16x2048xbf16>, tensor<2x16x1xf32>) outs(%8 : tensor<2x16x2048xf32>) {
    ^bb0(%in: bf16, %in_6: f32, %out: f32):
      %33 = arith.extf %in : bf16 to f32
      %34 = arith.subf %33, %in_6 : f32
      linalg.yield %34 : f32
    } -> tensor<2x16x2048xf32>
    %10 = tensor.empty() : tensor<2x16xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %11 = linalg.fill ins(%cst_1 : f32) outs(%10 : tensor<2x16xf32>) -> tensor<2x16xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<2x16x2048xf32>) outs(%11 : tensor<2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.mulf %in, %in : f32
      %34 = arith.addf %out, %33 : f32
      linalg.yield %34 : f32
    } -> tensor<2x16xf32>
    %expanded_2 = tensor.expand_shape %12 [[0], [1, 2]] output_shape [2, 16, 1] : tensor<2x16xf32> into tensor<2x16x1xf32>
    %cst_3 = arith.constant 2.048000e+03 : f32
    %13 = tensor.empty() : tensor<2x16x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_2 : tensor<2x16x1xf32>) outs(%13 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.divf %in, %cst_3 : f32
      linalg.yield %33 : f32
    } -> tensor<2x16x1xf32>
    %15 = tensor.empty() : tensor<2x16x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<2x16x1xf32>) outs(%15 : tensor<2x16x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %cst_6 = arith.constant 9.99999997E-7 : f32
      %33 = arith.addf %in, %cst_6 : f32
      %34 = math.sqrt %33 : f32
      %cst_7 = arith.constant 1.000000e+00 : f32
      %35 = arith.divf %cst_7, %34 : f32
      linalg.yield %35 : f32
    } -> tensor<2x16x1xf32>
    %17 = tensor.empty() : tensor<2x16x2048xbf16>
    %18 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %16 : tensor<2x16x2048xf32>, tensor<2x16x1xf32>) outs(%17 : tensor<2x16x2048xbf16>) attrs =  {fp8.node = "layer_norm"} {
    ^bb0(%in: f32, %in_6: f32, %out: bf16):
      %33 = arith.mulf %in, %in_6 : f32
      %34 = arith.truncf %33 : f32 to bf16
      linalg.yield %34 : bf16
    } -> tensor<2x16x2048xbf16>
    %expanded_4 = tensor.expand_shape %arg2 [[0], [1, 2]] output_shape [2, 1, 2048] {fp8.node = "unsqueeze"} : tensor<2x2048xbf16> into tensor<2x1x2048xbf16>
    %19 = tensor.empty() : tensor<2x1x2048xbf16>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_4 : tensor<2x1x2048xbf16>) outs(%19 : tensor<2x1x2048xbf16>) attrs =  {fp8.node = "add_1"} {
    ^bb0(%in: bf16, %out: bf16):
      %33 = arith.extf %in : bf16 to f32
      %cst_6 = arith.constant 1.000000e+00 : f32
      %34 = arith.addf %33, %cst_6 : f32
      %35 = arith.truncf %34 : f32 to bf16
      linalg.yield %35 : bf16
    } -> tensor<2x1x2048xbf16>
    %21 = tensor.empty() : tensor<2x16x2048xbf16>
    %22 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18, %20 : tensor<2x16x2048xbf16>, tensor<2x1x2048xbf16>) outs(%21 : tensor<2x16x2048xbf16>) attrs =  {fp8.node = "mul"} {
    ^bb0(%in: bf16, %in_6: bf16, %out: bf16):
      %33 = arith.extf %in : bf16 to f32
      %34 = arith.extf %in_6 : bf16 to f32
      %35 = arith.mulf %33, %34 : f32
      %36 = arith.truncf %35 : f32 to bf16
      linalg.yield %36 : bf16
    } -> tensor<2x16x2048xbf16>
    %expanded_5 = tensor.expand_shape %arg3 [[0], [1, 2]] output_shape [2, 1, 2048] {fp8.node = "unsqueeze_1"} : tensor<2x2048xbf16> into tensor<2x1x2048xbf16>
    %23 = tensor.empty() : tensor<2x16x2048xbf16>
    %24 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %expanded_5 : tensor<2x16x2048xbf16>, tensor<2x1x2048xbf16>) outs(%23 : tensor<2x16x2048xbf16>) attrs =  {fp8.node = "add_2"} {
    ^bb0(%in: bf16, %in_6: bf16, %out: bf16):
      %33 = arith.extf %in : bf16 to f32
      %34 = arith.extf %in_6 : bf16 to f32
      %35 = arith.addf %33, %34 : f32
      %36 = arith.truncf %35 : f32 to bf16
      linalg.yield %36 : bf16
    } -> tensor<2x16x2048xbf16>
    %25 = tensor.empty() : tensor<2x16x2048xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24 : tensor<2x16x2048xbf16>) outs(%25 : tensor<2x16x2048xf32>) attrs =  {fp8.node = "to"} {
    ^bb0(%in: bf16, %out: f32):
      %33 = arith.extf %in : bf16 to f32
      linalg.yield %33 : f32
    } -> tensor<2x16x2048xf32>
    %27 = tensor.empty() : tensor<2x16x2048xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%26, %0 : tensor<2x16x2048xf32>, tensor<1x1xf32>) outs(%27 : tensor<2x16x2048xf32>) attrs =  {fp8.node = "div"} {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %33 = arith.divf %in, %in_6 : f32
      linalg.yield %33 : f32
    } -> tensor<2x16x2048xf32>
    %29 = tensor.empty() : tensor<2x16x2048xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<2x16x2048xf32>) outs(%29 : tensor<2x16x2048xf32>) attrs =  {fp8.node = "clamp"} {
    ^bb0(%in: f32, %out: f32):
      %cst_6 = arith.constant -4.480000e+02 : f32
      %cst_7 = arith.constant 4.480000e+02 : f32
      %33 = arith.maximumf %in, %cst_6 : f32
      %34 = arith.minimumf %33, %cst_7 : f32
      linalg.yield %34 : f32
    } -> tensor<2x16x2048xf32>
    %31 = tensor.empty() : tensor<2x16x2048xf8E4M3FN>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30 : tensor<2x16x2048xf32>) outs(%31 : tensor<2x16x2048xf8E4M3FN>) attrs =  {fp8.node = "to_1"} {
    ^bb0(%in: f32, %out: f8E4M3FN):
      %33 = fp8.cast %in : f32 to f8E4M3FN
      linalg.yield %33 : f8E4M3FN
    } -> tensor<2x16x2048xf8E4M3FN>
    return %2, %32 : tensor<2x16x2048xbf16>, tensor<2x16x2048xf8E4M3FN>
  }
}

