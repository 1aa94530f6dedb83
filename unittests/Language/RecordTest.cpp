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
            "dim: 'axis' takes an integer that is known while the program is made, not a tensor");
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
  EXPECT_EQ(mistake(), "function.begin: 'name' takes a text, not a text that is NULL");
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

TEST_F(Record, WithoutAProgramIndicesThatAreKnownAreComputed) {
  kiln_item two[] = {integer(3), integer(4)};
  kiln_result sum;
  ASSERT_EQ(kiln_record(nullptr, "index.add", two, 2, {}, &sum, 1), 1);
  EXPECT_EQ(sum.kind, KILN_VALUE_CONSTANT);
  EXPECT_EQ(sum.number, 7);
  kiln_item zero[] = {integer(3), integer(0)}; // what a division by 0 is, only a program knows
  EXPECT_EQ(kiln_record(nullptr, "index.div", zero, 2, {}, &sum, 1), -1);
  EXPECT_EQ(kiln_record(nullptr, "function.begin", two, 2, {}, nullptr, 0), -1);
}

TEST_F(Record, RefusesValuesOfAnotherProgram) {
  int64_t others = beginMain()[0].number;
  kiln_recorder *first = std::exchange(
      recorder, kiln_recorder_create("copy", KILN_RECORDER_NESTS_FUNCTIONS, {"copy.py", 1, 1}));
  beginMain();
  record("dim", {value(others), integer(0)});
  EXPECT_EQ(mistake(), "dim takes values of this program, and one belongs to another");
  kiln_recorder_destroy(first);
}

TEST_F(Record, ResultsCanBeReadLater) {
  beginMain();
  kiln_item one = integer(1);
  kiln_item grid{KILN_ITEM_LIST, 1, {.list = &one}}, arguments[] = {text("k"), grid, nothing};
  ASSERT_EQ(kiln_record(recorder, "spmd.begin", arguments, 3, {"copy.py", 9, 1}, nullptr, 0), 2);
  const kiln_result *results = kiln_recorder_results(recorder);
  EXPECT_EQ(results[0].kind, KILN_VALUE_INDEX);
  EXPECT_EQ(results[1].kind, KILN_VALUE_TASK);
}

/// The recorder of a language in which one run shows all mistakes.
class RecordOn : public Record {
protected:
  void SetUp() override {
    recorder = kiln_recorder_create("copy", KILN_RECORDER_GOES_ON, {"copy.py", 1, 1});
  }
  std::string mistakeAt(uint32_t index) { return kiln_recorder_error(recorder, index, nullptr); }
};

TEST_F(RecordOn, AMistakeMakesAValueOfTheSameShape) {
  auto tensors = beginMain();
  std::vector<kiln_item> grid{integer(1)}, at{integer(0)}, shape{integer(16), integer(64)};
  record("spmd.begin", {text("k"), list(grid)});
  auto bad = record("load", {value(tensors[0].number), list(at), list(shape)});
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad[0].kind, KILN_VALUE_TILE);
  EXPECT_EQ(bad[0].rows, 16);
  EXPECT_EQ(bad[0].cols, 64);
  EXPECT_EQ(record("exp", {value(bad[0].number)}).size(), 1u); // nothing new is wrong here
  record("lane", {integer(1)});
  EXPECT_EQ(mistakeAt(0), "a tensor of rank 2 takes one index per axis, not 1");
  EXPECT_EQ(mistakeAt(1), "lane takes 0 arguments, not 1");
  EXPECT_EQ(mistakeAt(2), "");
}

TEST_F(RecordOn, WhatTakesWhatWasNotMadeIsNotRecorded) {
  auto tensors = beginMain();
  kiln_result result;
  std::vector<kiln_item> dim{value(0), integer(0)};
  EXPECT_EQ(kiln_record(recorder, "dim", dim.data(), 2, {}, &result, 1), -1);
  // But what was begun ends.
  auto index = record("loop.begin", {integer(0), integer(4), integer(1), nothing});
  ASSERT_EQ(index.size(), 1u);
  record("loop.end", {});
  std::vector<kiln_item> carried{integer(5)}, next{value(0)};
  ASSERT_EQ(record("loop.begin", {integer(0), integer(4), integer(1), list(carried)}).size(), 2u);
  EXPECT_EQ(record("loop.end", {list(next)}).size(), 1u);
  auto holds = record("index.lt", {integer(1), integer(2)});
  record("if.begin", {value(holds[0].number)});
  record("if.else", {list(next)});
  EXPECT_EQ(record("if.end", {list(carried)}).size(), 0u);
  record("function.end", {});
  EXPECT_EQ(kiln_recorder_verify(recorder), 0) << mistakeAt(0);
}

