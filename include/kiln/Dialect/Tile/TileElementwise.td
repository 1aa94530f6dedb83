//===- TileElementwise.td - the table of elementwise operations --*- tablegen -*-===//
//
// One row is one operation, everywhere: in the dialect, in the C++ front end, in the PyTorch
// reference, in the simulator, in native code, in CUDA C++, in the random programs of the tests and
// in the documentation. cmake/elementwise.py turns the rows into the files that those include.
//
// docs/adding-an-op.md adds a row, step by step.
//
//===----------------------------------------------------------------------------===//
#ifndef TILE_ELEMENTWISE
#define TILE_ELEMENTWISE

include "kiln/Dialect/Tile/TileBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// What a row says
//===----------------------------------------------------------------------===//

/// The expression in the PyTorch reference for some kinds of elements.
class Torch<string elements, string expression, string binding = "Atom", bit isRounded = 0> {
  string kinds = elements;     // Float, Int, Bool, or several: Number (Float and Int), Bits (Int and Bool).
  string pattern = expression; // `$0` is an operand; `@0` is the same, made a tensor if it is a scalar.
  string precedence = binding; // Of the outermost operator; a call is an Atom.
  bit rounds = isRounded;      // Whether the result still has to be rounded to its element type.
}

/// How random programs use a function. Where it is smooth, they bring its operand between `from` and
/// `to`, where no result is larger than `most` and no slope is steeper than `steepest`.
class Range<string from, string to, string most, string steepest> {
  string low = from;
  string high = to;
  string bound = most;
  string slope = steepest;
}
/// A function that jumps, where a difference in the last bit becomes a whole one: exact tiles only.
def Jumps : Range<"", "", "", "">;
/// A statement of unittests/Agreement/RandomStatements.cpp makes the operation.
def OwnStatement : Range<"", "", "", "">;

/// Operands and result have one element type; shapes broadcast.
def Tile_ElementwiseTrait : NativeOpTrait<"ElementwiseArithmetic"> { let cppNamespace = "::kiln::tile"; }
/// What a row is for, if not for all elements.
class Tile_ElementTrait<string name> : NativeOpTrait<name> { let cppNamespace = "::kiln::tile"; }
def Tile_OfFloats : Tile_ElementTrait<"OfFloats">;
def Tile_OfIntegers : Tile_ElementTrait<"OfIntegers">;
/// Shifting a truth value has no use, and no meaning that everyone would guess.
def Tile_OfWideIntegers : Tile_ElementTrait<"OfWideIntegers">;

/// The fields of a row that are not its name, its summary and its kinds of elements. In formulas the
/// operands are `x` and `y`. A formula for floats computes in f32, one for integers in 64 bits; the
/// result is rounded or wrapped to the element type afterwards.
class Tile_Row<string mnemonic> {
  string cpp = mnemonic;  // The front end's name: a function, or an operator such as `operator+`.
  list<Torch> torch = []; // The reference.
  string hint = mnemonic; // What the reference calls a variable for the result.
  string floats = "";     // The simulator's formula: C++.
  string ints = "";
  bit divides = 0;        // Of integers: a divisor of 0 is an error.
  bit commutes = 0;       // Whether `x` and `y` can change places.
  string bounds = "all";  // The simulator's bounds of a result: of operands within `a` and `b`, in C++.
  string combines = "";   // How padding meets data: Sum, Prod, Max or Min (lib/Check/Origins.cpp).
  string cpuFloats = "";  // Native code: a function of lib/Target/Llvm/Emit/PointwiseOps.cpp or Builder/VectorMath.h.
  string cpuInts = "";
  bit takesLong = 0;      // Native code: computing a line takes longer than writing one to memory.
  string cuda = "";       // CUDA C++, in type `T`; empty: the backend refuses the operation by name.
  string ascend = "";     // The instruction of PTO-ISA, less its `T`; empty: as for `cuda`.
  Range random = OwnStatement;
}

//===----------------------------------------------------------------------===//
// Kinds of rows
//===----------------------------------------------------------------------===//

class Tile_Unary<string mnemonic, string summaryText, list<Trait> traits = []>
    : Tile_Vector<mnemonic, !listconcat([Pure], traits)> {
  let summary = summaryText;
  let arguments = (ins Tile_Tile:$operand);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "custom<Typed>($operand, type($operand)) attr-dict `:` qualified(type($result))";
}

