// RUN: fp8-opt %s --fp8-recognize-scaled-casts --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-recognize-scaled-casts --split-input-file --remarks-filter=fp8-recognize-scaled-casts --remark-policy=all --remark-format=emitRemark -verify-diagnostics -o /dev/null

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#keep = affine_map<(d0, d1) -> (d0, 0)>
#none = affine_map<(d0, d1) -> ()>

// `(x.to(f32) / scale).clamp(-448, 448).to(f8)`, an op each: a row scale.
// CHECK-LABEL: @divide
// CHECK-SAME: %[[X:.+]]: tensor<?x64xbf16>, %[[S:.+]]: tensor<?x1xf32>
// CHECK-NOT: linalg.generic
// CHECK: %[[Q:.+]] = fp8.quantize %[[X]] by %[[S]] <1x?> {fp8.node = "to"} : tensor<?x64xbf16>, tensor<?x1xf32> -> tensor<?x64xf8E4M3FN>
// CHECK: return %[[Q]]
func.func @divide(%x: tensor<?x64xbf16>, %s: tensor<?x1xf32>, %n: index) -> tensor<?x64xf8E4M3FN> {
  %low = arith.constant -448.0 : f32
  %high = arith.constant 448.0 : f32
  %e = tensor.empty(%n) : tensor<?x64xf32>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<?x64xf32>
  %div = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %s : tensor<?x64xf32>, tensor<?x1xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<?x64xf32>
  %clamp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%div : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %low : f32
    %c = arith.minimumf %m, %high : f32
    linalg.yield %c : f32
  } -> tensor<?x64xf32>
  %eq = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
  // expected-remark @below {{Node=to, Remark="scaled cast is fp8.quantize"}}
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%clamp : tensor<?x64xf32>) outs(%eq : tensor<?x64xf8E4M3FN>) attrs = {fp8.node = "to"} {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %r = fp8.cast %a : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  return %q : tensor<?x64xf8E4M3FN>
}

