// A run may start with a helper that a kernel calls, although the kernels have its body by then.
// RUN: %kiln run %s --entry twice --no-reference | FileCheck %s
// RUN: %kiln run %s --entry twice --no-reference -p a2a3sim | FileCheck %s
// RUN: %kiln check %s --entry twice
// RUN: %kiln emit %s --entry twice --target llvm | FileCheck %s --check-prefix=LLVM
// CHECK: RAN
// LLVM: define {{.*}}twice
kiln.func @twice(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %s = tile.add %t, %t : !tile.tile<16x16xf32>
  tile.store %s, %y[0, 0]
}
kiln.func @kernel(%x: !kiln.tensor<16x16xf32>, %y: !kiln.tensor<16x16xf32>) incore {
  kiln.call @twice(%x, %y)
}
