// RUN: kiln-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{parameter 0: "kiln.offsets32" is a fact about a tensor}}
kiln.func @scalar(%x: f32 {kiln.offsets32}) incore {
}

// -----

// expected-error @below {{parameter 0: "kiln.offsets32" is not well-formed}}
kiln.func @value(%x: !kiln.tensor<4xf32> {kiln.offsets32 = 1 : i64}) incore {
}

// -----

// expected-error @below {{parameter 0: "kiln.divisible" is not well-formed}}
kiln.func @zero(%x: !kiln.tensor<4xf32> {kiln.divisible = 0 : i64}) incore {
}
