// Scalars keep the meaning they have in the IR: an index refuses to overflow, other integers wrap, divisions check, small
// floats are rounded after each operation.
// RUN: %kiln emit %s --target orchestration | FileCheck %s
kiln.func @take(%i: index, %a: i32, %b: i8, %c: i1, %f: f32, %h: bf16, %x: !kiln.tensor<1xf32>) incore {
  %v = kiln.read %x[0] : f32
}
kiln.func @main(%i: index, %a: i32, %b: i8, %c: i1, %f: f32, %h: bf16, %x: !kiln.tensor<1xf32>) orchestration {
  %c3 = arith.constant 3 : index
  %i7 = arith.constant 7 : i32
  %m1 = arith.constant -1 : i8
  %half = arith.constant 0.5 : f32
  %third = arith.constant 0.1 : bf16
  %inf = arith.constant 0x7F800000 : f32

// CHECK:          task.add_scalar(floor_div(i * 3 - i, 3) - (i - 3)); // i
// CHECK-NEXT:     task.add_scalar(wrapping_add(a, trunc_div(a, 7))); // a
// CHECK-NEXT:     task.add_scalar(wrapping_mul(b, int8_t(-1))); // b
// CHECK-NEXT:     task.add_scalar(c && (as_unsigned(i) < as_unsigned(Index(3)))); // c
// CHECK-NEXT:     task.add_scalar((f + 0.5f) * f); // f
// CHECK-NEXT:     task.add_scalar(round_to(DType::BF16, h * 0.100097656f), DType::BF16); // h
  %0 = arith.muli %i, %c3 : index
  %1 = arith.subi %0, %i : index
  %2 = arith.floordivsi %1, %c3 : index
  %3 = arith.subi %i, %c3 : index
  %4 = arith.subi %2, %3 : index
  %5 = arith.divsi %a, %i7 : i32
  %6 = arith.addi %a, %5 : i32
  %7 = arith.muli %b, %m1 : i8
  %8 = arith.cmpi ult, %i, %c3 : index
  %9 = arith.andi %c, %8 : i1
  %10 = arith.addf %f, %half : f32
  %11 = arith.mulf %10, %f : f32
  %12 = arith.mulf %h, %third : bf16
  %t0 = kiln.submit @take(%4, %6, %7, %9, %11, %12, %x)

// CHECK:          task.add_scalar(c ? i : Index(3)); // i
// CHECK-NEXT:     task.add_scalar(to_integer<int32_t>(f)); // a
// CHECK-NEXT:     task.add_scalar(cast<int8_t>(a)); // b
// CHECK-NEXT:     task.add_scalar(!(f >= 0.5f)); // c
// CHECK-NEXT:     task.add_scalar(maximum(std::numeric_limits<float>::infinity(), h)); // f
// CHECK-NEXT:     task.add_scalar(round_to(DType::BF16, to_float(a)), DType::BF16); // h
  %13 = arith.select %c, %i, %c3 : index
  %14 = arith.fptosi %f : f32 to i32
  %15 = arith.trunci %a : i32 to i8
  %16 = arith.cmpf ult, %f, %half : f32
  %17 = arith.extf %h : bf16 to f32
  %18 = arith.maximumf %inf, %17 : f32
  %19 = arith.sitofp %a : i32 to bf16
  %t1 = kiln.submit @take(%13, %14, %15, %16, %18, %19, %x)
}
