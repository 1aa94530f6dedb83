// RUN: kiln-opt %s --cse --canonicalize --loop-invariant-code-motion --cse --canonicalize | FileCheck %s

// What upstream passes may and may not do, which follows from the effects of the ops.

// Pure ops that are unused go, those that are equal become one.
// CHECK-LABEL: kiln.func @pure(
// CHECK-NEXT:    %[[T:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    %[[E:.*]] = tile.exp %[[T]]
// CHECK-NEXT:    %[[S:.*]] = tile.add %[[E]], %[[E]]
// CHECK-NEXT:    tile.store %[[S]], %y[0, 0]
// CHECK-NEXT:  }
kiln.func @pure(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %unused = tile.log %t : !tile.tile<8x8xf32>
  %view = kiln.slice %x[0, 0] [4, 4] : !kiln.tensor<4x4xf32>
  %lane = tile.lane
  %e = tile.exp %t : !tile.tile<8x8xf32>
  %f = tile.exp %t : !tile.tile<8x8xf32>
  %s = tile.add %e, %f : !tile.tile<8x8xf32>
  tile.store %s, %y[0, 0]
}

// Two loads are one unless something was written between them.
// CHECK-LABEL: kiln.func @loads(
// CHECK-NEXT:    %[[A:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    tile.store %[[A]], %y[0, 0]
// CHECK-NEXT:    tile.store %[[A]], %y[0, 0]
// CHECK-NEXT:    %[[B:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    tile.store %[[B]], %y[0, 0] atomic(add)
// CHECK-NEXT:    tile.store %[[B]], %y[0, 0] atomic(add)
// CHECK-NEXT:    %[[C:.*]] = tile.load %x[0, 0]
// CHECK-NEXT:    tile.store %[[C]], %y[0, 0]
// CHECK-NEXT:  }
kiln.func @loads(%x: !kiln.tensor<8x8xf32>, %y: !kiln.tensor<8x8xf32>) incore {
  %a = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %a2 = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %a, %y[0, 0]
  tile.store %a2, %y[0, 0]
  %b = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %b, %y[0, 0] atomic(add)
  tile.store %b, %y[0, 0] atomic(add)
  %c = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  tile.store %c, %y[0, 0]
}

// CHECK-LABEL: kiln.func @elements(
// CHECK-NEXT:    %[[A:.*]] = kiln.read %x[0] : f32
// CHECK-NEXT:    kiln.write %[[A]], %x[1]
// CHECK-NEXT:    kiln.write %[[A]], %x[1]
// CHECK-NEXT:    %[[B:.*]] = kiln.read %x[0] : f32
// CHECK-NEXT:    kiln.write %[[B]], %x[2]
// CHECK-NEXT:  }
kiln.func @elements(%x: !kiln.tensor<8xf32>) incore {
  %unused = kiln.read %x[3] : f32
  %a = kiln.read %x[0] : f32
  kiln.write %a, %x[1]
  kiln.write %a, %x[1]
  %b = kiln.read %x[0] : f32
  kiln.write %b, %x[2]
}

// Every pipe op stays, where it is, as often as it is.
// CHECK-LABEL: kiln.func @pipes(
// CHECK:         tile.pop %in
// CHECK-NEXT:    tile.free %in
// CHECK-NEXT:    %[[T:.*]] = tile.pop %in
// CHECK-NEXT:    tile.push %[[T]], %out
// CHECK-NEXT:    tile.push %[[T]], %out
// CHECK-NEXT:    tile.free %in
// CHECK-NEXT:    tile.push %token
// CHECK-NEXT:    tile.push %token
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      tile.push %token
// CHECK-NEXT:      %[[U:.*]] = tile.pop %in
// CHECK-NEXT:      tile.free %in
// CHECK-NEXT:      tile.push %[[T]], %out
// CHECK-NEXT:    }
// CHECK-NEXT:  }
kiln.func @pipes(%n: index, %in: !tile.pipe<aic -> aiv, 8x8xf32>, %out: !tile.pipe<aiv -> aic, 8x8xf32>,
                 %token: !tile.pipe<aiv -> aic, token>) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %unused = tile.pop %in : !tile.tile<8x8xf32>
  tile.free %in
  %t = tile.pop %in : !tile.tile<8x8xf32>
  tile.push %t, %out
  tile.push %t, %out
  tile.free %in
  tile.push %token
  tile.push %token
  scf.for %i = %c0 to %n step %c1 {
    tile.push %token
    %u = tile.pop %in : !tile.tile<8x8xf32>
    tile.free %in
    tile.push %t, %out
  }
}

