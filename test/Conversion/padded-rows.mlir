// RUN: fp8-opt %s --fp8-convert-to-plan=target=sm_90a --split-input-file | FileCheck %s
// RUN: fp8-opt %s --fp8-convert-to-plan=target=cpu --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: fp8-opt %s --fp8-convert-to-plan=target=sm_90a --split-input-file --remarks-filter=fp8-convert-to-plan --remark-policy=all --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// The library takes rows that are multiples of 16 bytes: what makes the left
// operand writes them as long, and their ends are zeros.

// CHECK: plan.kernel @k0 {{.*}}fp8.zeros = array<i64: 15>
// CHECK-LABEL: plan.entry @kernel
// CHECK-NOT: plan.fill
// CHECK: %[[ALL:.*]] = plan.alloc[%{{.*}}] : memref<?x272xf8E4M3FN>

// CHECK: %[[ROWS:.*]] = plan.view %[[ALL]] offset %c0{{.*}} strides[%c272{{.*}}, %c1
// CHECK: %[[ENDS:.*]] = plan.view %[[ALL]] offset %c257{{.*}} sizes[%{{.*}}, %c15{{.*}}] strides[%c272{{.*}}, %c1{{.*}}]
// CHECK: plan.launch @k0 {{.*}} writes(%[[ROWS]]) zeros(%[[ENDS]])
// CHECK: plan.matmul({{.*}}) into {{.*}} a_padded %[[ALL]]
// CPU-LABEL: plan.entry @kernel
// CPU-NOT: a_padded
// REMARK: Reason="the library takes rows of multiples of 16", Remark="the left operand's rows of 257 lie 272 apart, with zeros between"

#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @kernel(%x: tensor<?x257xf32> {fp8.name = "x", fp8.dims = ["s", 257]}, %w: tensor<257x512xf8E4M3FN> {fp8.name = "w", fp8.dims = [257, 512]},
    %one: tensor<1x1xf32> {fp8.name = "one", fp8.dims = [1, 1]}) -> (tensor<?x512xbf16> {fp8.name = "y"}) {
  %s = fp8.symbol "s" min = 1
  %q = fp8.kernel (%a = %x : tensor<?x257xf32>, %n = %s : index) -> (tensor<?x257xf8E4M3FN>) {
    %e = tensor.empty(%n) : tensor<?x257xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x257xf32>) outs(%e : tensor<?x257xf8E4M3FN>) {
    ^bb0(%p: f32, %o: f8E4M3FN):
      %0 = fp8.cast %p : f32 to f8E4M3FN
      linalg.yield %0 : f8E4M3FN
    } -> tensor<?x257xf8E4M3FN>
    fp8.yield %t : tensor<?x257xf8E4M3FN>
  }
  %y = fp8.scaled_matmul(%q by %one <?x?>, %w by %one <?x?>) : tensor<?x257xf8E4M3FN>, tensor<1x1xf32>, tensor<257x512xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x512xbf16>
  return %y : tensor<?x512xbf16>
}

// -----

// What comes from outside is as it is.

// CHECK-LABEL: plan.entry @input
// CHECK-NOT: a_padded
// REMARK: Reason="what makes it writes elsewhere, or is outside", Remark="the left operand is copied to longer rows at each call"
func.func @input(%x: tensor<?x257xf8E4M3FN> {fp8.name = "x", fp8.dims = ["s", 257]}, %w: tensor<257x512xf8E4M3FN> {fp8.name = "w", fp8.dims = [257, 512]},
    %one: tensor<1x1xf32> {fp8.name = "one", fp8.dims = [1, 1]}) -> (tensor<?x512xbf16> {fp8.name = "y"}) {
  %s = fp8.symbol "s" min = 1
  %y = fp8.scaled_matmul(%x by %one <?x?>, %w by %one <?x?>) : tensor<?x257xf8E4M3FN>, tensor<1x1xf32>, tensor<257x512xf8E4M3FN>, tensor<1x1xf32> -> tensor<?x512xbf16>
  return %y : tensor<?x512xbf16>
}

// -----

// Some of the rows have zeros after them as all have.

// CHECK-LABEL: plan.entry @slice
// CHECK: %[[ALL:.*]] = plan.alloc : memref<64x272xf8E4M3FN>
// CHECK: plan.matmul({{.*}}) into {{.*}} a_padded %[[ALL]]
// CHECK: %[[SOME:.*]] = plan.view %[[ALL]] offset %{{.*}} sizes[%c32{{.*}}, %c272{{.*}}] strides[%c272
// CHECK: plan.matmul({{.*}}) into {{.*}} a_padded %[[SOME]]
// REMARK-COUNT-2: the left operand's rows of 257 lie 272 apart