// A multiplication stays one, whatever its scale is made of; a clamp to the
// largest finite values makes an `ieee` cast saturate.
// CHECK-LABEL: @multiply
// CHECK-SAME: %[[X:.+]]: tensor<4x64xf32>, %[[S:.+]]: tensor<f32>
// CHECK: %[[I:.+]] = linalg.generic
// CHECK: arith.divf
// CHECK: %[[E:.+]] = tensor.expand_shape %[[I]] [] output_shape [1, 1]
// CHECK: fp8.quantize %[[X]] by %[[E]] <?x?> mode = multiply : tensor<4x64xf32>, tensor<1x1xf32> -> tensor<4x64xf8E5M2>
func.func @multiply(%x: tensor<4x64xf32>, %s: tensor<f32>) -> tensor<4x64xf8E5M2> {
  %one = arith.constant 1.0 : f32
  %low = arith.constant -57344.0 : f32
  %high = arith.constant 57344.0 : f32
  %e0 = tensor.empty() : tensor<f32>
  %inverse = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%s : tensor<f32>) outs(%e0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %one, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<4x64xf8E5M2>
  // expected-remark @below {{scaled cast is fp8.quantize}}
  %q = linalg.generic {indexing_maps = [#none, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%inverse, %x : tensor<f32>, tensor<4x64xf32>) outs(%e : tensor<4x64xf8E5M2>) {
  ^bb0(%b: f32, %a: f32, %o: f8E5M2):
    %p = arith.mulf %b, %a : f32
    %m = arith.minimumf %p, %high : f32
    %c = arith.maximumf %low, %m : f32
    %r = fp8.cast %c overflow = ieee : f32 to f8E5M2
    linalg.yield %r : f8E5M2
  } -> tensor<4x64xf8E5M2>
  return %q : tensor<4x64xf8E5M2>
}

// A scale that is computed for each element is computed once a block instead.
// CHECK-LABEL: @scale_in_the_body
// CHECK-SAME: %[[X:.+]]: tensor<4x64xbf16>, %[[A:.+]]: tensor<4xf32>
// CHECK: %[[S:.+]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK-SAME: ins(%[[A]] : tensor<4xf32>)
// CHECK: arith.divf
// CHECK: %[[E:.+]] = tensor.expand_shape %[[S]] {{\[}}[0, 1]{{\]}}
// CHECK: fp8.quantize %[[X]] by %[[E]] <1x?>
func.func @scale_in_the_body(%x: tensor<4x64xbf16>, %amax: tensor<4xf32>) -> tensor<4x64xf8E4M3FN> {
  %max = arith.constant 448.0 : f32
  %e = tensor.empty() : tensor<4x64xf8E4M3FN>
  // expected-remark @below {{scaled cast is fp8.quantize}}
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %amax : tensor<4x64xbf16>, tensor<4xf32>) outs(%e : tensor<4x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %b: f32, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %s = arith.divf %b, %max : f32
    %d = arith.divf %w, %s : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  return %q : tensor<4x64xf8E4M3FN>
}

// CHECK-LABEL: @number
// CHECK: %[[S:.+]] = arith.constant dense<2.000000e-03> : tensor<1x1xf32>
// CHECK: fp8.quantize %{{.+}} by %[[S]] <?x?>
func.func @number(%x: tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN> {
  %s = arith.constant 0.002 : f32
  %e = tensor.empty() : tensor<4x64xf8E4M3FN>
  // expected-remark @below {{scaled cast is fp8.quantize}}
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf8E4M3FN>) {
  ^bb0(%a: f32, %o: f8E4M3FN):
    %d = arith.divf %a, %s : f32
    %r = fp8.cast %d : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  return %q : tensor<4x64xf8E4M3FN>
}

// The quotient is rounded to bf16: fp8.quantize rounds once. The clamp goes.
// CHECK-LABEL: @negative_rounding_before_the_cast
// CHECK-NOT: fp8.quantize
// CHECK: arith.divf
// CHECK: arith.truncf
// CHECK-NOT: arith.minimumf
// CHECK: fp8.cast %{{.+}} : bf16 to f8E4M3FN
func.func @negative_rounding_before_the_cast(%x: tensor<4x64xbf16>, %s: tensor<4x1xbf16>) -> tensor<4x64xf8E4M3FN> {
  %low = arith.constant -448.0 : f32
  %high = arith.constant 448.0 : f32
  %e = tensor.empty() : tensor<4x64xbf16>
  %div = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x64xbf16>, tensor<4x1xbf16>) outs(%e : tensor<4x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w = arith.extf %b : bf16 to f32
    %d = arith.divf %v, %w : f32
    %t = arith.truncf %d : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x64xbf16>
  %eq = tensor.empty() : tensor<4x64xf8E4M3FN>
  // expected-remark @below {{Reason="what is scaled is rounded to bf16 before the cast", Remark="scaled cast is computed as the graph spells it"}}
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%div : tensor<4x64xbf16>) outs(%eq : tensor<4x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %o: f8E4M3FN):
    %w = arith.extf %a : bf16 to f32
    %m = arith.maximumf %w, %low : f32
    %c = arith.minimumf %m, %high : f32
    %t = arith.truncf %c : f32 to bf16
    %r = fp8.cast %t : bf16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  return %q : tensor<4x64xf8E4M3FN>
}

// The division is one of bf16 values.
// CHECK-LABEL: @negative_bf16
// CHECK-NOT: fp8.quantize
// CHECK: return
func.func @negative_bf16(%x: tensor<4x64xbf16>, %s: tensor<bf16>) -> tensor<4x64xf8E4M3FN> {
  %e = tensor.empty() : tensor<4x64xf8E4M3FN>
  // expected-remark @below {{Reason="it is scaled in bf16, fp8.quantize scales in f32"}}
  %q = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x64xbf16>, tensor<bf16>) outs(%e : tensor<4x64xf8E4M3FN>) {
  ^bb0(%a: bf16, %b: bf16, %o: f8E4M3FN):
    %d = arith.divf %a, %b : bf16
    %r = fp8.cast %d : bf16 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  return %q : tensor<4x64xf8E4M3FN>
}

// On one side alone, 500 is 448 below an `ieee` cast and NaN above it.
// CHECK-LABEL: @negative_clamp_of_one_side
// CHECK-NOT: fp8.quantize
// CHECK: arith.maximumf
// CHECK: fp8.cast %{{.+}} overflow = ieee
func.func @negative_clamp_of_one_side(%x: tensor<4x64xf32>, %s: tensor<f32>) -> tensor<4x64xf8E4M3FN> {
  %low = arith.constant -448.0 : f32
  %e = tensor.empty() : tensor<4x64xf8E4M3FN>
  // expected-remark @below {{Reason="its clamp is not that of a saturating cast"}}
  %q = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x64xf32>, tensor<f32>) outs(%e : tensor<4x64xf8E4M3FN>) {
  ^bb0(%a: f32, %b: f32, %o: f8E4M3FN):
    %d = arith.divf %a, %b : f32
    %c = arith.maximumf %d, %low : f32
    %r = fp8.cast %c overflow = ieee : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  return %q : tensor<4x64xf8E4M3FN>
}

// A clamp to less than the format holds is no saturation.
// CHECK-LABEL: @negative_narrow_clamp
// CHECK-NOT: fp8.quantize
// CHECK: arith.minimumf
// CHECK: fp8.cast
func.func @negative_narrow_clamp(%x: tensor<4x64xf32>, %s: tensor<f32>) -> tensor<4x64xf8E4M3FN> {
  %high = arith.constant 240.0 : f32
  %e = tensor.empty() : tensor<4x64xf8E4M3FN>
  %q = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x64xf32>, tensor<f32>) outs(%e : tensor<4x64xf8E4M3FN>) {
  ^bb0(%a: f32, %b: f32, %o: f8E4M3FN):
    %d = arith.divf %a, %b : f32
    %c = arith.minimumf %d, %high : f32
    %r = fp8.cast %c : f32 to f8E4M3FN
    linalg.yield %r : f8E4M3FN
  } -> tensor<4x64xf8E4M3FN>
  return %q : tensor<4x64xf8E4M3FN>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

// `x.abs().max()`: exact in f32 whatever the input's type.
// CHECK-LABEL: @amax
// CHECK-SAME: %[[X:.+]]: tensor<?x64xbf16>
// CHECK: %[[A:.+]] = fp8.amax %[[X]] <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
// CHECK: %[[R:.+]] = tensor.collapse_shape %[[A]] []
// CHECK-SAME: fp8.node = "max"
// CHECK: return %[[R]]
func.func @amax(%x: tensor<?x64xbf16> {fp8.dims = ["s0", 64]}) -> tensor<f32> {
  %s0 = fp8.symbol "s0" min = 0
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%s0) : tensor<?x64xbf16>
  %abs = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %b = math.absf %w : f32
    %t = arith.truncf %b : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x64xbf16>
  %e1 = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%abs : tensor<?x64xbf16>) outs(%f1 : tensor<f32>) attrs = {fp8.node = "max"} {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.maximumf %acc, %w : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %max : tensor<f32>
}

