//===- RecordTest.cpp - recording through C gives what C++ gives -----------------------===//
#include "kiln/Language/Program.h"
#include "kiln/record_c.h"

#include "llvm/Support/JSON.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {

kiln_item integer(int64_t number) { return {KILN_ITEM_INTEGER, 0, {.integer = number}}; }
kiln_item text(const char *said) { return {KILN_ITEM_TEXT, 0, {.text = said}}; }
kiln_item value(int64_t number) { return {KILN_ITEM_VALUE, 0, {.value = uint64_t(number)}}; }
kiln_item list(const std::vector<kiln_item> &items) {
  return {KILN_ITEM_LIST, uint32_t(items.size()), {.list = items.data()}};
}
const kiln_item nothing{KILN_ITEM_NOTHING, 0, {.integer = 0}};

class Record : public ::testing::Test {
protected:
  void SetUp() override {
    recorder = kiln_recorder_create("copy", KILN_RECORDER_NESTS_FUNCTIONS, {"copy.py", 1, 1});
  }
  void TearDown() override { kiln_recorder_destroy(recorder); }

  std::vector<kiln_result> record(const char *operation, const std::vector<kiln_item> &arguments) {
    std::vector<kiln_result> results(8);
    int32_t count = kiln_record(recorder, operation, arguments.data(), uint32_t(arguments.size()),
                                {"copy.py", ++line, 5}, results.data(), uint32_t(results.size()));
    results.resize(size_t(std::max(count, 0)));
    return results;
  }
  /// What is wrong with the operation that was recorded last.
  std::string mistake() {
    kiln_where where;
    std::string message = kiln_recorder_error(recorder, 0, &where);
    if (!message.empty()) {
      EXPECT_STREQ(where.file, "copy.py");
      EXPECT_EQ(where.line, line);
    }
    return message;
  }
  /// main(x, y), both f32 of rank 2.
  std::vector<kiln_result> beginMain() {
    std::vector<kiln_item> none, x{text("x"), text("in"), text("f32"), integer(2), list(none)},
        y{text("y"), text("out"), text("f32"), integer(2), list(none)}, params{list(x), list(y)};
    return record("function.begin", {text("orchestration"), text("main"), list(params)});
  }

  kiln_recorder *recorder = nullptr;
  uint32_t line = 0;
};

TEST_F(Record, RecordsWhatCppRecords) {
  Program program("copy");
  program.orchestration("main", {"x", "y"}, [](In<f32> x, Out<f32> y) {
    spmd("copy", {ceildiv(x.dim(0), 16)}, [&](Index b) {
      Index i = b * 16;
      loop(0, x.dim(1), 64, [&](Index j) { store(exp(load(x, {i, j}, {16, 64})), y, {i, j}); });
    });
  });

  auto tensors = beginMain();
  ASSERT_EQ(tensors.size(), 2u);
  kiln_item x = value(tensors[0].number), y = value(tensors[1].number);
  auto rows = record("dim", {x, integer(0)});
  auto blocks = record("index.ceildiv", {value(rows[0].number), integer(16)});
  std::vector<kiln_item> grid{value(blocks[0].number)};
  auto block = record("spmd.begin", {text("copy"), list(grid)});
  ASSERT_EQ(block.size(), 2u); // the block's index, and the task
  EXPECT_EQ(block[1].kind, KILN_VALUE_TASK);
  auto i = record("index.mul", {value(block[0].number), integer(16)});
  auto cols = record("dim", {x, integer(1)});
  auto j = record("loop.begin", {integer(0), value(cols[0].number), integer(64)});
  std::vector<kiln_item> at{value(i[0].number), value(j[0].number)},
      shape{integer(16), integer(64)};
  auto tile = record("load", {x, list(at), list(shape)});
  ASSERT_EQ(tile.size(), 1u);
  EXPECT_EQ(tile[0].kind, KILN_VALUE_TILE);
  EXPECT_EQ(tile[0].rows, 16);
  EXPECT_EQ(tile[0].cols, 64);
  auto result = record("exp", {value(tile[0].number)});
  record("store", {value(result[0].number), y, list(at)});
  record("loop.end", {});
  record("spmd.end", {});
  record("function.end", {});
  EXPECT_EQ(kiln_recorder_verify(recorder), 0) << mistake();
  EXPECT_EQ(std::string(kiln_recorder_text(recorder, 0)), program.str());
  EXPECT_NE(std::string(kiln_recorder_text(recorder, 1)).find("\"copy.py\":"), std::string::npos);
}

