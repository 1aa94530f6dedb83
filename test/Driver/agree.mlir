// Corners of the semantics in which the simulator and the reference once differed; `kiln run` compares them.
// REQUIRES: torch
// RUN: %kiln run %s -p a2a3sim --arg x=4x8 --arg y=6x10 --arg z=1x8 --arg n=1x6 --arg b=1x4 | FileCheck %s
// CHECK-DAG: y {{ *}}against torch {{.*}} ok
// CHECK-DAG: z {{ *}}against torch {{.*}} ok
// CHECK-DAG: n {{ *}}against torch {{ *}}max |error| 0 {{ *}}ok
// CHECK-DAG: b {{ *}}against torch {{ *}}max |error| 0 {{ *}}ok
// CHECK: PASS

// A tile that hangs over its tensor on every side.
kiln.func @halo(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x10xf32>, %one: index) incore {
  %c0 = arith.constant 0 : index
  %minus = arith.subi %c0, %one : index
  %t = tile.load %x[%minus, -1] pad(2.5) : !tile.tile<6x10xf32>
  tile.store %t, %y[0, 0]
  tile.store %t, %y[-3, %minus]
}
// A part of an output that nobody writes.
kiln.func @half(%z: !kiln.tensor<1x8xf32>) incore {
  %c = arith.constant 1.5 : f32
  %t = tile.full %c : !tile.tile<1x8xf32>
  tile.store %t, %z[0, 0] valid(1, 3)
}
kiln.func @scalars(%n: !kiln.tensor<1x6xi64>) incore {
  %true = arith.constant true
  %false = arith.constant false
  %less = arith.cmpi slt, %true, %false : i1
  %a = arith.extui %less : i1 to i64
  %big = arith.constant 9007199791611905 : i64
  %f = arith.sitofp %big : i64 to f32
  %b = arith.fptosi %f : f32 to i64
  %pz = arith.constant 0.0 : f32
  %nz = arith.constant -0.0 : f32
  %m = arith.maximumf %nz, %pz : f32
  %one = arith.constant 1.0 : f32
  %inf = arith.divf %one, %m : f32
  %c = arith.fptosi %inf : f32 to i64
  %w = arith.minimumf %pz, %nz : f32
  %ninf = arith.divf %one, %w : f32
  %rem = arith.remf %ninf, %one : f32
  %ten = arith.constant -10.5 : f32
  %four = arith.constant 4.0 : f32
  %r = arith.remf %ten, %four : f32
  %d0 = arith.fptosi %ninf : f32 to i64
  %d1 = arith.fptosi %rem : f32 to i64
  %d2 = arith.fptosi %r : f32 to i64
  %d3 = arith.addi %d0, %d1 : i64
  %d = arith.addi %d3, %d2 : i64
  %all = arith.constant -1 : i64
  %huge = arith.uitofp %all : i64 to f32
  %scale = arith.constant 1.0e6 : f32
  %scaled = arith.divf %huge, %scale : f32
  %e = arith.fptosi %scaled : f32 to i64
  %flag = arith.fptosi %four : f32 to i1
  %g = arith.extui %flag : i1 to i64
  kiln.write %a, %n[0, 0]
  kiln.write %b, %n[0, 1]
  kiln.write %c, %n[0, 2]
  kiln.write %d, %n[0, 3]
  kiln.write %e, %n[0, 4]
  kiln.write %g, %n[0, 5]
}
// Indices wrap to the type, also to i1.
kiln.func @parity(%b: !kiln.tensor<1x4xi1>) incore {
  %t = tile.iota axis(1) : !tile.tile<1x4xi1>
  tile.store %t, %b[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x8xf32>, %y: !kiln.tensor<?x10xf32>, %z: !kiln.tensor<1x8xf32>, %n: !kiln.tensor<1x6xi64>,
               %b: !kiln.tensor<1x4xi1>) orchestration {
  %one = arith.constant 1 : index
  %0 = kiln.submit @halo(%x, %y, %one)
  %1 = kiln.submit @half(%z)
  %2 = kiln.submit @scalars(%n)
  %3 = kiln.submit @parity(%b)
}