// CHECK-LABEL: @row_amax
// CHECK: %[[A:.+]] = fp8.amax %{{.+}} <1x?> : tensor<?x64xbf16> -> tensor<?x1xf32>
// CHECK: tensor.collapse_shape %[[A]] {{\[}}[0, 1]{{\]}}
func.func @row_amax(%x: tensor<?x64xbf16>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xbf16>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %b = math.absf %w : f32
    %r = arith.maximumf %b, %acc : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %max : tensor<?xf32>
}

// CHECK-LABEL: @column_amax
// CHECK: fp8.amax %{{.+}} <?x1> : tensor<8x64xf32> -> tensor<1x64xf32>
func.func @column_amax(%x: tensor<8x64xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = math.absf %a : f32
    %r = arith.maximumf %acc, %b : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %max : tensor<64xf32>
}

// The maximum of signed values is something else.
// CHECK-LABEL: @negative_signed_max
// CHECK-NOT: fp8.amax
// CHECK: return
func.func @negative_signed_max(%x: tensor<4x64xbf16>) -> tensor<f32> {
  %low = arith.constant 0xFF800000 : f32
  %e1 = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<4x64xbf16>) outs(%f1 : tensor<f32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.maximumf %acc, %w : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %max : tensor<f32>
}

// The absolute value of what is rounded first is not that of the input.
// CHECK-LABEL: @amax_of_the_rounded_value
// CHECK: %[[R:.+]] = linalg.generic
// CHECK: arith.truncf
// CHECK: fp8.amax %[[R]] <1x?> : tensor<4x64xbf16>
func.func @amax_of_the_rounded_value(%x: tensor<4x64xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %eb = tensor.empty() : tensor<4x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x64xf32>) outs(%eb : tensor<4x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = math.tanh %a : f32
    %r = arith.truncf %t : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x64xbf16>
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<4x64xbf16>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: bf16, %acc: f32):
    %w = arith.extf %a : bf16 to f32
    %b = math.absf %w : f32
    %r = arith.maximumf %acc, %b : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %max : tensor<4xf32>
}

