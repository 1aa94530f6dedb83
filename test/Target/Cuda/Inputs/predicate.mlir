kiln.func @count(%n: !kiln.tensor<1xi32> out) incore {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2 : i32
  kiln.write %two, %n[%c0]
}
kiln.func @main(%n: !kiln.tensor<1xi32> out) orchestration {
  %0 = kiln.submit @count(%n)
  %1 = kiln.submit @count(%n) predicate(%n[0] > 0)
}
