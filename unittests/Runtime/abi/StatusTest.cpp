#include "TestSupport.h"

using namespace kiln;

TEST(Status, OkIsOk) {
  EXPECT_TRUE(Status().isOk());
  EXPECT_EQ(Status::ok().str(), "ok");
  EXPECT_EQ(Status::ok().withPrefix("x").str(), "ok");
  EXPECT_EQ(Status::ok().message(), "");
}

TEST(Status, ErrorPrintsLocationAsCompilersDo) {
  Status error(StatusCode::InvalidArgument, "too big", {"a.mlir", 3, 7});
  EXPECT_FALSE(error.isOk());
  EXPECT_EQ(error.str(), "a.mlir:3:7: error: too big");
  EXPECT_EQ(Status(StatusCode::IoError, "m", {"f", 2, 0}).str(), "f:2: error: m");
  EXPECT_EQ(Status(StatusCode::IoError, "m").str(), "error: m");
  EXPECT_EQ(error.withPrefix("kernel 'k'").str(), "a.mlir:3:7: error: kernel 'k': too big");
  EXPECT_EQ(error.withPrefix("p").code(), StatusCode::InvalidArgument);
}

TEST(Status, NothingSteersATerminal) {
  Status bad(StatusCode::InvalidArgument, std::string("a\x1b[31m\0b\x7f\tc\n\xc3\xa9", 14));
  EXPECT_EQ(bad.str(), "error: a\\x1b[31m\\x00b\\x7f\tc\n\xc3\xa9");
}

TEST(Status, FirstLocationWins) {
  Status error(StatusCode::InvalidArgument, "m");
  EXPECT_EQ(error.withLocation({"a", 1, 0}).withLocation({"b", 2, 0}).str(), "a:1: error: m");
}

TEST(Status, ExpectedHoldsValueOrError) {
  Expected<int> value = 7, error = Status(StatusCode::NotFound, "gone");
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 7);
  EXPECT_TRUE(value.status().isOk());
  ASSERT_FALSE(error);
  EXPECT_EQ(error.status().message(), "gone");
  Expected<std::unique_ptr<int>> moveOnly = std::make_unique<int>(3);
  std::unique_ptr<int> taken = std::move(*moveOnly);
  EXPECT_EQ(*taken, 3);
}
