#include "Multiplier.h"

#include "Transpose.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace llvm;

namespace kiln::llvmir {

Multiplier multiplierFor(const MachineTraits &machine, DType side, int64_t depth,
                         bool isLeftTurned) {
  auto fitsTiles = [&](int64_t group) { return !isLeftTurned && depth % (group * kTile) == 0; };
  if (side == DType::I8) {
    if (machine.hasByteTiles && fitsTiles(4))
      return {DType::I8, DType::I32, 4, true};
    if (machine.byteDotLanes && depth % 4 == 0)
      return {DType::I8, DType::I32, 4};
    if (machine.shortDotLanes && depth % 2 == 0)
      return {DType::I16, DType::I32, 2};
    return {DType::I32, DType::I32, 1};
  }
  // Every 8-bit float is a bf16.
  bool isShort = side != DType::F32 && side != DType::F16;
  if (isShort && machine.hasBf16Tiles && fitsTiles(2))
    return {DType::BF16, DType::F32, 2, true};
  if (isShort && machine.bf16DotLanes && depth % 2 == 0)
    return {DType::BF16, DType::F32, 2};
  return {};
}

Type *wordType(Builder &b, const Multiplier &how) {
  return how.element == DType::F32 ? b.getFloatTy() : b.getInt32Ty();
}

//===----------------------------------------------------------------------===//
// Multiplying
//===----------------------------------------------------------------------===//

namespace {

/// An instruction that adds products of groups: for registers of `lanes` words.
struct DotProduct {
  Intrinsic::ID id;
  unsigned lanes;
  Type *element; ///< That words consist of.
  bool addsSum;  ///< Otherwise the sum is added by itself.
};

DotProduct dotProductFor(Builder &b, const Multiplier &how) {
  auto choose = [&](unsigned lanes, Intrinsic::ID wide, Intrinsic::ID narrow) {
    return std::pair(lanes == kWidth ? wide : narrow, lanes);
  };
  if (how.element == DType::BF16) {
    auto [id, lanes] = choose(b.machine.bf16DotLanes, Intrinsic::x86_avx512bf16_dpbf16ps_512,
                              Intrinsic::x86_avx512bf16_dpbf16ps_256);
    return {id, lanes, b.getBFloatTy(), true};
  }
  if (how.element == DType::I8) {
    auto [id, lanes] = choose(b.machine.byteDotLanes, Intrinsic::x86_avx512_vpdpbusd_512,
                              Intrinsic::x86_avx512_vpdpbusd_256);
    return {id, lanes, b.getInt8Ty(), true};
  }
  auto [id, lanes] = choose(b.machine.shortDotLanes, Intrinsic::x86_avx512_pmaddw_d_512,
                            Intrinsic::x86_avx2_pmadd_wd);
  return {id, lanes, b.getInt16Ty(), false};
}

} // namespace

Value *emitMultiplyAdd(Builder &b, const Multiplier &how, Value *x, Value *y, Value *sum) {
  if (how.element == DType::F32)
    return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {x, y, sum});
  if (how.element == DType::I32)
    return b.CreateAdd(sum, b.CreateMul(x, y));
  DotProduct dot = dotProductFor(b, how);
  SmallVector<Value *> parts;
  for (unsigned lane = 0; lane < Builder::widthOf(sum); lane += dot.lanes) {
    Type *small = Builder::vectorOf(dot.element, dot.lanes * unsigned(how.group));
    Value *left = b.CreateBitCast(b.lanesOf(x, lane, dot.lanes), small);
    Value *right = b.CreateBitCast(b.lanesOf(y, lane, dot.lanes), small);
    Value *old = b.lanesOf(sum, lane, dot.lanes);
    if (how.element == DType::BF16) // the second may be a word in memory, which x often is
      std::swap(left, right);
    parts.push_back(dot.addsSum ? b.CreateIntrinsic(dot.id, {old, left, right})
                                : b.CreateAdd(old, b.CreateIntrinsic(dot.id, {left, right})));
  }
  return concatenateVectors(b, parts);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// x[0], y[0], x[1], y[1], ... as elements of twice the width.
static Value *interleave(Builder &b, Value *x, Value *y) {
  unsigned width = Builder::widthOf(x), bits = x->getType()->getScalarSizeInBits();
  SmallVector<int> lanes;
  for (unsigned lane = 0; lane < width; ++lane)
    lanes.append({int(lane), int(width + lane)});
  return b.CreateBitCast(b.CreateShuffleVector(x, y, lanes),
                         Builder::vectorOf(b.getIntNTy(2 * bits), width));
}

namespace {

class Packer {
public:
  using Load = function_ref<Value *(Value *, Value *, unsigned)>;
  using Store = function_ref<void(Value *, Value *, Value *)>;

  Packer(Builder &builder, const Multiplier &how, const PackedSide &side, Load load, Store store)
      : b(builder), How(how), Side(side), LoadElements(load), StoreWords(store) {}

  void emit() {
    if (Side.order == PackedSide::Down)
      return overVectors(Side.rows / How.group, Side.cols,
                         [&](Value *i, Value *j, unsigned width) { return down(i, j, width); });
    auto load = [&](Value *i, Value *j, unsigned width) { return across(i, j, width); };
    if (Side.order == PackedSide::Turned)
      return emitTranspose(b, Side.rows, Side.cols / How.group, load, StoreWords);
    overVectors(Side.rows, Side.cols / How.group, load);
  }

private:
  void overVectors(int64_t rows, int64_t cols, Load make) {
    b.loop(0, rows, 1, [&](Value *row) {
      // Without a loop, so that addresses are constants but for the row.
      for (int64_t col = 0; col < cols; col += kWidth)
        StoreWords(make(row, b.index(col), std::min<int64_t>(kWidth, cols - col)), row,
                   b.index(col));
    });
  }

  /// Elements as they lie in words.
  Value *elements(Value *row, Value *col, unsigned width) {
    Value *value = LoadElements(row, col, width);
    // What is packed as bf16 is bf16 or smaller: it need not be rounded.
    if (How.element != DType::BF16)
      value = convert(b, value, Side.type, How.element);
    Value *packed = encode(b, value, How.element);
    bool isShifted = Side.isLeft && How.shiftsLeft();
    return isShifted ? b.CreateXor(packed, b.bits(packed, 0x80)) : packed;
  }

  Value *across(Value *i, Value *j, unsigned width) {
    Value *wide = elements(i, b.mul(j, How.group), width * unsigned(How.group));
    return b.CreateBitCast(wide, Builder::vectorOf(wordType(b, How), width));
  }

  Value *down(Value *i, Value *j, unsigned width) {
    SmallVector<Value *> rows;
    for (int64_t row = 0; row < How.group; ++row)
      rows.push_back(elements(b.add(b.mul(i, How.group), row), j, width));
    for (; rows.size() > 1; rows.resize(rows.size() / 2))
      for (size_t pair = 0; pair < rows.size() / 2; ++pair)
        rows[pair] = interleave(b, rows[2 * pair], rows[2 * pair + 1]);
    return rows[0];
  }

  Builder &b;
  const Multiplier &How;
  const PackedSide &Side;
  Load LoadElements;
  Store StoreWords;
};

} // namespace

void emitPack(Builder &b, const Multiplier &how, const PackedSide &side,
              function_ref<Value *(Value *, Value *, unsigned)> load,
              function_ref<void(Value *, Value *, Value *)> store) {
  Packer(b, how, side, load, store).emit();
}

} // namespace kiln::llvmir
