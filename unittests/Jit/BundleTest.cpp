#include "kiln/runtime/bundle.h"
#include "CBackend.h"
#include "bundle/ManifestText.h"

#include <nlohmann/json.hpp>

#include <random>
#include <sys/wait.h>

using namespace kiln;
using namespace kiln::test;

namespace {

/// A bundle of a matmul in C.
struct BundleTest : testing::Test {
  TempDir dir;
  BundleManifest manifest;
  std::map<std::string, std::string> files;

  void SetUp() override {
    CBackend backend(matmulKernel());
    std::vector<TensorFacts> facts(3);
    for (TensorFacts &fact : facts)
      fact.rank = 2;
    static const Artifact artifact = take(backend.compile(facts));
    manifest = {"test",      "cpu",      "matmul", "generic +sse2",
                "toolchain", {"matmul"}, {},       artifact.info};
    files = {{"program.mlir", "module {}\n"},
             {"kernel_config.json", "{}\n"},
             {"kernels/matmul.ll", "; for people\n"},
             {bundleCodePath, artifact.object}};
    write();
  }
  void write() {
    std::filesystem::remove_all(dir / "b");
    EXPECT_OK(writeBundle(dir / "b", manifest, files));
  }
  void expectRefused(std::initializer_list<const char *> words, int line = __builtin_LINE()) {
    Expected<Bundle> bundle = Bundle::open(dir / "b");
    Status status = bundle ? bundle->load().status() : bundle.status();
    EXPECT_FALSE(status.isOk()) << "line " << line;
    for (const char *word : words)
      EXPECT_TRUE(contains(status.message(), word))
          << "line " << line << ": '" << word << "' not in: " << status.str();
  }
};

TEST_F(BundleTest, Runs) {
  auto program = take(take(Bundle::open(dir / "b")).load());
  Tensor a = randomTensor({5, 8}, 1), b = randomTensor({8, 3}, 2),
         c = take(Tensor::empty(DType::F32, {5, 3}));
  EXPECT_OK(c.fillPoison());
  EXPECT_OK(program->run(std::vector{a, b, c}, {}));
  EXPECT_TRUE(isProduct(a, b, c));
  expectError(program->run(std::vector{a, b}, {}), StatusCode::InvalidArgument,
              {"takes 3 tensors"});
  expectError(program->run(std::vector{a, b, take(c.reshape({15}))}, {}),
              StatusCode::InvalidArgument, {"'c'", "f32[15]"});
  expectError(program->run(std::vector{a, b, c.asReadOnly()}, {}), StatusCode::InvalidArgument,
              {"'c'", "read-only"});
}

TEST_F(BundleTest, EachFileMissingOrAlteredIsNamed) {
  std::vector<std::string> names{"bundle.json"};
  for (const auto &[name, bytes] : files)
    names.push_back(name);
  for (const std::string &name : names) {
    std::string path = dir / "b/" + name, good = readText(path);
    std::filesystem::remove(path);
    expectRefused({path.c_str(), "missing"});
    for (size_t at : {size_t(0), good.size() / 2, good.size() - 1}) {
      std::string bytes = good;
      bytes[at] ^= 1;
      writeText(path, bytes);
      expectRefused({path.c_str()});
    }
    writeText(path, good.substr(0, good.size() - 1));
    expectRefused({path.c_str()});
    writeText(path, good + "\n");
    expectRefused({path.c_str()});
    writeText(path, "");
    expectRefused({path.c_str()});
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    expectRefused({path.c_str()});
    std::filesystem::remove(path);
    writeText(path, good);
    EXPECT_TRUE(Bundle::open(dir / "b"));
  }
}

TEST_F(BundleTest, EveryByteOfTheManifestCounts) {
  std::string path = dir / "b/bundle.json", good = readText(path);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] ^= 1;
    writeText(path, bytes);
    EXPECT_FALSE(Bundle::open(dir / "b")) << "byte " << at;
  }
}

