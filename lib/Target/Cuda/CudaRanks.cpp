// What ranks exchange and NCCL does not combine as the language has it is combined by kernels of
// the device library: one for each type and each way that the program asks for.
#include "CudaFunction.h"
#include "kiln/Dialect/Kiln/Collective.h"
#include "kiln/Program/Signature.h"
#include "kiln/Target/Cuda/Cuda.h"
#include "kiln/runtime/cuda_ranks.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace kiln {

static_assert(int(tile::ReduceKind::Prod) == int(Reduction::Prod) &&
              int(tile::ReduceKind::Max) == int(Reduction::Max));

static CudaUnit unitOf(Type element, DType type, Reduction how, Operation *asks) {
  CudaUnit unit;
  std::string name = llvm::join_items("_", "ranks", toString(how), toString(type));
  for (char &c : name)
    c = llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  std::string way = toString(how);
  way[0] = llvm::toUpper(way[0]);
  unit.kernel.name = rankKernelName(type, how);
  unit.kernel.symbol = "kiln_" + name;
  unit.kernel.file = "ranks/" + name + ".cubin";
  unit.kernel.threads = 256;
  unit.kernel.numTensors = 2;
  unit.location = sourceLocOf(asks->getLoc());
  // A bool is a byte in memory, and added up as one.
  std::string cpp = type == DType::I1 ? "unsigned char" : cuda::cppType(element);
  unit.text.text = "// " + unit.kernel.name +
                   ": what the ranks exchanged, combined in their order\n" +
                   "extern \"C\" __global__ void __launch_bounds__(256)\n" + unit.kernel.symbol +
                   "(const __grid_constant__ CombineArgs args) {\n  combineRanks<" + cpp +
                   ", Combine" + way + ">(args);\n}\n";
  return unit;
}

std::vector<CudaUnit> emitRankKernels(ModuleOp compiled) {
  std::map<std::string, CudaUnit> units; // in an order that does not depend on the program's
  compiled.walk([&](Operation *op) {
    std::optional<ir::Collective> collective = ir::collectiveOf(op);
    if (!collective || !collective->reduces())
      return;
    Type element = cast<ir::TensorType>(collective->target.getType()).getElementType();
    std::optional<DType> type = dtypeOf(element);
    auto how = static_cast<Reduction>(collective->how);
    if (type && needsRankKernel(*type, how, collective->fixedOrder))
      units.try_emplace(rankKernelName(*type, how), unitOf(element, *type, how, op));
  });
  std::vector<CudaUnit> list;
  for (auto &[name, unit] : units)
    list.push_back(std::move(unit));
  return list;
}

} // namespace kiln