class Tile_Binary<string mnemonic, string summaryText, list<Trait> traits = []>
    : Tile_Vector<mnemonic, !listconcat([Pure], traits)> {
  let summary = summaryText;
  let arguments = (ins Tile_TileOrScalar:$lhs, Tile_TileOrScalar:$rhs);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    custom<Typed>($lhs, type($lhs)) `,` custom<Typed>($rhs, type($rhs)) attr-dict `:` qualified(type($result))
  }];
}

/// Of an operation that computes each element from those at the same place.
def Tile_InPlace {
  code method = [{
    bool mayReplace(::mlir::OpOperand &operand) { return operand.get().getType() == getResult().getType(); }
  }];
}

/// Of two operands and of one; `traits` restrict the elements.
class Tile_Arith<string mnemonic, string summaryText, list<Trait> traits = []>
    : Tile_Binary<mnemonic, summaryText, !listconcat([Tile_ElementwiseTrait], traits)>, Tile_Row<mnemonic> {
  let padding = "Elementwise";
  let facts = Tile_InPlace.method;
}
class Tile_Math<string mnemonic, string summaryText, list<Trait> traits = []>
    : Tile_Unary<mnemonic, summaryText, !listconcat([Tile_ElementwiseTrait], traits)>, Tile_Row<mnemonic> {
  let padding = "Elementwise";
  let facts = Tile_InPlace.method;
}

