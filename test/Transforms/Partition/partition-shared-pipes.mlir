// Values that cross alike in loops that follow one another share a pipe, and so its memory: nothing is sent in the second
// before all of the first has been.
// RUN: kiln-opt %s --kiln-partition-roles | FileCheck %s
// RUN: kiln-opt %s --kiln-partition-roles -o %t.once && kiln-opt %t.once --kiln-partition-roles | diff %t.once -
// RUN: kiln-opt %s --kiln-partition-roles --tile-place-frees --kiln-skew-pipeline --kiln-check-pipes=report 2>&1 | FileCheck %s --check-prefix=PROOF
// PROOF-COUNT-3: proved
// RUN: kiln-opt %s --kiln-partition-roles=report=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// A loop whose masks are peeled: the last part uses the pipes of the first.
// RUN: kiln-opt %s --tile-peel-masks --kiln-partition-roles | FileCheck %s --check-prefix=PEELED
// RUN: kiln-opt %s --tile-peel-masks --kiln-partition-roles --tile-place-frees --kiln-skew-pipeline --kiln-check-pipes=report 2>&1 | FileCheck %s --check-prefix=PROOF
// CHECK-LABEL: kiln.func @masked_aiv(
// CHECK-COUNT-1: tile.pop
// CHECK-NOT: tile.pop
// PEELED-LABEL: kiln.func @masked_aiv(
// PEELED: scf.for
// PEELED: tile.pop %to_aiv :
// PEELED-NOT: tile.mask
// PEELED: scf.for
// PEELED: tile.pop %to_aiv :
// PEELED: tile.mask
// PEELED-LABEL: kiln.func @masked(
// PEELED-COUNT-1: = tile.pipe
// PEELED-NOT: = tile.pipe
// PEELED: kiln.call
kiln.func @masked(%a: !kiln.tensor<?x64xf32>, %out: !kiln.tensor<?x64xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c64 {
    %x = tile.load %a[%i, 0] : !tile.tile<64x64xf32>
    %p = tile.matmul %x, %x : !tile.tile<64x64xf32>
    %left = arith.subi %n, %i : index
    %m = tile.mask %p valid(64, %left) pad(min) : !tile.tile<64x64xf32>
    %e = tile.exp %m : !tile.tile<64x64xf32>
    tile.store %e, %out[%i, 0]
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}

// Two loops of a kernel, also inside another; two values of one iteration have a pipe each.
// CHECK-LABEL: kiln.func @two_loops_aic(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.push %{{.*}}, %to_aiv{{$}}
// CHECK: tile.push %{{.*}}, %to_aiv_1{{$}}
// CHECK: scf.for
// CHECK: tile.push %{{.*}}, %to_aiv{{$}}
// CHECK-LABEL: kiln.func @two_loops(
// CHECK-COUNT-2: = tile.pipe
// CHECK-NOT: = tile.pipe
// CHECK: kiln.call
// REPORT: remark: @two_loops is split over aic and aiv
// REPORT: note: '!tile.tile<16x16xf32>' goes from aic to aiv, 1024 bytes a slot
// REPORT: note: '!tile.tile<16x16xf32>' goes from aic to aiv, 1024 bytes a slot
// REPORT: note: '!tile.tile<16x16xf32>' goes from aic to aiv, through the pipe of the loop before
kiln.func @two_loops(%a: !kiln.tensor<?x16xf32>, %out: !kiln.tensor<?x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  scf.for %o = %c0 to %n step %c16 {
    scf.for %i = %c0 to %n step %c16 {
      %x = tile.load %a[%i, 0] : !tile.tile<16x16xf32>
      %y = tile.load %a[%o, 0] : !tile.tile<16x16xf32>
      %p = tile.matmul %x, %y : !tile.tile<16x16xf32>
      %q = tile.matmul %y, %x : !tile.tile<16x16xf32>
      %s = tile.sub %p, %q : !tile.tile<16x16xf32>
      tile.store %s, %out[%i, 0]
    }
    scf.for %i = %c0 to %n step %c16 {
      %x = tile.load %a[%i, 0] : !tile.tile<16x16xf32>
      %p = tile.matmul %x, %x : !tile.tile<16x16xf32>
      %e = tile.exp %p : !tile.tile<16x16xf32>
      tile.store %e, %out[%i, 0]
    }
  }
}

// What crosses before the loop may be received after it, so the order would not be kept: two pipes.
// CHECK-LABEL: kiln.func @around(
// CHECK-COUNT-2: = tile.pipe
// CHECK: kiln.call
kiln.func @around(%a: !kiln.tensor<?x16xf32>, %out: !kiln.tensor<?x16xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %y = tile.load %a[0, 0] : !tile.tile<16x16xf32>
  %first = tile.matmul %y, %y : !tile.tile<16x16xf32>
  scf.for %i = %c0 to %n step %c16 {
    %x = tile.load %a[%i, 0] : !tile.tile<16x16xf32>
    %p = tile.matmul %x, %y : !tile.tile<16x16xf32>
    %e = tile.exp %p : !tile.tile<16x16xf32>
    tile.store %e, %out[%i, 0]
  }
  %last = tile.exp %first : !tile.tile<16x16xf32>
  tile.store %last, %out[0, 0]
}
