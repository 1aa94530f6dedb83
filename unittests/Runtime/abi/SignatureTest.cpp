#include "TestSupport.h"

using namespace kiln;
using namespace kiln::test;

static int32_t nothing(const kiln_args *, const kiln_blocks *, kiln_context *) { return 0; }

static Signature simple(const char *name) {
  return {
      name, "aiv", {param("x", Direction::In), param("y", Direction::Out)}, {{"n", DType::Index}}};
}

TEST(Signature, NamesArgumentsInTaskOrder) {
  Signature s = simple("k");
  EXPECT_OK(s.verify());
  EXPECT_EQ(s.argName(0), "x");
  EXPECT_EQ(s.argName(2), "n");
  EXPECT_EQ(s.argName(3), "arg3");
}

TEST(Signature, BadOnesAreRefusedByName) {
  Signature s = simple("k");
  s.tensors[1].name = "x";
  expectError(s.verify(), StatusCode::InvalidArgument, {"'k'", "'x'", "twice"});
  s = simple("k");
  s.scalars[0].name = "y";
  expectError(s.verify(), StatusCode::InvalidArgument, {"'y'", "twice"});
  s = simple("k");
  s.tensors[0].extents.assign(6, dynamicExtent);
  expectError(s.verify(), StatusCode::InvalidArgument, {"'k'", "'x'", "rank 6"});
  s = simple("k");
  s.tensors[0].extents = {-5};
  expectError(s.verify(), StatusCode::InvalidArgument, {"-5"});
  s = simple("k");
  s.tensors[0].dtype = DType::Index;
  expectError(s.verify(), StatusCode::InvalidArgument, {"'x'", "element type"});
  s = simple("k");
  s.tensors[1].isConst = true;
  expectError(s.verify(), StatusCode::InvalidArgument, {"'y'", "const", "out"});
  s = simple("");
  expectError(s.verify(), StatusCode::InvalidArgument, {"name"});
  s = simple("k");
  s.coreType = "";
  expectError(s.verify(), StatusCode::InvalidArgument, {"core type"});
}

TEST(Signature, SaysWhatABlockTouches) {
  Signature s = simple("k");
  EXPECT_EQ(s.boxOf(0), "");
  EXPECT_EQ(s.boxOf(9), "");
  s.tensors[0].box = BlockBox{{{-1, {1, -16, 0}, {{0, -2}}, 3}, {}}};
  s.tensors[1].box = BlockBox{{{0, {}, {}, 64}, {8, {0, 0, 4}, {}, 1}}};
  EXPECT_OK(s.verify());
  EXPECT_EQ(s.boxOf(0), "[b0 - 16*b1 - 2*n - 1 : b0 - 16*b1 - 2*n + 2, :]");
  EXPECT_EQ(s.boxOf(1), "[0 : 64, 4*b2 + 8 : 4*b2 + 9]");
}

TEST(Signature, BoxesThatAreNoneAreRefused) {
  auto expectBad = [](BlockBox box, const char *word) {
    Signature s = simple("k");
    s.tensors[0].box = std::move(box);
    expectError(s.verify(), StatusCode::InvalidArgument, {"'x'", word});
  };
  expectBad({{{}}}, "1 axes");
  expectBad({{{}, {0, {}, {}, 0}}}, "box");
  expectBad({{{}, {0, {}, {}, -7}}}, "box");
  expectBad({{{}, {0, {}, {{1, 1}}, 4}}}, "box"); // there is one scalar
  expectBad({{{}, {INT64_MAX, {}, {}, 4}}}, "box");
  expectBad({{{}, {0, {0, INT64_MIN, 0}, {}, 4}}}, "box");
}

TEST(Signature, Carries255TensorsAnd255ScalarsAndNotOneMore) {
  Signature s{"k", "aic", {}, {}};
  for (int i = 0; i < 255; ++i) {
    s.tensors.push_back(param(("t" + std::to_string(i)).c_str(), Direction::In));
    s.scalars.push_back({"s" + std::to_string(i), DType::I32});
  }
  EXPECT_OK(s.verify());
  Signature more = s;
  more.tensors.push_back(param("extra", Direction::In));
  expectError(more.verify(), StatusCode::InvalidArgument, {"256 tensors", "255"});
  more = s;
  more.scalars.push_back({"extra", DType::I32});
  expectError(more.verify(), StatusCode::InvalidArgument, {"256 scalars", "255"});
}

