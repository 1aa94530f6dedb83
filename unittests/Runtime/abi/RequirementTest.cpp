// Conditions on arguments: what they say, when they hold, and what is no condition.
#include "TestSupport.h"
#include "kiln/runtime/native_program.h"

using namespace kiln;
using namespace kiln::test;

using Op = Requirement::Op;
using Node = Requirement::Node;

static int32_t nothing(const kiln_args *, const kiln_blocks *, kiln_context *) { return 0; }

/// Of k(x: f32[?, ?], n: index, m: i32, flag: i1), with one requirement.
static Signature requiring(std::vector<Node> nodes) {
  Signature s{"k",
              "aiv",
              {param("x", Direction::Out)},
              {{"n", DType::Index}, {"m", DType::I32}, {"flag", DType::I1}}};
  s.requirements.push_back({std::move(nodes), "so it is", {"k.mlir", 3, 5}});
  return s;
}

static const Node columns{Op::Extent, 64, 0, 1}, n{Op::Scalar, 64, 0}, m{Op::Scalar, 32, 1},
    flag{Op::Scalar, 1, 2};
static Node number(int64_t value) { return {Op::Constant, 64, value}; }

/// x.dim(1) % 64 == 0
static std::vector<Node> multipleOf64() {
  return {columns, number(64), {Op::Rem, 64, 0, 1}, number(0), {Op::Eq, 1, 2, 3}};
}

static Status check(const Signature &s, int64_t cols, int64_t nValue = 1, int64_t mValue = 1,
                    bool flagValue = true) {
  Tensor x = take(Tensor::empty(DType::F32, {2, cols}));
  std::vector<ScalarBits> scalars{ScalarBits::fromInt(DType::Index, nValue),
                                  ScalarBits::fromInt(DType::I32, mValue),
                                  ScalarBits::fromInt(DType::I1, flagValue)};
  return s.verifyArguments({&x, 1}, scalars);
}

TEST(Requirement, SaysWhoRequiresWhatAndWhatWasGiven) {
  Signature s = requiring(multipleOf64());
  EXPECT_OK(s.verify());
  EXPECT_OK(check(s, 128));
  EXPECT_OK(check(s, 0));
  Status bad = check(s, 100);
  EXPECT_EQ(bad.str(), "k.mlir:3:5: error: 'k' requires x.dim(1) % 64 == 0, but x.dim(1) is 100: "
                       "so it is");
  EXPECT_EQ(bad.code(), StatusCode::InvalidArgument);
}

TEST(Requirement, IsWrittenWithAsFewParenthesesAsItNeeds) {
  auto expectText = [](std::vector<Node> nodes, const char *text) {
    Signature s = requiring(std::move(nodes));
    EXPECT_OK(s.verify());
    EXPECT_EQ(s.requirements[0].str(s), text);
  };
  // (n + m) * 2 - (n - 1) >= n
  expectText({n,
              m,
              {Op::Add, 64, 0, 1},
              number(2),
              {Op::Mul, 64, 2, 3},
              number(1),
              {Op::Sub, 64, 0, 5},
              {Op::Sub, 64, 4, 6},
              {Op::Ge, 1, 7, 0}},
             "(n + m) * 2 - (n - 1) >= n");
  expectText({n,
              number(3),
              {Op::Lt, 1, 0, 1},
              flag,
              {Op::And, 1, 2, 3},
              {Op::Gt, 1, 0, 1},
              {Op::Or, 1, 4, 5}},
             "n < 3 && flag || n > 3");
  expectText({n,
              number(3),
              {Op::Lt, 1, 0, 1},
              flag,
              {Op::Or, 1, 2, 3},
              {Op::And, 1, 4, 3},
              {Op::Constant, 1, 1},
              {Op::Xor, 1, 5, 6}},
             "!((n < 3 || flag) && flag)");
  expectText({n, number(7), {Op::And, 64, 0, 1}, number(0), {Op::Eq, 1, 2, 3}}, "(n & 7) == 0");
  expectText({n, number(7), {Op::CeilDiv, 64, 0, 1}, {Op::Min, 64, 2, 0}, {Op::Le, 1, 3, 1}},
             "min(ceildiv(n, 7), n) <= 7");
}

