// RUN: fp8-opt %s -verify-diagnostics -split-input-file
//
// One function a label of docs/spec.md; tools/dev/check-spec.py compares the
// labels of both with the verifiers'.

func.func @cast_c1(%x: f32) {
  // expected-error@below {{'fp8.cast' op expected a cast between f32, bf16 or f16 and f8E4M3FN or f8E5M2, got 'f32' to 'bf16'}}
  %0 = fp8.cast %x : f32 to bf16
  return
}

// -----

func.func @quantize_c1(%x: tensor<4x64xbf16>, %s: tensor<4x1xf32>) {
  // expected-error@below {{'fp8.quantize' op expected a scaling with an extent a dim of the data, got #fp8.scaling<?> and 'tensor<4x64xbf16>'}}
  %0 = fp8.quantize %x by %s <?> : tensor<4x64xbf16>, tensor<4x1xf32> -> tensor<4x64xf8E4M3FN>
  return
}

// -----

func.func @quantize_c2(%x: tensor<4x64xbf16>, %s: tensor<4x1xf32>) {
  // expected-error@below {{'fp8.quantize' op expected scales of shape 4x2, got 'tensor<4x1xf32>'}}
  %0 = fp8.quantize %x by %s <1x32> : tensor<4x64xbf16>, tensor<4x1xf32> -> tensor<4x64xf8E4M3FN>
  return
}

// -----

func.func @quantize_c3(%x: tensor<4x64xbf16>, %s: tensor<4x1xf32>) {
  // expected-error@below {{'fp8.quantize' op expected a result of the input's shape, got 'tensor<4x64xbf16>' and 'tensor<64x4xf8E4M3FN>'}}
  %0 = fp8.quantize %x by %s <1x?> : tensor<4x64xbf16>, tensor<4x1xf32> -> tensor<64x4xf8E4M3FN>
  return
}

// -----

func.func @dequantize_c1(%x: tensor<?x64xf8E5M2>, %s: tensor<?x?xf32>) {
  // expected-error@below {{'fp8.dequantize' op expected a scaling with an extent a dim of the data, got #fp8.scaling<1x1x?> and 'tensor<?x64xf8E5M2>'}}
  %0 = fp8.dequantize %x by %s <1x1x?> : tensor<?x64xf8E5M2>, tensor<?x?xf32> -> tensor<?x64xf32>
  return
}

// -----

func.func @dequantize_c2(%x: tensor<?x64xf8E5M2>, %s: tensor<?x?xf32>) {
  // A scale for a whole dim is known to be one.
  // expected-error@below {{'fp8.dequantize' op expected scales of shape ?x1, got 'tensor<?x?xf32>'}}
  %0 = fp8.dequantize %x by %s <1x?> : tensor<?x64xf8E5M2>, tensor<?x?xf32> -> tensor<?x64xf32>
  return
}

// -----

func.func @dequantize_c3(%x: tensor<?x64xf8E5M2>, %s: tensor<?x?xf32>) {
  // expected-error@below {{'fp8.dequantize' op expected a result of the input's shape, got 'tensor<?x64xf8E5M2>' and 'tensor<?x32xf32>'}}
  %0 = fp8.dequantize %x by %s <1x1> : tensor<?x64xf8E5M2>, tensor<?x?xf32> -> tensor<?x32xf32>
  return
}

// -----

func.func @amax_c1(%x: tensor<3x200xbf16>) {
  // expected-error@below {{'fp8.amax' op expected a scaling with an extent a dim of the data, got #fp8.scaling<> and 'tensor<3x200xbf16>'}}
  %0 = fp8.amax %x <> : tensor<3x200xbf16> -> tensor<1x1xf32>
  return
}

// -----

func.func @amax_c2(%x: tensor<3x200xbf16>) {
  // expected-error@below {{'fp8.amax' op expected scales of shape 3x2, got 'tensor<3x1xf32>'}}
  %0 = fp8.amax %x <1x128> : tensor<3x200xbf16> -> tensor<3x1xf32>
  return
}

// -----

func.func @amax_c3(%x: tensor<3x200xbf16>) {
  // expected-error@below {{'fp8.amax' op expected a result of 'bf16' or f32, got 'f16'}}
  %0 = fp8.amax %x <1x?> : tensor<3x200xbf16> -> tensor<3x1xf16>
  return
}

