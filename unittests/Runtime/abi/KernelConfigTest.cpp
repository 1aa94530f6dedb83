#include "TestSupport.h"

#include "kiln/runtime/kernel_config.h"

#include <nlohmann/json.hpp>

using namespace kiln;
using namespace kiln::test;

namespace {

KernelConfig config(bool withSignatures) {
  KernelConfig c;
  c.runtime = {{"runtime", std::string("kiln")},
               {"block_dim", int64_t{24}},
               {"profile", false},
               {"signature", std::string("not a list of directions")}};
  c.orchestration = {
      "orchestration/main.cpp", "main",
      Signature{
          "main", "orchestration", {param("x", Direction::In), param("y", Direction::Out)}, {}}};
  c.kernels.push_back(
      {0, "we\"ird\\na\nme\t\x01 \xc3\xa9 '''", "kernels/a b.cpp", "aic", std::nullopt});
  KernelConfigEntry mixed{1, "mixed", "kernels/mixed.cpp", "mix", std::nullopt};
  if (withSignatures)
    mixed.signature = Signature{
        "mixed",
        "mix",
        {param("a", Direction::In), param("b", Direction::Out), param("c", Direction::InOut)},
        {{"n", DType::Index}, {"eps", DType::F32}}};
  if (withSignatures) {
    mixed.signature->tensors[0].isConst = true;
    mixed.signature->tensors[1].box = BlockBox{{{0, {64, 0, 0}, {{0, 2}}, 64}, {}}};
  }
  c.kernels.push_back(mixed);
  return c;
}

// Loads both files, turns enum members into their names, and compares.
const char *compareScript = R"(
import importlib.util, json, sys
def load(path):
    spec = importlib.util.spec_from_file_location("kernel_config", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
def plain(x):
    if isinstance(x, dict): return {k: plain(v) for k, v in x.items()}
    if isinstance(x, list): return [plain(v) for v in x]
    return x if x is None or isinstance(x, (str, int, bool)) else x.name
m = load(sys.argv[1] + "/kernel_config.py")
j = json.load(open(sys.argv[1] + "/kernel_config.json", encoding="utf-8"))
for key in ("RUNTIME_CONFIG", "ORCHESTRATION", "KERNELS"):
    assert plain(getattr(m, key)) == j[key], (key, getattr(m, key), j[key])
assert set(j) == {"RUNTIME_CONFIG", "ORCHESTRATION", "KERNELS"}, list(j)
if hasattr(m, "ArgDirection"):
    assert [d.name for d in m.ArgDirection] == ["IN", "OUT", "INOUT", "SCALAR"]
    d = m.ArgDirection
    assert m.KERNELS[1]["signature"] == [d.IN, d.OUT, d.INOUT]
)";

int compare(const TempDir &dir, const std::string &environment = "") {
  writeText(dir / "compare.py", compareScript);
  return std::system((environment + python() + " " + dir / "compare.py" + " " + dir.str()).c_str());
}

} // namespace

TEST(KernelConfig, BothFilesCarryEqualContents) {
  for (bool withSignatures : {true, false}) {
    TempDir dir;
    EXPECT_OK(writeKernelConfig(config(withSignatures), dir.str()));
    EXPECT_EQ(compare(dir), 0) << readText(dir / "kernel_config.py");
  }
}

