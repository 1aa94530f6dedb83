// A tile that is popped once and used where more tiles come from the same pipe: in a loop, in a branch, in nested loops,
// through a view, carried by a loop, yielded, and in the shares of two lanes. Its slot cannot wait for it, because a free
// releases the oldest slot, so the pop copies the tile. With one slot a pipe, too.
// DEFINE: %{args} = --arg n=3 --arg x=256x16 --arg loop=48x16 --arg branch=32x16 --arg nested=144x16 --arg carried=16x16 --arg yielded=48x16 --arg rows=48x16 --arg cols=48x16
// RUN: %kiln run %s -p cpu %{args} | FileCheck %s --check-prefix=GOOD
// RUN: %kiln run %s -p cpu --fibers %{args} | FileCheck %s --check-prefix=GOOD
// RUN: %kiln run %s -p a2a3sim %{args} --seed 3 | FileCheck %s --check-prefix=GOOD
// RUN: %kiln run %s -p a5sim %{args} --seed 3 | FileCheck %s --check-prefix=GOOD
// RUN: %kiln emit %s -p cpu --fibers --after tile-place-frees | FileCheck %s --check-prefix=IR
// RUN: sed 's/= tile.pipe :/= tile.pipe slots(1) :/' %s > %t.mlir
// RUN: %kiln run %t.mlir -p cpu --fibers %{args} | FileCheck %s --check-prefix=GOOD
// GOOD-COUNT-7: against torch {{.*}} ok
// GOOD: {{^}}PASS{{$}}

!t = !tile.tile<16x16xf32>
!p = !tile.pipe<aic -> aiv, 16x16xf32>
!x = !kiln.tensor<?x16xf32>

// Sends the products of the tiles of x with its first one.
kiln.func @send(%x: !x, %n: index, %p: !p) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.muli %i, %c16 : index
    %b = tile.load %x[%at, 0] : !t
    %m = tile.matmul %a, %b : !t
    tile.push %m, %p
  }
}

// IR-LABEL: kiln.func @loop_role
// IR:         tile.pop %p copy : !tile.tile<16x16xf32>
// IR-NEXT:    tile.free %p
// IR:         scf.for
// IR:           tile.pop %p : !tile.tile<16x16xf32>
kiln.func @loop_role(%y: !x, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %w = tile.pop %p : !t
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !t
    %s = tile.mul %t, %w : !t
    %at = arith.muli %i, %c16 : index
    tile.store %s, %y[%at, 0]
  }
}
kiln.func @loop(%x: !x in, %y: !x out, %n: index) group {
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %p = tile.pipe : !p
  kiln.call @send(%x, %more, %p)
  kiln.call @loop_role(%y, %n, %p)
}

kiln.func @branch_role(%y: !x, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %w = tile.pop %p : !t
  %some = arith.cmpi sgt, %n, %c0 : index
  scf.if %some {
    %a = tile.pop %p : !t
    %wa = tile.sub %a, %w : !t
    %b = tile.pop %p : !t
    %wab = tile.mul %wa, %b : !t
    %c = tile.pop %p : !t
    %wabc = tile.add %wab, %c : !t
    %s = tile.sub %wabc, %w : !t
    tile.store %s, %y[0, 0]
  }
  tile.store %w, %y[16, 0]
}
kiln.func @branch(%x: !x in, %y: !x out, %n: index) group {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %some = arith.cmpi sgt, %n, %c0 : index
  %count = arith.select %some, %c4, %c1 : index
  %p = tile.pipe : !p
  kiln.call @send(%x, %count, %p)
  kiln.call @branch_role(%y, %n, %p)
}

// Three tiles are held, one of them as a view; one is popped in the outer loop and held over the inner one.
kiln.func @nested_role(%y: !x, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %v = tile.pop %p : !t
  %w = tile.pop %p : !t
  %flat = tile.reshape %w : !tile.tile<1x256xf32>
  scf.for %i = %c0 to %n step %c1 {
    %u = tile.pop %p : !t
    scf.for %j = %c0 to %c3 step %c1 {
      %t = tile.pop %p : !t
      %a = tile.reshape %t : !tile.tile<1x256xf32>
      %b = tile.mul %a, %flat : !tile.tile<1x256xf32>
      %c = tile.reshape %b : !t
      %d = tile.add %c, %u : !t
      %e = tile.sub %d, %v : !t
      %rows = arith.muli %i, %c3 : index
      %row = arith.addi %rows, %j : index
      %at = arith.muli %row, %c16 : index
      tile.store %e, %y[%at, 0]
    }
  }
}
kiln.func @nested(%x: !x in, %y: !x out, %n: index) group {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %rounds = arith.muli %n, %c4 : index
  %count = arith.addi %rounds, %c2 : index
  %p = tile.pipe : !p
  kiln.call @send(%x, %count, %p)
  kiln.call @nested_role(%y, %n, %p)
}

