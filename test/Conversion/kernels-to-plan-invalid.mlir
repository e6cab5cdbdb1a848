// RUN: fp8-opt %s --fp8-convert-to-plan --split-input-file --verify-diagnostics

func.func @forward(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %e = tensor.empty() : tensor<4x8xbf16>
  // expected-error@+1 {{'linalg.generic' is not part of any kernel}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// -----

// expected-error@+1 {{argument 0 has no readable size for its dynamic dim 0 in fp8.dims}}
func.func @forward(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  return %x : tensor<?x8xbf16>
}

// -----

func.func @forward(%x: tensor<2x8xf8E4M3FN>, %s: tensor<1x1xf32>) -> tensor<2x8xf32> {
  // expected-error@+1 {{is neither in a kernel nor decoded by a product}}
  %0 = fp8.dequantize %x by %s <?x?> : tensor<2x8xf8E4M3FN>, tensor<1x1xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}
