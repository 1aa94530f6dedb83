// A kernel that writes nothing is still one: what it requires is checked, and it may be launched.
// RUN: kiln emit %s -p h200 --target cuda | FileCheck %s --check-prefix=CUDA
// RUN: kiln emit %s -p a2a3 --target ascend | FileCheck %s --check-prefix=ASCEND

// CUDA: kiln_idle(
// ASCEND: idle
kiln.func @idle(%x: !kiln.tensor<8x?xf32>) incore {
  %c1 = arith.constant 1 : index
  %n = kiln.dim %x, 1
  %some = arith.cmpi sge, %n, %c1 : index
  kiln.require %some, "there is something to do"
}
