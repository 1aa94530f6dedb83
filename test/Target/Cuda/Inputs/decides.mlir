kiln.func @count(%n: !kiln.tensor<1xi32> out) incore {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2 : i32
  kiln.write %two, %n[%c0]
}
kiln.func @main(%n: !kiln.tensor<1xi32> out) orchestration {
  %0 = kiln.submit @count(%n)
  %again = kiln.get %n[0] : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %times = arith.index_cast %again : i32 to index
  scf.for %i = %c0 to %times step %c1 {
    %1 = kiln.submit @count(%n)
  }
}
