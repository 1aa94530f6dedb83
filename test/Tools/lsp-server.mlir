// An editor opens this file: it gets Kiln's message where the fault is, and can look around in what parses.
// RUN: split-file %s %t
// RUN: %any_python %S/Inputs/lsp_client.py kiln-lsp-server %t/wrong.mlir | FileCheck %s --check-prefix=WRONG
// RUN: %any_python %S/Inputs/lsp_client.py kiln-lsp-server %t/right.mlir definition 3:15 hover 3:8 \
// RUN:   definition 7:17 | FileCheck %s --check-prefix=RIGHT
// RUN: %any_python -c "print('kiln.func @f(%%a: ' + 'tuple<\n' * 100000)" > %t/deep.mlir
// RUN: %any_python %S/Inputs/lsp_client.py kiln-lsp-server %t/deep.mlir change %t/right.mlir change %t/deep.mlir \
// RUN:   | FileCheck %s --check-prefix=DEEP
// A text that would overflow the parser's stack is held back until it is better.
// DEEP: serves
// DEEP-NEXT: diagnostic 256:6: regions, types, attributes or locations are nested more than 256 deep here
// DEEP-NEXT: change
// DEEP-NEXT: change
// DEEP-NEXT: diagnostic 256:6: regions, types, attributes or locations are nested more than 256 deep here

//--- wrong.mlir
kiln.func @add(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x4xi32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<4x4xf32>
  %y = tile.load %b[0, 0] : !tile.tile<4x4xi32>
  %z = tile.add %x, %y : !tile.tile<4x4xf32>
}
// WRONG: serves
// WRONG-NEXT: diagnostic 4:8: 'tile.add' op mixes 'i32' with 'f32'; cast one of them

//--- right.mlir
kiln.func @copy(%a: !kiln.tensor<4x4xf32>, %b: !kiln.tensor<4x4xf32>) incore {
  %x = tile.load %a[0, 0] : !tile.tile<4x4xf32>
  tile.store %x, %b[0, 0]
}
kiln.func @main(%a: !kiln.tensor<4x4xf32>) orchestration {
  %t = kiln.alloc() : !kiln.tensor<4x4xf32>
  kiln.submit @copy(%a, %t)
}
// RIGHT: serves
// RIGHT-NEXT: definition 2:3
// RIGHT-NEXT: hover {{.*}}tile.store
// RIGHT-NEXT: definition 1:
