// RUN: kiln-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics -o /dev/null

// IR that the custom syntax cannot say, but the generic form can: every verifier must hold on its own.

//===----------------------------------------------------------------------===//
// Lists of constants and values that do not match
//===----------------------------------------------------------------------===//

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %i: index) incore {
  // expected-error @below {{'kiln.slice' op has 0 values for the 1 entries of its offsets that are not constant}}
  %s = "kiln.slice"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_offsets = array<i64: -9223372036854775808, 0>, static_sizes = array<i64: 4, 4>}> : (!kiln.tensor<4x4xf32>) -> !kiln.tensor<4x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %i: index) incore {
  // expected-error @below {{'kiln.slice' op has 2 values for the 0 entries of its sizes that are not constant}}
  %s = "kiln.slice"(%x, %i, %i) <{operandSegmentSizes = array<i32: 1, 0, 2>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 4, 4>}> : (!kiln.tensor<4x4xf32>, index, index) -> !kiln.tensor<4x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'kiln.reshape' op has 0 values for the 2 entries of its sizes that are not constant}}
  %s = "kiln.reshape"(%x) <{static_sizes = array<i64: -9223372036854775808, -9223372036854775808>}> : (!kiln.tensor<4x4xf32>) -> !kiln.tensor<?x?xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>, %i: index) incore {
  // expected-error @below {{'kiln.read' op has 1 values for the 0 entries of its indices that are not constant}}
  %v = "kiln.read"(%x, %i) <{static_indices = array<i64: 0>}> : (!kiln.tensor<4xf32>, index) -> f32
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>, %v: f32) incore {
  // expected-error @below {{'kiln.write' op has 0 values for the 1 entries of its indices that are not constant}}
  "kiln.write"(%v, %x) <{static_indices = array<i64: -9223372036854775808>}> : (f32, !kiln.tensor<4xf32>) -> ()
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>) orchestration {
  // expected-error @below {{'kiln.get' op has 0 values for the 1 entries of its indices that are not constant}}
  %v = "kiln.get"(%x) <{static_indices = array<i64: -9223372036854775808>}> : (!kiln.tensor<4xf32>) -> f32
}

// -----

kiln.func @k() incore {}
kiln.func @f() orchestration {
  // expected-error @below {{'kiln.submit' op has 0 values for the 1 entries of its grid that are not constant}}
  %t = "kiln.submit"() <{callee = @k, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0>, static_grid = array<i64: -9223372036854775808>}> : () -> !kiln.task
}

// -----

kiln.func @f(%n: index) orchestration {
  // expected-error @below {{'kiln.incore' op has 1 values for the 0 entries of its grid that are not constant}}
  %t = "kiln.incore"(%n) <{name = "k", operandSegmentSizes = array<i32: 1, 0, 0, 0>}> ({
  ^bb0:
  }) : (index) -> !kiln.task
}

// -----

kiln.func @f(%f: !kiln.tensor<4xi32>, %i: index) orchestration {
  // expected-error @below {{'kiln.submit' op has 1 values for the 0 entries of its indices that are not constant}}
  %t = "kiln.submit"(%f, %i) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 1>, predicate_cmp = 0 : i64, predicate_constant = 0 : i64, static_predicate_indices = array<i64: 0>}> : (!kiln.tensor<4xi32>, index) -> !kiln.task
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'tile.load' op has 0 values for the 2 entries of its indices that are not constant}}
  %t = "tile.load"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_indices = array<i64: -9223372036854775808, -9223372036854775808>}> : (!kiln.tensor<4x4xf32>) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %i: index) incore {
  // expected-error @below {{'tile.load' op has 2 values for the 0 entries of its valid extents that are not constant}}
  %t = "tile.load"(%x, %i, %i) <{operandSegmentSizes = array<i32: 1, 0, 2>, static_indices = array<i64: 0, 0>}> : (!kiln.tensor<4x4xf32>, index, index) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %t: f32) incore {
  %a = tile.full %t : !tile.tile<4x4xf32>
  // expected-error @below {{'tile.store' op has 0 values for the 1 entries of its valid extents that are not constant}}
  "tile.store"(%a, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>, static_indices = array<i64: 0, 0>, static_valid = array<i64: 1, -9223372036854775808>}> : (!tile.tile<4x4xf32>, !kiln.tensor<4x4xf32>) -> ()
}

// -----