TEST(KernelConfig, JsonHasTheValues) {
  auto json = nlohmann::json::parse(take(renderKernelConfigJson(config(true))));
  EXPECT_EQ(json["RUNTIME_CONFIG"]["block_dim"], 24);
  EXPECT_EQ(json["RUNTIME_CONFIG"]["profile"], false);
  EXPECT_EQ(json["ORCHESTRATION"]["source"], "orchestration/main.cpp");
  EXPECT_EQ(json["ORCHESTRATION"]["function_name"], "main");
  EXPECT_EQ(json["ORCHESTRATION"]["signature"], (std::vector<std::string>{"IN", "OUT"}));
  EXPECT_EQ(json["KERNELS"][0]["name"], "we\"ird\\na\nme\t\x01 \xc3\xa9 '''");
  EXPECT_FALSE(json["KERNELS"][0].contains("signature"));
  EXPECT_EQ(json["KERNELS"][1]["func_id"], 1);
  EXPECT_EQ(json["KERNELS"][1]["core_type"], "mix");
  EXPECT_EQ(json["KERNELS"][1]["signature"], (std::vector<std::string>{"IN", "OUT", "INOUT"}));
  EXPECT_EQ(json["KERNELS"][1]["const"], (std::vector<bool>{true, false, false}));
  EXPECT_EQ(json["KERNELS"][1]["boxes"],
            nlohmann::json::parse(R"([null, "[64*b0 + 2*n : 64*b0 + 2*n + 64, :]", null])"));
  EXPECT_EQ(json["KERNELS"][1]["scalars"][1]["name"], "eps");
  EXPECT_EQ(json["KERNELS"][1]["scalars"][0]["type"], "index");
}

TEST(KernelConfig, ArgDirectionIsMentionedOnlyWhenAKernelHasASignature) {
  EXPECT_TRUE(contains(take(renderKernelConfigPython(config(true))), "ArgDirection"));
  EXPECT_FALSE(contains(take(renderKernelConfigPython(config(false))), "ArgDirection"));
  EXPECT_FALSE(contains(take(renderKernelConfigJson(config(false))), "\"IN\""));
  EXPECT_FALSE(contains(take(renderKernelConfigPython(config(true))), "ArgDirection.SCALAR"));
}

TEST(KernelConfig, SimplersOwnArgDirectionIsUsedWhereItExists) {
  TempDir dir;
  EXPECT_OK(writeKernelConfig(config(true), dir.str()));
  std::filesystem::create_directories(dir / "lib/simpler");
  writeText(dir / "lib/simpler/__init__.py", "");
  writeText(dir / "lib/simpler/task_interface.py",
            "import enum\nclass ArgDirection(enum.Enum):\n  IN, OUT, INOUT, SCALAR = 'i', 'o', "
            "'io', 's'\n");
  EXPECT_EQ(compare(dir, "PYTHONPATH=" + dir / "lib "), 0);
  writeText(dir / "which.py",
            "import sys\nsys.path.insert(0, sys.argv[1])\nimport kernel_config as k\n"
            "assert k.ArgDirection.IN.value == 'i'\n");
  EXPECT_EQ(std::system(
                ("PYTHONPATH=" + dir / "lib " + python() + " " + dir / "which.py" + " " + dir.str())
                    .c_str()),
            0);
}

TEST(KernelConfig, BadInputIsRefused) {
  KernelConfig c = config(true);
  c.kernels[1].funcId = 0;
  expectError(renderKernelConfigJson(c).status(), StatusCode::InvalidArgument,
              {"'mixed'", "func_id 0"});
  c = config(true);
  c.kernels[1].name = c.kernels[0].name;
  expectError(renderKernelConfigPython(c).status(), StatusCode::InvalidArgument, {"twice"});
  c = config(true);
  c.runtime.push_back({"runtime", false});
  expectError(c.verify(), StatusCode::InvalidArgument, {"'runtime'", "twice"});
  for (const char *text :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82", "\xf4\x90\x80\x80", "a\x80"}) {
    c = config(true);
    c.kernels[0].source = text;
    expectError(c.verify(), StatusCode::InvalidArgument, {"UTF-8"});
  }
  c = config(true);
  c.kernels[1].signature->tensors[0].extents.clear();
  expectError(c.verify(), StatusCode::InvalidArgument, {"'mixed'", "'a'", "rank 0"});
  EXPECT_FALSE(writeKernelConfig(config(true), "/nonexistent/dir").isOk());
}
