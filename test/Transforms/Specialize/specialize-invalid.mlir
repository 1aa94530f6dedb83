// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2'})" 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2 static 0:8:1;f32 rank 1'})" 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f16 rank 2;f32 rank 1'})" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2;f32 rank 1 leading 0'})" 2>&1 | FileCheck %s --check-prefix=STRIDE
// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2;f32 of rank 1'})" 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{entry=nobody})" 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2 leading 1 offsets32;f32 rank 1' reads='leading static'})" 2>&1 | FileCheck %s --check-prefix=UNDECLARED
// RUN: not kiln-opt %s --pass-pipeline="builtin.module(kiln-specialize{facts='f32 rank 2;f32 rank 1' reads='leading color'})" 2>&1 | FileCheck %s --check-prefix=KIND

// COUNT: error: 'kiln.func' op has 2 tensors; facts were given for 1
// EXTENT: error: 'kiln.func' op parameter 'x' contradicts the facts 'f32 rank 2 static 0:8:1': the extent of axis 0 is 4 in the program and 8 in the facts
// TYPE: error: 'kiln.func' op parameter 'x' contradicts the facts 'f16 rank 2': element type or rank is another
// STRIDE: error: 'kiln.func' op parameter 'y' contradicts the facts 'f32 rank 1 leading 0': the stride of axis 0 is 2 in the program and 1 in the facts
// TEXT: error: 'kiln.func' op 'f32 of rank 1' are no facts about a tensor
// UNDECLARED: error: internal error: kiln-specialize is given the fact 'offsets32' of parameter 'x', which the platform does not declare
// KIND: error: 'leading color' are no kinds of facts
// ENTRY: error: there is no function @nobody to start with
kiln.func @main(%x: !kiln.tensor<4x?xf32>, %y: !kiln.tensor<?xf32, strides [2]>) orchestration {
}
