// What debuggers and profilers see of native kernels: names, and the user's file and lines.
#include "LlvmTesting.h"
#include "Simulator/SimulatorTesting.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/SymbolSize.h"

#include <map>
#include <set>

using namespace kiln;
using namespace kiln::test;

namespace {

const char *const kProgram = R"mlir(
kiln.func @scale(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) incore {
  %a = tile.load %x[0, 0] : !tile.tile<16x16xf32>
  %s = tile.reduce sum %a axis(1) : !tile.tile<16x1xf32>
  %e = tile.exp %a : !tile.tile<16x16xf32>
  %q = tile.div %e, %s : !tile.tile<16x16xf32>
  tile.store %q, %y[0, 0]
}
kiln.func @main(%x: !kiln.tensor<?x?xf32> in, %y: !kiln.tensor<?x?xf32> out) orchestration {
  %t = kiln.submit @scale(%x, %y)
}
)mlir";

using LinesByFunction = std::map<std::string, std::set<std::string>>;

/// Adds the user's lines that the line table of an object has for each function, as "file:line".
void addLines(const std::string &bytes, LinesByFunction &lines) {
  auto object = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(bytes), "object"));
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  auto dwarf = llvm::DWARFContext::create(**object);
  for (auto [symbol, size] : llvm::object::computeSymbolSizes(**object)) {
    if (llvm::cantFail(symbol.getType()) != llvm::object::SymbolRef::ST_Function || size == 0)
      continue;
    auto section = llvm::cantFail(symbol.getSection());
    llvm::object::SectionedAddress start{llvm::cantFail(symbol.getAddress()), section->getIndex()};
    for (const auto &[address, info] :
         dwarf->getLineInfoForAddressRange(start, size,
                                           {llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue,
                                            llvm::DILineInfoSpecifier::FunctionNameKind::None}))
      lines[llvm::cantFail(symbol.getName()).str()].insert(info.FileName + ":" +
                                                           std::to_string(info.Line));
  }
}

LinesByFunction linesByFunction(const CpuObject &code) {
  LinesByFunction lines;
  for (const std::string &object : objectsIn(code))
    addLines(object, lines);
  return lines;
}

TEST(LlvmDebug, EveryOperationThatMakesCodeHasItsLine) {
  Program program(kProgram);
  Expected<CpuObject> object =
      emitCpuObject(program.function("main")->getParentOfType<mlir::ModuleOp>());
  ASSERT_TRUE(object) << object.status().str();
  auto lines = linesByFunction(*object);
  for (const char *op : {"tile.load", "tile.reduce", "tile.exp", "tile.div", "tile.store"})
    EXPECT_TRUE(lines["kiln.scale"].contains(program.lineOf(op))) << op;
  EXPECT_TRUE(lines["kiln.orchestration.main"].contains(program.lineOf("kiln.submit")));
}

TEST(LlvmDebug, WhoDoesNotWantItPaysNothing) {
  Program program(kProgram);
  CpuOptions options;
  options.debugInfo = false;
  Expected<CpuObject> object =
      emitCpuObject(program.function("main")->getParentOfType<mlir::ModuleOp>(), options);
  ASSERT_TRUE(object) << object.status().str();
  for (const auto &[function, lines] : linesByFunction(*object))
    EXPECT_TRUE(lines.empty() || *lines.begin() == "<invalid>:0") << function << *lines.begin();
}

} // namespace
