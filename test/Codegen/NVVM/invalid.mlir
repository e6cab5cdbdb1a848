// RUN: not fp8-translate -plan-to-ptx -target=cpu %s 2>&1 | FileCheck %s
// RUN: not fp8-translate -plan-to-ptx -target=sm_12 %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// CHECK: 'cpu' is not a GPU
// UNKNOWN: 'sm_12' is not a GPU
module {
}
