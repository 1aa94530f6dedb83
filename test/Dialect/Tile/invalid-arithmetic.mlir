// RUN: kiln-opt %s -split-input-file -verify-diagnostics -o /dev/null

// Arithmetic, identity and scalars.

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

kiln.func @f(%x: f32, %i: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.add' op mixes 'i32' with 'f32'; cast one of them}}
  %u = tile.add %t, %i : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.add' op mixes 'f32' with 'f16'; cast one of them}}
  %u = tile.add %t, %t : !tile.tile<8x8xf16>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'tile.mul' op needs at least one tile; for scalars use arith}}
  %u = tile.mul %x, %x : !tile.tile<1x1xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %u = tile.full %x : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.max' op operands of 8x8 and 4x8 do not broadcast; an extent must be equal or 1}}
  %w = tile.max %t, %u : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %u = tile.full %x : !tile.tile<8x1xf32>
  // expected-error @below {{'tile.sub' op operands broadcast to 8x8, the result is 8x1}}
  %w = tile.sub %t, %u : !tile.tile<8x1xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %u = tile.full %x : !tile.tile<1x8xf32>
  // expected-error @below {{'tile.div' op operands broadcast to 1x8, the result is 8x8}}
  %w = tile.div %u, %x : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32, %a: !kiln.tensor<8x8xf32>) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.min' op operand #1 must be a tile or a scalar, but got '!kiln.tensor<8x8xf32>'}}
  %w = tile.min %t, %a : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.neg' op operands broadcast to 8x8, the result is 8x4}}
  %u = tile.neg %t : !tile.tile<8x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.abs' op mixes 'f32' with 'i32'; cast one of them}}
  %u = tile.abs %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.exp' op needs floats, not 'i32'}}
  %u = tile.exp %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.exp2' op needs floats, not 'i32'}}
  %u = tile.exp2 %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.log' op needs floats, not 'i32'}}
  %u = tile.log %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.sqrt' op needs floats, not 'i32'}}
  %u = tile.sqrt %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.rsqrt' op needs floats, not 'i32'}}
  %u = tile.rsqrt %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.recip' op needs floats, not 'i32'}}
  %u = tile.recip %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.tanh' op needs floats, not 'i32'}}
  %u = tile.tanh %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.sigmoid' op needs floats, not 'i32'}}
  %u = tile.sigmoid %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.erf' op needs floats, not 'i32'}}
  %u = tile.erf %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: f32, %i: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.cmp' op compares 'f32' with 'i32'}}
  %u = tile.cmp lt %t, %i : !tile.tile<8x8xi1>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.cmp' op makes i1, not 'f32'}}
  %u = tile.cmp lt %t, %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'tile.cmp' op needs at least one tile; for scalars use arith}}
  %u = tile.cmp lt %x, %x : !tile.tile<1x1xi1>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.cmp' op operands broadcast to 8x8, the result is 8x1}}
  %u = tile.cmp lt %t, %t : !tile.tile<8x1xi1>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'kind' [eq, ne, lt, le, gt, ge]}}
  %u = tile.cmp less %t, %t : !tile.tile<8x8xi1>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.select' op the condition holds i1, not 'f32'}}
  %u = tile.select %t, %t, %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %c = tile.cmp lt %t, %x : !tile.tile<8x8xi1>
  // expected-error @below {{'tile.select' op both choices hold 'f16'}}
  %u = tile.select %c, %t, %t : !tile.tile<8x8xf16>
}

// -----

