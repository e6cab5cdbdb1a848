// What a package's plan says, as text.

// RUN: fp8-compile %s --target=cpu,sm_90a -o %t.fp8
// RUN: fp8-translate --dump-plan %t.fp8 | FileCheck %s
// RUN: fp8-translate --dump-plan --target=sm_90a %t.fp8 | FileCheck %s --check-prefix=GPU
// RUN: fp8-translate --dump-plan - < %t.fp8 | FileCheck %s
// RUN: not fp8-translate --dump-plan --target=sm_89 %t.fp8 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not fp8-translate --dump-plan %s 2>&1 | FileCheck %s --check-prefix=TEXT

// CHECK: plan version 1 for cpu
// CHECK-NEXT: symbol tokens in 1..4096 multiple 2
// CHECK-NEXT: check tokens != 0 else "the amax of an empty tensor has no value"
// CHECK-NEXT: kernel @k0 symbol k0 exact{{$}}
// CHECK-NEXT: %0 = input 0 : bf16[tokens, 64] node "x"
// CHECK-NEXT: %1 = output 0 : f32[1, 1]
// CHECK-NEXT: %2 = output 1 : bf16[tokens, 64] node "y"
// CHECK-NEXT: entry @forward
// CHECK-NEXT: input "x" %0
// CHECK-NEXT: output "amax" %1
// CHECK-NEXT: output "y" %2
// CHECK-NEXT: 0 fill %1 with 0
// CHECK-NEXT: reads () writes (%1)
// CHECK-NEXT: 1 launch @k0 (%0, %2, %1) sizes [tokens, 64, 64, 1, 64, 1, 1, 1, tokens] tasks tokens*{{.*}} scratch 0
// CHECK-NEXT: reads (%0) writes (%2, %1) name y at {{.*}}dump-plan.mlir:

// GPU: plan version 1 for sm_90a
// GPU: kernel @k0 symbol k0 exact threads {{[0-9]+}}

// TARGET: the package has plans for cpu, sm_90a, none for sm_89
// TEXT: not a .fp8 package

#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @forward(%x: tensor<?x64xbf16> {fp8.name = "x", fp8.dims = ["tokens", 64]})
    -> (tensor<1x1xf32> {fp8.name = "amax"}, tensor<?x64xbf16> {fp8.name = "y"}) {
  %tokens = fp8.symbol "tokens" min = 1 max = 4096 multiple = 2
  %e = tensor.empty(%tokens) : tensor<?x64xbf16>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) attrs = {fp8.node = "y"} {
  ^bb0(%a: bf16, %o: bf16):
    %n = arith.negf %a : bf16
    linalg.yield %n : bf16
  } -> tensor<?x64xbf16>
  %amax = fp8.amax %y <?x?> : tensor<?x64xbf16> -> tensor<1x1xf32>
  return %amax, %y : tensor<1x1xf32>, tensor<?x64xbf16>
}