TEST_F(BundleTest, ManifestNestedWithoutEnd) {
  std::string brackets(1 << 20, '[');
  for (const std::string &text :
       {brackets, "{\"format\":3,\"x\":" + brackets + "}",
        "{\"format\":3,\"x\":" + brackets + std::string(1 << 20, ']') + "}"}) {
    writeText(dir / "b/bundle.json", text);
    expectRefused({"bundle.json"});
  }
}

TEST_F(BundleTest, ForeignMachine) {
  manifest.arch = "future-cpu +sse2,+avx1024,-sse4a";
  write();
  expectRefused({bundleCodePath, "future-cpu", "lacks avx1024"});
  manifest.arch = "generic +sse2";
  files[bundleCodePath][18] = char(183); // e_machine: AArch64
  write();
  expectRefused({bundleCodePath, "another kind of CPU"});
  files[bundleCodePath] = "no object at all";
  write();
  expectRefused({bundleCodePath, "not a shared object"});
}

/// Bundles that somebody made up, with all checksums right: each is refused, and none of them
/// brings the process down. One that the code was not built for is refused whatever it says.
TEST_F(BundleTest, ForgedDescriptions) {
  std::string path = dir / "b/bundle.json", good = readText(path);
  EXPECT_TRUE(take(Bundle::open(dir / "b")).load());
  nlohmann::ordered_json root = nlohmann::ordered_json::parse(good);
  int forged = 0;
  auto refuse = [&](const nlohmann::ordered_json &json) {
    writeText(path, manifestText(json));
    Expected<Bundle> bundle = Bundle::open(dir / "b");
    EXPECT_FALSE(bundle && bundle->load()) << json.dump(2);
    ++forged;
  };
  // Each value of the description in turn, and each of them left out.
  std::function<void(nlohmann::ordered_json &)> visit = [&](nlohmann::ordered_json &value) {
    const nlohmann::ordered_json kept = value;
    for (const char *other : {"0", "1", "-1", "4611686018427387904", "18446744073709551615", "null",
                              "true", "[]", "{}", "\"other\"", "\"\"", "[0]", "\"inout\""}) {
      value = nlohmann::ordered_json::parse(other);
      if (value != kept && !(value.is_boolean() && kept.is_boolean() && value == kept))
        refuse(root);
    }
    value = kept;
    if (value.is_structured())
      for (auto &item : value)
        visit(item);
    if (!value.is_object())
      return;
    for (const auto &[name, item] : kept.items())
      if (name != "box") { // which may be left out
        value.erase(name);
        refuse(root);
        value = kept;
      }
  };
  visit(root["native"]);
  for (const char *name : {"entry", "kernels", "abi_version", "format", "files"}) {
    nlohmann::ordered_json kept = root[name];
    root[name] = "other";
    refuse(root);
    root[name] = kept;
  }
  for (const char *name : {"platform", "arch"})
    for (const nlohmann::ordered_json &other : {nlohmann::ordered_json(""), {}, {5}}) {
      nlohmann::ordered_json kept = root[name];
      root[name] = other;
      refuse(root);
      root[name] = kept;
    }
  for (const char *arch : {" +avx2", "generic avx2", "generic +avx2 +fma", "generic +"}) {
    nlohmann::ordered_json kept = root["arch"];
    root["arch"] = arch;
    refuse(root);
    root["arch"] = kept;
  }
  EXPECT_GT(forged, 300);
  writeText(path, good);
  EXPECT_TRUE(take(Bundle::open(dir / "b")).load());
}

/// Whether the dynamic linker takes or refuses these bytes, in a process of its own.
bool survivesLoading(const std::string &bytes) {
  pid_t child = fork();
  if (child == 0) {
    (void)SharedObject::fromBytes(bytes, "forged");
    _exit(0);
  }
  int state = 0;
  waitpid(child, &state, 0);
  return WIFEXITED(state);
}

