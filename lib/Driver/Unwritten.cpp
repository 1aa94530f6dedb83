#include "Unwritten.h"

#include "kiln/Program/Signature.h"

using namespace mlir;

namespace kiln {

std::string UnwrittenElements::words() const {
  return "nobody writes " + (count == of ? "any" : std::to_string(count)) + " of its " +
         std::to_string(of) + " elements, the first at " + first +
         "; declare it inout if what it held before shall stay";
}

Expected<UnwrittenSearch> UnwrittenSearch::begin(const Source &source, const RunSettings &options,
                                                 ir::FuncOp entry, std::span<const Argument> args) {
  UnwrittenSearch search;
  llvm::BitVector undeclared = undeclaredParameters(source, options);
  std::vector<std::string> names = parameterNames(entry);
  for (auto [number, arg] : llvm::enumerate(args)) {
    auto *tensor = std::get_if<Tensor>(&arg);
    bool isPromised = number >= undeclared.size() || !undeclared[number];
    if (!tensor || entry.getArgDirection(number) != ir::Direction::Out || !isPromised)
      continue;
    Expected<std::vector<std::byte>> bytes = tensor->gatherBytes();
    if (!bytes)
      return bytes.status();
    search.Outputs.push_back({number, names[number], std::move(*bytes)});
  }
  if (search.Outputs.empty())
    return search;
  Expected<std::vector<Argument>> copies = copyArguments(args);
  if (!copies)
    return copies.status();
  search.Initial = std::move(*copies);
  return search;
}

/// Other bytes for every element; truth values stay truth values.
static std::vector<std::byte> otherBytes(std::vector<std::byte> bytes, DType type) {
  for (std::byte &byte : bytes)
    byte ^= type == DType::I1 ? std::byte(1) : std::byte(0xff);
  return bytes;
}

/// The elements, row-major, that hold what they held before.
static llvm::BitVector unchanged(const std::vector<std::byte> &before,
                                 const std::vector<std::byte> &after, size_t size) {
  llvm::BitVector same(before.size() / size);
  for (size_t i = 0; i < same.size(); ++i)
    same[i] = std::equal(before.begin() + i * size, before.begin() + (i + 1) * size,
                         after.begin() + i * size);
  return same;
}

static std::string indexOf(int64_t element, Dims extents) {
  std::vector<int64_t> index(extents.size());
  for (size_t axis = extents.size(); axis-- > 0; element /= extents[axis])
    index[axis] = element % extents[axis];
  return toString(Dims(index));
}

Expected<std::vector<UnwrittenElements>>
UnwrittenSearch::find(std::span<const Argument> args,
                      const std::function<Status(std::span<const Argument>)> &runAgain) const {
  std::vector<llvm::BitVector> kept;
  bool isSuspect = false;
  for (const Output &output : Outputs) {
    const Tensor &tensor = std::get<Tensor>(args[output.number]);
    Expected<std::vector<std::byte>> after = tensor.gatherBytes();
    if (!after)
      return after.status();
    kept.push_back(unchanged(output.before, *after, sizeOf(tensor.dtype())));
    isSuspect |= kept.back().any();
  }
  std::vector<UnwrittenElements> found;
  if (!isSuspect)
    return found;
  for (const Output &output : Outputs) {
    const Tensor &tensor = std::get<Tensor>(Initial[output.number]);
    if (Status bad = tensor.scatterBytes(otherBytes(output.before, tensor.dtype())); !bad.isOk())
      return bad;
  }
  if (Status bad = runAgain(Initial); !bad.isOk())
    return bad;
  for (auto [output, first] : llvm::zip(Outputs, kept)) {
    const Tensor &tensor = std::get<Tensor>(Initial[output.number]);
    Expected<std::vector<std::byte>> after = tensor.gatherBytes();
    if (!after)
      return after.status();
    first &= unchanged(otherBytes(output.before, tensor.dtype()), *after, sizeOf(tensor.dtype()));
    if (first.any())
      found.push_back({output.name, int64_t(first.count()), tensor.numElements(),
                       indexOf(first.find_first(), tensor.extents())});
  }
  return found;
}

} // namespace kiln
