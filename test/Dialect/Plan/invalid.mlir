// RUN: fp8-opt %s -verify-diagnostics -split-input-file
//
// One symbol a label of docs/spec.md; tools/dev/check-spec.py compares the
// labels of both with the verifiers'.

// expected-error@below {{'plan.kernel' op expected tensors and indices as arguments, got 'f32'}}
plan.kernel @plan_kernel_c1 unit_dims = [] {
^bb0(%x: f32):
  fp8.yield
}

// -----

// expected-error@below {{'plan.kernel' op expected a body that ends with fp8.yield}}
plan.kernel @plan_kernel_c2 unit_dims = [0] {
^bb0(%x: tensor<4xf32>):
  %0 = arith.constant 0 : index
}

// -----

// expected-error@below {{'plan.kernel' op expected a unit dim or -1 for each of its 2 operands, got [0, 1]}}
plan.kernel @plan_kernel_c3 unit_dims = [0, 1] {
^bb0(%x: tensor<4xf32>):
  fp8.yield %x : tensor<4xf32>
}

// -----

plan.entry @plan_launch_c1 {
  %x = plan.alloc : memref<4xf32>
  %c = arith.constant 1 : index
  // expected-error@below {{'plan.launch' op expected the name of a plan.kernel, got @missing}}
  plan.launch @missing reads(%x) writes(%x) sizes[%c, %c, %c] tasks %c scratch %c : (memref<4xf32>) -> (memref<4xf32>)
}

// -----

// expected-note@below {{see the kernel here}}
plan.kernel @k unit_dims = [0, 0] {
^bb0(%x: tensor<4xf32>, %n: index):
  fp8.yield %x : tensor<4xf32>
}
plan.entry @plan_launch_c2 {
  %x = plan.alloc : memref<4xbf16>
  %c = arith.constant 1 : index
  // expected-error@below {{'plan.launch' op expected buffers of the ranks and element types of the kernel's operands}}
  plan.launch @k reads(%x) writes(%x) sizes[%c, %c, %c] tasks %c scratch %c : (memref<4xbf16>) -> (memref<4xbf16>)
}

// -----

plan.kernel @k unit_dims = [0, 0] {
^bb0(%x: tensor<4xf32>, %n: index):
  fp8.yield %x : tensor<4xf32>
}
plan.entry @plan_launch_c3 {
  %x = plan.alloc : memref<4xf32>
  %c = arith.constant 1 : index
  // expected-error@below {{'plan.launch' op expected at least 3 sizes, for the strides and captured indices, got 2}}
  plan.launch @k reads(%x) writes(%x) sizes[%c, %c] tasks %c scratch %c : (memref<4xf32>) -> (memref<4xf32>)
}

// -----

plan.entry @plan_input_c1 {
  // expected-error@below {{'plan.input' op expected a size a dynamic dim, got 0 for 'memref<?xf32>'}}
  %x = plan.input "x" : memref<?xf32>
}

// -----

plan.entry @plan_input_c2 {
  // expected-error@below {{'plan.input' op expected a dense buffer, got 'memref<4xf32, strided<[2]>>'}}
  %x = plan.input "x" : memref<4xf32, strided<[2]>>
}

// -----

plan.entry @plan_output_c1 {
  // expected-error@below {{'plan.output' op expected a size a dynamic dim, got 0 for 'memref<?xf32>'}}
  %x = plan.output "x" : memref<?xf32>
}

// -----

plan.entry @plan_output_c2 {
  // expected-error@below {{'plan.output' op expected a dense buffer, got 'memref<4xf32, strided<[2]>>'}}
  %x = plan.output "x" : memref<4xf32, strided<[2]>>
}

// -----

plan.entry @plan_alloc_c1 {
  // expected-error@below {{'plan.alloc' op expected a size a dynamic dim, got 0 for 'memref<?xf32>'}}
  %x = plan.alloc : memref<?xf32>
}

// -----

plan.entry @plan_alloc_c2 {
  // expected-error@below {{'plan.alloc' op expected a dense buffer, got 'memref<4xf32, strided<[2]>>'}}
  %x = plan.alloc : memref<4xf32, strided<[2]>>
}

// -----

plan.entry @plan_global_c1 {
  // expected-error@below {{'plan.global' op expected the name of an fp8.global, got @missing}}
  %x = plan.global @missing : memref<4xf32>
}

// -----

fp8.global weight @w source = "w" : tensor<4xf32>
plan.entry @plan_global_c2 {
  // expected-error@below {{'plan.global' op expected a buffer of the global's 'tensor<4xf32>', got 'memref<5xf32>'}}
  %x = plan.global @w : memref<5xf32>
}

// -----

plan.entry @plan_view_c1 {
  %x = plan.alloc : memref<4xf32>
  %c = arith.constant 1 : index
  // expected-error@below {{'plan.view' op expected a size and a stride a dim, got 2 and 2 for 'memref<4xf32>'}}
  %v = plan.view %x offset %c sizes[%c, %c] strides[%c, %c] : memref<4xf32> to memref<4xf32>
}