kiln.func @f(%x: f32, %i: index) incore {
  %a = tile.full %x : !tile.tile<4x4xf32>
  // expected-error @below {{'tile.extract' op has 1 values for the 0 entries of its indices that are not constant}}
  %b = "tile.extract"(%a, %i) <{static_indices = array<i64: 0, 0>}> : (!tile.tile<4x4xf32>, index) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %a = tile.full %x : !tile.tile<4x4xf32>
  // expected-error @below {{'tile.insert' op has 0 values for the 1 entries of its indices that are not constant}}
  %b = "tile.insert"(%a, %a) <{static_indices = array<i64: 0, -9223372036854775808>}> : (!tile.tile<4x4xf32>, !tile.tile<4x4xf32>) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %a = tile.full %x : !tile.tile<4x4xf32>
  // expected-error @below {{'tile.element' op has 0 values for the 2 entries of its indices that are not constant}}
  %b = "tile.element"(%a) <{static_indices = array<i64: -9223372036854775808, -9223372036854775808>}> : (!tile.tile<4x4xf32>) -> f32
}

// -----

kiln.func @f(%x: f32, %i: index) incore {
  %a = tile.full %x : !tile.tile<4x4xf32>
  // expected-error @below {{'tile.mask' op has 1 values for the 0 entries of its valid extents that are not constant}}
  %b = "tile.mask"(%a, %i) <{static_valid = array<i64: 1, 1>}> : (!tile.tile<4x4xf32>, index) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.incore' op has 0 values for the 1 entries of its indices that are not constant}}
  %t = "kiln.incore"(%f) <{name = "k", operandSegmentSizes = array<i32: 0, 0, 1, 0>, predicate_cmp = 0 : i64, predicate_constant = 0 : i64, static_predicate_indices = array<i64: -9223372036854775808>}> ({
  ^bb0:
  }) : (!kiln.tensor<4xi32>) -> !kiln.task
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %r: !kiln.tensor<4xi32>) incore {
  // expected-error @below {{'tile.gather_rows' op has 0 values for the 1 entries of its indices that are not constant}}
  %t = "tile.gather_rows"(%x, %r) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>, static_indices = array<i64: 0, -9223372036854775808>, static_row_indices = array<i64: 0>}> : (!kiln.tensor<4x4xf32>, !kiln.tensor<4xi32>) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %r: !kiln.tensor<4xi32>) incore {
  // expected-error @below {{'tile.gather_rows' op has 0 values for the 1 entries of its row indices that are not constant}}
  %t = "tile.gather_rows"(%x, %r) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 0>, static_indices = array<i64: 0, 0>, static_row_indices = array<i64: -9223372036854775808>}> : (!kiln.tensor<4x4xf32>, !kiln.tensor<4xi32>) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %r: !kiln.tensor<4xi32>, %i: index) incore {
  // expected-error @below {{'tile.gather_rows' op has 1 values for the 0 entries of its valid extents that are not constant}}
  %t = "tile.gather_rows"(%x, %r, %i) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 1>, static_indices = array<i64: 0, 0>, static_row_indices = array<i64: 0>}> : (!kiln.tensor<4x4xf32>, !kiln.tensor<4xi32>, index) -> !tile.tile<4x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>, %r: !kiln.tensor<4xi32>, %v: f32) incore {
  %a = tile.full %v : !tile.tile<4x4xf32>
  // expected-error @below {{'tile.scatter_rows' op has 0 values for the 1 entries of its row indices that are not constant}}
  "tile.scatter_rows"(%a, %x, %r) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>, static_indices = array<i64: 0, 0>, static_row_indices = array<i64: -9223372036854775808>}> : (!tile.tile<4x4xf32>, !kiln.tensor<4x4xf32>, !kiln.tensor<4xi32>) -> ()
}

// -----

kiln.func @f(%x: !kiln.tensor<4x4xf32>) incore {
  // expected-error @below {{'tile.prefetch' op has 0 values for the 1 entries of its indices that are not constant}}
  "tile.prefetch"(%x) <{static_indices = array<i64: 0, -9223372036854775808>, rows = 2 : i64, cols = 2 : i64}> : (!kiln.tensor<4x4xf32>) -> ()
}

// -----

//===----------------------------------------------------------------------===//
// Half a predicate
//===----------------------------------------------------------------------===//

kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.incore' op a predicate has a tensor, indices, a comparison and a constant, or there is none}}
  %t = "kiln.incore"(%f) <{name = "k", operandSegmentSizes = array<i32: 0, 0, 1, 0>}> ({
  ^bb0:
  }) : (!kiln.tensor<4xi32>) -> !kiln.task
}

// -----

// The unsigned comparisons have no sign to write.
kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.incore' op a predicate compares signed integers, not with ult}}
  %t = "kiln.incore"(%f) <{name = "k", operandSegmentSizes = array<i32: 0, 0, 1, 0>, predicate_cmp = 6 : i64, predicate_constant = 0 : i64, static_predicate_indices = array<i64: 0>}> ({
  ^bb0:
  }) : (!kiln.tensor<4xi32>) -> !kiln.task
}

// -----

kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.submit' op a predicate has a tensor, indices, a comparison and a constant, or there is none}}
  %t = "kiln.submit"(%f) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 0>}> : (!kiln.tensor<4xi32>) -> !kiln.task
}

// -----

kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.submit' op a predicate has a tensor, indices, a comparison and a constant, or there is none}}
  %t = "kiln.submit"(%f) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 0>, static_predicate_indices = array<i64: 0>, predicate_constant = 0 : i64}> : (!kiln.tensor<4xi32>) -> !kiln.task
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{'kiln.submit' op a predicate has a tensor, indices, a comparison and a constant, or there is none}}
  %t = "kiln.submit"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 0>, predicate_constant = 0 : i64}> : () -> !kiln.task
}

// -----

kiln.func @f(%i: index) orchestration {
  // expected-error @below {{'kiln.submit' op a predicate has a tensor, indices, a comparison and a constant, or there is none}}
  %t = "kiln.submit"(%i) <{operandSegmentSizes = array<i32: 0, 0, 0, 0, 1>}> : (index) -> !kiln.task
}

// -----

kiln.func @f(%f: !kiln.tensor<4xi32>) orchestration {
  // expected-error @below {{'kiln.submit' op a predicate compares signed integers, not with ult}}
  %t = "kiln.submit"(%f) <{operandSegmentSizes = array<i32: 0, 0, 0, 1, 0>, static_predicate_indices = array<i64: 0>, predicate_cmp = 6 : i64, predicate_constant = 0 : i64}> : (!kiln.tensor<4xi32>) -> !kiln.task
}

// -----

kiln.func @f(%x: f32) orchestration {
  // expected-error @below {{'kiln.submit' op without a kernel carries dependencies only: no arguments, no grid}}
  %t = "kiln.submit"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>}> : (f32) -> !kiln.task
}

// -----

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

// expected-error @below {{'kiln.func' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
"kiln.func"() <{function_type = () -> (), kind = 1 : i32, sym_name = "no_block"}> ({
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op expects region #0 to have 0 or 1 blocks}}
"kiln.func"() <{function_type = () -> (), kind = 1 : i32, sym_name = "two_blocks"}> ({
  "kiln.return"() : () -> ()
^other:
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op entry block must have 1 arguments to match function signature}}
"kiln.func"() <{function_type = (f32) -> (), kind = 1 : i32, sym_name = "no_arguments"}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op type of entry block argument #0('i32') must match the type of the corresponding argument in function signature('f32')}}
"kiln.func"() <{function_type = (f32) -> (), kind = 1 : i32, sym_name = "other_argument"}> ({
^bb0(%x: i32):
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op requires attribute 'kind'}}
"kiln.func"() <{function_type = () -> (), sym_name = "no_kind"}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op requires attribute 'sym_name'}}
"kiln.func"() <{function_type = () -> (), kind = 1 : i32}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op needs a name}}
"kiln.func"() <{function_type = () -> (), kind = 1 : i32, sym_name = ""}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{Invalid attribute `kind` in property conversion: 99 : i32}}
"kiln.func"() <{function_type = () -> (), kind = 99 : i32, sym_name = "odd_kind"}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op a role function names its role, and only a role function does}}
"kiln.func"() <{function_type = () -> (), kind = 2 : i32, sym_name = "role_without_name"}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op a role function names its role, and only a role function does}}
"kiln.func"() <{function_type = () -> (), kind = 1 : i32, role = "aic", sym_name = "incore_with_role"}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op no machine has a role ''; roles are core, dma, compute, aic, aiv}}
"kiln.func"() <{function_type = () -> (), kind = 2 : i32, role = "", sym_name = "empty_role"}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op expects argument attribute array to have the same number of elements as the number of function arguments, got 1, but expected 0}}
"kiln.func"() <{arg_attrs = [{kiln.dir = #kiln.dir<in>}], function_type = () -> (), kind = 1 : i32, sym_name = "attributes_of_nothing"}> ({
  "kiln.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op result 0 has attributes; only parameters have them}}
"kiln.func"() <{function_type = (!kiln.tensor<4xf32>) -> !kiln.tensor<4xf32>, kind = 1 : i32, res_attrs = [{test.note}], sym_name = "result_attributes"}> ({
^bb0(%x: !kiln.tensor<4xf32>):
  "kiln.return"(%x) : (!kiln.tensor<4xf32>) -> ()
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op expects a non-empty block}}
"kiln.func"() <{function_type = () -> (), kind = 1 : i32, sym_name = "no_terminator"}> ({
^bb0:
}) : () -> ()

// -----

// expected-error @below {{'kiln.func' op expects regions to end with 'kiln.return', found 'test.end'}}
// expected-note @below {{in custom textual format, the absence of terminator implies 'kiln.return'}}
"kiln.func"() <{function_type = () -> (), kind = 1 : i32, sym_name = "other_terminator"}> ({
  "test.end"() : () -> ()
}) : () -> ()

// -----

"test.not_a_module"() ({
  // expected-error @below {{'kiln.func' op stands in 'test.not_a_module'; functions stand in a module}}
  kiln.func @f() incore {}
}) : () -> ()

// -----

// expected-error @below {{'kiln.return' op expects parent op 'kiln.func'}}
"kiln.return"() : () -> ()

// -----

// expected-error @below {{'tile.pipe' op expects parent op 'kiln.func'}}
%p = tile.pipe : !tile.pipe<aic -> aiv, 8x8xf32>

// -----

%p = "test.pipe"() : () -> !tile.pipe<aic -> aiv, token>
// expected-error @below {{'tile.push' op stands outside a role function}}
"tile.push"(%p) : (!tile.pipe<aic -> aiv, token>) -> ()

// -----

// A pipe out of nowhere would evade the check of its lanes.
kiln.func @f() role(aiv) {
  // expected-error @below {{'test.pipe' op makes a '!tile.pipe<aic -> aiv, 8x8xf32, up_down>'; tensors and pipes are never carried, yielded or selected}}
  %p = "test.pipe"() : () -> !tile.pipe<aic -> aiv, 8x8xf32, up_down>
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{'test.region' op carries a '!kiln.tensor<4xf32>'; tensors and pipes are never carried, yielded or selected}}
  "test.region"() ({
  ^bb0(%x: !kiln.tensor<4xf32>):
    "test.end"() : () -> ()
  }) : () -> ()
}

// -----

//===----------------------------------------------------------------------===//
// Missing and wrong pieces of plain ops
//===----------------------------------------------------------------------===//

kiln.func @f(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'kiln.dim' op requires attribute 'dim'}}
  %d = "kiln.dim"(%x) : (!kiln.tensor<4xf32>) -> index
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'kiln.dim' op requires a single operand}}
  %d = "kiln.dim"() <{dim = 0 : i64}> : () -> index
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'tile.load' op requires attribute 'static_indices'}}
  %t = "tile.load"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!kiln.tensor<4xf32>) -> !tile.tile<1x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'tile.load' op operand count (1) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
  %t = "tile.load"(%x) <{operandSegmentSizes = array<i32: 1, 1, 1>, static_indices = array<i64: 0>}> : (!kiln.tensor<4xf32>) -> !tile.tile<1x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'tile.load' op expected 1 or more operands, but found 0}}
  %t = "tile.load"() <{operandSegmentSizes = array<i32: 0, 0, 0>, static_indices = array<i64: 0>}> : () -> !tile.tile<1x4xf32>
}

