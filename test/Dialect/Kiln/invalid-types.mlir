// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Tensor types, scalars of the wrong type, and the attributes of the dialect.

// expected-error @below {{a tensor has rank 1 to 5, this one has 6}}
kiln.func @rank_six(%x: !kiln.tensor<1x2x3x4x5x6xf32>) incore {}

// -----

// expected-error @below {{a tensor has rank 1 to 5, this one has 0}}
kiln.func @rank_zero(%x: !kiln.tensor<f32>) incore {}

// -----

// expected-error @below {{'f64' cannot be the element of a tensor; use f32, f16, bf16, f8E4M3FN, f8E5M2, i8, i16, i32, i64 or i1}}
kiln.func @element_f64(%x: !kiln.tensor<4xf64>) incore {}

// -----

// expected-error @below {{'ui8' cannot be the element of a tensor}}
kiln.func @element_unsigned(%x: !kiln.tensor<4xui8>) incore {}

// -----

// expected-error @below {{'!kiln.tensor<4xf32>' cannot be the element of a tensor}}
kiln.func @element_tensor(%x: !kiln.tensor<4x!kiln.tensor<4xf32>>) incore {}

// -----

// expected-error @below {{more elements than any memory holds}}
kiln.func @huge(%x: !kiln.tensor<4611686018427387904x4xf32>) incore {}

// -----

// expected-error @below {{more elements than any memory holds}}
kiln.func @huge_one_extent(%x: !kiln.tensor<72057594037927937xi8>) incore {}

// -----

// expected-error @below {{more elements than any memory holds}}
kiln.func @huge_behind_zero(%x: !kiln.tensor<0x9223372036854775807x9223372036854775807xi8>) incore {}

// -----

// expected-error @below {{invalid dimension}}
kiln.func @extent_too_long(%x: !kiln.tensor<99999999999999999999xf32>) incore {}

// -----

// expected-error @below {{expected non-function type}}
kiln.func @negative_extent(%x: !kiln.tensor<-4xf32>) incore {}

// -----

// expected-error @below {{a tensor of rank 2 has as many strides, not 1}}
kiln.func @strides_missing(%x: !kiln.tensor<4x4xf32, strides [1]>) incore {}

// -----

// expected-error @below {{negative stride -4; strides are zero or more}}
kiln.func @strides_negative(%x: !kiln.tensor<4x4xf32, strides [-4, 1]>) incore {}

// -----

// expected-error @below {{expected 'strides'}}
kiln.func @strides_keyword(%x: !kiln.tensor<4x4xf32, stride [4, 1]>) incore {}

// -----

// expected-error @below {{expected integer value}}
kiln.func @strides_word(%x: !kiln.tensor<4x4xf32, strides [a, 1]>) incore {}

// -----

// expected-error @below {{expected '['}}
kiln.func @strides_bracket(%x: !kiln.tensor<4x4xf32, strides 4>) incore {}

// -----

// expected-error @below {{unknown  type `tensr` in dialect `kiln`}}
kiln.func @unknown_type(%x: !kiln.tensr<4xf32>) incore {}

// -----

kiln.func @loop(%n: index) incore {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{a pipeline loop has stages >= 1, the other kinds have none}}
  } {kiln.loop = #kiln.loop<pipeline>}
}

// -----

kiln.func @loop(%n: index) incore {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{a pipeline loop has stages >= 1, the other kinds have none}}
  } {kiln.loop = #kiln.loop<pipeline, stages = -1>}
}

// -----

kiln.func @loop(%n: index) incore {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{a pipeline loop has stages >= 1, the other kinds have none}}
  } {kiln.loop = #kiln.loop<parallel, stages = 2>}
}

// -----

kiln.func @loop(%n: index) incore {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{failed to parse Kiln_LoopAttr parameter 'kind'}}
  // expected-error @below {{to be one of: parallel, unroll, pipeline}}
  } {kiln.loop = #kiln.loop<sequential>}
}

// -----

kiln.func @loop(%n: index) incore {
  // expected-error @below {{'scf.for' op has an unknown attribute "kiln.loop"; the kiln dialect puts only kiln.loop on scf.for}}
  scf.for %i = %n to %n step %n {
  } {kiln.loop = 3}
}

// -----

kiln.func @not_a_loop(%n: index) incore {
  // expected-error @below {{'arith.addi' op has an unknown attribute "kiln.loop"}}
  %m = arith.addi %n, %n {kiln.loop = #kiln.loop<unroll>} : index
}

// -----

// expected-error @below {{'builtin.module' op has an unknown attribute "kiln.version"}}
module attributes {kiln.version = 1} {
}

// -----

// expected-error @below {{kiln.compiler is a dictionary of lanes and slots, integers from 1 to 1024, and walk, "in_turn" or "handed_out"}}
module attributes {kiln.compiler = {slots = 0 : i64}} {
}

// -----

// expected-error @below {{kiln.compiler is a dictionary}}
module attributes {kiln.compiler = {lanes = 2 : i32}} {
}

// -----

// expected-error @below {{kiln.compiler is a dictionary}}
module attributes {kiln.compiler = {walk = "random", lanes = 2 : i64}} {
}

// -----

// expected-error @below {{kiln.compiler is a dictionary}}
module attributes {kiln.compiler = "fast"} {
}

// -----

// expected-error @below {{'kiln.func' op the name of parameter 1 is not a string}}
kiln.func @name_number(%x: f32, %y: f32 {kiln.name = 3}) incore {}

// -----

// expected-error @below {{only a tensor has a direction}}
kiln.func @direction_scalar(%x: f32 in) incore {}

// -----

// expected-error @below {{'kiln.func' op parameter 0: only a tensor has a direction, and it is in, out or inout}}
kiln.func @direction_scalar_attribute(%x: f32 {kiln.dir = #kiln.dir<in>}) incore {}

// -----

// expected-error @below {{'kiln.func' op parameter 0: only a tensor has a direction, and it is in, out or inout}}
kiln.func @direction_string(%x: !kiln.tensor<4xf32> {kiln.dir = "in"}) incore {}

// -----

// expected-error @below {{failed to parse Kiln_DirectionAttr parameter 'value'}}
// expected-error @below {{to be one of: in, out, inout}}
kiln.func @direction_unknown(%x: !kiln.tensor<4xf32> {kiln.dir = #kiln.dir<sideways>}) incore {}

// -----

// expected-error @below {{'kiln.func' op unknown attribute "kiln.color" on parameter 0}}
kiln.func @unknown_parameter_attribute(%x: f32 {kiln.color = "red"}) incore {}
