#include "TestSupport.h"

#include "kiln/runtime/npy.h"

using namespace kiln;
using namespace kiln::test;

namespace {

/// A .npy file with this dict, and this many payload bytes.
std::string npy(const std::string &dict, size_t payload, char major = 1) {
  std::string text = "\x93NUMPY";
  text += major;
  text += '\0';
  text += static_cast<char>(dict.size() & 255);
  text += static_cast<char>(dict.size() >> 8);
  if (major > 1)
    text += std::string(2, '\0');
  return text + dict + std::string(payload, '\1');
}

Expected<Tensor> parse(const std::string &text) {
  return parseNpy(std::as_bytes(std::span(text)), "x.npy");
}

} // namespace

TEST(Npy, EveryTypeSurvivesARoundTrip) {
  TempDir dir;
  for (const DTypeInfo &row : dtypeTable) {
    if (!row.isElement)
      continue;
    Tensor t = tensorOf(row.type, {3, 2}, {0, 1, 1, 0, 0, 1});
    if (row.type != DType::I1)
      EXPECT_OK(t.set({0, 0}, -2));
    std::string path = dir / (std::string(row.name) + ".npy");
    EXPECT_OK(writeNpy(path, t));
    Tensor back = take(readNpy(path));
    EXPECT_EQ(back.dtype(), row.npyWidened ? DType::F32 : row.type);
    EXPECT_EQ(toString(back.extents()), "[3, 2]");
    EXPECT_EQ(valuesOf(back), valuesOf(t)) << row.name;
    EXPECT_EQ(take(take(back.castTo(row.type)).gatherBytes()), take(t.gatherBytes())) << row.name;
    EXPECT_FALSE(std::filesystem::exists(path + ".tmp" + std::to_string(getpid())));
  }
}

TEST(Npy, HeaderIsWhatNumpyExpects) {
  std::string header = take(npyHeader(DType::F16, {3}));
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(header.back(), '\n');
  EXPECT_EQ(static_cast<unsigned char>(header[8]) + 256u * static_cast<unsigned char>(header[9]),
            header.size() - 10);
  EXPECT_TRUE(contains(header, "{'descr': '<f2', 'fortran_order': False, 'shape': (3, ), }"));
  TempDir dir;
  EXPECT_OK(writeNpy(dir / "x.npy", take(zeros(DType::F32, {4, 6}).transpose({1, 0}))));
  // Python's own parser must accept the header, and the size must match.
  std::string script =
      "import "
      "ast,sys\nb=open(sys.argv[1],'rb').read()\nn=b[8]+256*b[9]\nd=ast.literal_eval(b[10:10+n]"
      ".decode())\nassert d=={'descr':'<f4','fortran_order':False,'shape':(6,4)},d\n"
      "assert len(b)==10+n+96,len(b)\n";
  writeText(dir / "check.py", script);
  EXPECT_EQ(std::system((python() + " " + dir / "check.py" + " " + dir / "x.npy").c_str()), 0);
}

TEST(Npy, StridedTensorsAreGathered) {
  TempDir dir;
  Tensor t = tensorOf(DType::I64, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_OK(writeNpy(dir / "t.npy", take(t.transpose({1, 0}))));
  EXPECT_EQ(valuesOf(take(readNpy(dir / "t.npy"))), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(Npy, ReadsWhatOthersWrite) {
  EXPECT_EQ(
      take(parse(npy("{'descr': '<i1', 'fortran_order': False, 'shape': (2,)}\n", 2))).dtype(),
      DType::I8);
  EXPECT_EQ(
      take(parse(npy("{\"shape\":(1,2),\"descr\":\"|i1\",\"fortran_order\":False,}", 2))).str(),
      "i8[1, 2]");
  EXPECT_EQ(take(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", 4))).str(),
            "f32[1]");
  EXPECT_EQ(take(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7)}", 0)))
                .numElements(),
            0);
  EXPECT_EQ(take(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, 2))).str(),
            "f32[2]");
  Tensor flags =
      take(parse(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", 0) + "\x05"));
  EXPECT_EQ(*flags.dataAs<uint8_t>(), 1); // any non-zero byte is true; Kiln keeps 0 or 1
}

TEST(Npy, BadFilesAreErrorsThatNameTheFile) {
  auto bad = [](const std::string &text, std::initializer_list<const char *> words,
                int line = __builtin_LINE()) {
    Status status = parse(text).status();
    expectError(status, StatusCode::InvalidArgument, words, line);
    expectError(status, StatusCode::InvalidArgument, {"x.npy"}, line);
  };
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  ASSERT_TRUE(parse(npy(good, 8)));
  bad("", {"not a .npy"});
  bad("hello, this is text", {"not a .npy"});
  bad(npy(good, 7), {"needs 8 bytes", "has 7"});
  bad(npy(good, 9), {"needs 8 bytes", "has 9"});
  bad(npy(good, 8, 9), {"version 9"});
  bad(npy(good, 8).substr(0, 30), {"truncated"});
  bad(npy(std::string(20000, ' '), 8), {"20000"});
  bad(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", 8), {"big-endian", "<f4"});
  bad(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8), {"<f8", "not supported"});
  bad(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8), {"structured"});
  bad(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}", 8), {"ascontiguousarray"});
  bad(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", 8), {"fortran_order"});
  bad(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8), {"shape"});
  bad(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,2)}", 8), {"rank 6"});
  bad(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8),
      {"63 bits"});
  bad(npy("{'descr': '<f4', 'fortran_order': False, 'shape': "
          "(4611686018427387904,4611686018427387904)}",
          8),
      {"overflows"});
  bad(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", 8),
      {"needs 4000000000000"});
  bad(npy("{'descr': '<f4', 'shape': (2,)}", 8), {"lacks"});
  bad(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8),
      {"unknown key 'x'"});
  bad(npy("[1, 2]", 8), {"dictionary"});
  bad(npy("{'descr': '<f4", 8), {});
}

TEST(Npy, EveryTruncationOfAGoodFileIsAnError) {
  std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_FALSE(parse(good.substr(0, n))) << n;
}

TEST(Npy, FilesThatAreNotThereOrNotFiles) {
  TempDir dir;
  expectError(readNpy(dir / "none.npy").status(), StatusCode::NotFound, {"none.npy"});
  expectError(readNpy(dir.str()).status(), StatusCode::InvalidArgument, {"not a regular file"});
  expectError(writeNpy(dir / "no/such/dir.npy", zeros(DType::F32, {1})), StatusCode::NotFound,
              {"dir.npy"});
  expectError(writeNpy(dir / "x.npy", Tensor()), StatusCode::InvalidArgument, {"null"});
}