TEST_F(RecordOn, AFunctionDoesNotNest) {
  beginMain();
  record("function.begin", {text("incore"), text("inner")});
  EXPECT_EQ(mistakeAt(0),
            "function 'inner': a function cannot be defined inside another; define it "
            "in the program before");
}

TEST_F(RecordOn, AnAbandonedFunctionIsEmpty) {
  beginMain();
  record("loop.begin", {integer(0), integer(4), integer(1)});
  record("function.abandon", {text("no such shape")});
  record("function.end", {});
  EXPECT_EQ(mistakeAt(0), "function 'main': its body threw an exception while it was recorded: no "
                          "such shape");
  EXPECT_EQ(std::string(kiln_recorder_text(recorder, 0)).find("scf.for"), std::string::npos);
  record("function.abandon", {text("again")});
  EXPECT_EQ(mistakeAt(1), "function.abandon abandons a function, and none was begun");
}

TEST_F(RecordOn, NamesAndTypesOfParametersAreCounted) {
  std::vector<kiln_item> none, x{text("x"), text("in"), text("f32"), integer(2), list(none)},
      alone{nothing, text("in"), text("f32"), integer(2), list(none)}, params{list(x), list(alone)};
  record("function.begin", {text("incore"), text("k"), list(params)});
  EXPECT_EQ(mistakeAt(0), "function 'k': has 1 parameter names for 2 parameters");
}

TEST(RecordConfig, DrawsAndRefuses) {
  kiln_config *config = kiln_config_create(nullptr);
  kiln_config_set(config, "BM", "128");
  kiln_config_set(config, "mode", "odd");
  const int64_t sizes[] = {64, 128};
  const char *const words[] = {"fast", "slow"};
  EXPECT_EQ(kiln_config_param(config, "BM", sizes, 2, 64), 128);
  EXPECT_EQ(kiln_config_range(config, "slots", 1, 8, 2), 2);
  EXPECT_STREQ(kiln_config_choice(config, "mode", words, 2, "slow"), "slow");
  const char *value = nullptr;
  EXPECT_STREQ(kiln_config_declared(config, 0, &value), "BM");
  EXPECT_STREQ(value, "128");
  EXPECT_STREQ(kiln_config_declared_choice(config, 1, 0), "1..8");
  EXPECT_EQ(kiln_config_declared_choice(config, 1, 1), nullptr);
  EXPECT_EQ(kiln_config_declared(config, 3, nullptr), nullptr);
  kiln_config *copy = kiln_config_create(config);
  kiln_config_destroy(config);
  EXPECT_STREQ(kiln_config_error(copy, 0), "--mode odd does not fit; it is one of fast, slow");
  EXPECT_EQ(kiln_config_error(copy, 1), nullptr);
  kiln_config_destroy(copy);
}

TEST(RecordConfig, NullIsNoConfigAndHasNoChoices) {
  kiln_config_set(nullptr, "BM", "128");
  EXPECT_EQ(kiln_config_param(nullptr, nullptr, nullptr, 2, 64), 64);
  EXPECT_EQ(kiln_config_range(nullptr, nullptr, 1, 8, 2), 2);
  EXPECT_STREQ(kiln_config_choice(nullptr, nullptr, nullptr, 2, nullptr), "");
  EXPECT_EQ(kiln_config_declared(nullptr, 0, nullptr), nullptr);
  EXPECT_EQ(kiln_config_declared_choice(nullptr, 0, 0), nullptr);
  EXPECT_EQ(kiln_config_error(nullptr, 0), nullptr);
  kiln_config *config = kiln_config_create(nullptr);
  EXPECT_EQ(kiln_config_param(config, nullptr, nullptr, 2, 64), 64);
  EXPECT_STREQ(kiln_config_choice(config, "mode", nullptr, 2, "slow"), "slow");
  kiln_config_destroy(config);
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
