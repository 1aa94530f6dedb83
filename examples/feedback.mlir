module @feedback {
  kiln.func @accumulate(%line: !tile.pipe<aiv -> aiv, 1x64xf32, left_right>, %x: !kiln.tensor<?x64xf32>, %y: !kiln.tensor<?x64xf32>) role(aiv) {
    %c32 = arith.constant 32 : index
    %cst = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %lane = tile.lane
    %0 = arith.muli %lane, %c32 : index
    %1 = tile.full %cst : !tile.tile<1x32xf32>
    tile.push %1, %line
    %2 = kiln.dim %x, 0
    scf.for %arg0 = %c0 to %2 step %c1 {
      %4 = tile.pop %line : !tile.tile<1x32xf32>
      %5 = tile.load %x[%arg0, %0] : !tile.tile<1x32xf32>
      %6 = tile.add %4, %5 : !tile.tile<1x32xf32>
      tile.push %6, %line
      tile.store %6, %y[%arg0, %0]
    }
    %3 = tile.pop %line : !tile.tile<1x32xf32>
  }
  kiln.func @running_sum(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out) group lanes(2) {
    %line = tile.pipe slots(1) : !tile.pipe<aiv -> aiv, 1x64xf32, left_right>
    kiln.call @accumulate(%line, %x, %y)
  }
  kiln.func @main(%x: !kiln.tensor<?x64xf32> in, %y: !kiln.tensor<?x64xf32> out) orchestration {
    %0 = kiln.dim %x, 0
    %1 = kiln.dim %y, 0
    %2 = arith.cmpi eq, %0, %1 : index
    kiln.require %2, "y has the shape of x"
    %3 = kiln.submit @running_sum(%x, %y)
  }
}
