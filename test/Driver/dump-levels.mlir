// The four levels: what a kernel or an orchestration marks with kiln.dump decides at 1 and 3.
// RUN: rm -rf %t.0 && %kiln run %s -p a2a3sim --no-reference --dump-args=0 --out %t.0 && not ls %t.0
// RUN: %kiln run %s -p a2a3sim --no-reference --dump-args=1 --out %t && %kiln dump %t | FileCheck %s --check-prefix=MARKED
// RUN: %kiln run %s -p a2a3sim --no-reference --dump-args=2 --out %t && %kiln dump %t | FileCheck %s --check-prefix=ALL
// RUN: env KILN_DUMP=3 %kiln run %s -p a2a3sim --no-reference --out %t && %kiln dump %t | FileCheck %s --check-prefix=META

// MARKED:      task
// MARKED-NEXT: 0 {{ *}}fill  {{ *}}after_completion  {{ *}}0 {{ *}}t {{ *}}out {{ *}}f32[8, 8] {{ *}}256 bytes
// MARKED-NEXT: 1 {{ *}}twice {{ *}}before_dispatch   {{ *}}0 {{ *}}x {{ *}}in  {{ *}}f32[8, 8] {{ *}}256 bytes
// MARKED:      2 of 2 records, 512 bytes of payload, level 1

// ALL:         0 {{ *}}fill  {{ *}}after_completion  {{ *}}0 {{ *}}t {{.*}} 256 bytes
// ALL-NEXT:    1 {{ *}}twice {{ *}}before_dispatch   {{ *}}0 {{ *}}x {{.*}} 256 bytes
// ALL-NEXT:    1 {{ *}}twice {{ *}}before_dispatch   {{ *}}2 {{ *}}n {{ *}}scalar {{.*}} = 3
// ALL-NEXT:    1 {{ *}}twice {{ *}}after_completion  {{ *}}1 {{ *}}y {{.*}} 256 bytes
// ALL:         4 of 4 records, 768 bytes of payload, level 2

// META:        0 {{ *}}fill  {{ *}}after_completion  {{ *}}0 {{ *}}t {{.*}} 256 bytes
// META-NEXT:   1 {{ *}}twice {{ *}}before_dispatch   {{ *}}0 {{ *}}x {{.*}} 256 bytes
// META-NEXT:   1 {{ *}}twice {{ *}}before_dispatch   {{ *}}2 {{ *}}n {{ *}}scalar {{.*}} = 3
// META-NEXT:   1 {{ *}}twice {{ *}}after_completion  {{ *}}1 {{ *}}y {{.*}} metadata only
// META:        4 of 4 records, 512 bytes of payload, level 3

// RUN: not %kiln run %s -p a2a3sim --dump-args=4 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not env KILN_DUMP=all %kiln run %s -p a2a3sim 2>&1 | FileCheck %s --check-prefix=VARIABLE
// LEVEL:    --dump-args='4' is not a dump level
// VARIABLE: KILN_DUMP='all' is not a dump level
kiln.func @fill(%t: !kiln.tensor<8x8xf32>) incore {
  %c = arith.constant 2.0 : f32
  %x = tile.full %c : !tile.tile<8x8xf32>
  tile.store %x, %t[0, 0]
}
kiln.func @twice(%x: !kiln.tensor<8x8xf32>, %n: index, %y: !kiln.tensor<8x8xf32>) incore {
  kiln.dump %x
  %0 = tile.load %x[0, 0] : !tile.tile<8x8xf32>
  %1 = tile.add %0, %0 : !tile.tile<8x8xf32>
  tile.store %1, %y[0, 0]
}
kiln.func @main(%y: !kiln.tensor<8x8xf32>) orchestration {
  %n = arith.constant 3 : index
  %t = kiln.alloc() : !kiln.tensor<8x8xf32>
  kiln.dump %t
  %0 = kiln.submit @fill(%t)
  %1 = kiln.submit @twice(%t, %n, %y)
}