#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @slice(%x: tensor<64x257xf32> {fp8.name = "x", fp8.dims = [64, 257]}, %w: tensor<257x512xf8E4M3FN> {fp8.name = "w", fp8.dims = [257, 512]},
    %one: tensor<1x1xf32> {fp8.name = "one", fp8.dims = [1, 1]}) -> (tensor<64x512xbf16> {fp8.name = "y"}, tensor<32x512xbf16> {fp8.name = "z"}) {
  %q = fp8.kernel (%a = %x : tensor<64x257xf32>) -> (tensor<64x257xf8E4M3FN>) {
    %e = tensor.empty() : tensor<64x257xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<64x257xf32>) outs(%e : tensor<64x257xf8E4M3FN>) {
    ^bb0(%p: f32, %o: f8E4M3FN):
      %0 = fp8.cast %p : f32 to f8E4M3FN
      linalg.yield %0 : f8E4M3FN
    } -> tensor<64x257xf8E4M3FN>
    fp8.yield %t : tensor<64x257xf8E4M3FN>
  }
  %y = fp8.scaled_matmul(%q by %one <?x?>, %w by %one <?x?>) : tensor<64x257xf8E4M3FN>, tensor<1x1xf32>, tensor<257x512xf8E4M3FN>, tensor<1x1xf32> -> tensor<64x512xbf16>
  %s = tensor.extract_slice %q[16, 0] [32, 257] [1, 1] : tensor<64x257xf8E4M3FN> to tensor<32x257xf8E4M3FN>
  %z = fp8.scaled_matmul(%s by %one <?x?>, %w by %one <?x?>) : tensor<32x257xf8E4M3FN>, tensor<1x1xf32>, tensor<257x512xf8E4M3FN>, tensor<1x1xf32> -> tensor<32x512xbf16>
  return %y, %z : tensor<64x512xbf16>, tensor<32x512xbf16>
}

// -----

// A square value of which the left operand is the transpose: its own rows are
// not those that zeros follow.

// CHECK-NOT: fp8.zeros
// CHECK-LABEL: plan.entry @turned
// CHECK: %[[ENDS:.*]] = plan.view %[[ALL:.*]] offset %c257{{.*}} sizes[%c257{{.*}}, %c15{{.*}}] strides[%c272{{.*}}, %c1{{.*}}]
// CHECK: plan.fill %[[ENDS]]
// CHECK: plan.launch
// CHECK-NOT: zeros
// CHECK: plan.matmul({{.*}}) into {{.*}} a_padded %[[ALL]]

#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @turned(%x: tensor<257x257xf32> {fp8.name = "x", fp8.dims = [257, 257]}, %r: tensor<257x257xf32> {fp8.name = "r", fp8.dims = [257, 257]}, %w: tensor<257x512xf8E4M3FN> {fp8.name = "w", fp8.dims = [257, 512]},
    %one: tensor<1x1xf32> {fp8.name = "one", fp8.dims = [1, 1]}) -> (tensor<257x512xbf16> {fp8.name = "y"}) {
  %q = fp8.kernel (%a = %x : tensor<257x257xf32>, %b = %r : tensor<257x257xf32>) -> (tensor<257x257xf8E4M3FN>) {
    %e = tensor.empty() : tensor<257x257xf8E4M3FN>
    %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<257x257xf32>, tensor<257x257xf32>) outs(%e : tensor<257x257xf8E4M3FN>) {
    ^bb0(%p: f32, %k: f32, %o: f8E4M3FN):
      %s = arith.addf %p, %k : f32
      %0 = fp8.cast %s : f32 to f8E4M3FN
      linalg.yield %0 : f8E4M3FN
    } -> tensor<257x257xf8E4M3FN>
    fp8.yield %t : tensor<257x257xf8E4M3FN>
  }
  %e = tensor.empty() : tensor<257x257xf8E4M3FN>
  %qt = linalg.transpose ins(%q : tensor<257x257xf8E4M3FN>) outs(%e : tensor<257x257xf8E4M3FN>) permutation = [1, 0]
  %y = fp8.scaled_matmul(%qt by %one <?x?>, %w by %one <?x?>) : tensor<257x257xf8E4M3FN>, tensor<1x1xf32>, tensor<257x512xf8E4M3FN>, tensor<1x1xf32> -> tensor<257x512xbf16>
  return %y : tensor<257x512xbf16>
}