TEST(Requirement, DoesNotHoldWhereAPartIsNoNumber) {
  // n * n >= 0
  Signature square = requiring({n, {Op::Mul, 64, 0, 0}, number(0), {Op::Ge, 1, 1, 2}});
  EXPECT_OK(check(square, 1, -3));
  expectError(check(square, 1, int64_t(1) << 40), StatusCode::InvalidArgument,
              {"n * n >= 0", "n is 1099511627776", "does not fit 64 bits", "so it is"});
  // m + m > m, in 32 bits
  Signature narrow = requiring({m, {Op::Add, 32, 0, 0}, {Op::Gt, 1, 1, 0}});
  EXPECT_OK(check(narrow, 1, 1, 1 << 29));
  expectError(check(narrow, 1, 1, 1 << 30), StatusCode::InvalidArgument, {"does not fit 32 bits"});
  // x.dim(1) % n == 0
  Signature rest = requiring({columns, n, {Op::Rem, 64, 0, 1}, number(0), {Op::Eq, 1, 2, 3}});
  EXPECT_OK(check(rest, 12, 4));
  expectError(check(rest, 12, 0), StatusCode::InvalidArgument, {"x.dim(1) % n has no value"});
  Signature quotient = requiring({n, m, {Op::Div, 64, 0, 1}, number(0), {Op::Le, 1, 2, 3}});
  expectError(check(quotient, 1, INT64_MIN, -1), StatusCode::InvalidArgument, {"has no value"});
}

TEST(Requirement, QuotientsAreRoundedAsInTheLanguage) {
  auto holds = [](Op op, int64_t a, int64_t b, int64_t result) {
    return check(requiring({n, number(b), {op, 64, 0, 1}, number(result), {Op::Eq, 1, 2, 3}}), 1, a)
        .isOk();
  };
  EXPECT_TRUE(holds(Op::Div, -7, 2, -3));
  EXPECT_TRUE(holds(Op::Rem, -7, 2, -1));
  EXPECT_TRUE(holds(Op::FloorDiv, -7, 2, -4));
  EXPECT_TRUE(holds(Op::FloorDiv, 7, 2, 3));
  EXPECT_TRUE(holds(Op::CeilDiv, 7, 2, 4));
  EXPECT_TRUE(holds(Op::CeilDiv, -7, 2, -3));
}

TEST(Requirement, WhatMeansNothingIsRefused) {
  auto expectBad = [](std::vector<Node> nodes, int line = __builtin_LINE()) {
    EXPECT_FALSE(requiring(std::move(nodes)).verify().isOk()) << "line " << line;
  };
  expectBad({});
  expectBad({n});                                                    // no condition
  expectBad({{Op::Extent, 64, 1, 0}, number(0), {Op::Eq, 1, 0, 1}}); // no such tensor
  expectBad({{Op::Extent, 64, 0, 2}, number(0), {Op::Eq, 1, 0, 1}}); // no such axis
  expectBad({{Op::Extent, 64, -1, 0}, number(0), {Op::Eq, 1, 0, 1}});
  expectBad({{Op::Scalar, 64, 3}, number(0), {Op::Eq, 1, 0, 1}});
  expectBad({n, {Op::Eq, 1, 0, 1}});    // itself
  expectBad({n, {Op::Eq, 1, 0, 2}, n}); // what comes later
  expectBad({n, {Op::Eq, 1, -1, 0}});
  expectBad({n, {Op::Eq, 64, 0, 0}}); // a truth value has one bit
  expectBad({n, flag, {Op::Eq, 1, 0, 1}});
  expectBad({flag, {Op::Add, 1, 0, 0}}); // sums of truth values
  expectBad({{Op::Constant, 1, 7}});
  expectBad({n, {Op::Add, 7, 0, 0}, {Op::Eq, 1, 1, 0}}); // no such width
  expectBad({n, {static_cast<Op>(77), 1, 0, 0}});
  std::vector<Node> many(Requirement::maxNodes, n);
  many.push_back({Op::Eq, 1, 0, 0});
  expectBad(many);
}