TEST_F(Record, AKernelInsideTheFunctionThatLaunchesIt) {
  auto tensors = beginMain();
  std::vector<kiln_item> none, a{text("a"), text("inout"), text("f32"), integer(2), list(none)},
      params{list(a)};
  record("function.begin", {text("incore"), text("inner"), list(params)});
  record("function.end", {});
  std::vector<kiln_item> arguments{value(tensors[1].number)};
  auto task = record("submit", {text("inner"), list(arguments)});
  record("function.end", {});
  ASSERT_EQ(task.size(), 1u) << mistake();
  std::string made = kiln_recorder_text(recorder, 0);
  EXPECT_LT(made.find("@inner"), made.find("@main"));
}

TEST_F(Record, KnowsConstantsOfIndices) {
  beginMain();
  auto seven = record("index.add", {integer(3), integer(4)});
  ASSERT_EQ(seven.size(), 1u);
  EXPECT_EQ(seven[0].kind, KILN_VALUE_CONSTANT);
  EXPECT_EQ(seven[0].number, 7);
}

TEST_F(Record, TellsWhatIsWrongWithArguments) {
  auto tensors = beginMain();
  record("dim", {value(tensors[0].number), value(tensors[1].number)});
  EXPECT_EQ(mistake(),
            "dim takes an integer that is known while the program is made, not a tensor");
}

TEST_F(Record, RefusesWhatItDoesNotKnow) {
  record("fly", {});
  EXPECT_EQ(mistake(), "there is no operation 'fly'");
}

TEST_F(Record, RefusesNumbersThatAreNoValues) {
  beginMain();
  record("dim", {value(999), integer(0)});
  EXPECT_EQ(mistake(), "dim takes values of this program; 999 is none");
}

TEST_F(Record, WantsWhatHasNoDefault) {
  beginMain();
  record("dim", {nothing, integer(0)});
  EXPECT_EQ(mistake(), "dim needs 'tensor'");
}

TEST_F(Record, EndsWhatWasBegunLast) {
  beginMain();
  record("loop.end", {});
  EXPECT_EQ(mistake(), "loop.end ends loop, which is not what was begun last");
}

TEST_F(Record, RefusesWhatIsNull) {
  EXPECT_EQ(kiln_record(nullptr, "lane", nullptr, 0, {}, nullptr, 0), -1);
  EXPECT_EQ(kiln_recorder_verify(nullptr), -1);
  EXPECT_STREQ(kiln_recorder_text(nullptr, 0), "");
  EXPECT_STREQ(kiln_recorder_error(nullptr, 0, nullptr), "the recorder is NULL");
  EXPECT_EQ(kiln_record(recorder, nullptr, nullptr, 0, {}, nullptr, 0), -1);
  EXPECT_STREQ(kiln_recorder_error(recorder, 0, nullptr), "the operation is NULL");
}

TEST_F(Record, RefusesArgumentsThatAreNull) {
  EXPECT_EQ(kiln_record(recorder, "dim", nullptr, 2, {}, nullptr, 0), -1);
  EXPECT_STREQ(kiln_recorder_error(recorder, 0, nullptr), "the list of arguments is NULL");
}

TEST_F(Record, RefusesATextThatIsNull) {
  record("function.begin", {text("orchestration"), text(nullptr)});
  EXPECT_EQ(mistake(), "function.begin takes a text, not a text that is NULL");
}

TEST_F(Record, RefusesAListThatIsNull) {
  record("function.begin",
         {text("orchestration"), text("main"), kiln_item{KILN_ITEM_LIST, 3, {.list = nullptr}}});
  EXPECT_EQ(mistake(), "function.begin takes a list, not NULL");
}

TEST_F(Record, StopsAtTheFirstMistake) {
  record("fly", {});
  std::string first = kiln_recorder_error(recorder, 0, nullptr);
  record("lane", {});
  EXPECT_EQ(kiln_recorder_error(recorder, 0, nullptr), first);
  EXPECT_EQ(kiln_recorder_verify(recorder), -1);
}

TEST_F(Record, FrontEndMistakesHaveTheForeignLine) {
  auto tensors = beginMain();
  std::vector<kiln_item> at{integer(0), integer(0)}, shape{integer(16), integer(64)};
  record("load", {value(tensors[0].number), list(at), list(shape)});
  EXPECT_NE(mistake(), "");
}

TEST(RecordList, EveryOperationSaysWhatItIs) {
  llvm::Expected<llvm::json::Value> operations = llvm::json::parse(kiln_recorder_operations());
  ASSERT_TRUE(bool(operations));
  EXPECT_GT(operations->getAsArray()->size(), 100u);
  std::set<std::string> names;
  for (const llvm::json::Value &each : *operations->getAsArray()) {
    const llvm::json::Object &operation = *each.getAsObject();
    EXPECT_TRUE(names.insert(operation.getString("name")->str()).second);
    EXPECT_FALSE(operation.getString("summary")->empty());
  }
}

} // namespace