// -----

kiln.func @f(%x: !kiln.tensor<4xf32>) incore {
  // expected-error @below {{'tile.load' op attribute 'pad' failed to satisfy constraint}}
  %t = "tile.load"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_indices = array<i64: 0>, pad = 7 : i32}> : (!kiln.tensor<4xf32>) -> !tile.tile<1x4xf32>
}

// -----

kiln.func @f() role(aic) {
  // expected-error @below {{'tile.add' op expected 2 operands, but found 0}}
  %t = "tile.add"() : () -> !tile.tile<1x4xf32>
}

// -----

kiln.func @f(%x: f32) role(aic) {
  %t = tile.full %x : !tile.tile<4x4xf32>
  // expected-error @below {{'tile.add' op requires one result}}
  "tile.add"(%t, %t) : (!tile.tile<4x4xf32>, !tile.tile<4x4xf32>) -> ()
}

// -----

kiln.func @f() role(aic) {
  // expected-error @below {{'tile.push' op expected 1 or more operands, but found 0}}
  "tile.push"() : () -> ()
}

// -----

kiln.func @f(%x: f32) role(aic) {
  // expected-error @below {{'tile.neg' op operand #0 must be a two-dimensional value of static shape, but got 'f32'}}
  %t = "tile.neg"(%x) : (f32) -> !tile.tile<1x1xf32>
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{'kiln.scope' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "kiln.scope"() ({
  }) : () -> ()
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{'kiln.scope' op region should have no arguments}}
  "kiln.scope"() ({
  ^bb0(%x: index):
  }) : () -> ()
}

// -----

kiln.func @f() orchestration {
  // expected-error @below {{'kiln.incore' op requires attribute 'name'}}
  %t = "kiln.incore"() <{operandSegmentSizes = array<i32: 0, 0, 0, 0>}> ({
  ^bb0:
  }) : () -> !kiln.task
}

// -----

kiln.func @f() incore {
  // expected-error @below {{'kiln.call' op requires attribute 'callee'}}
  "kiln.call"() : () -> ()
}