TEST(Requirement, TextOfSharedPartsDoesNotExplode) {
  std::vector<Node> nodes{n};
  for (int64_t i = 0; i < 60; ++i)
    nodes.push_back({Op::Add, 64, i, i});
  nodes.push_back({Op::Gt, 1, 60, 0});
  Signature s = requiring(std::move(nodes));
  EXPECT_OK(s.verify());
  EXPECT_LT(s.requirements[0].str(s).size(), 1000u);
}

static void registerKernel(KernelRegistry &registry, const Signature &signature) {
  KernelRecord record;
  record.name = signature.name;
  record.function = nothing;
  record.signature = signature;
  take(registry.add(std::move(record)));
}

TEST(Requirement, HoldsForEveryTaskOfItsKernel) {
  KernelRegistry registry;
  registerKernel(registry, requiring(multipleOf64()));
  std::unique_ptr<Engine> engine = take(Engine::create(registry));
  EXPECT_OK(engine->begin({}));
  auto submit = [&](int64_t cols) {
    Task task("k");
    task.addTensor(take(Tensor::empty(DType::F32, {2, cols})), Direction::Out);
    task.addScalar(ScalarBits::fromInt(DType::Index, 1));
    task.addScalar(ScalarBits::fromInt(DType::I32, 1));
    task.addScalar(ScalarBits::fromInt(DType::I1, 1));
    return engine->submit(std::move(task)).status();
  };
  EXPECT_OK(submit(64));
  expectError(submit(65), StatusCode::InvalidArgument,
              {"kernel 'k'", "x.dim(1) % 64 == 0", "x.dim(1) is 65"});
  EXPECT_OK(engine->finish());
}

/// The same for a task that has nothing but one tensor, which is judged by a shorter way.
TEST(Requirement, HoldsForTasksWithoutScalarsToo) {
  Signature s{"k", "aiv", {param("x", Direction::Out)}, {}};
  s.requirements.push_back({multipleOf64(), "so it is", {}});
  KernelRegistry registry;
  registerKernel(registry, s);
  std::unique_ptr<Engine> engine = take(Engine::create(registry));
  EXPECT_OK(engine->begin({}));
  Task task("k");
  task.addTensor(take(Tensor::empty(DType::F32, {2, 65})), Direction::Out);
  expectError(engine->submit(std::move(task)).status(), StatusCode::InvalidArgument,
              {"x.dim(1) is 65"});
  EXPECT_OK(engine->finish());
}

TEST(Requirement, SurvivesABundleAndForgeriesDoNot) {
  NativeInfo info;
  info.entry = {"k", "k_symbol", 0, requiring(multipleOf64())};
  info.parameters = {{true, 0}, {false, 0}, {false, 1}, {false, 2}};
  std::string text = toJson(info);
  NativeInfo back = take(parseNativeInfo(text));
  EXPECT_EQ(back.entry.signature->requirements, info.entry.signature->requirements);
  auto forged = [&](const std::string &from, const std::string &to) {
    std::string forgery = text;
    size_t at = forgery.find(from);
    EXPECT_NE(at, forgery.npos) << from;
    forgery.replace(at, from.size(), to);
    return !parseNativeInfo(forgery).hasValue();
  };
  EXPECT_TRUE(forged("\"extent\"", "\"content\""));
  EXPECT_TRUE(forged("\"rem\"", "7"));
  EXPECT_TRUE(forged("\"eq\"", "\"add\""));
  EXPECT_TRUE(forged("\"message\": \"so it is\"", "\"message\": 7"));
  EXPECT_TRUE(forged("\"parts\": [", "\"parts\": [7, "));
}