/// Code that somebody made up: headers and tables of the object changed, and signed again.
TEST_F(BundleTest, ForgedObjects) {
  const std::string good = files[bundleCodePath];
  EXPECT_OK(verifyElf(good));
  std::mt19937_64 random(1);
  int refused = 0, crashed = 0;
  for (int round = 0; round < 800; ++round) {
    std::string bytes = good;
    size_t table = round % 2 ? 64 + 56 * 12 : bytes.size(); // header and segments, or anywhere
    for (int edits = 1 + int(random() % 3); edits > 0; --edits) {
      size_t at = random() % std::min(table, bytes.size());
      uint64_t value = random() % 3 ? random() : uint64_t(1) << random() % 64;
      size_t size = size_t(1) << random() % 4;
      std::memcpy(bytes.data() + at, &value, std::min(size, bytes.size() - at));
    }
    if (random() % 8 == 0)
      bytes.resize(random() % bytes.size());
    if (verifyElf(bytes).isOk())
      crashed += !survivesLoading(bytes);
    else
      ++refused;
  }
  EXPECT_EQ(crashed, 0);
  EXPECT_GT(refused, 300);
  for (size_t size = 0; size < good.size() / 2; size += 1 + size / 8)
    EXPECT_FALSE(verifyElf(good.substr(0, size)).isOk()) << size;
}

TEST_F(BundleTest, CodeThatCrashesIsReported) {
  CKernel kernel = matmulKernel();
  kernel.body = "*(volatile int *)8 = 1;";
  CBackend backend(kernel);
  std::vector<TensorFacts> facts(3);
  for (TensorFacts &fact : facts)
    fact.rank = 2;
  Artifact artifact = take(backend.compile(facts));
  manifest.native = artifact.info;
  files[bundleCodePath] = artifact.object;
  write();
  std::string bundle = dir / "b";
  const char *argv[] = {"exec",  bundle.c_str(), "--arg", "a=4x4",
                        "--arg", "b=4x4",        "--arg", "c=4x4"};
  EXPECT_EXIT(std::exit(execCommand(std::size(argv), argv)), testing::ExitedWithCode(1),
              "the code of the bundle in .* crashed");
}

/// A bundle whose output has a name that somebody made up.
class OutputNames : public BundleTest {
protected:
  void nameOutput(const std::string &name) {
    CKernel kernel = matmulKernel();
    kernel.signature.tensors[2].name = name;
    CBackend backend(kernel);
    std::vector<TensorFacts> facts(3);
    for (TensorFacts &fact : facts)
      fact.rank = 2;
    Artifact artifact = take(backend.compile(facts));
    manifest.native = artifact.info;
    files[bundleCodePath] = artifact.object;
    write();
    output = name + "=4x4";
  }
  int execute(const char *flag) {
    std::vector<const char *> argv = {"exec",  bundle.c_str(), "--arg", "a=4x4",
                                      "--arg", "b=4x4",        "--arg", output.c_str(),
                                      flag,    saved.c_str()};
    return execCommand(int(argv.size()), argv.data());
  }
  std::string bundle = dir / "b", saved = dir / "deep/er/saved", output;
};

TEST_F(OutputNames, APathIsRefused) {
  nameOutput("../../c");
  testing::internal::CaptureStderr();
  EXPECT_EQ(execute("--save"), 2);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("'../../c' has a path for a name"),
            std::string::npos);
  EXPECT_EQ(execute("--expect"), 2);
  EXPECT_FALSE(std::filesystem::exists(dir / "deep")) << "nothing was made, here or elsewhere";
}

TEST_F(OutputNames, OddCharactersAreReplaced) {
  nameOutput("..c d");
  EXPECT_EQ(execute("--save"), 0);
  EXPECT_TRUE(std::filesystem::exists(saved + "/__c_d.npy"));
  EXPECT_EQ(execute("--expect"), 0) << "and is found again";
}

TEST_F(BundleTest, SymbolThatIsNotThere) {
  manifest.native->entry.symbol = "elsewhere";
  write();
  expectRefused({bundleCodePath, "not built for the description"});
}