kiln.func @f(%x: f32, %i: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %c = tile.cmp lt %t, %x : !tile.tile<8x8xi1>
  // expected-error @below {{'tile.select' op both choices hold 'f32'}}
  %u = tile.select %c, %t, %i : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %c = tile.cmp lt %t, %x : !tile.tile<8x8xi1>
  %u = tile.full %x : !tile.tile<4x8xf32>
  // expected-error @below {{'tile.select' op operands of 8x8 and 4x8 do not broadcast; an extent must be equal or 1}}
  %v = tile.select %c, %t, %u : !tile.tile<8x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Reduce, multiply, mask
//===----------------------------------------------------------------------===//

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.reduce' op axis is 0 (rows) or 1 (columns), not 2}}
  %u = tile.reduce sum %t axis(2) : !tile.tile<8x1xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.reduce' op of '!tile.tile<8x8xf32>' along axis 1 is '!tile.tile<8x1xf32>', not '!tile.tile<1x8xf32>'}}
  %u = tile.reduce sum %t axis(1) : !tile.tile<1x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.reduce' op of '!tile.tile<8x8xf32>' along axis 0 is '!tile.tile<1x8xf32>', not '!tile.tile<1x8xf16>'}}
  %u = tile.reduce max %t axis(0) : !tile.tile<1x8xf16>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{expected string or keyword containing one of the following enum values for attribute 'kind' [sum, max, min, prod, argmax, argmin]}}
  %u = tile.reduce mean %t axis(0) : !tile.tile<1x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scan' op axis is 0 (rows) or 1 (columns), not 2}}
  %u = tile.scan sum %t axis(2) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scan' op keeps the type of its operand}}
  %u = tile.scan sum %t axis(1) : !tile.tile<8x1xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.scan' op combines by sum, prod, max or min, not by argmax}}
  %u = tile.scan argmax %t axis(1) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %a = tile.full %x : !tile.tile<8x4xf32>
  %b = tile.full %x : !tile.tile<8x16xf32>
  // expected-error @below {{'tile.matmul' op the inner extents differ: '!tile.tile<8x4xf32>' has 4, '!tile.tile<8x16xf32>' has 8}}
  %c = tile.matmul %a, %b : !tile.tile<8x16xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %a = tile.full %x : !tile.tile<8x4xf32>
  %b = tile.full %x : !tile.tile<8x16xf32>
  // expected-error @below {{'tile.matmul' op the inner extents differ: '!tile.tile<8x4xf32>' (transposed) has 8, '!tile.tile<8x16xf32>' (transposed) has 16}}
  %c = tile.matmul %a, %b trans_a trans_b : !tile.tile<4x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %a = tile.full %x : !tile.tile<8x4xf32>
  %b = tile.full %x : !tile.tile<8x16xf32>
  // expected-error @below {{'tile.matmul' op makes 4x16x'f32', not '!tile.tile<8x16xf32>'}}
  %c = tile.matmul %a, %b trans_a : !tile.tile<8x16xf32>
}

// -----

kiln.func @f(%x: f32, %h: f16) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %b = tile.full %h : !tile.tile<8x8xf16>
  // expected-error @below {{'tile.matmul' op multiplies 'f32' by 'f16'}}
  %c = tile.matmul %t, %b : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.matmul' op multiplies floats or i8, not 'i32'}}
  %c = tile.matmul %t, %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: bf16) incore {
  %t = tile.full %x : !tile.tile<8x8xbf16>
  // expected-error @below {{'tile.matmul' op makes 8x8x'f32', not '!tile.tile<8x8xbf16>'}}
  %c = tile.matmul %t, %t : !tile.tile<8x8xbf16>
}

// -----

kiln.func @f(%x: i8) incore {
  %t = tile.full %x : !tile.tile<8x8xi8>
  // expected-error @below {{'tile.matmul' op makes 8x8x'i32', not '!tile.tile<8x8xi8>'}}
  %c = tile.matmul %t, %t : !tile.tile<8x8xi8>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.matmul_acc' op the accumulator is '!tile.tile<8x8xf32>', the result '!tile.tile<8x4xf32>'}}
  %c = tile.matmul_acc %t, %t, %t : !tile.tile<8x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  %a = tile.full %x : !tile.tile<8x4xf32>
  %b = tile.full %x : !tile.tile<8x16xf32>
  // expected-error @below {{'tile.matmul_acc' op the inner extents differ}}
  %c = tile.matmul_acc %t, %a, %b : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.mask' op valid takes rows and columns}}
  %u = tile.mask %t valid(1) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.mask' op valid has the negative extent -1}}
  %u = tile.mask %t valid(1, -1) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.mask' op keeps the type of its operand}}
  %u = tile.mask %t valid(1, 1) : !tile.tile<8x4xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{expected zero, min, max or a number as pad, found 'inf'}}
  %u = tile.mask %t valid(1, 1) pad(inf) : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32, %i: index) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.mask_diag' op keeps the type of its operand}}
  %u = tile.mask_diag %t offset(%i) : !tile.tile<8x8xf16>
}

// -----

// expected-note @below {{prior use here}}
kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{use of value '%x' expects different type than prior uses: 'index' vs 'f32'}}
  %u = tile.mask_diag %t offset(%x) : !tile.tile<8x8xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Identity and scalars
//===----------------------------------------------------------------------===//

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'tile.block_idx' op a grid has dimensions 0, 1 and 2, not 3}}
  %i = tile.block_idx 3
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'tile.block_idx' op a grid has dimensions 0, 1 and 2, not -1}}
  %i = tile.block_idx -1
}