// maxnumf drops NaN, fp8.amax keeps it.
// CHECK-LABEL: @negative_maxnum
// CHECK-NOT: fp8.amax
// CHECK: return
func.func @negative_maxnum(%x: tensor<4x64xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<f32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<f32>) -> tensor<f32>
  %max = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<4x64xf32>) outs(%f1 : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = math.absf %a : f32
    %r = arith.maxnumf %acc, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %max : tensor<f32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> (0, 0)>
#keep = affine_map<(d0, d1) -> (d0, 0)>

// `weight.to(bf16) * scale`: the product is exact in f32 and rounded to bf16.
// CHECK-LABEL: @weight_only
// CHECK-SAME: %{{.+}}: tensor<4x64xbf16>, %[[W:.+]]: tensor<32x64xf8E4M3FN>, %[[S:.+]]: tensor<1x1xbf16>
// CHECK: %[[D:.+]] = fp8.dequantize %[[W]] by %[[S]] <?x?>
// CHECK: linalg.transpose ins(%[[D]]
// CHECK: fp8.matmul
func.func @weight_only(%x: tensor<4x64xbf16>, %w: tensor<32x64xf8E4M3FN>, %s: tensor<1x1xbf16>) -> tensor<4x32xbf16> {
  %e = tensor.empty() : tensor<32x64xbf16>
  %wide = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<32x64xf8E4M3FN>) outs(%e : tensor<32x64xbf16>) {
  ^bb0(%a: f8E4M3FN, %o: bf16):
    %b = fp8.cast %a : f8E4M3FN to f32
    %t = arith.truncf %b : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x64xbf16>
  // expected-remark @below {{scaled f8 value is fp8.dequantize}}
  %d = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%wide, %s : tensor<32x64xbf16>, tensor<1x1xbf16>) outs(%e : tensor<32x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %v = arith.extf %a : bf16 to f32
    %w2 = arith.extf %b : bf16 to f32
    %m = arith.mulf %v, %w2 : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x64xbf16>
  %et = tensor.empty() : tensor<64x32xbf16>
  %t = linalg.transpose ins(%d : tensor<32x64xbf16>) outs(%et : tensor<64x32xbf16>) permutation = [1, 0]
  %p = fp8.matmul %x, %t : tensor<4x64xbf16>, tensor<64x32xbf16> -> tensor<4x32xbf16>
  return %p : tensor<4x32xbf16>
}

// `(q.to(f32) * scale).to(bf16)`: two roundings, and so has the op.
// CHECK-LABEL: @dequantize_rows
// CHECK-SAME: %[[Q:.+]]: tensor<32x64xf8E4M3FN>, %[[S:.+]]: tensor<32x1xf32>
// CHECK: fp8.dequantize %[[Q]] by %[[S]] <1x?> : tensor<32x64xf8E4M3FN>, tensor<32x1xf32> -> tensor<32x64xbf16>
func.func @dequantize_rows(%q: tensor<32x64xf8E4M3FN>, %s: tensor<32x1xf32>) -> tensor<32x64xbf16> {
  %e = tensor.empty() : tensor<32x64xf32>
  %m = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<32x64xf8E4M3FN>, tensor<32x1xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%a: f8E4M3FN, %b: f32, %o: f32):
    %w = fp8.cast %a : f8E4M3FN to f32
    %p = arith.mulf %w, %b : f32
    linalg.yield %p : f32
  } -> tensor<32x64xf32>
  %eb = tensor.empty() : tensor<32x64xbf16>
  // expected-remark @below {{scaled f8 value is fp8.dequantize}}
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<32x64xf32>) outs(%eb : tensor<32x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<32x64xbf16>
  return %d : tensor<32x64xbf16>
}

