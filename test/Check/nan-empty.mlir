// A mean over no rows is NaN. That is nobody's fault where Kiln made the empty tensor up; where it was given, it is said.
// RUN: %kiln check %s --arg x=8x8 --arg y=1x8 | FileCheck %s --check-prefix=CLEAN
// RUN: sh -c '%kiln check %s --arg x=0x8 --arg y=1x8 --as-given; test $? = 3' | FileCheck %s
// CLEAN: {{^}}CLEAN
// CHECK: incomplete: {{.*}} makes NaN at {{.*}}, and an output holds NaN

kiln.func @mean(%x: !kiln.tensor<?x8xf32> in, %y: !kiln.tensor<1x8xf32> out) incore {
  %rows = kiln.dim %x, 0
  %i = arith.index_cast %rows : index to i32
  %n = arith.sitofp %i : i32 to f32
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %none = tile.full %zero : !tile.tile<1x8xf32>
  %sum = scf.for %at = %c0 to %rows step %c8 iter_args(%so = %none) -> (!tile.tile<1x8xf32>) {
    %t = tile.load %x[%at, 0] : !tile.tile<8x8xf32>
    %part = tile.reduce sum %t axis(0) : !tile.tile<1x8xf32>
    %next = tile.add %so, %part : !tile.tile<1x8xf32>
    scf.yield %next : !tile.tile<1x8xf32>
  }
  %m = tile.div %sum, %n : !tile.tile<1x8xf32>
  tile.store %m, %y[0, 0]
}