TEST_F(BundleTest, BundleWithoutCode) {
  manifest.platform = "a2a3sim";
  manifest.native.reset();
  files.erase(bundleCodePath);
  write();
  expectRefused({"a2a3sim", "no code"});
}

TEST_F(BundleTest, FilesOutsideTheFolder) {
  writeText(dir / "secret", "x");
  for (const char *name : {"../secret", "kernels/../../secret", "./x"}) {
    std::map<std::string, std::string> outside = files;
    outside[name] = "x";
    std::filesystem::remove_all(dir / "b");
    std::filesystem::create_directories(dir / "b/kernels");
    EXPECT_OK(writeBundle(dir / "b", manifest, outside));
    expectRefused({"outside the bundle", name});
  }
}

TEST_F(BundleTest, HalfWrittenIsNoBundle) {
  files["program.mlir/impossible"] = "a file is in the way";
  EXPECT_FALSE(writeBundle(dir / "b", manifest, files).isOk());
  expectRefused({"bundle.json", "not a bundle"});
}

TEST(NativeInfo, DescriptionSurvivesText) {
  NativeInfo info;
  info.kind = NativeInfo::Kind::Orchestration;
  Signature signature{"main", "orchestration", {}, {{"n", DType::Index}, {"s", DType::BF16}}};
  signature.tensors = {TensorParam::dynamic("x", DType::I8, 3, Direction::InOut)};
  signature.tensors[0].extents[1] = 7;
  signature.tensors[0].box = BlockBox{{{-3, {1, 0, -16}, {{0, 5}}, 8}, {}, {0, {}, {}, 64}}};
  info.entry = {"main", "kiln.main", 0, signature};
  info.parameters = {{false, 0}, {true, 0}, {false, 1}};
  info.kernels = {{"k", "kiln.k", 4096, signature}, {"bare", "kiln.bare", 0, std::nullopt}};
  info.kernels[1].blocksPerCall = {1, 8, 1};
  NativeInfo back = take(parseNativeInfo(toJson(info)));
  EXPECT_EQ(toJson(back), toJson(info));
  EXPECT_EQ(back.parameters, info.parameters);
  EXPECT_EQ(back.kernels[0].signature->tensors[0].extents, signature.tensors[0].extents);
  EXPECT_EQ(back.kernels[0].signature->tensors[0].box, signature.tensors[0].box);
  EXPECT_EQ(back.kernels[0].blocksPerCall, info.kernels[0].blocksPerCall);
  EXPECT_EQ(back.kernels[1].blocksPerCall, info.kernels[1].blocksPerCall);
  info.kernels[1].blocksPerCall = {1, 0, 1};
  EXPECT_FALSE(parseNativeInfo(toJson(info)));
}

TEST(NativeInfo, DamagedDescriptionsAreRefusedOrHarmless) {
  NativeInfo info;
  Signature signature{"k", "cpu", {TensorParam::dynamic("x", DType::F32, 2, Direction::In)}, {}};
  signature.tensors[0].box = BlockBox{{{0, {16, 0, 0}, {}, 16}, {}}};
  info.entry = {"k", "kiln.k", 64, signature};
  info.parameters = {{true, 0}};
  std::string good = toJson(info);
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int edits = 1 + int(random() % 3); edits > 0; --edits) {
      size_t at = random() % text.size();
      switch (random() % 3) {
      case 0:
        text[at] = "{}[]\",:0-9nulltrue"[random() % 18];
        break;
      case 1:
        text.erase(at, 1 + random() % 8);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
      if (text.empty())
        text = "{";
    }
    Expected<NativeInfo> parsed = parseNativeInfo(text);
    if (parsed)
      EXPECT_OK(parsed->verify());
    refused += !parsed;
  }
  EXPECT_GT(refused, 1000);
  for (const char *text : {"", "null", "[]", "{}", "{\"kind\":1}"})
    EXPECT_FALSE(parseNativeInfo(text)) << text;
}

} // namespace
