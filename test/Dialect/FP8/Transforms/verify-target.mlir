// RUN: fp8-opt %s -fp8-verify-target=target=sm_89 -o /dev/null
// RUN: fp8-opt %s -fp8-verify-target=target=cpu -o /dev/null
// RUN: fp8-opt %s -fp8-verify-target=target=sm_80 -verify-diagnostics
// RUN: not fp8-opt %s -fp8-verify-target=target=sm_13 2>&1 | FileCheck %s

// Case C4: a target without products of f8 has its casts all the same.
// CHECK: error: unknown target 'sm_13', expected one of cpu, sm_80, sm_89, sm_90a, sm_100a, sm_120a

func.func @product(%a: tensor<4x64xf8E4M3FN>, %b: tensor<64x32xf8E4M3FN>, %s: tensor<1x1xf32>) -> tensor<4x32xbf16> {
  // expected-error@below {{'fp8.scaled_matmul' op needs sm_89 or later, or cpu: sm_80 has no product of f8 operands}}
  %0 = fp8.scaled_matmul(%a by %s <?x?>, %b by %s <?x?>) : tensor<4x64xf8E4M3FN>, tensor<1x1xf32>, tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<4x32xbf16>
  return %0 : tensor<4x32xbf16>
}

// Casts alone are emulated where the hardware has none.
func.func @negative_cast(%w: tensor<64x32xf8E4M3FN>, %s: tensor<1x1xf32>) -> tensor<64x32xbf16> {
  %0 = fp8.dequantize %w by %s <?x?> : tensor<64x32xf8E4M3FN>, tensor<1x1xf32> -> tensor<64x32xbf16>
  return %0 : tensor<64x32xbf16>
}