// -----

func.func @compute_scale_c1(%x: tensor<1xf32>) {
  // expected-error@below {{'fp8.compute_scale' op expected scales of the type of the amax, got 'tensor<1xf32>' and 'tensor<f32>' for 'tensor<1xf32>'}}
  %0, %1 = fp8.compute_scale %x for f8E4M3FN : tensor<1xf32> -> tensor<1xf32>, tensor<f32>
  return
}

// -----

func.func @compute_scale_c2(%x: tensor<1xf32>) {
  // expected-error@below {{'fp8.compute_scale' op expected the format f8E4M3FN or f8E5M2, got 'f16'}}
  %0, %1 = fp8.compute_scale %x for f16 : tensor<1xf32> -> tensor<1xf32>, tensor<1xf32>
  return
}

// -----

func.func @compute_scale_c3(%x: tensor<1xf32>) {
  // expected-error@below {{'fp8.compute_scale' op expected a margin of -126 to 127, got 128}}
  %0, %1 = fp8.compute_scale %x for f8E5M2 {margin = 128 : i32} : tensor<1xf32> -> tensor<1xf32>, tensor<1xf32>
  return
}

// -----

func.func @compute_scale_c4(%x: tensor<1xf32>) {
  // expected-error@below {{'fp8.compute_scale' op expected a finite eps of at least 0, got -1.000000e+00 : f32}}
  %0, %1 = fp8.compute_scale %x for f8E5M2 {eps = -1.0 : f32} : tensor<1xf32> -> tensor<1xf32>, tensor<1xf32>
  return
}

// -----

func.func @update_history_c1(%h: tensor<4xf32>, %g: tensor<2x2xf32>, %a: tensor<f32>) {
  // expected-error@below {{'fp8.update_history' op expected a history of rank 1 that is not empty, got 'tensor<2x2xf32>'}}
  %0, %1 = fp8.update_history %g, %a reduce = max : tensor<2x2xf32>, tensor<f32> -> tensor<f32>, tensor<2x2xf32>
  return
}

// -----

func.func @update_history_c2(%h: tensor<4xf32>, %g: tensor<2x2xf32>, %a: tensor<f32>) {
  // expected-error@below {{'fp8.update_history' op expected one amax to write and one to use, got 'tensor<2x2xf32>' and 'tensor<f32>'}}
  %0, %1 = fp8.update_history %h, %g reduce = max : tensor<4xf32>, tensor<2x2xf32> -> tensor<f32>, tensor<4xf32>
  return
}

// -----

func.func @update_history_c3(%h: tensor<4xf32>, %g: tensor<2x2xf32>, %a: tensor<f32>) {
  // expected-error@below {{'fp8.update_history' op expected an updated history of type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1 = fp8.update_history %h, %a reduce = max : tensor<4xf32>, tensor<f32> -> tensor<f32>, tensor<5xf32>
  return
}

// -----

func.func @scaled_matmul_c1(%a: tensor<4x64xf8E4M3FN>, %b: tensor<1x64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected operands and a result of one rank of at least 2, got 'tensor<4x64xf8E4M3FN>', 'tensor<1x64x32xf8E4M3FN>' and 'tensor<4x32xbf16>'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<1x64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c2(%a: tensor<4x64xf8E4M3FN>, %b: tensor<32x64xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected (batch..., M, K) x (batch..., K, N) to (batch..., M, N), got 'tensor<4x64xf8E4M3FN>', 'tensor<32x64xf8E4M3FN>' and 'tensor<4x32xbf16>'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<32x64xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c3(%a: tensor<4x64xf8E5M2>, %b: tensor<64x32xf8E5M2>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op multiplication of two f8E5M2 matrices is not supported: one of them must be f8E4M3FN}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) : tensor<4x64xf8E5M2>, tensor<1x1xf32>, tensor<64x32xf8E5M2>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c4(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected a result of bf16, f16, f32, f8E4M3FN or f8E5M2, got 'f64'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xf64>
  return
}

// -----

func.func @scaled_matmul_c5(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected no f8E5M2 result from two f8E4M3FN operands}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xf8E5M2>
  return
}

