// REQUIRES: kiln
// RUN: split-file --leading-lines %s %t
// RUN: sh -c '%kiln emit %t/f32.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=F32
// RUN: sh -c '%kiln emit %t/sort.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=SORT
// RUN: sh -c '%kiln emit %t/scan.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=SCAN
// RUN: sh -c '%kiln emit %t/axis.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=AXIS
// RUN: sh -c '%kiln emit %t/large.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=LARGE
// RUN: sh -c '%kiln emit %t/narrow.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=NARROW
// RUN: sh -c '%kiln emit %t/fp8.mlir --target cuda 2>&1; test $? = 2' | FileCheck %s --check-prefix=FP8

// What the backend cannot lower is an error at the user's line, never other code.

//--- f32.mlir
// F32: f32.mlir:[[#@LINE+11]]:{{[0-9]+}}: error: 'tile.matmul_acc' cannot be compiled for h200: the matrix unit multiplies bf16 and f16 so far; cast the operands
kiln.func @main(%a: !kiln.tensor<?x?xf32>, %b: !kiln.tensor<?x?xf32>, %c: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<128x64xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<128x64xf32>) {
      %x = tile.load %a[0, %at] : !tile.tile<128x64xf32>
      %y = tile.load %b[%at, 0] : !tile.tile<64x64xf32>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<128x64xf32>
      scf.yield %next : !tile.tile<128x64xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    tile.store %sum, %c[0, 0]
  }
}

//--- narrow.mlir
// NARROW: narrow.mlir:[[#@LINE+9]]:{{[0-9]+}}: error: 'tile.load' cannot be compiled for h200: a row of a tile in shared memory has 32 or 64 bytes, or a multiple of 128; these have 96
kiln.func @main(%a: !kiln.tensor<?x?xbf16>, %b: !kiln.tensor<?x?xbf16>, %c: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %k = kiln.dim %a, 1
    %start = tile.full %zero : !tile.tile<128x48xf32>
    %sum = scf.for %at = %c0 to %k step %c64 iter_args(%acc = %start) -> (!tile.tile<128x48xf32>) {
      %x = tile.load %a[0, %at] : !tile.tile<128x64xbf16> %y = tile.load %b[%at, 0] : !tile.tile<64x48xbf16>
      %next = tile.matmul_acc %acc, %x, %y : !tile.tile<128x48xf32>
      scf.yield %next : !tile.tile<128x48xf32>
    } {kiln.loop = #kiln.loop<pipeline, stages = 4>}
    tile.store %sum, %c[0, 0]
  }
}

//--- scan.mlir
// SCAN: scan.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'tile.scan' cannot be compiled for h200: the backend does not have this operation yet
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %v = tile.load %x[0, 0] : !tile.tile<8x64xf32>
    %s = tile.scan sum %v axis(1) : !tile.tile<8x64xf32>
    tile.store %s, %y[0, 0]
  }
}

//--- sort.mlir
// SORT: sort.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: 'tile.sort_rows' cannot be compiled for h200: the backend does not have this operation yet
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %v = tile.load %x[0, 0] : !tile.tile<8x64xf32>
    %s, %i = tile.sort_rows %v : !tile.tile<8x64xf32>, !tile.tile<8x64xi32>
    tile.store %s, %y[0, 0]
  }
}

//--- axis.mlir
// AXIS: axis.mlir:[[#@LINE+5]]:{{[0-9]+}}: error: 'tile.reduce' cannot be compiled for h200: rows cannot be reduced yet, only columns: axis(1)
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %v = tile.load %x[0, 0] : !tile.tile<8x64xf32>

    %s = tile.reduce sum %v axis(0) : !tile.tile<1x64xf32>
    tile.store %s, %y[0, 0]
  }
}

//--- large.mlir
// LARGE: large.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: 'tile.load' cannot be compiled for h200: a tile of {{[0-9]+}} x {{[0-9]+}} does not fit the registers of a lane; use smaller tiles
kiln.func @main(%x: !kiln.tensor<?x?xf32>, %y: !kiln.tensor<?x?xf32>) orchestration {
  kiln.incore "k" {
    %v = tile.load %x[0, 0] : !tile.tile<256x1024xf32>
    tile.store %v, %y[0, 0]
  }
}

//--- fp8.mlir
// FP8: fp8.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: 'tile.load' cannot be compiled for h200: it has no elements of type f8E4M3FN
kiln.func @main(%x: !kiln.tensor<?x?xf8E4M3FN>, %y: !kiln.tensor<?x?xf8E4M3FN>) orchestration {
  kiln.incore "k" {
    %v = tile.load %x[0, 0] : !tile.tile<16x64xf8E4M3FN>
    tile.store %v, %y[0, 0]
  }
}