/// A function of floats, in every target a call.
class Tile_FloatMath<string mnemonic, string summaryText> : Tile_Math<mnemonic, summaryText, [Tile_OfFloats]> {
  let torch = [Torch<"Float", "torch." # mnemonic # "($0)", "Atom", 1>];
}
/// Integers and truth values.
class Tile_Bits<string mnemonic, string summaryText> : Tile_Arith<mnemonic, summaryText, [Tile_OfIntegers]> {
  let hint = "bits";
}
class Tile_Shift<string mnemonic, string summaryText> : Tile_Arith<mnemonic, summaryText, [Tile_OfWideIntegers]> {
  let hint = "bits";
  let torch = [Torch<"Int", "_" # mnemonic # "(@0, @1)">];
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

def Tile_AddOp : Tile_Arith<"add", "lhs + rhs"> {
  let cpp = "operator+";
  let torch = [Torch<"Number", "$0 + $1", "Sum", 1>, Torch<"Bool", "$0 ^ $1", "BitXor">];
  let hint = "total";
  let floats = "x + y";
  let ints = "int64_t(uint64_t(x) + uint64_t(y))";
  let commutes = 1;
  let bounds = "Bounds{a.least + b.least, a.greatest + b.greatest}";
  let combines = "Sum";
  let cpuFloats = "binary<I::FAdd>";
  let cpuInts = "binary<I::Add>";
  let cuda = "kiln::add<T>(x, y)";
  let ascend = "ADD";
}

def Tile_SubOp : Tile_Arith<"sub", "lhs - rhs"> {
  let cpp = "operator-";
  let torch = [Torch<"Number", "$0 - $1", "Sum", 1>, Torch<"Bool", "$0 ^ $1", "BitXor">];
  let hint = "difference";
  let floats = "x - y";
  let ints = "int64_t(uint64_t(x) - uint64_t(y))";
  let bounds = "Bounds{a.least - b.greatest, a.greatest - b.least}";
  let combines = "Sum";
  let cpuFloats = "binary<I::FSub>";
  let cpuInts = "binary<I::Sub>";
  let cuda = "kiln::subtract<T>(x, y)";
  let ascend = "SUB";
}

def Tile_MulOp : Tile_Arith<"mul", "lhs * rhs"> {
  let cpp = "operator*";
  let torch = [Torch<"Number", "$0 * $1", "Product", 1>, Torch<"Bool", "$0 & $1", "BitAnd">];
  let hint = "product";
  let floats = "x * y";
  let ints = "int64_t(uint64_t(x) * uint64_t(y))";
  let commutes = 1;
  let bounds = "ofProduct(op, a, b)";
  let combines = "Prod";
  let cpuFloats = "binary<I::FMul>";
  let cpuInts = "binary<I::Mul>";
  let cuda = "kiln::times<T>(x, y)";
  let ascend = "MUL";
}

def Tile_DivOp : Tile_Arith<"div", "lhs / rhs; integers round toward zero"> {
  let cpp = "operator/";
  let torch = [Torch<"Float", "@0 / $1", "Product", 1>, // torch multiplies for `scalar / tile`
               Torch<"Int", "_int_div(@0, @1)">,
               Torch<"Bool", "_int_div(@0.int(), @1.int()).bool()">];
  let hint = "quotient";
  let floats = "x / y";
  let ints = "y == -1 ? int64_t(0 - uint64_t(x)) : x / y";
  let divides = 1;
  let bounds = "ofQuotient(a, b, all)";
  let combines = "Prod";
  let cpuFloats = "emitQuotient";
  let cpuInts = "intDivide<true>";
  let cuda = "kiln::divide<T>(x, y)";
  let ascend = "DIV";
}

def Tile_FmodOp : Tile_Arith<"fmod", "the remainder of lhs / rhs, with the sign of lhs"> {
  let torch = [ // in float32 torch gets quotients wrong that float32 cannot hold
               Torch<"Float", "torch.fmod(@0.double(), @1.double()).float()">,
               Torch<"Int", "_int_fmod(@0, @1)">,
               Torch<"Bool", "_int_fmod(@0.int(), @1.int()).bool()">];
  let hint = "remainder";
  let floats = "std::fmod(x, y)";
  let ints = "y == -1 ? 0 : x % y";
  let divides = 1;
  let cpuFloats = "binary<I::FRem>";
  let cpuInts = "intDivide<false>";
  let cuda = "kiln::remainder<T>(x, y)";
}

def Tile_MaxOp : Tile_Arith<"max", "the larger; NaN if either is NaN"> {
  let cpp = "maximum";
  let torch = [Torch<"Number", "torch.maximum(@0, @1)">, Torch<"Bool", "$0 | $1", "BitOr">];
  let hint = "larger";
  let floats = "std::isnan(x) || x > y ? x : y"; // y if that is NaN
  let ints = "std::max(x, y)";
  let commutes = 1;
  let bounds = "Bounds{std::max(a.least, b.least), std::max(a.greatest, b.greatest)}";
  let combines = "Max";
  let cpuFloats = "floatExtreme<true>";
  let cpuInts = "intExtreme<true>";
  let cuda = "kiln::larger<T>(x, y)";
  let ascend = "MAX";
}

def Tile_MinOp : Tile_Arith<"min", "the smaller; NaN if either is NaN"> {
  let cpp = "minimum";
  let torch = [Torch<"Number", "torch.minimum(@0, @1)">, Torch<"Bool", "$0 & $1", "BitAnd">];
  let hint = "smaller";
  let floats = "std::isnan(x) || x < y ? x : y";
  let ints = "std::min(x, y)";
  let commutes = 1;
  let bounds = "Bounds{std::min(a.least, b.least), std::min(a.greatest, b.greatest)}";
  let combines = "Min";
  let cpuFloats = "floatExtreme<false>";
  let cpuInts = "intExtreme<false>";
  let cuda = "kiln::smaller<T>(x, y)";
  let ascend = "MIN";
}

def Tile_PowOp : Tile_Arith<"pow", "lhs to the power of rhs; floats only", [Tile_OfFloats]> {
  let torch = [Torch<"Float", "torch.pow(@0, @1)", "Atom", 1>];
  let hint = "power";
  let floats = "std::pow(x, y)";
  let bounds = "a.least >= 0 ? positive : all";
  let cpuFloats = "intrinsic<N::pow>";
  let cuda = "powf(x, y)";
}

def Tile_AndOp : Tile_Bits<"and", "the bits set in both"> {
  let cpp = "operator&";
  let torch = [Torch<"Bits", "$0 & $1", "BitAnd">];
  let ints = "x & y";
  let commutes = 1;
  let cpuInts = "binary<I::And>";
  let cuda = "T(x & y)";
}

def Tile_OrOp : Tile_Bits<"or", "the bits set in one or both"> {
  let cpp = "operator|";
  let torch = [Torch<"Bits", "$0 | $1", "BitOr">];
  let ints = "x | y";
  let commutes = 1;
  let combines = "Sum";
  let cpuInts = "binary<I::Or>";
  let cuda = "T(x | y)";
}

def Tile_XorOp : Tile_Bits<"xor", "the bits set in exactly one"> {
  let cpp = "operator^";
  let torch = [Torch<"Bits", "$0 ^ $1", "BitXor">];
  let ints = "x ^ y";
  let commutes = 1;
  let combines = "Sum";
  let cpuInts = "binary<I::Xor>";
  let cuda = "T(x ^ y)";
}

def Tile_ShlOp : Tile_Shift<"shl", "lhs shifted left by rhs bits; a count outside 0 to width - 1 leaves 0"> {
  let cpp = "operator<<";
  let ints = "shiftLeft(x, y)";
  let cpuInts = "shiftLeft";
  let cuda = "kiln::shiftLeft<T>(x, y)";
}

def Tile_ShrOp : Tile_Shift<"shr", "lhs shifted right by rhs bits, copying the sign; a count outside 0 to width - 1 leaves the sign"> {
  let cpp = "operator>>";
  let ints = "shiftRight(x, y)";
  let cpuInts = "shiftRight";
  let cuda = "kiln::shiftRight<T>(x, y)";
}

def Tile_NotOp : Tile_Math<"not", "every bit flipped", [Tile_OfIntegers]> {
  let hasFolder = 1;
  let cpp = "operator~";
  let torch = [Torch<"Bits", "~$0", "Unary">];
  let hint = "bits";
  let ints = "~x";
  let cpuInts = "flip";
  let cuda = "kiln::flip<T>(x)";
}

def Tile_NegOp : Tile_Math<"neg", "-x"> {
  let hasFolder = 1;
  let cpp = "operator-";
  let torch = [Torch<"Number", "-$0", "Unary">, Torch<"Bool", "$0">];
  let hint = "negated";
  let floats = "-x";
  let ints = "int64_t(0 - uint64_t(x))";
  let bounds = "Bounds{-a.greatest, -a.least}";
  let cpuFloats = "negate";
  let cpuInts = "negateInt";
  let cuda = "kiln::subtract<T>(T(isSame<T, float> ? -0.0f : 0), x)";
  let ascend = "NEG";
}

def Tile_AbsOp : Tile_Math<"abs", "the absolute value"> {
  let torch = [Torch<"Number", "torch.abs($0)">, Torch<"Bool", "$0">];
  let hint = "magnitude";
  let floats = "std::fabs(x)";
  let ints = "x < 0 ? int64_t(0 - uint64_t(x)) : x";
  let bounds = "ofAbsolute(a)";
  let cpuFloats = "intrinsic<N::fabs>";
  let cpuInts = "intAbs";
  let cuda = "kiln::magnitude<T>(x)";
  let ascend = "ABS";
}

/// A function to whole numbers. What a float type holds becomes a number that it holds, so nothing is
/// rounded; NaN, infinities and the sign of 0 stay.
class Tile_ToWhole<string mnemonic, string summaryText> : Tile_FloatMath<mnemonic, summaryText> {
  let torch = [Torch<"Float", "torch." # mnemonic # "($0)">];
  let floats = "std::" # mnemonic # "(x)";
  let bounds = "ofWhole(a)";
  let cpuFloats = "intrinsic<N::" # mnemonic # ">";
  let cuda = mnemonic # "f(x)";
  let random = Jumps;
}

def Tile_FloorOp : Tile_ToWhole<"floor", "the largest whole number that is not larger">;
def Tile_CeilOp : Tile_ToWhole<"ceil", "the smallest whole number that is not smaller">;
def Tile_TruncOp : Tile_ToWhole<"trunc", "the whole part: rounds toward zero">;
def Tile_RoundOp : Tile_ToWhole<"round", "the nearest whole number; of two that are as near, the even one"> {
  let floats = "std::nearbyint(x)";
  let cpuFloats = "intrinsic<N::roundeven>";
  let cuda = "rintf(x)";
}

def Tile_ExpOp : Tile_FloatMath<"exp", "e to the x"> {
  let hint = "exponential";
  let floats = "std::exp(x)";
  let bounds = "positive";
  let cpuFloats = "emitExp";
  let takesLong = 1;
  let cuda = "expf(x)";
  let ascend = "EXP";
  let random = Range<"-4", "4", "55", "55">;
}

def Tile_Exp2Op : Tile_FloatMath<"exp2", "2 to the x"> {
  let hint = "exponential";
  let floats = "std::exp2(x)";
  let bounds = "positive";
  let cpuFloats = "emitExp2";
  let takesLong = 1;
  let cuda = "kiln::powerOfTwo(x)";
  let random = Range<"-6", "6", "64", "45">;
}

def Tile_Expm1Op : Tile_FloatMath<"expm1", "exp(x) - 1, exact where x is near 0"> {
  let floats = "std::expm1(x)";
  let bounds = "Bounds{-1, all.greatest}";
  let cpuFloats = "emitExpm1";
  let cuda = "expm1f(x)";
  let random = Range<"-4", "4", "54", "55">;
}

def Tile_LogOp : Tile_FloatMath<"log", "the natural logarithm"> {
  let hint = "logarithm";
  let floats = "std::log(x)";
  let cpuFloats = "emitLog";
  let takesLong = 1;
  let cuda = "logf(x)";
  let ascend = "LOG";
  let random = Range<"0.25", "64", "4.2", "4">;
}

def Tile_Log1pOp : Tile_FloatMath<"log1p", "log(1 + x), exact where x is near 0"> {
  // In float32 some versions of torch say infinity for numbers near the greatest.
  let torch = [Torch<"Float", "torch.log1p(@0.double()).float()", "Atom", 1>];
  let floats = "std::log1p(x)";
  let bounds = "a.least >= 0 ? positive : all";
  let cpuFloats = "emitLog1p";
  let cuda = "log1pf(x)";
  let random = Range<"-0.75", "64", "4.2", "4">;
}

def Tile_SqrtOp : Tile_FloatMath<"sqrt", "the square root"> {
  let hint = "root";
  let floats = "std::sqrt(x)";
  let bounds = "positive";
  let cpuFloats = "intrinsic<N::sqrt>";
  let cuda = "sqrtf(x)";
  let ascend = "SQRT";
  let random = Range<"0.25", "64", "8", "1">;
}

def Tile_RsqrtOp : Tile_FloatMath<"rsqrt", "1 / sqrt(x)"> {
  let floats = "1 / std::sqrt(x)";
  let bounds = "positive";
  let cpuFloats = "inverseRoot";
  let cuda = "1.0f / sqrtf(x)";
  let ascend = "RSQRT";
  let random = Range<"0.25", "64", "2", "4">;
}

def Tile_RecipOp : Tile_FloatMath<"recip", "1 / x"> {
  let torch = [Torch<"Float", "torch.reciprocal($0)", "Atom", 1>];
  let hint = "reciprocal";
  let floats = "1 / x";
  let bounds = "a.least >= 0 ? positive : all";
  let cpuFloats = "reciprocal";
  let cuda = "1.0f / x";
  let random = Range<"0.25", "64", "4", "16">;
}

def Tile_CbrtOp : Tile_FloatMath<"cbrt", "the cube root"> {
  let torch = [Torch<"Float", "torch.copysign(torch.abs($0).double().pow(1 / 3).float(), $0)", "Atom", 1>];
  let hint = "root";
  let floats = "std::cbrt(x)";
  let cpuFloats = "emitCbrt";
  let cuda = "cbrtf(x)";
  let random = Range<"0.25", "64", "4", "0.85">;
}

def Tile_TanhOp : Tile_FloatMath<"tanh", "the hyperbolic tangent"> {
  let floats = "std::tanh(x)";
  let bounds = "ofSigmoidal(a)";
  let cpuFloats = "emitTanh";
  let takesLong = 1;
  let cuda = "tanhf(x)";
  let random = Range<"-8", "8", "1", "1">;
}

def Tile_SigmoidOp : Tile_FloatMath<"sigmoid", "1 / (1 + exp(-x))"> {
  let floats = "1 / (1 + std::exp(-x))";
  let bounds = "Bounds{0, 1}";
  let cpuFloats = "sigmoid";
  let takesLong = 1;
  let cuda = "1.0f / (1.0f + expf(-x))";
  let random = Range<"-8", "8", "1", "0.25">;
}

def Tile_ErfOp : Tile_FloatMath<"erf", "the error function"> {
  let floats = "std::erf(x)";
  let bounds = "ofSigmoidal(a)";
  let cpuFloats = "emitErf";
  let takesLong = 1;
  let cuda = "erff(x)";
  let random = Range<"-4", "4", "1", "1.2">;
}

def Tile_SinOp : Tile_FloatMath<"sin", "the sine"> {
  let hint = "sine";
  let floats = "std::sin(x)";
  let bounds = "Bounds{-1, 1}";
  let cpuFloats = "intrinsic<N::sin>"; // rare, and hard to get right for all x: libm's, element by element
  let cuda = "kiln::sine(x)";
  let random = Range<"-16", "16", "1", "1">;
}

def Tile_CosOp : Tile_FloatMath<"cos", "the cosine"> {
  let hint = "cosine";
  let floats = "std::cos(x)";
  let bounds = "Bounds{-1, 1}";
  let cpuFloats = "intrinsic<N::cos>";
  let cuda = "kiln::cosine(x)";
  let random = Range<"-16", "16", "1", "1">;
}

#endif // TILE_ELEMENTWISE