// Two pipes of one type are two pipes; a group keeps its calls.
// CHECK-LABEL: kiln.func @group(
// CHECK-NEXT:    %[[A:.*]] = tile.pipe : !tile.pipe<aiv -> aic, token>
// CHECK-NEXT:    %[[B:.*]] = tile.pipe : !tile.pipe<aiv -> aic, token>
// CHECK-NEXT:    kiln.call @role(%[[A]], %[[B]])
// CHECK-NEXT:  }
kiln.func @group() group {
  %a = tile.pipe : !tile.pipe<aiv -> aic, token>
  %b = tile.pipe : !tile.pipe<aiv -> aic, token>
  kiln.call @role(%a, %b)
}
kiln.func @role(%a: !tile.pipe<aiv -> aic, token>, %b: !tile.pipe<aiv -> aic, token>) role(aiv) {
}

// Tasks, allocations and waits stay; equal ones are not one.
// CHECK-LABEL: kiln.func @control(
// CHECK-NEXT:    %[[A:.*]] = kiln.alloc() : !kiln.tensor<8xf32>
// CHECK-NEXT:    %[[B:.*]] = kiln.alloc() : !kiln.tensor<8xf32>
// CHECK-NEXT:    kiln.submit @kernel(%[[A]])
// CHECK-NEXT:    kiln.submit @kernel(%[[A]])
// CHECK-NEXT:    kiln.submit @kernel(%[[B]])
// CHECK-NEXT:    kiln.get %x[0] : f32
// CHECK-NEXT:    kiln.get %x[0] : f32
// CHECK-NEXT:    kiln.scope manual {
// CHECK-NEXT:      kiln.submit @kernel(%x)
// CHECK-NEXT:    }
// CHECK-NEXT:    kiln.incore "store" {
// CHECK-NEXT:      %[[T:.*]] = tile.load
// CHECK-NEXT:      tile.store %[[T]], %x[0]
// CHECK-NEXT:    }
// CHECK-NEXT:  }
kiln.func @control(%x: !kiln.tensor<8xf32>) orchestration {
  %a = kiln.alloc() : !kiln.tensor<8xf32>
  %b = kiln.alloc() : !kiln.tensor<8xf32>
  %t0 = kiln.submit @kernel(%a)
  %t1 = kiln.submit @kernel(%a)
  %t2 = kiln.submit @kernel(%b)
  %v0 = kiln.get %x[0] : f32
  %v1 = kiln.get %x[0] : f32
  kiln.scope manual {
    %t3 = kiln.submit @kernel(%x)
  }
  %t4 = kiln.incore "store" {
    %t = tile.load %x[0] : !tile.tile<1x8xf32>
    tile.store %t, %x[0]
  }
  kiln.scope {
  }
}
kiln.func @kernel(%x: !kiln.tensor<8xf32>) incore {
}

// The kind of a loop survives.
// CHECK-LABEL: kiln.func @loop(
// CHECK:         scf.for
// CHECK:         } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
kiln.func @loop(%x: !kiln.tensor<8xf32>, %n: index) incore {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.load %x[%i] : !tile.tile<1x8xf32>
    tile.store %t, %x[%i]
  } {kiln.loop = #kiln.loop<pipeline, stages = 2>}
}

// Gathers read, scatters write, barriers order both; hints and marks stay where they are.
// CHECK-LABEL: kiln.func @rows(
// CHECK-NEXT:    %[[A:.*]] = tile.gather_rows %x[0, 0] rows(%r[0])
// CHECK-NEXT:    tile.scatter_rows %[[A]], %x[0, 0] rows(%r[0])
// CHECK-NEXT:    tile.scatter_rows %[[A]], %x[0, 0] rows(%r[0])
// CHECK-NEXT:    %[[B:.*]] = tile.gather_rows %x[0, 0] rows(%r[0])
// CHECK-NEXT:    tile.barrier
// CHECK-NEXT:    %[[C:.*]] = tile.gather_rows %x[0, 0] rows(%r[0])
// CHECK-NEXT:    tile.prefetch %x[0, 0] shape(8, 8)
// CHECK-NEXT:    kiln.dump %x
// CHECK-NEXT:    tile.scatter_rows %[[B]], %x[0, 0] rows(%r[0])
// CHECK-NEXT:    tile.scatter_rows %[[C]], %x[0, 0] rows(%r[0])
// CHECK-NEXT:  }
kiln.func @rows(%x: !kiln.tensor<8x8xf32>, %r: !kiln.tensor<8xi32>) incore {
  %a = tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x8xf32>
  %a2 = tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x8xf32>
  tile.scatter_rows %a, %x[0, 0] rows(%r[0])
  tile.scatter_rows %a2, %x[0, 0] rows(%r[0])
  %b = tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x8xf32>
  tile.barrier
  %c = tile.gather_rows %x[0, 0] rows(%r[0]) : !tile.tile<8x8xf32>
  tile.prefetch %x[0, 0] shape(8, 8)
  kiln.dump %x
  tile.scatter_rows %b, %x[0, 0] rows(%r[0])
  tile.scatter_rows %c, %x[0, 0] rows(%r[0])
}