// With a bf16 scale the op rounds to bf16; the graph keeps f32.
// CHECK-LABEL: @negative_dequantize_without_rounding
// CHECK-NOT: fp8.dequantize
// CHECK: return
func.func @negative_dequantize_without_rounding(%q: tensor<32x64xf8E4M3FN>, %s: tensor<1x1xbf16>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %m = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q, %s : tensor<32x64xf8E4M3FN>, tensor<1x1xbf16>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%a: f8E4M3FN, %b: bf16, %o: f32):
    %w = fp8.cast %a : f8E4M3FN to f32
    %v = arith.extf %b : bf16 to f32
    %p = arith.mulf %w, %v : f32
    linalg.yield %p : f32
  } -> tensor<32x64xf32>
  return %m : tensor<32x64xf32>
}

// -----

#none = affine_map<(d0) -> ()>
#id = affine_map<(d0) -> (d0)>

// `h.max()`, `h.roll(1)` with the new amax in element 0, however the roll's
// index is spelled. The new amax moves before the maximum.
// CHECK-LABEL: @history
// CHECK-SAME: %[[H:.+]]: tensor<16xf32>, %[[X:.+]]: tensor<64xf32>
// CHECK: %[[A:.+]] = fp8.amax %[[X]] <?>
// CHECK: %[[N:.+]] = tensor.expand_shape
// CHECK: %[[USED:.+]], %[[UPDATED:.+]] = fp8.update_history %[[H]], %[[N]] reduce = max {fp8.node = ["max", ""]}
// CHECK-NOT: tensor.insert_slice
// CHECK: return %{{.+}}, %[[UPDATED]]
func.func @history(%h: tensor<16xf32>, %x: tensor<64xf32>) -> (tensor<f32>, tensor<16xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %max = arith.constant 448.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %m = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%h : tensor<16xf32>) outs(%f : tensor<f32>) attrs = {fp8.node = "max"} {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.maximumf %acc, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%m : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %max : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %e16 = tensor.empty() : tensor<16xf32>
  %roll = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e16 : tensor<16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %i, %c1 : index
    %n = arith.cmpi slt, %j, %c0 : index
    %w = arith.addi %i, %c15 : index
    %k = arith.select %n, %w, %j : index
    %v = tensor.extract %h[%k] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %amax = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<64xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %b = math.absf %a : f32
    %r = arith.maximumf %acc, %b : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %new = tensor.expand_shape %amax [] output_shape [1] : tensor<f32> into tensor<1xf32>
  // expected-remark @below {{step of a history is fp8.update_history}}
  %u = tensor.insert_slice %new into %roll[0] [1] [1] : tensor<1xf32> into tensor<16xf32>
  return %s, %u : tensor<f32>, tensor<16xf32>
}

// Rolled the other way, the op's roll is another.
// CHECK-LABEL: @negative_rolled_back
// CHECK-NOT: fp8.update_history
// CHECK: tensor.insert_slice
func.func @negative_rolled_back(%h: tensor<16xf32>, %new: tensor<1xf32>) -> tensor<16xf32> {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %e16 = tensor.empty() : tensor<16xf32>
  %roll = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e16 : tensor<16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.addi %i, %c1 : index
    %k = arith.remsi %j, %c16 : index
    %v = tensor.extract %h[%k] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %u = tensor.insert_slice %new into %roll[0] [1] [1] : tensor<1xf32> into tensor<16xf32>
  return %u : tensor<16xf32>
}

// The new amax is one of values that the maximum scaled.
// CHECK-LABEL: @negative_amax_after_the_scale
// CHECK-NOT: fp8.update_history
// CHECK: tensor.insert_slice
func.func @negative_amax_after_the_scale(%h: tensor<16xf32>) -> (tensor<f32>, tensor<16xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %m = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%h : tensor<16xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.maximumf %acc, %a : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %e16 = tensor.empty() : tensor<16xf32>
  %roll = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e16 : tensor<16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %i, %c1 : index
    %v = tensor.extract %h[%j] : tensor<16xf32>
    linalg.yield %v : f32
  } -> tensor<16xf32>
  %new = tensor.expand_shape %m [] output_shape [1] : tensor<f32> into tensor<1xf32>
  // expected-remark @below {{Reason="its new amax needs its maximum"}}
  %u = tensor.insert_slice %new into %roll[0] [1] [1] : tensor<1xf32> into tensor<16xf32>
  return %m, %u : tensor<f32>, tensor<16xf32>
}