// -----

func.func @scaled_matmul_c6(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<32x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected scales of rhs for #fp8.scaling<?x1>, got 'tensor<32x1xf32>' for 'tensor<64x32xf8E4M3FN>'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x1>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<32x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c7(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xbf16>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected scales of lhs in f32 or f8E8M0FNU, got 'tensor<1x1xbf16>'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xbf16>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c8(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<4x1xf8E8M0FNU>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected f8E8M0FNU scales over blocks of 32 along K, got #fp8.scaling<1x?> for lhs}}
  %0 = fp8.scaled_matmul(%a by %sa <1x?>, %b by %sb <?x?>) : tensor<4x64xf8E4M3FN>, tensor<4x1xf8E8M0FNU>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c9(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<4x1xf32>, %sb: tensor<1x32xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op fp8 output unsupported for this scaling: an f8 result needs one scale a tensor, got #fp8.scaling<1x?> and #fp8.scaling<?x1>}}
  %0 = fp8.scaled_matmul(%a by %sa <1x?>, %b by %sb <?x1>) : tensor<4x64xf8E4M3FN>, tensor<4x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x32xf32> -> tensor<4x32xf8E4M3FN>
  return
}

// -----

func.func @scaled_matmul_c10(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>, %bias: tensor<4x32xbf16>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected a bias of N elements in one dim, got 'tensor<4x32xbf16>' for 'tensor<4x32xbf16>'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) bias(%bias : tensor<4x32xbf16>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c11(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>, %bias: tensor<32xf32>) {
  // An f32 vector keeps an f32 add of its own.
  // expected-error@below {{'fp8.scaled_matmul' op expected a bias of the result's 16-bit type, or bf16 or f16 for an f8 result, got 'tensor<32xf32>' for 'tensor<4x32xf32>'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) bias(%bias : tensor<32xf32>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func @scaled_matmul_c12(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>, %r: tensor<1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected a result_scale of one element, with an f8 result alone, got 'tensor<1xf32>' for 'tensor<4x32xbf16>'}}
  %0 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) result_scale(%r : tensor<1xf32>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return
}

// -----

func.func @scaled_matmul_c13(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %sa: tensor<1x1xf32>, %sb: tensor<1x1xf32>) {
  // expected-error@below {{'fp8.scaled_matmul' op expected an amax of one element, got 'tensor<4x1xf32>'}}
  %0, %1 = fp8.scaled_matmul(%a by %sa <?x?>, %b by %sb <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xf8E4M3FN> amax tensor<4x1xf32>
  return
}

// -----

func.func @matmul_c1(%a: tensor<64xbf16>, %b: tensor<64x32xbf16>) {
  // expected-error@below {{'fp8.matmul' op expected operands and a result of one rank of at least 2, got 'tensor<64xbf16>', 'tensor<64x32xbf16>' and 'tensor<32xbf16>'}}
  %0 = fp8.matmul %a, %b : tensor<64xbf16>, tensor<64x32xbf16> -> tensor<32xbf16>
  return
}

// -----

func.func @matmul_c2(%a: tensor<4x64xbf16>, %b: tensor<64x32xbf16>) {
  // expected-error@below {{'fp8.matmul' op expected (batch..., M, K) x (batch..., K, N) to (batch..., M, N), got 'tensor<4x64xbf16>', 'tensor<64x32xbf16>' and 'tensor<32x4xbf16>'}}
  %0 = fp8.matmul %a, %b : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<32x4xbf16>
  return
}

// -----

func.func @matmul_c3(%a: tensor<4x64xbf16>, %b: tensor<64x32xf16>) {
  // expected-error@below {{'fp8.matmul' op expected operands of one type and a result of theirs or f32, got 'tensor<4x64xbf16>', 'tensor<64x32xf16>' and 'tensor<4x32xbf16>'}}
  %0 = fp8.matmul %a, %b : tensor<4x64xbf16>, tensor<64x32xf16> -> tensor<4x32xbf16>
  return
}

// -----

func.func @matmul_c4(%a: tensor<4x64xbf16>, %b: tensor<64x32xbf16>, %bias: tensor<4xbf16>) {
  // expected-error@below {{'fp8.matmul' op expected a bias of N elements of the result's type in one dim, got 'tensor<4xbf16>' for 'tensor<4x32xbf16>'}}
  %0 = fp8.matmul %a, %b bias(%bias : tensor<4xbf16>) : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
  return
}

// -----

func.func @attention_c1(%q: tensor<8x4x64xbf16>, %k: tensor<2x2x6x64xbf16>, %v: tensor<2x2x6x32xbf16>) {
  // expected-error@below {{'fp8.attention' op expected query, key, value and result of rank 4, got 'tensor<8x4x64xbf16>', 'tensor<2x2x6x64xbf16>', 'tensor<2x2x6x32xbf16>' and 'tensor<2x8x4x32xbf16>'}}
  %0 = fp8.attention %q, %k, %v scale = 0.125 : tensor<8x4x64xbf16>, tensor<2x2x6x64xbf16>, tensor<2x2x6x32xbf16> -> tensor<2x8x4x32xbf16>
  return
}

// -----

func.func @attention_c2(%q: tensor<2x8x4x64xbf16>, %k: tensor<2x2x6x64xbf16>, %v: tensor<2x2x5x32xbf16>) {
  // expected-error@below {{'fp8.attention' op expected (batch, heads, queries, D), (batch, kv_heads, keys, D), (batch, kv_heads, keys, DV) to (batch, heads, queries, DV), got 'tensor<2x8x4x64xbf16>', 'tensor<2x2x6x64xbf16>', 'tensor<2x2x5x32xbf16>' and 'tensor<2x8x4x32xbf16>'}}
  %0 = fp8.attention %q, %k, %v scale = 0.125 : tensor<2x8x4x64xbf16>, tensor<2x2x6x64xbf16>, tensor<2x2x5x32xbf16> -> tensor<2x8x4x32xbf16>
  return
}

// -----

func.func @attention_c3(%q: tensor<2x8x4x64xbf16>, %k: tensor<2x3x6x64xbf16>, %v: tensor<2x3x6x32xbf16>) {
  // expected-error@below {{'fp8.attention' op expected a number of heads that kv_heads divides, got 8 and 3}}
  %0 = fp8.attention %q, %k, %v scale = 0.125 : tensor<2x8x4x64xbf16>, tensor<2x3x6x64xbf16>, tensor<2x3x6x32xbf16> -> tensor<2x8x4x32xbf16>
  return
}

// -----

func.func @attention_c4(%q: tensor<2x8x4x64xbf16>, %k: tensor<2x2x6x64xbf16>, %v: tensor<2x2x6x32xbf16>) {
  // expected-error@below {{'fp8.attention' op expected query, key, value and result of one element type, got 'tensor<2x8x4x64xbf16>', 'tensor<2x2x6x64xbf16>', 'tensor<2x2x6x32xbf16>' and 'tensor<2x8x4x32xf32>'}}
  %0 = fp8.attention %q, %k, %v scale = 0.125 : tensor<2x8x4x64xbf16>, tensor<2x2x6x64xbf16>, tensor<2x2x6x32xbf16> -> tensor<2x8x4x32xf32>
  return
}

// -----

func.func @attention_c5(%q: tensor<2x8x4x64xbf16>, %k: tensor<2x2x6x64xbf16>, %v: tensor<2x2x6x32xbf16>, %m: tensor<4x6xi1>) {
  // expected-error@below {{'fp8.attention' op expected a mask of rank 4 that broadcasts to 2x8x4x6, got 'tensor<4x6xi1>'}}
  %0 = fp8.attention %q, %k, %v mask(%m : tensor<4x6xi1>) scale = 0.125 : tensor<2x8x4x64xbf16>, tensor<2x2x6x64xbf16>, tensor<2x2x6x32xbf16> -> tensor<2x8x4x32xbf16>
  return
}

// -----

func.func @attention_c6(%q: tensor<2x8x4x64xbf16>, %k: tensor<2x2x6x64xbf16>, %v: tensor<2x2x6x32xbf16>, %m: tensor<1x1x4x6xi32>) {
  // expected-error@below {{'fp8.attention' op expected a mask of i1, f32, bf16 or f16, got 'i32'}}
  %0 = fp8.attention %q, %k, %v mask(%m : tensor<1x1x4x6xi32>) scale = 0.125 : tensor<2x8x4x64xbf16>, tensor<2x2x6x64xbf16>, tensor<2x2x6x32xbf16> -> tensor<2x8x4x32xbf16>
  return
}

// -----

func.func @kernel_c1(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.kernel' op expected block arguments of the types of its captures, got 'tensor<5xf32>' for 'tensor<4xf32>'}}
  "fp8.kernel"(%x) ({
  ^bb0(%a: tensor<5xf32>):
    "fp8.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @kernel_c2(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.kernel' op expected to yield its results' types, got 'tensor<4xf32>' for 'tensor<5xf32>'}}
  %0 = fp8.kernel (%a = %x : tensor<4xf32>) -> (tensor<5xf32>) {
    fp8.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @kernel_c3(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.kernel' op expected linalg, arith, tensor.empty, tensor.dim and casts, amax and scales in its body, got 'tensor.expand_shape'}}
  %0 = fp8.kernel (%a = %x : tensor<4xf32>) -> (tensor<2x2xf32>) {
    // expected-note@below {{see the op here}}
    %1 = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    fp8.yield %1 : tensor<2x2xf32>
  }
  return
}

// -----

func.func @kernel_c4(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.kernel' op expected fp8.nodes to have a string a result, got ["a", "b"]}}
  %0 = fp8.kernel (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) attributes {fp8.nodes = ["a", "b"]} {
    fp8.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @symbol_c1() {
  // expected-error@below {{'fp8.symbol' op expected a name}}
  %0 = fp8.symbol "" min = 0
  return
}

// -----

func.func @symbol_c2() {
  // expected-error@below {{'fp8.symbol' op expected 0 <= min <= max, got min 3 and max 2}}
  %0 = fp8.symbol "s0" min = 3 max = 2
  return
}

// -----

func.func @symbol_c3() {
  // expected-error@below {{'fp8.symbol' op expected a multiple of at least 1, got 0}}
  %0 = fp8.symbol "s0" min = 3 multiple = 0
  return
}

// -----

// expected-error@below {{'fp8.global' op expected an offset of at least 0 into a source, got 64}}
fp8.global state @global_c1 offset = 64 : tensor<4xf32>

// -----

// expected-error@below {{'fp8.global' op expected at most 2^63 - 1 bytes, got 'tensor<4611686018427387904x2xf32>'}}
fp8.global state @global_c2 source = "w" : tensor<4611686018427387904x2xf32>

// -----

fp8.global weight @w source = "w" : tensor<4xf32>
func.func @global_load_c1(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.global_load' op expected the name of an fp8.global, got @v}}
  %0 = fp8.global_load @v : tensor<4xf32>
  return
}

// -----

// expected-note@below {{see the global here}}
fp8.global weight @w source = "w" : tensor<4xf32>
func.func @global_load_c2(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.global_load' op expected the global's type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = fp8.global_load @w : tensor<5xf32>
  return
}

// -----

fp8.global state @h source = "h" : tensor<4xf32>
func.func @global_load_c3(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.global_load' op expected no constant load of the state @h}}
  %0 = fp8.global_load constant @h : tensor<4xf32>
  return
}

// -----

fp8.global weight @w source = "w" : tensor<4xf32>
func.func @global_store_c1(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.global_store' op expected the name of an fp8.global, got @v}}
  fp8.global_store %x, @v : tensor<4xf32>
  return
}

// -----

// expected-note@below {{see the global here}}
fp8.global state @h source = "h" : tensor<5xf32>
func.func @global_store_c2(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.global_store' op expected the global's type 'tensor<5xf32>', got 'tensor<4xf32>'}}
  fp8.global_store %x, @h : tensor<4xf32>
  return
}

// -----

fp8.global weight @w source = "w" : tensor<4xf32>
func.func @global_store_c3(%x: tensor<4xf32>) {
  // expected-error@below {{'fp8.global_store' op expected no store to the weight @w, which has a source}}
  fp8.global_store %x, @w : tensor<4xf32>
  return
}
