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

// -----

// expected-error@+1 {{inputs 0 and 1 have one name, 'x'}}
func.func @forward(%x: tensor<4xf32> {fp8.name = "x"}, %y: tensor<4xf32> {fp8.name = "x"}) {
  return
}

// -----

// A name that another argument has by default.
// expected-error@+1 {{inputs 0 and 1 have one name, 'input1'}}
func.func @forward(%x: tensor<4xf32> {fp8.name = "input1"}, %y: tensor<4xf32>) {
  return
}

// -----

// expected-error@+1 {{outputs 0 and 1 have one name, 'y'}}
func.func @forward(%x: tensor<4xf32>) -> (tensor<4xf32> {fp8.name = "y"}, tensor<4xf32> {fp8.name = "y"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{input 0 has 3 : i64 as fp8.name, which is no string that names it}}
func.func @forward(%x: tensor<4xf32> {fp8.name = 3}) {
  return
}

// -----

// expected-error@+1 {{argument 0 has 4 as dim 0 and 5 : i64 in fp8.dims}}
func.func @forward(%x: tensor<4xf32> {fp8.dims = [5]}) {
  return
}

// -----

func.func @forward(%x: tensor<?xf32> {fp8.dims = ["n"]}) {
  // expected-note@+1 {{first declared here}}
  %n = fp8.symbol "n" min = 1 max = 8
  // expected-error@+1 {{symbol 'n' has min = 3, multiple = 2 here and min = 1, max = 8, multiple = 1 where it is first declared}}
  %m = fp8.symbol "n" min = 3 multiple = 2
  return
}

// -----

// expected-error@+1 {{a tensor of type 'tensor<4611686018427387904x8xf32>' needs more than 2^63 - 1 bytes}}
func.func @forward(%x: tensor<4611686018427387904x8xf32>) {
  return
}

// -----

func.func @forward(%n: tensor<?xf32> {fp8.dims = ["n"]}) -> tensor<4611686018427387904x?xbf16> {
  %s = fp8.symbol "n" min = 0
  // expected-error@+1 {{a tensor of type 'tensor<4611686018427387904x?xbf16>' needs more than 2^63 - 1 bytes}}
  %e = tensor.empty(%s) : tensor<4611686018427387904x?xbf16>
  return %e : tensor<4611686018427387904x?xbf16>
}

// -----

#id = affine_map<(d0) -> (d0)>

func.func @forward(%x: tensor<64xindex>) -> tensor<64xindex> {
  // expected-error@+1 {{this kernel has no row program: elements of type 'index'}}
  %0 = fp8.kernel (%a = %x : tensor<64xindex>) -> (tensor<64xindex>) {
    %e = tensor.empty() : tensor<64xindex>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%a : tensor<64xindex>) outs(%e : tensor<64xindex>) {
    ^bb0(%in: index, %out: index):
      %2 = arith.addi %in, %in : index
      linalg.yield %2 : index
    } -> tensor<64xindex>
    fp8.yield %1 : tensor<64xindex>
  }
  return %0 : tensor<64xindex>
}

// -----

func.func @forward(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error@+1 {{this kernel has no row program: 'math.tanh' of f64, which has no expansion}}
  %k = fp8.kernel (%a = %x : tensor<4xf64>) -> (tensor<4xf64>) {
    %e = tensor.empty() : tensor<4xf64>
    %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%a : tensor<4xf64>) outs(%e : tensor<4xf64>) {
    ^bb0(%p: f64, %o: f64):
      %0 = math.tanh %p : f64
      linalg.yield %0 : f64
    } -> tensor<4xf64>
    fp8.yield %t : tensor<4xf64>
  }
  return %k : tensor<4xf64>
}
