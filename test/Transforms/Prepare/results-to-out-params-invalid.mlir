// RUN: kiln-opt %s --kiln-results-to-out-params -verify-diagnostics

kiln.func @make(%x: !kiln.tensor<4xi64>) -> !kiln.tensor<?xf32> orchestration {
  // expected-note @below {{it depends on this value}}
  %n = kiln.get %x[0] : i64
  %m = arith.index_cast %n : i64 to index
  %t = kiln.alloc(%m) : !kiln.tensor<?xf32>
  kiln.return %t
}
kiln.func @main(%x: !kiln.tensor<4xi64>) orchestration {
  // expected-error @below {{cannot allocate a result: its size is not computed from the parameters alone}}
  %t = kiln.call @make(%x) -> !kiln.tensor<?xf32>
}