TEST(Signature, arguments_are_what_it_takes) {
  Signature s = simple("k");
  Tensor x = take(Tensor::empty(s.tensors[0].dtype, {2, 3})),
         y = take(Tensor::empty(s.tensors[1].dtype, {2, 3}));
  s.tensors[0].extents = s.tensors[1].extents = {2, dynamicExtent};
  auto check = [&](const Tensor &in, const Tensor &out, ScalarBits n) {
    return s.verifyArguments(std::array{in, out}, std::array{n});
  };
  ScalarBits three = ScalarBits::fromInt(DType::Index, 3);
  EXPECT_OK(check(x, y, three));
  EXPECT_OK(check(x.asReadOnly(), y, three));
  EXPECT_OK(check(x, y, ScalarBits::fromInt(DType::I64, 3))); // index and i64 are the same
  auto refused = StatusCode::InvalidArgument;
  expectError(check(x, y.asReadOnly(), three), refused, {"'y'", "stored to (out)", "read-only"});
  expectError(check(x, y, ScalarBits::fromInt(DType::I32, 3)), refused, {"'n'", "index", "i32"});
  expectError(check(Tensor(), y, three), refused, {"'x'", "null tensor"});
  expectError(check(take(x.transpose({1, 0})), y, three), refused, {"'x'", "[3, 2]"});
  expectError(s.verifyArguments({}, {}), refused, {"takes 2 tensors and 1 scalars"});
}

TEST(KernelRegistry, finds_by_name_and_id) {
  KernelRegistry registry;
  EXPECT_EQ(take(registry.add({"a", nothing, simple("a"), nullptr, 0, {}, -1})), 0);
  EXPECT_EQ(take(registry.add({"b", nothing, std::nullopt, &registry, 64, {"b_aic", "b_aiv"}, 7})),
            7);
  EXPECT_EQ(take(registry.add({"c", nothing, std::nullopt, nullptr, 0, {}, -1})), 2);
  const KernelRecord *b = registry.find(7);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b, registry.find("b"));
  EXPECT_EQ(b->user, &registry);
  EXPECT_EQ(b->workspaceBytes, 64u);
  EXPECT_EQ(b->members.size(), 2u);
  EXPECT_EQ(registry.find("d"), nullptr);
  EXPECT_EQ(registry.find(99), nullptr);
  EXPECT_EQ(registry.records().size(), 3u);
}

TEST(KernelRegistry, RefusesWhatIsWrongAndStaysAsItWas) {
  KernelRegistry registry;
  take(registry.add({"a", nothing, simple("a"), nullptr, 0, {}, 4}));
  using Code = StatusCode;
  expectError(registry.add({"a", nothing, std::nullopt, nullptr, 0, {}, -1}).status(),
              Code::AlreadyExists, {"'a'"});
  expectError(registry.add({"b", nothing, std::nullopt, nullptr, 0, {}, 4}).status(),
              Code::AlreadyExists, {"'b'", "4", "'a'"});
  expectError(registry.add({"b", nullptr, std::nullopt, nullptr, 0, {}, -1}).status(),
              Code::InvalidArgument, {"null"});
  expectError(registry.add({"", nothing, std::nullopt, nullptr, 0, {}, -1}).status(),
              Code::InvalidArgument, {"name"});
  expectError(registry.add({"b", nothing, simple("x"), nullptr, 0, {}, -1}).status(),
              Code::InvalidArgument, {"'b'", "'x'"});
  expectError(registry.add({"b", nothing, std::nullopt, nullptr, 0, {"b"}, -1}).status(),
              Code::InvalidArgument, {"member 'b'"});
  EXPECT_EQ(registry.records().size(), 1u);
  EXPECT_EQ(registry.find("b"), nullptr);
  EXPECT_EQ(take(registry.add({"b", nothing, std::nullopt, nullptr, 0, {}, -1})), 1);
}
