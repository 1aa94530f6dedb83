// RUN: kiln-opt %s --tile-place-frees | FileCheck %s
// RUN: kiln-opt %s --tile-place-frees --tile-place-frees | FileCheck %s

!p = !tile.pipe<aic -> aiv, 8x8xf32>

// After the last use, also of what aliases the tile; a use in a nested region counts where the region stands.
// CHECK-LABEL: kiln.func @uses
// CHECK:         %[[X:.*]] = tile.pop %p
// CHECK:         %[[R:.*]] = tile.reshape %[[X]]
// CHECK:         tile.add %[[X]], %[[X]]
// CHECK-NEXT:    tile.exp %[[R]]
// CHECK-NEXT:    tile.free %p
// CHECK:         tile.pop %p
// CHECK:         scf.for
// CHECK:         }
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    tile.pop %p
// CHECK-NEXT:    tile.free %p
kiln.func @uses(%o: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.pop %p : !tile.tile<8x8xf32>
  %r = tile.reshape %x : !tile.tile<16x4xf32>
  %y = tile.add %x, %x : !tile.tile<8x8xf32>
  %e = tile.exp %r : !tile.tile<16x4xf32>
  tile.store %y, %o[0, 0]
  %z = tile.pop %p : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    tile.store %z, %o[0, 0]
  }
  %unused = tile.pop %p : !tile.tile<8x8xf32>
}

// A popped tile that is yielded lives on where the free cannot follow: it is copied, and the slot is free at once.
// CHECK-LABEL: kiln.func @carried
// CHECK:         scf.for
// CHECK-NEXT:      %[[X:.*]] = tile.pop %p copy :
// CHECK-NEXT:      tile.free %p
// CHECK-NEXT:      scf.yield %[[X]]
kiln.func @carried(%o: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %init = tile.full %z : !tile.tile<8x8xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%old = %init) -> (!tile.tile<8x8xf32>) {
    %x = tile.pop %p : !tile.tile<8x8xf32>
    scf.yield %x : !tile.tile<8x8xf32>
  }
  tile.store %last, %o[0, 0]
}

// A tile that a loop carries in is copied. So is one that lives across a loop that pops from the same pipe, whose frees
// would release this slot.
// CHECK-LABEL: kiln.func @carried_in
// CHECK:         %[[X:.*]] = tile.pop %p copy :
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    scf.for {{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK-NEXT:      %[[Y:.*]] = tile.pop %p :
// CHECK-NEXT:      tile.add
// CHECK-NEXT:      tile.free %p
// CHECK:         %[[Z:.*]] = tile.pop %p copy :
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    scf.for
// CHECK:         tile.store %[[Z]]
kiln.func @carried_in(%o: !kiln.tensor<8x8xf32>, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = tile.pop %p : !tile.tile<8x8xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (!tile.tile<8x8xf32>) {
    %y = tile.pop %p : !tile.tile<8x8xf32>
    %s = tile.add %a, %y : !tile.tile<8x8xf32>
    scf.yield %s : !tile.tile<8x8xf32>
  }
  tile.store %last, %o[0, 0]
  %z = tile.pop %p : !tile.tile<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %y = tile.pop %p : !tile.tile<8x8xf32>
    tile.store %y, %o[0, 0]
  }
  tile.store %z, %o[0, 0]
}

// A free releases the oldest popped slot: where lives cross, the later pop's free waits for the earlier one's.
// CHECK-LABEL: kiln.func @crossing
// CHECK:         %[[A:.*]] = tile.pop %p
// CHECK-NEXT:    %[[B:.*]] = tile.pop %p
// CHECK-NEXT:    tile.store %[[B]]
// CHECK-NEXT:    tile.store %[[A]]
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    tile.free %p
kiln.func @crossing(%o: !kiln.tensor<8x8xf32>, %p: !p) role(aiv) {
  %a = tile.pop %p : !tile.tile<8x8xf32>
  %b = tile.pop %p : !tile.tile<8x8xf32>
  tile.store %b, %o[0, 0]
  tile.store %a, %o[0, 0]
}

// Frees that the author wrote stay as they are.
// CHECK-LABEL: kiln.func @written
// CHECK:         tile.pop %p
// CHECK-NEXT:    tile.pop %p
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    tile.free %p
// CHECK-NOT:     tile.free
kiln.func @written(%p: !p) role(aiv) {
  %x = tile.pop %p : !tile.tile<8x8xf32>
  %y = tile.pop %p : !tile.tile<8x8xf32>
  tile.free %p
  tile.free %p
}

// Held over a loop that pops from the same pipe and uses the tile inside, through a view; the tile popped after it keeps
// its slot until its last use, and its free comes after the other one's.
// CHECK-LABEL: kiln.func @held
// CHECK:         %[[W:.*]] = tile.pop %p copy :
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %[[W]]
// CHECK-NEXT:    %[[X:.*]] = tile.pop %p :
// CHECK-NEXT:    tile.store %[[X]]
// CHECK-NEXT:    tile.free %p
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      scf.if
// CHECK-NEXT:        tile.pop %p :
// CHECK:             tile.free %p
// CHECK:           tile.store %[[R]]
kiln.func @held(%o: !kiln.tensor<8x8xf32>, %n: index, %c: i1, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = tile.pop %p : !tile.tile<8x8xf32>
  %r = tile.reshape %w : !tile.tile<4x16xf32>
  %x = tile.pop %p : !tile.tile<8x8xf32>
  tile.store %x, %o[0, 0]
  scf.for %i = %c0 to %n step %c1 {
    scf.if %c {
      %y = tile.pop %p : !tile.tile<8x8xf32>
      tile.store %y, %o[0, 0]
    }
    tile.store %r, %o[0, 0]
  }
}

// A loop that pops from another pipe leaves the slot to the tile. Rows of it may be a view: they count as uses.
// CHECK-LABEL: kiln.func @kept
// CHECK:         %[[W:.*]] = tile.pop %p :
// CHECK-NEXT:    %[[R:.*]] = tile.extract %[[W]]
// CHECK-NEXT:    scf.for
// CHECK:         }
// CHECK-NEXT:    tile.free %p
kiln.func @kept(%o: !kiln.tensor<8x8xf32>, %n: index, %p: !p, %q: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = tile.pop %p : !tile.tile<8x8xf32>
  %r = tile.extract %w[0, 0] : !tile.tile<4x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %y = tile.pop %q : !tile.tile<8x8xf32>
    tile.store %y, %o[0, 0]
    tile.store %r, %o[0, 0]
  }
}
