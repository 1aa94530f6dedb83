// What a dump must not stumble over: a kernel with scalars only, a strided view, a tensor without elements, rank 5, and a
// tensor that is read while another argument of the task is written beside it.
// RUN: rm -rf %t && %kiln run %s -p a2a3sim --no-reference --arg none=0x8 --arg five=2x1x3x2x2:iota --arg x=4x6:iota --dump-args --out %t
// RUN: %kiln dump %t | FileCheck %s
// RUN: %kiln dump %t --print | FileCheck %s --check-prefix=VALUES
// RUN: rm -rf %t.npy && %kiln dump %t --export npy -o %t.npy

// CHECK:      0 {{ *}}scalars {{ *}}before_dispatch {{ *}}0 {{ *}}n {{ *}}scalar {{ *}}index {{ *}}= -9223372036854775808
// CHECK-NEXT: 0 {{ *}}scalars {{ *}}before_dispatch {{ *}}1 {{ *}}s {{ *}}scalar {{ *}}f32 {{ *}}= 0.1
// CHECK-NEXT: 0 {{ *}}scalars {{ *}}before_dispatch {{ *}}2 {{ *}}h {{ *}}scalar {{ *}}bf16 {{ *}}= 0.1
// CHECK-NEXT: 0 {{ *}}scalars {{ *}}before_dispatch {{ *}}3 {{ *}}b {{ *}}scalar {{ *}}i1 {{ *}}= true
// CHECK-NEXT: 0 {{ *}}scalars {{ *}}before_dispatch {{ *}}4 {{ *}}i {{ *}}scalar {{ *}}i8 {{ *}}= -128
// CHECK-NEXT: 1 {{ *}}copy {{ *}}before_dispatch {{ *}}0 {{ *}}x {{ *}}in {{ *}}f32[2, 4] {{ *}}32 bytes
// CHECK-NEXT: 1 {{ *}}copy {{ *}}after_completion {{ *}}1 {{ *}}y {{ *}}out {{ *}}f32[2, 4] {{ *}}32 bytes
// CHECK-NEXT: 2 {{ *}}touch {{ *}}before_dispatch {{ *}}0 {{ *}}x {{ *}}in {{ *}}f32[0, 8] {{ *}}0 bytes
// CHECK-NEXT: 3 {{ *}}deep {{ *}}before_dispatch {{ *}}0 {{ *}}x {{ *}}inout {{ *}}i32[2, 1, 3, 2, 2] {{ *}}96 bytes
// CHECK-NEXT: 3 {{ *}}deep {{ *}}after_completion {{ *}}0 {{ *}}x {{ *}}inout {{ *}}i32[2, 1, 3, 2, 2] {{ *}}96 bytes
// CHECK:      10 of 10 records, 256 bytes of payload, level 2, program 'dump-shapes' on a2a3sim, run ok

// Columns 3 and 4 of x, transposed: gathered.
// VALUES:      # task 1, copy, before_dispatch, x: f32[2, 4]
// VALUES-NEXT: {{.*}}3{{.*}}9{{.*}}15{{.*}}21
// VALUES-NEXT: {{.*}}4{{.*}}10{{.*}}16{{.*}}22
// VALUES:      # task 3, deep, after_completion, x: i32[2, 1, 3, 2, 2]
// VALUES:      123
kiln.func @scalars(%n: index, %s: f32, %h: bf16, %b: i1, %i: i8) incore {
}
kiln.func @copy(%x: !kiln.tensor<2x4xf32>, %y: !kiln.tensor<2x4xf32>) incore {
  %t = tile.load %x[0, 0] : !tile.tile<2x4xf32>
  tile.store %t, %y[0, 0]
}
kiln.func @touch(%x: !kiln.tensor<?x8xf32>) incore {
  %n = kiln.dim %x, 0
  %t = tile.load %x[%n, 0] : !tile.tile<1x8xf32>
}
kiln.func @deep(%x: !kiln.tensor<?x?x?x?x?xi32>) incore {
  %v = kiln.read %x[1, 0, 2, 1, 1] : i32
  %c = arith.constant 100 : i32
  %w = arith.addi %v, %c : i32
  kiln.write %w, %x[1, 0, 2, 1, 1]
}
kiln.func @main(%x: !kiln.tensor<4x6xf32>, %y: !kiln.tensor<2x4xf32>, %none: !kiln.tensor<?x8xf32>, %five: !kiln.tensor<?x?x?x?x?xi32>) orchestration {
  %n = arith.constant -9223372036854775808 : index
  %s = arith.constant 0.1 : f32
  %h = arith.constant 0.1 : bf16
  %b = arith.constant true
  %i = arith.constant -128 : i8
  %0 = kiln.submit @scalars(%n, %s, %h, %b, %i)
  %right = kiln.slice %x[0, 3] [4, 2] : !kiln.tensor<4x2xf32>
  %turned = kiln.transpose %right, [1, 0] : !kiln.tensor<2x4xf32>
  %1 = kiln.submit @copy(%turned, %y)
  %2 = kiln.submit @touch(%none)
  %3 = kiln.submit @deep(%five)
}