// -----

plan.entry @plan_view_c2 {
  %x = plan.alloc : memref<4xf32>
  %c = arith.constant 1 : index
  // expected-error@below {{'plan.view' op expected the element type of the source, got 'memref<4xf32>' and 'memref<4xi32>'}}
  %v = plan.view %x offset %c sizes[%c] strides[%c] : memref<4xf32> to memref<4xi32>
}

// -----

plan.entry @plan_matmul_c1 {
  %a = plan.alloc : memref<4x64xf32>
  %b = plan.alloc : memref<64x32xf32>
  %d = plan.alloc : memref<4x32xf32>
  %x = plan.alloc : memref<4xf32>
  // expected-error@below {{'plan.matmul' op expected buffers of one rank of at least 2, got 'memref<4x64xf32>', 'memref<64x32xf32>' and 'memref<4xf32>'}}
  plan.matmul(%a, %b) into %x a_block = [0, 0] b_block = [0, 0] : memref<4x64xf32>, memref<64x32xf32> -> memref<4xf32>
}

// -----

plan.entry @plan_matmul_c2 {
  %a = plan.alloc : memref<4x64xf32>
  %b = plan.alloc : memref<64x32xf32>
  %d = plan.alloc : memref<4x32xf32>
  // expected-error@below {{'plan.matmul' op expected two extents of at least 0 in each block, got [1] and [0, 0]}}
  plan.matmul(%a, %b) into %d a_block = [1] b_block = [0, 0] : memref<4x64xf32>, memref<64x32xf32> -> memref<4x32xf32>
}

// -----

plan.entry @plan_matmul_c3 {
  %a = plan.alloc : memref<4x64xf32>
  %b = plan.alloc : memref<64x32xf32>
  %d = plan.alloc : memref<4x32xf32>
  %s = plan.alloc : memref<1x1xf32>
  // expected-error@below {{'plan.matmul' op expected a scale of both operands, or of neither with b_decode}}
  plan.matmul(%a, %b) into %d a_scale %s a_block = [0, 0] b_block = [0, 0] : memref<4x64xf32>, memref<64x32xf32> -> memref<4x32xf32> a_scale memref<1x1xf32>
}

// -----

plan.entry @plan_matmul_c4 {
  %a = plan.alloc : memref<4x64xf32>
  %b = plan.alloc : memref<64x32xf32>
  %d = plan.alloc : memref<4x32xf32>
  %s = plan.alloc : memref<1xf32>
  // expected-error@below {{'plan.matmul' op expected scales of rank 2, got 'memref<1xf32>'}}
  plan.matmul(%a, %b) into %d a_scale %s b_scale %s a_block = [0, 0] b_block = [0, 0] : memref<4x64xf32>, memref<64x32xf32> -> memref<4x32xf32> a_scale memref<1xf32> b_scale memref<1xf32>
}

// -----

plan.entry @plan_matmul_c5 {
  %a = plan.alloc : memref<4x64xf32>
  %b = plan.alloc : memref<64x32xf32>
  %d = plan.alloc : memref<4x32xf32>
  // expected-error@below {{'plan.matmul' op expected a bias of rank 1, got 'memref<4x32xf32>'}}
  plan.matmul(%a, %b) into %d bias %d a_block = [0, 0] b_block = [0, 0] : memref<4x64xf32>, memref<64x32xf32> -> memref<4x32xf32> bias memref<4x32xf32>
}

// -----

plan.entry @plan_matmul_c6 {
  %a = plan.alloc : memref<4x60xf32>
  %p = plan.alloc : memref<4x64xf16>
  %b = plan.alloc : memref<60x32xf32>
  %d = plan.alloc : memref<4x32xf32>
  // expected-error@below {{'plan.matmul' op expected a_padded to be a matrix of a's type, got 'memref<4x64xf16>'}}
  plan.matmul(%a, %b) into %d a_padded %p a_block = [0, 0] b_block = [0, 0] : memref<4x60xf32>, memref<60x32xf32> -> memref<4x32xf32> a_padded memref<4x64xf16>
}

// -----

plan.entry @plan_attention_c1 {
  %q = plan.alloc : memref<8x4x64xf32>
  // expected-error@below {{'plan.attention' op expected buffers of rank 4, got 'memref<8x4x64xf32>'}}
  plan.attention %q, %q, %q into %q scale = 0.125 : memref<8x4x64xf32>, memref<8x4x64xf32>, memref<8x4x64xf32> -> memref<8x4x64xf32>
}

// -----

plan.entry @plan_copy_c1 {
  %x = plan.alloc : memref<4xf32>
  %y = plan.alloc : memref<4xi32>
  // expected-error@below {{'plan.copy' op expected buffers of one rank and element type, got 'memref<4xf32>' and 'memref<4xi32>'}}
  plan.copy %x to %y : memref<4xf32> to memref<4xi32>
}
