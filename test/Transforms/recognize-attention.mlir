// RUN: fp8-opt %s --fp8-recognize-attention | FileCheck %s

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#reduced = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#heads = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>

// CHECK-LABEL: func.func @plain
// CHECK-NEXT: %[[R:.*]] = fp8.attention %arg0, %arg1, %arg2 scale = 2.500000e-01 {fp8.node = "result"}
// CHECK-NEXT: return %[[R]]
func.func @plain(%q: tensor<2x4x17x16xbf16>, %k: tensor<2x4x17x16xbf16>, %v: tensor<2x4x17x16xbf16>) -> tensor<2x4x17x16xbf16> {
  %false = arith.constant false
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 5.000000e-01 : f32
  %cst_5 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<2x4x17x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<2x4x17x16xf32>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.mulf %in, %cst_1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %6 = tensor.empty() : tensor<2x4x16x17xf32>
  %7 = linalg.transpose ins(%3 : tensor<2x4x17x16xf32>) outs(%6 : tensor<2x4x16x17xf32>) permutation = [0, 1, 3, 2]
  %8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<2x4x16x17xf32>) outs(%6 : tensor<2x4x16x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.mulf %in, %cst_1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x16x17xf32>
  %9 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x17x16xf32> into tensor<8x17x16xf32>
  %10 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x4x16x17xf32> into tensor<8x16x17xf32>
  %11 = fp8.matmul %9, %10 : tensor<8x17x16xf32>, tensor<8x16x17xf32> -> tensor<8x17x17xf32>
  %12 = tensor.expand_shape %11 [[0, 1], [2], [3]] output_shape [2, 4, 17, 17] : tensor<8x17x17xf32> into tensor<2x4x17x17xf32>
  %13 = tensor.empty() : tensor<2x4x17xf32>
  %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<2x4x17xf32>) -> tensor<2x4x17xf32>
  %15 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%12 : tensor<2x4x17x17xf32>) outs(%14 : tensor<2x4x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.maximumf %out, %in : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17xf32>
  %16 = tensor.expand_shape %15 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xf32> into tensor<2x4x17x1xf32>
  %17 = tensor.empty() : tensor<2x4x17x17xf32>
  %18 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %16 : tensor<2x4x17x17xf32>, tensor<2x4x17x1xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: f32, %in_86: f32, %out: f32):
    %2 = arith.subf %in, %in_86 : f32
    %19 = math.exp %2 : f32
    linalg.yield %19 : f32
  } -> tensor<2x4x17x17xf32>
  %20 = linalg.fill ins(%cst_5 : f32) outs(%13 : tensor<2x4x17xf32>) -> tensor<2x4x17xf32>
  %21 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18 : tensor<2x4x17x17xf32>) outs(%20 : tensor<2x4x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17xf32>
  %22 = tensor.expand_shape %21 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xf32> into tensor<2x4x17x1xf32>
  %23 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %22 : tensor<2x4x17x17xf32>, tensor<2x4x17x1xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: f32, %in_86: f32, %out: f32):
    %2 = arith.divf %in, %in_86 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x17xf32>
  %24 = tensor.empty() : tensor<2x4x17x17xi1>
  %25 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<2x4x17x17xf32>) outs(%24 : tensor<2x4x17x17xi1>) {
  ^bb0(%in: f32, %out: i1):
    %2 = arith.cmpf oeq, %in, %cst_0 : f32
    linalg.yield %2 : i1
  } -> tensor<2x4x17x17xi1>
  %26 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<2x4x17x17xi1>) outs(%24 : tensor<2x4x17x17xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.cmpi eq, %in, %false : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17x17xi1>
  %27 = tensor.empty() : tensor<2x4x17xi1>
  %28 = linalg.fill ins(%false : i1) outs(%27 : tensor<2x4x17xi1>) -> tensor<2x4x17xi1>
  %29 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%26 : tensor<2x4x17x17xi1>) outs(%28 : tensor<2x4x17xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.ori %out, %in : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17xi1>
  %30 = tensor.expand_shape %29 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xi1> into tensor<2x4x17x1xi1>
  %31 = tensor.empty() : tensor<2x4x17x1xi1>
  %32 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<2x4x17x1xi1>) outs(%31 : tensor<2x4x17x1xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.cmpi eq, %in, %false : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17x1xi1>
  %33 = linalg.fill ins(%cst_5 : f32) outs(%17 : tensor<2x4x17x17xf32>) -> tensor<2x4x17x17xf32>
  %34 = linalg.generic {indexing_maps = [#row, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %33, %23 : tensor<2x4x17x1xi1>, tensor<2x4x17x17xf32>, tensor<2x4x17x17xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: i1, %in_86: f32, %in_87: f32, %out: f32):
    %2 = arith.select %in, %in_86, %in_87 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x17xf32>
  %35 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<2x4x17x17xf32> into tensor<8x17x17xf32>
  %36 = tensor.collapse_shape %4 [[0, 1], [2], [3]] : tensor<2x4x17x16xf32> into tensor<8x17x16xf32>
  %37 = fp8.matmul %35, %36 : tensor<8x17x17xf32>, tensor<8x17x16xf32> -> tensor<8x17x16xf32>
  %38 = tensor.expand_shape %37 [[0, 1], [2], [3]] output_shape [2, 4, 17, 16] : tensor<8x17x16xf32> into tensor<2x4x17x16xf32>
  %39 = tensor.empty() : tensor<2x4x17x16xbf16>
  %40 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<2x4x17x16xf32>) outs(%39 : tensor<2x4x17x16xbf16>) attrs =  {fp8.node = "result"} {
  ^bb0(%in: f32, %out: bf16):
    %2 = arith.truncf %in : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<2x4x17x16xbf16>
  return %40 : tensor<2x4x17x16xbf16>
}

// CHECK-LABEL: func.func @masked
// CHECK-NEXT: %[[R:.*]] = fp8.attention %arg0, %arg1, %arg2 mask(%arg3 : tensor<2x1x17x17xbf16>) scale = 2.500000e-01
// CHECK-NEXT: return %[[R]]
func.func @masked(%q: tensor<2x4x17x16xbf16>, %k: tensor<2x4x17x16xbf16>, %v: tensor<2x4x17x16xbf16>, %mask: tensor<2x1x17x17xbf16>) -> tensor<2x4x17x16xbf16> {
  %false = arith.constant false
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 5.000000e-01 : f32
  %cst_5 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<2x4x17x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<2x4x17x16xf32>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.mulf %in, %cst_1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %6 = tensor.empty() : tensor<2x4x16x17xf32>
  %7 = linalg.transpose ins(%3 : tensor<2x4x17x16xf32>) outs(%6 : tensor<2x4x16x17xf32>) permutation = [0, 1, 3, 2]
  %8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<2x4x16x17xf32>) outs(%6 : tensor<2x4x16x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.mulf %in, %cst_1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x16x17xf32>
  %9 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x17x16xf32> into tensor<8x17x16xf32>
  %10 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x4x16x17xf32> into tensor<8x16x17xf32>
  %11 = fp8.matmul %9, %10 : tensor<8x17x16xf32>, tensor<8x16x17xf32> -> tensor<8x17x17xf32>
  %12 = tensor.expand_shape %11 [[0, 1], [2], [3]] output_shape [2, 4, 17, 17] : tensor<8x17x17xf32> into tensor<2x4x17x17xf32>
  %e = tensor.empty() : tensor<2x4x17x17xf32>
  %masked = linalg.generic {indexing_maps = [#id, #heads, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %mask : tensor<2x4x17x17xf32>, tensor<2x1x17x17xbf16>) outs(%e : tensor<2x4x17x17xf32>) {
  ^bb0(%in: f32, %in_86: bf16, %out: f32):
    %158 = arith.extf %in_86 : bf16 to f32
    %159 = arith.addf %in, %158 : f32
    linalg.yield %159 : f32
  } -> tensor<2x4x17x17xf32>
  %13 = tensor.empty() : tensor<2x4x17xf32>
  %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<2x4x17xf32>) -> tensor<2x4x17xf32>
  %15 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%masked : tensor<2x4x17x17xf32>) outs(%14 : tensor<2x4x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.maximumf %out, %in : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17xf32>
  %16 = tensor.expand_shape %15 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xf32> into tensor<2x4x17x1xf32>
  %17 = tensor.empty() : tensor<2x4x17x17xf32>
  %18 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%masked, %16 : tensor<2x4x17x17xf32>, tensor<2x4x17x1xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: f32, %in_86: f32, %out: f32):
    %2 = arith.subf %in, %in_86 : f32
    %19 = math.exp %2 : f32
    linalg.yield %19 : f32
  } -> tensor<2x4x17x17xf32>
  %20 = linalg.fill ins(%cst_5 : f32) outs(%13 : tensor<2x4x17xf32>) -> tensor<2x4x17xf32>
  %21 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18 : tensor<2x4x17x17xf32>) outs(%20 : tensor<2x4x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17xf32>
  %22 = tensor.expand_shape %21 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xf32> into tensor<2x4x17x1xf32>
  %23 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %22 : tensor<2x4x17x17xf32>, tensor<2x4x17x1xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: f32, %in_86: f32, %out: f32):
    %2 = arith.divf %in, %in_86 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x17xf32>
  %24 = tensor.empty() : tensor<2x4x17x17xi1>
  %25 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%masked : tensor<2x4x17x17xf32>) outs(%24 : tensor<2x4x17x17xi1>) {
  ^bb0(%in: f32, %out: i1):
    %2 = arith.cmpf oeq, %in, %cst_0 : f32
    linalg.yield %2 : i1
  } -> tensor<2x4x17x17xi1>
  %26 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<2x4x17x17xi1>) outs(%24 : tensor<2x4x17x17xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.cmpi eq, %in, %false : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17x17xi1>
  %27 = tensor.empty() : tensor<2x4x17xi1>
  %28 = linalg.fill ins(%false : i1) outs(%27 : tensor<2x4x17xi1>) -> tensor<2x4x17xi1>
  %29 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%26 : tensor<2x4x17x17xi1>) outs(%28 : tensor<2x4x17xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.ori %out, %in : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17xi1>
  %30 = tensor.expand_shape %29 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xi1> into tensor<2x4x17x1xi1>
  %31 = tensor.empty() : tensor<2x4x17x1xi1>
  %32 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<2x4x17x1xi1>) outs(%31 : tensor<2x4x17x1xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.cmpi eq, %in, %false : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17x1xi1>
  %33 = linalg.fill ins(%cst_5 : f32) outs(%17 : tensor<2x4x17x17xf32>) -> tensor<2x4x17x17xf32>
  %34 = linalg.generic {indexing_maps = [#row, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %33, %23 : tensor<2x4x17x1xi1>, tensor<2x4x17x17xf32>, tensor<2x4x17x17xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: i1, %in_86: f32, %in_87: f32, %out: f32):
    %2 = arith.select %in, %in_86, %in_87 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x17xf32>
  %35 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<2x4x17x17xf32> into tensor<8x17x17xf32>
  %36 = tensor.collapse_shape %4 [[0, 1], [2], [3]] : tensor<2x4x17x16xf32> into tensor<8x17x16xf32>
  %37 = fp8.matmul %35, %36 : tensor<8x17x17xf32>, tensor<8x17x16xf32> -> tensor<8x17x16xf32>
  %38 = tensor.expand_shape %37 [[0, 1], [2], [3]] output_shape [2, 4, 17, 16] : tensor<8x17x16xf32> into tensor<2x4x17x16xf32>
  %39 = tensor.empty() : tensor<2x4x17x16xbf16>
  %40 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<2x4x17x16xf32>) outs(%39 : tensor<2x4x17x16xbf16>) attrs =  {fp8.node = "result"} {
  ^bb0(%in: f32, %out: bf16):
    %2 = arith.truncf %in : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<2x4x17x16xbf16>
  return %40 : tensor<2x4x17x16xbf16>
}

// The sum of exponentials starts at 0.5: no softmax.
// CHECK-LABEL: func.func @other_sum
// CHECK-NOT: fp8.attention
func.func @other_sum(%q: tensor<2x4x17x16xbf16>, %k: tensor<2x4x17x16xbf16>, %v: tensor<2x4x17x16xbf16>) -> tensor<2x4x17x16xbf16> {
  %false = arith.constant false
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 5.000000e-01 : f32
  %cst_5 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<2x4x17x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x4x17x16xbf16>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%1 : tensor<2x4x17x16xf32>) outs(%0 : tensor<2x4x17x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.mulf %in, %cst_1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x16xf32>
  %6 = tensor.empty() : tensor<2x4x16x17xf32>
  %7 = linalg.transpose ins(%3 : tensor<2x4x17x16xf32>) outs(%6 : tensor<2x4x16x17xf32>) permutation = [0, 1, 3, 2]
  %8 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%7 : tensor<2x4x16x17xf32>) outs(%6 : tensor<2x4x16x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.mulf %in, %cst_1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x16x17xf32>
  %9 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x17x16xf32> into tensor<8x17x16xf32>
  %10 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x4x16x17xf32> into tensor<8x16x17xf32>
  %11 = fp8.matmul %9, %10 : tensor<8x17x16xf32>, tensor<8x16x17xf32> -> tensor<8x17x17xf32>
  %12 = tensor.expand_shape %11 [[0, 1], [2], [3]] output_shape [2, 4, 17, 17] : tensor<8x17x17xf32> into tensor<2x4x17x17xf32>
  %13 = tensor.empty() : tensor<2x4x17xf32>
  %14 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<2x4x17xf32>) -> tensor<2x4x17xf32>
  %15 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%12 : tensor<2x4x17x17xf32>) outs(%14 : tensor<2x4x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.maximumf %out, %in : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17xf32>
  %16 = tensor.expand_shape %15 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xf32> into tensor<2x4x17x1xf32>
  %17 = tensor.empty() : tensor<2x4x17x17xf32>
  %18 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12, %16 : tensor<2x4x17x17xf32>, tensor<2x4x17x1xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: f32, %in_86: f32, %out: f32):
    %2 = arith.subf %in, %in_86 : f32
    %19 = math.exp %2 : f32
    linalg.yield %19 : f32
  } -> tensor<2x4x17x17xf32>
  %20 = linalg.fill ins(%cst_1 : f32) outs(%13 : tensor<2x4x17xf32>) -> tensor<2x4x17xf32>
  %21 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18 : tensor<2x4x17x17xf32>) outs(%20 : tensor<2x4x17xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.addf %out, %in : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17xf32>
  %22 = tensor.expand_shape %21 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xf32> into tensor<2x4x17x1xf32>
  %23 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18, %22 : tensor<2x4x17x17xf32>, tensor<2x4x17x1xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: f32, %in_86: f32, %out: f32):
    %2 = arith.divf %in, %in_86 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x17xf32>
  %24 = tensor.empty() : tensor<2x4x17x17xi1>
  %25 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%12 : tensor<2x4x17x17xf32>) outs(%24 : tensor<2x4x17x17xi1>) {
  ^bb0(%in: f32, %out: i1):
    %2 = arith.cmpf oeq, %in, %cst_0 : f32
    linalg.yield %2 : i1
  } -> tensor<2x4x17x17xi1>
  %26 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<2x4x17x17xi1>) outs(%24 : tensor<2x4x17x17xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.cmpi eq, %in, %false : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17x17xi1>
  %27 = tensor.empty() : tensor<2x4x17xi1>
  %28 = linalg.fill ins(%false : i1) outs(%27 : tensor<2x4x17xi1>) -> tensor<2x4x17xi1>
  %29 = linalg.generic {indexing_maps = [#id, #reduced], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%26 : tensor<2x4x17x17xi1>) outs(%28 : tensor<2x4x17xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.ori %out, %in : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17xi1>
  %30 = tensor.expand_shape %29 [[0], [1], [2, 3]] output_shape [2, 4, 17, 1] : tensor<2x4x17xi1> into tensor<2x4x17x1xi1>
  %31 = tensor.empty() : tensor<2x4x17x1xi1>
  %32 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%30 : tensor<2x4x17x1xi1>) outs(%31 : tensor<2x4x17x1xi1>) {
  ^bb0(%in: i1, %out: i1):
    %2 = arith.cmpi eq, %in, %false : i1
    linalg.yield %2 : i1
  } -> tensor<2x4x17x1xi1>
  %33 = linalg.fill ins(%cst_5 : f32) outs(%17 : tensor<2x4x17x17xf32>) -> tensor<2x4x17x17xf32>
  %34 = linalg.generic {indexing_maps = [#row, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %33, %23 : tensor<2x4x17x1xi1>, tensor<2x4x17x17xf32>, tensor<2x4x17x17xf32>) outs(%17 : tensor<2x4x17x17xf32>) {
  ^bb0(%in: i1, %in_86: f32, %in_87: f32, %out: f32):
    %2 = arith.select %in, %in_86, %in_87 : f32
    linalg.yield %2 : f32
  } -> tensor<2x4x17x17xf32>
  %35 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<2x4x17x17xf32> into tensor<8x17x17xf32>
  %36 = tensor.collapse_shape %4 [[0, 1], [2], [3]] : tensor<2x4x17x16xf32> into tensor<8x17x16xf32>
  %37 = fp8.matmul %35, %36 : tensor<8x17x17xf32>, tensor<8x17x16xf32> -> tensor<8x17x16xf32>
  %38 = tensor.expand_shape %37 [[0, 1], [2], [3]] output_shape [2, 4, 17, 16] : tensor<8x17x16xf32> into tensor<2x4x17x16xf32>
  %39 = tensor.empty() : tensor<2x4x17x16xbf16>
  %40 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38 : tensor<2x4x17x16xf32>) outs(%39 : tensor<2x4x17x16xbf16>) attrs =  {fp8.node = "result"} {
  ^bb0(%in: f32, %out: bf16):
    %2 = arith.truncf %in : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<2x4x17x16xbf16>
  return %40 : tensor<2x4x17x16xbf16>
}