// The loop carries the tile in, and uses it in every iteration as it was.
kiln.func @carried_role(%y: !x, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = tile.pop %p : !t
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %w) -> (!t) {
    %t = tile.pop %p : !t
    %a = tile.mul %t, %w : !t
    %b = tile.add %a, %sum : !t
    scf.yield %b : !t
  }
  %s = tile.sub %last, %w : !t
  tile.store %s, %y[0, 0]
}
kiln.func @carried(%x: !x in, %y: !x out, %n: index) group {
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %p = tile.pipe : !p
  kiln.call @send(%x, %more, %p)
  kiln.call @carried_role(%y, %n, %p)
}

// Each iteration hands what it popped to the next one.
kiln.func @yielded_role(%y: !x, %n: index, %p: !p) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %first = tile.pop %p : !t
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%old = %first) -> (!t) {
    %t = tile.pop %p : !t
    %a = tile.sub %t, %old : !t
    %at = arith.muli %i, %c16 : index
    tile.store %a, %y[%at, 0]
    scf.yield %t : !t
  }
}
kiln.func @yielded(%x: !x in, %y: !x out, %n: index) group {
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %p = tile.pipe : !p
  kiln.call @send(%x, %more, %p)
  kiln.call @yielded_role(%y, %n, %p)
}

// Two lanes, each with its rows, or its columns.
!rows = !tile.pipe<aic -> aiv, 16x16xf32, up_down>
!cols = !tile.pipe<aic -> aiv, 16x16xf32, left_right>
kiln.func @send_rows(%x: !x, %n: index, %p: !rows) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.muli %i, %c16 : index
    %b = tile.load %x[%at, 0] : !t
    %m = tile.matmul %a, %b : !t
    tile.push %m, %p
  }
}
kiln.func @rows_role(%y: !x, %n: index, %p: !rows) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %lane = tile.lane
  %mine = arith.muli %lane, %c8 : index
  %w = tile.pop %p : !tile.tile<8x16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !tile.tile<8x16xf32>
    %s = tile.mul %t, %w : !tile.tile<8x16xf32>
    %from = arith.muli %i, %c16 : index
    %at = arith.addi %from, %mine : index
    tile.store %s, %y[%at, 0]
  }
}
kiln.func @rows(%x: !x in, %y: !x out, %n: index) group lanes(2) {
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %p = tile.pipe : !rows
  kiln.call @send_rows(%x, %more, %p)
  kiln.call @rows_role(%y, %n, %p)
}
kiln.func @send_cols(%x: !x, %n: index, %p: !cols) role(aic) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a = tile.load %x[0, 0] : !t
  scf.for %i = %c0 to %n step %c1 {
    %at = arith.muli %i, %c16 : index
    %b = tile.load %x[%at, 0] : !t
    %m = tile.matmul %a, %b : !t
    tile.push %m, %p
  }
}
kiln.func @cols_role(%y: !x, %n: index, %p: !cols) role(aiv) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %lane = tile.lane
  %mine = arith.muli %lane, %c8 : index
  %w = tile.pop %p : !tile.tile<16x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.pop %p : !tile.tile<16x8xf32>
    %s = tile.mul %t, %w : !tile.tile<16x8xf32>
    %at = arith.muli %i, %c16 : index
    tile.store %s, %y[%at, %mine]
  }
}
kiln.func @cols(%x: !x in, %y: !x out, %n: index) group lanes(2) {
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %p = tile.pipe : !cols
  kiln.call @send_cols(%x, %more, %p)
  kiln.call @cols_role(%y, %n, %p)
}

kiln.func @main(%x: !x in, %loop: !x out, %branch: !x out, %nested: !x out, %carried: !x out, %yielded: !x out, %rows: !x out, %cols: !x out, %n: index) orchestration {
  %0 = kiln.submit @loop(%x, %loop, %n)
  %1 = kiln.submit @branch(%x, %branch, %n)
  %2 = kiln.submit @nested(%x, %nested, %n)
  %3 = kiln.submit @carried(%x, %carried, %n)
  %4 = kiln.submit @yielded(%x, %yielded, %n)
  %5 = kiln.submit @rows(%x, %rows, %n)
  %6 = kiln.submit @cols(%x, %cols, %n)
}
