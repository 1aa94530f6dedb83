#include "ReadTensor.h"
#include "TestSupport.h"

#include <cstring>
#include <random>

using namespace kiln;
using namespace kiln::test;

extern "C" int jitFromC(void);

namespace {

alignas(64) float memory[4096];

/// What a call would learn of this argument.
TensorFacts factsOf(const CallArg &arg, kiln_tensor *descriptor = nullptr) {
  uint64_t words[maxFactWords], *end = words;
  kiln_tensor local;
  ByteRange range;
  TensorProblem problem = readTensor(arg, descriptor ? *descriptor : local, range, end);
  EXPECT_EQ(int(problem), int(TensorProblem::None));
  if (problem != TensorProblem::None)
    return {};
  return unpackFacts({words, end}).at(0);
}

TensorProblem problemOf(const CallArg &arg) {
  uint64_t words[maxFactWords], *end = words;
  kiln_tensor local;
  ByteRange range;
  return readTensor(arg, local, range, end);
}

RawTensor raw(Dims extents, Dims strides = {}, void *data = memory) {
  return RawTensor(data, DType::F32, extents, strides);
}

TensorAdaptor adaptor(Dims extents, Dims strides = {}) {
  return take(TensorAdaptor::raw(memory, DType::F32, extents, strides));
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

TEST(Facts, ShapeIsNoFact) {
  TensorFacts some = factsOf(raw({8, 16}));
  EXPECT_EQ(some.str(), "f32 rank 2 leading 1 offsets32");
  for (auto [m, n] :
       {std::pair{1, 16}, {7, 4}, {1000, 4}, {16, 16}, {0, 8}, {5, 1}, {3, 7}, {0, 0}})
    EXPECT_EQ(factsOf(raw({m, n})), some) << m << "x" << n;
}

TEST(Facts, LeadingDimension) {
  EXPECT_EQ(factsOf(raw({8, 16})).leadingDim, 1);
  EXPECT_EQ(factsOf(raw({8, 16}, {1, 8})).leadingDim, 0);
  EXPECT_EQ(factsOf(raw({8, 16}, {1, 1})).leadingDim, 1) << "the innermost of two";
  EXPECT_EQ(factsOf(raw({8, 16}, {32, 2})).leadingDim, -1);
  EXPECT_EQ(factsOf(raw({16})).leadingDim, 0);
  EXPECT_EQ(factsOf(raw({16}, {3})).leadingDim, -1);
  // An axis without a choice of index leads, whatever its stride says.
  EXPECT_EQ(factsOf(raw({8, 1}, {1, 8})).leadingDim, 1);
  EXPECT_EQ(factsOf(raw({1, 8}, {77, 2})).leadingDim, 0);
}

TEST(Facts, StridesOfShortAxesMeanNothing) {
  kiln_tensor one, other;
  TensorFacts plain = factsOf(raw({8, 1}, {1, 1}), &one);
  for (int64_t stride : {0, 1, 2, 5, 1000000})
    EXPECT_EQ(factsOf(raw({8, 1}, {1, stride}), &other), plain) << stride;
  EXPECT_EQ(one.strides[1], 1);
  EXPECT_EQ(other.strides[1], 1) << "kernels rely on the leading stride";
  EXPECT_EQ(factsOf(raw({1, 8}, {3, 1})), factsOf(raw({1, 8})));
}

TEST(Facts, AlignmentIsNoFact) {
  EXPECT_EQ(factsOf(raw({8, 16}, {}, memory + 1)), factsOf(raw({8, 16})));
  EXPECT_EQ(factsOf(raw({8, 15}, {17, 1})), factsOf(raw({8, 16})));
}

TEST(Facts, OffsetsOf32BitsUpToTheLastByte) {
  int64_t limit = INT32_MAX / 4; // elements whose bytes fit
  EXPECT_TRUE(factsOf(raw({limit})).use32bit);
  EXPECT_FALSE(factsOf(raw({limit + 1})).use32bit);
  // The product must not be formed in 32 bits: 2^16 rows of 2^16.
  EXPECT_FALSE(factsOf(raw({65536, 65536})).use32bit);
  EXPECT_FALSE(factsOf(raw({2, 1}, {int64_t(1) << 40, 1})).use32bit);
  EXPECT_TRUE(factsOf(raw({0, 65536, 65536})).use32bit) << "nothing to address";
}

TEST(Facts, DescriptorHasTheAbiForm) {
  kiln_tensor t;
  factsOf(raw({3, 5}), &t);
  EXPECT_EQ(t.extents[1], 5);
  EXPECT_EQ(t.strides[0], 5);
  EXPECT_EQ(t.strides[1], 1);
  EXPECT_EQ(t.extents[4], 1);
  EXPECT_EQ(t.strides[4], 0);
  EXPECT_EQ(t.flags, KILN_TENSOR_CONTIGUOUS);
  factsOf(raw({3, 5}, {0, 1}), &t);
  EXPECT_EQ(t.flags, KILN_TENSOR_BROADCAST | KILN_TENSOR_READ_ONLY);
  factsOf(raw({3, 5}, {8, 1}), &t);
  EXPECT_EQ(t.flags, 0);
  // What runtime tensors say of themselves, and what a call says, is the same.
  for (auto [extents, strides] :
       {std::pair<std::vector<int64_t>, std::vector<int64_t>>{{4, 1}, {9, 9}},
        {{1, 4}, {9, 1}},
        {{2, 3, 4}, {12, 4, 1}},
        {{3, 1, 4}, {4, 7, 1}}}) {
    Tensor tensor = take(Tensor::view(memory, DType::F32, extents, strides));
    kiln_tensor want = tensor.toAbi();
    factsOf(RawTensor(memory, DType::F32, extents, strides), &t);
    EXPECT_EQ(std::memcmp(&t, &want, sizeof t), 0) << toString(extents) << toString(strides);
  }
}

TEST(Facts, BadArgumentsAreProblems) {
  using P = TensorProblem;
  EXPECT_EQ(problemOf(3), P::NotATensor);
  EXPECT_EQ(problemOf(raw({-1, 4})), P::Negative);
  EXPECT_EQ(problemOf(raw({2, 4}, {-4, 1})), P::Negative);
  EXPECT_EQ(problemOf(raw({INT64_MAX, INT64_MAX})), P::TooLarge);
  EXPECT_EQ(problemOf(raw({INT64_MAX / 4})), P::TooLarge) << "wraps around the address space";
  EXPECT_EQ(problemOf(raw({2, 2}, {}, nullptr)), P::NullData);
  EXPECT_EQ(problemOf(raw({0, 2}, {}, nullptr)), P::None);
  EXPECT_EQ(problemOf(raw({2, 2}, {}, reinterpret_cast<char *>(memory) + 2)), P::Misaligned);
  EXPECT_EQ(problemOf(raw({})), P::BadRank);
  EXPECT_EQ(problemOf(raw({1, 1, 1, 1, 1, 1})), P::BadRank);
  EXPECT_EQ(problemOf(RawTensor(memory, DType::Index, {4})), P::BadDType);
  RawTensor four = raw({4});
  CallArg arg(four);
  arg.extents = nullptr;
  EXPECT_EQ(problemOf(arg), P::NoExtents);
  arg = four;
  arg.marks = Marks{1, 3, 1}.pack();
  EXPECT_EQ(problemOf(arg), P::BadMarks);
  arg.marks = Marks{2, -1, 1}.pack();
  EXPECT_EQ(problemOf(arg), P::BadMarks);
}

/// An argument with the numbers it points at.
struct RandomArg {
  std::array<int64_t, 6> extents, strides;
  CallArg arg{0};

  explicit RandomArg(std::mt19937_64 &random) {
    static constexpr int64_t kOdd[] = {
        0,         1,         -1,        INT32_MAX, 1ll << 31,     1ll << 32,
        3ll << 40, 1ll << 62, INT64_MAX, INT64_MIN, INT32_MAX / 4, 65536};
    auto number = [&] {
      return random() % 16 ? int64_t(random() % 5) : kOdd[random() % std::size(kOdd)];
    };
    arg.kind = uint8_t(random() % 64 ? 0 : random() % 5);
    arg.rank = uint16_t(random() % 64 ? 1 + random() % 5 : random() % 8);
    arg.dtype = int32_t(random() % 64 ? random() % 10 : random() % 14) - (random() % 64 == 0);
    arg.flags = uint8_t(random() % 2);
    if (random() % 64 == 0)
      arg.flags |= KILN_ARG_ON_GPU(random() % 8);
    arg.value.problem = "stated";
    for (int64_t &extent : extents)
      extent = number();
    // Most often as they would be row-major, perhaps with one that is not, or with a pitch.
    uint64_t step = 1; // may wrap
    for (size_t axis = std::min<size_t>(arg.rank, 6); axis-- > 0;) {
      strides[axis] = random() % 8 ? int64_t(step) : number();
      step = uint64_t(strides[axis]) * uint64_t(extents[axis]) + (random() % 8 ? 0 : 4);
    }
    arg.extents = random() % 64 ? extents.data() : nullptr;
    arg.strides = random() % 4 ? strides.data() : nullptr;
    arg.data = reinterpret_cast<char *>(memory) + (random() % 4 ? 16 : random() % 16);
    if (random() % 64 == 0)
      arg.data = reinterpret_cast<void *>(random() % 2 ? 0 : ~random() % 64);
    if (random() % 8 == 0)
      arg.marks =
          Marks{uint8_t(random() % 4), int8_t(int(random() % 4) - 1), uint32_t(1 + random() % 3)}
              .pack();
  }
};

TEST(Facts, TheFastWayReadsAsTheCarefulOne) {
  std::mt19937_64 random(1);
  std::array<int, 14> seen{};
  for (int round = 0; round < 200'000; ++round) {
    RandomArg r(random);
    kiln_tensor fast{}, careful{};
    ByteRange fastRange{}, carefulRange{};
    uint64_t fastWords[maxFactWords], *fastEnd = fastWords;
    uint64_t carefulWords[maxFactWords], *carefulEnd = carefulWords;
    TensorProblem problem = readTensor(r.arg, fast, fastRange, fastEnd);
    ASSERT_EQ(problem, readAnyTensor(r.arg, careful, carefulRange, carefulEnd)) << round;
    ++seen[size_t(problem)];
    if (problem != TensorProblem::None)
      continue;
    ASSERT_TRUE(std::equal(fastWords, fastEnd, carefulWords, carefulEnd)) << round;
    ASSERT_EQ(std::memcmp(&fast, &careful, sizeof fast), 0) << round;
    ASSERT_EQ(fastRange.begin, carefulRange.begin) << round;
    ASSERT_EQ(fastRange.end, carefulRange.end) << round;
  }
  for (size_t problem = 0; problem < seen.size(); ++problem)
    EXPECT_GT(seen[problem], 10) << "problem " << problem << " never occurred";
}

/// What the definitions say, in wide numbers and no hurry.
TEST(Facts, FactsAreWhatTheyAreDefinedToBe) {
  using Wide = __int128;
  std::mt19937_64 random(2);
  int read = 0;
  for (int round = 0; round < 100'000; ++round) {
    RandomArg r(random);
    r.arg.marks = 0;
    kiln_tensor t;
    ByteRange range;
    uint64_t words[maxFactWords], *end = words;
    if (readTensor(r.arg, t, range, end) != TensorProblem::None)
      continue;
    ++read;
    TensorFacts facts = unpackFacts({words, end}).at(0), want;
    want.dtype = DType(r.arg.dtype);
    want.rank = uint8_t(r.arg.rank);
    int size = int(sizeOf(want.dtype));
    Wide step = 1, last = 0;
    bool isEmpty = false;
    for (size_t axis = want.rank; axis-- > 0;) {
      bool isShort = r.extents[axis] <= 1;
      Wide stride = r.arg.strides ? Wide(r.strides[axis]) : step;
      bool leads = want.leadingDim < 0 && (isShort || stride == 1);
      if (leads)
        want.leadingDim = int8_t(axis);
      if (!isShort)
        last += (r.extents[axis] - 1) * stride;
      isEmpty |= r.extents[axis] == 0;
      step = stride * std::max<int64_t>(r.extents[axis], 1);
      ASSERT_EQ(t.extents[axis], r.extents[axis]);
      if (!isShort || leads) {
        ASSERT_EQ(t.strides[axis], leads ? 1 : int64_t(stride));
      }
    }
    want.use32bit = isEmpty || (last + 1) * size <= INT32_MAX;
    ASSERT_EQ(facts, want) << round << ": " << facts.str() << ", not " << want.str();
  }
  EXPECT_GT(read, 20'000);
}

/// Random facts of the kind a call can have.
TensorFacts randomFacts(std::mt19937_64 &random) {
  TensorFacts facts;
  facts.dtype = DType(random() % 10);
  facts.rank = uint8_t(1 + random() % 5);
  facts.leadingDim = int8_t(int(random() % (facts.rank + 1u)) - 1);
  facts.use32bit = random() % 2;
  facts.divisibility = random() % 3 ? 1 : uint32_t(1 + random() % UINT32_MAX);
  for (int axis = 0; axis < facts.rank; ++axis) {
    if (random() % 2)
      continue;
    facts.extents[axis] = int64_t(random() % 4 ? random() % 5 : random() >> 2);
    if (*facts.extents[axis] > 1)
      facts.strides[axis] = int64_t(random() % 4 ? random() % 5 : random() >> 2);
  }
  return facts;
}

TEST(Facts, PackingLosesNothing) {
  std::mt19937_64 random(1);
  std::vector<std::pair<std::vector<uint64_t>, std::vector<TensorFacts>>> seen;
  for (int round = 0; round < 300; ++round) {
    std::vector<TensorFacts> list(1 + random() % 3);
    uint64_t words[3 * maxFactWords], *end = words;
    for (TensorFacts &facts : list) {
      facts = randomFacts(random);
      end = packFacts(facts, end);
      EXPECT_EQ(parseTensorFacts(facts.str()), facts) << facts.str();
    }
    EXPECT_EQ(unpackFacts({words, end}), list);
    seen.emplace_back(std::vector(words, end), list);
  }
  for (const auto &[words, list] : seen)
    for (const auto &[otherWords, otherList] : seen)
      EXPECT_EQ(words == otherWords, list == otherList);
}

TEST(Facts, KindsOfFacts) {
  TensorFacts facts =
      *parseTensorFacts("f32 rank 2 leading 1 offsets32 static 0:128:64 divisible 8");
  EXPECT_EQ(facts.kinds(), FactSet::all());
  EXPECT_EQ(facts.only(FactSet::all()), facts);
  EXPECT_EQ(facts.only({}).str(), "f32 rank 2");
  EXPECT_EQ(facts.only({}).kinds(), FactSet{});
  for (size_t number = 0; number < numFacts; ++number) {
    TensorFacts one = facts.only({Fact(number)});
    EXPECT_EQ(one.kinds(), FactSet{Fact(number)});
    EXPECT_NE(one.str().find(toString(Fact(number))), std::string::npos) << one.str();
    EXPECT_EQ(parseFactSet(FactSet{Fact(number)}.str()), FactSet{Fact(number)});
  }
  EXPECT_EQ(parseFactSet(FactSet::all().str()), FactSet::all());
  EXPECT_EQ(parseFactSet(""), FactSet{});
  EXPECT_EQ(parseFactSet("leading color"), std::nullopt);
}

TEST(Facts, TextThatIsNoFacts) {
  for (const char *text :
       {"", "f32", "f32 rank", "f32 rank 0", "f32 rank 6", "f32 rank 2 leading 2", "index rank 1",
        "f32 rank 2 static 2:4:1", "f32 rank 2 static 0:4", "f32 rank 2 static 0:1:1",
        "f32 rank 2 static 0:4:1 static 0:4:1", "f32 rank 2 static 0:4:1:2",
        "f32 rank 2 static -1:4:1", "f32 rank 2 divisible 0", "f32 rank 2 leading",
        "f32 rank 2 huge", "f99 rank 2"})
    EXPECT_FALSE(parseTensorFacts(text)) << text;
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

TEST(Marks, StaticPinsExtentAndStride) {
  TensorAdaptor x = adaptor({8, 16});
  x.mark_static({0});
  EXPECT_EQ(factsOf(x).str(), "f32 rank 2 leading 1 offsets32 static 0:8:16");
  x.mark_static({1});
  EXPECT_EQ(factsOf(x).str(), "f32 rank 2 leading 1 offsets32 static 0:8:16 static 1:16:1");
  EXPECT_EQ(factsOf(adaptor({8, 16}).mark_static()), factsOf(x)) << "all of them";
  TensorFacts before = factsOf(x);
  x.mark_static({0}).mark_static({1, 0, 1}).mark_static();
  EXPECT_EQ(factsOf(x), before) << "idempotent";
}

TEST(Marks, StaticStrideOfAShortAxisIsNotPinned) {
  // Else a tensor of shape (1, n) would be compiled again for each n.
  EXPECT_EQ(factsOf(adaptor({1, 8}).mark_static({0})), factsOf(adaptor({1, 16}).mark_static({0})));
  EXPECT_EQ(factsOf(adaptor({1, 8}, {5, 1}).mark_static({0})).strides[0], std::nullopt);
}

TEST(Marks, LayoutDynamicReplacesAllMarks) {
  TensorAdaptor x = adaptor({8, 16});
  TensorFacts plain = factsOf(x);
  x.mark_static().mark_layout_dynamic();
  EXPECT_EQ(factsOf(x), plain);
  x.mark_layout_dynamic(1, 8);
  EXPECT_EQ(factsOf(x).divisibility, 8u);
  EXPECT_EQ(x.mark_layout_dynamic(1).marks().divisibility, 1u);
  EXPECT_EQ(factsOf(x), plain) << "a leading dimension that is given or found is the same fact";
  EXPECT_TRUE(x.status().isOk());
}

TEST(Marks, LeadingDimensionMayBeChosen) {
  TensorAdaptor x = adaptor({8, 16}, {1, 1});
  EXPECT_EQ(factsOf(x.mark_layout_dynamic(0)).leadingDim, 0);
  EXPECT_EQ(factsOf(adaptor({1, 16}).mark_layout_dynamic(0)).leadingDim, 0) << "extent 1 may lead";
}

TEST(Marks, ErrorsNameTheRankAndChangeNothing) {
  auto refused = [](auto mark, std::initializer_list<const char *> words) {
    TensorAdaptor x = adaptor({8, 16});
    x.mark_static({0});
    Marks before = x.marks();
    mark(x);
    expectError(x.status(), StatusCode::InvalidArgument, words);
    EXPECT_EQ(x.marks(), before);
    EXPECT_EQ(problemOf(x), TensorProblem::Stated);
  };
  refused([](auto &x) { x.mark_static({-1}); }, {"no axis -1", "rank 2", "0 to 1"});
  refused([](auto &x) { x.mark_static({1, 2}); }, {"no axis 2", "rank 2"});
  refused([](auto &x) { x.mark_layout_dynamic(2); }, {"no axis 2", "rank 2"});
  refused([](auto &x) { x.mark_layout_dynamic(-2); }, {"no axis -2", "rank 2"});
  refused([](auto &x) { x.mark_layout_dynamic(0); }, {"stride 1", "axis 0", "stride 16"});
  refused([](auto &x) { x.mark_layout_dynamic(1, 0); }, {"divisibility 0"});
  refused([](auto &x) { x.mark_layout_dynamic(1, int64_t(1) << 32); }, {"divisibility"});
  refused([](auto &x) { x.mark_static({7}).mark_layout_dynamic(9); },
          {"axis 7"}); // the first counts
}

TEST(Marks, DivisibilityIsCheckedOnEachCall) {
  EXPECT_EQ(problemOf(adaptor({3, 16}).mark_layout_dynamic(-1, 8)), TensorProblem::None);
  EXPECT_EQ(problemOf(adaptor({3, 12}).mark_layout_dynamic(-1, 8)), TensorProblem::NotDivisible);
  EXPECT_EQ(problemOf(adaptor({3, 16}, {20, 1}).mark_layout_dynamic(-1, 8)),
            TensorProblem::NotDivisible);
}

TEST(Marks, FromC) { EXPECT_EQ(jitFromC(), 0) << "the line of JitC.c"; }

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

struct Managed {
  int64_t shape[2] = {8, 16}, strides[2] = {16, 1};
  int deleted = 0;
  DLManagedTensor tensor = {
      {memory, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, strides, 0},
      this,
      [](DLManagedTensor *self) { ++static_cast<Managed *>(self->manager_ctx)->deleted; }};
};

TEST(DLPack, DeleterRunsExactlyOnce) {
  Managed m;
  {
    TensorAdaptor x = take(TensorAdaptor::dlpack(&m.tensor));
    TensorAdaptor copy = x, moved = std::move(x);
    Tensor view = take(copy.tensor().slice({0, 0}, {1, 1}));
    copy = moved;
    EXPECT_EQ(m.deleted, 0);
  }
  EXPECT_EQ(m.deleted, 1);
}

TEST(DLPack, AViewKeepsTheMemory) {
  Managed m;
  Tensor view;
  view = take(TensorAdaptor::dlpack(&m.tensor)).tensor();
  EXPECT_EQ(m.deleted, 0);
  view = Tensor();
  EXPECT_EQ(m.deleted, 1);
}

TEST(DLPack, WhatIsRefusedIsNotDeleted) {
  Managed m;
  auto refused = [&](std::initializer_list<const char *> words) {
    Expected<TensorAdaptor> x = TensorAdaptor::dlpack(&m.tensor);
    expectError(x.status(), StatusCode::InvalidArgument, words);
    EXPECT_EQ(problemOf(&m.tensor), TensorProblem::Stated);
    m.tensor.dl_tensor = Managed().tensor.dl_tensor;
    m.tensor.dl_tensor.shape = m.shape;
    m.tensor.dl_tensor.strides = m.strides;
  };
  m.tensor.dl_tensor.device.device_type = kDLROCM;
  refused({"host's memory"});
  m.tensor.dl_tensor.device = {kDLCUDA, 63};
  refused({"above 62"});
  m.tensor.dl_tensor.dtype.lanes = 4;
  refused({"element type"});
  m.tensor.dl_tensor.dtype = {kDLFloat, 64, 1};
  refused({"element type"});
  m.tensor.dl_tensor.ndim = 0;
  refused({"rank"});
  m.tensor.dl_tensor.ndim = 6;
  refused({"rank"});
  m.tensor.dl_tensor.shape = nullptr;
  refused({"extents"});
  EXPECT_EQ(m.deleted, 0);
  EXPECT_FALSE(TensorAdaptor::dlpack(static_cast<DLManagedTensor *>(nullptr)));
  EXPECT_EQ(problemOf(static_cast<const DLTensor *>(nullptr)), TensorProblem::Stated);
}

TEST(DLPack, OffsetAndMissingStrides) {
  Managed m;
  m.tensor.dl_tensor.strides = nullptr;
  m.tensor.dl_tensor.byte_offset = 64;
  kiln_tensor t;
  factsOf(&m.tensor, &t);
  EXPECT_EQ(t.data, memory + 16);
  EXPECT_EQ(t.strides[0], 16);
  TensorAdaptor x = take(TensorAdaptor::dlpack(m.tensor.dl_tensor));
  EXPECT_EQ(x.tensor().data(), memory + 16);
}

TEST(DLPack, AllFormsOfATensorHaveTheSameFacts) {
  Managed m;
  Tensor tensor = take(Tensor::view(memory, DType::F32, {8, 16}));
  TensorFacts want = factsOf(tensor);
  EXPECT_EQ(factsOf(raw({8, 16})), want);
  EXPECT_EQ(factsOf(raw({8, 16}, {16, 1})), want);
  EXPECT_EQ(factsOf(&m.tensor.dl_tensor), want);
  EXPECT_EQ(factsOf(&m.tensor), want);
  EXPECT_EQ(factsOf(TensorAdaptor(tensor)), want);
  EXPECT_EQ(factsOf(take(TensorAdaptor::dlpack(m.tensor.dl_tensor))), want);
}

} // namespace