// -----

kiln.func @f(%x: f32) incore {
  // expected-error @below {{'tile.block_count' op a grid has dimensions 0, 1 and 2, not 3}}
  %i = tile.block_count 3
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.element' op of '!tile.tile<8x8xf32>' is 'f32', not 'i32'}}
  %v = tile.element %t[0, 0] : i32
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.element' op a box of 1x1 at offset 8 of axis 0 overruns 8x8}}
  %v = tile.element %t[8, 0] : f32
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.element' op needs a row and a column index}}
  %v = tile.element %t[0, 0, 0] : f32
}

// -----

kiln.func @f(%n: i32) incore {
  %t = tile.full %n : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.sin' op needs floats, not 'i32'}}
  %u = tile.sin %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%n: i32) incore {
  %t = tile.full %n : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.cos' op needs floats, not 'i32'}}
  %u = tile.cos %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%n: i32) incore {
  %t = tile.full %n : !tile.tile<8x8xi32>
  // expected-error @below {{'tile.pow' op needs floats, not 'i32'}}
  %u = tile.pow %t, %t : !tile.tile<8x8xi32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.and' op needs integers, not 'f32'}}
  %u = tile.and %t, %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.or' op needs integers, not 'f32'}}
  %u = tile.or %t, %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.xor' op needs integers, not 'f32'}}
  %u = tile.xor %t, %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: f16) incore {
  %t = tile.full %x : !tile.tile<8x8xf16>
  // expected-error @below {{'tile.not' op needs integers, not 'f16'}}
  %u = tile.not %t : !tile.tile<8x8xf16>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.shl' op needs integers, not 'f32'}}
  %u = tile.shl %t, %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%b: i1) incore {
  %t = tile.full %b : !tile.tile<8x8xi1>
  // expected-error @below {{'tile.shl' op shifts integers of 8 bits or more, not i1}}
  %u = tile.shl %t, %t : !tile.tile<8x8xi1>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.shr' op needs integers, not 'f32'}}
  %u = tile.shr %t, %t : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%b: i1) incore {
  %t = tile.full %b : !tile.tile<8x8xi1>
  // expected-error @below {{'tile.shr' op shifts integers of 8 bits or more, not i1}}
  %u = tile.shr %t, %t : !tile.tile<8x8xi1>
}

// -----

kiln.func @f(%x: i8, %n: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xi8>
  // expected-error @below {{'tile.shl' op mixes 'i32' with 'i8'; cast one of them}}
  %u = tile.shl %t, %n : !tile.tile<8x8xi8>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.reduce' op of '!tile.tile<8x8xf32>' along axis 1 is '!tile.tile<8x1xi32>', not '!tile.tile<8x1xf32>'}}
  %u = tile.reduce argmax %t axis(1) : !tile.tile<8x1xf32>
}

// -----

kiln.func @f(%x: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.reduce' op of '!tile.tile<8x8xf32>' along axis 0 is '!tile.tile<1x8xi32>', not '!tile.tile<1x8xi64>'}}
  %u = tile.reduce argmin %t axis(0) : !tile.tile<1x8xi64>
}

// -----

kiln.func @f(%x: f32, %n: i32) incore {
  %t = tile.full %x : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.fmod' op mixes 'i32' with 'f32'; cast one of them}}
  %u = tile.fmod %t, %n : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: bf16) incore {
  %t = tile.full %x : !tile.tile<8x8xbf16>
  // expected-error @below {{'tile.matmul_start' op what was begun is awaited once, in the same block, and not used otherwise}}
  %p = tile.matmul_start %t, %t : !tile.tile<8x8xf32>
  %q = tile.await %p : !tile.tile<8x8xf32>
  %r = tile.add %p, %q : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%x: bf16, %y: f32) incore {
  %t = tile.full %x : !tile.tile<8x8xbf16>
  %a = tile.full %y : !tile.tile<8x4xf32>
  // expected-error @below {{'tile.matmul_start' op the accumulator is '!tile.tile<8x4xf32>', the result '!tile.tile<8x8xf32>'}}
  %p = tile.matmul_start %t, %t onto %a : !tile.tile<8x8xf32>
  %q = tile.await %p : !tile.tile<8x8xf32>
}

// -----

kiln.func @f(%y: f32) incore {
  %a = tile.full %y : !tile.tile<8x8xf32>
  // expected-error @below {{'tile.await' op awaits a product that was begun by tile.matmul_start}}
  %q = tile.await %a : !tile.tile<8x8xf32>
}
