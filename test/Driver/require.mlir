// What a program requires of its arguments is checked before anything runs, alike on every platform, in a check, from a
// bundle and in the emitted reference.
// REQUIRES: torch

// RUN: %kiln run %s -p cpu --arg x=16x8 --arg y=16x8 --arg n=3
// RUN: %kiln run %s -p a2a3sim --arg x=16x8 --arg y=16x8 --arg n=3
// RUN: %kiln run %s -p a5sim --arg x=16x8 --arg y=16x8 --arg n=3
// RUN: %kiln run %s -p torch --arg x=16x8 --arg y=16x8 --arg n=3

// RUN: sh -c '%kiln run %s -p cpu --arg x=12x8 --arg y=12x8 --arg n=3 2>&1; test $? = 2' | FileCheck %s
// RUN: sh -c '%kiln run %s -p a2a3sim --arg x=12x8 --arg y=12x8 --arg n=3 2>&1; test $? = 2' | FileCheck %s
// RUN: sh -c '%kiln run %s -p a5sim --arg x=12x8 --arg y=12x8 --arg n=3 2>&1; test $? = 2' | FileCheck %s
// RUN: sh -c '%kiln run %s -p torch --arg x=12x8 --arg y=12x8 --arg n=3 2>&1; test $? = 2' | FileCheck %s
// RUN: sh -c '%kiln check %s --arg x=12x8 --arg y=12x8 --arg n=3 2>&1; test $? = 2' | FileCheck %s
// CHECK: require.mlir:[[@LINE+33]]:{{[0-9]+}}: error: 'main' requires x.dim(0) % 8 == 0, but x.dim(0) is 12: rows come in tiles of 8

// What a kernel requires is the caller's to satisfy, if it always launches the kernel with what it is given.
// RUN: sh -c '%kiln run %s -p cpu --arg x=16x8 --arg y=16x8 --arg n=0 2>&1; test $? = 2' | FileCheck %s --check-prefix=LIFTED
// LIFTED: require.mlir:[[@LINE+16]]:{{[0-9]+}}: error: 'main' requires n > 0, but n is 0: something is added

// RUN: rm -rf %t && %kiln build %s -p cpu -o %t && kiln-exec %t --arg x=16x8 --arg y=16x8 --arg n=3
// RUN: sh -c 'kiln-exec %t --arg x=12x8 --arg y=12x8 --arg n=3 2>&1; test $? = 2' | FileCheck %s
// RUN: FileCheck %s --check-prefix=CONFIG < %t/kernel_config.json
// CONFIG: "condition": "x.dim(0) % 8 == 0"
// CONFIG-NEXT: "message": "rows come in tiles of 8"

// RUN: %kiln emit %s --target torch | FileCheck %s --check-prefix=TORCH
// TORCH: def main(
// TORCH: if not {{.*}} == 0:
// TORCH-NEXT: raise ValueError("main requires x.dim(0) % 8 == 0: rows come in tiles of 8")

kiln.func @add(%t: !kiln.tensor<?x8xf32> in, %o: !kiln.tensor<?x8xf32> out, %count: index) incore {
  %c0 = arith.constant 0 : index
  %isPositive = arith.cmpi sgt, %count, %c0 : index
  kiln.require %isPositive, "something is added"
  %c8 = arith.constant 8 : index
  %b = tile.block_idx 0
  %i = arith.muli %b, %c8 : index
  %x = tile.load %t[%i, 0] : !tile.tile<8x8xf32>
  tile.store %x, %o[%i, 0]
}
kiln.func @main(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<?x8xf32> out, %n: index) orchestration {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %d = kiln.dim %x, 0
  %r = arith.remsi %d, %c8 : index
  %isMultiple = arith.cmpi eq, %r, %c0 : index
  kiln.require %isMultiple, "rows come in tiles of 8"
  %g = arith.ceildivsi %d, %c8 : index
  %t = kiln.submit @add(%x, %y, %n) grid(%g)
}
