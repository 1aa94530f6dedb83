// What an orchestration may do, in one program.
kiln.func @add(%a: !kiln.tensor<?x?xf32>, %b: !kiln.tensor<?x?xf32>, %out: !kiln.tensor<?x?xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<4x8xf32>
  %y = tile.load %b[0, 0] : !tile.tile<4x8xf32>
  %z = tile.add %x, %y : !tile.tile<4x8xf32>
  tile.store %z, %out[0, 0]
}
kiln.func @scale(%a: !kiln.tensor<?x?xf32>, %s: f32, %out: !kiln.tensor<?x?xf32>, %i: i32, %c: i1, %h: bf16, %k: index) incore {
  kiln.dump %out
  %x = tile.load %a[0, 0] : !tile.tile<4x8xf32>
  %y = tile.mul %x, %s : !tile.tile<4x8xf32>
  tile.store %y, %out[0, 0]
}
kiln.func @count(%n: !kiln.tensor<2xi32>) incore {
  %v = kiln.read %n[0] : i32
  %c1 = arith.constant 1 : i32
  %w = arith.addi %v, %c1 : i32
  kiln.write %w, %n[0]
}
kiln.func @line(%x: !kiln.tensor<?xf32>) incore {
  %t = tile.load %x[0] : !tile.tile<8x1xf32>
  %y = tile.add %t, %t : !tile.tile<8x1xf32>
  tile.store %y, %x[0]
}
kiln.func @step(%x: !kiln.tensor<4x8xf32>, %acc: !kiln.tensor<4x8xf32>, %k: index) orchestration {
  %half = arith.constant 0.5 : f32
  %i7 = arith.constant 7 : i32
  %true = arith.constant true
  %h = arith.constant 0.25 : bf16
  %t = kiln.alloc() : !kiln.tensor<4x8xf32>
  %0 = kiln.submit @scale(%x, %half, %t, %i7, %true, %h, %k) grid(2)
  %1 = kiln.submit @add(%t, %x, %acc)
}
kiln.func @main(%x: !kiln.tensor<4x8xf32>, %n: !kiln.tensor<2xi32>, %acc: !kiln.tensor<4x8xf32>, %m: index, %h: bf16) orchestration {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c40 = arith.constant 40 : index
  %third = arith.constant 0.333 : bf16
  %one = arith.constant 1.0 : f32
  %i = arith.constant -3 : i32
  %no = arith.constant false
  %blocks = arith.ceildivsi %c40, %m : index
  %ring = kiln.alloc(%blocks) : !kiln.tensor<?x8xf32>
  kiln.dump %ring
  %cleared = kiln.submit @scale(%x, %one, %ring, %i, %no, %h, %blocks) grid(%blocks, 2)

  // What a task computed decides how often a loop runs.
  %k = kiln.submit @count(%n)
  %v = kiln.get %n[0] : i32
  %trips = arith.index_cast %v : i32 to index
  %sums:3 = scf.for %j = %c0 to %trips step %c1 iter_args(%a = %c1, %b = %c2, %last = %k) -> (index, index, !kiln.task) {
    kiln.call @step(%x, %acc, %a)
    %ab = arith.addi %a, %b : index
    %odd = arith.remsi %j, %c2 : index
    %isOdd = arith.cmpi eq, %odd, %c1 : index
    %next = scf.if %isOdd -> !kiln.task {
      %t = kiln.submit @count(%n) deps(%last)
      scf.yield %t : !kiln.task
    } else {
      %d = kiln.submit deps(%last)
      scf.yield %d : !kiln.task
    }
    scf.yield %b, %ab, %next : index, index, !kiln.task
  }
  %w = scf.while (%a = %sums#0) : (index) -> index {
    %more = arith.cmpi slt, %a, %c8 : index
    scf.condition(%more) %a : index
  } do {
  ^bb0(%a: index):
    kiln.call @step(%x, %acc, %a)
    %next = arith.muli %a, %c2 : index
    scf.yield %next : index
  }
  %hh = arith.mulf %h, %third : bf16
  %f = arith.extf %hh : bf16 to f32
  %big = arith.cmpf ogt, %f, %one : f32
  %iv = arith.fptosi %f : f32 to i32
  kiln.scope manual {
    %right = kiln.slice %acc[0, 4] [4, 4] : !kiln.tensor<4x4xf32>
    %turned = kiln.transpose %right, [1, 0] : !kiln.tensor<4x4xf32>
    %t0 = kiln.submit @scale(%turned, %f, %turned, %iv, %big, %hh, %w) deps(%sums#2)
    %t1 = kiln.submit @scale(%x, %f, %acc, %iv, %big, %hh, %sums#1) deps(%t0) predicate(%n[1] > 4)
    %t2 = kiln.submit @scale(%x, %f, %acc, %iv, %big, %hh, %w) deps(%t1) predicate(%n[1] < 4)
  }
  kiln.scope {
    %flat = kiln.reshape %acc[2, 16] : !kiln.tensor<2x16xf32>
    %row = kiln.slice %flat[1, 8] [1, 8] drop [0] : !kiln.tensor<8xf32>
    %t = kiln.submit @line(%row)
  }
}
