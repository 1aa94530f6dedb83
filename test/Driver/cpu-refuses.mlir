// What is not of the language is named with its line before anything runs.
// RUN: sh -c '%kiln run %s --arg x=4 2>&1; test $? = 2' | FileCheck %s

// CHECK: cpu-refuses.mlir:[[#@LINE+3]]:{{.*}}scf.index_switch: is not an operation of the language
kiln.func @k(%x: !kiln.tensor<?xf32>) incore {
  %i = tile.block_idx 0
  %v = scf.index_switch %i -> f32
  case 2 {
    %one = arith.constant 1.0 : f32
    scf.yield %one : f32
  }
  default {
    %zero = arith.constant 0.0 : f32
    scf.yield %zero : f32
  }
  kiln.write %v, %x[0]
}
