#include "TaskBoxes.h"

namespace kiln::simulator {

TaskBoxes::TaskBoxes(const Signature &signature, const kiln_args &args)
    : Promised(&signature), Scalars(args.scalars) {
  for (size_t number = 0; number < signature.tensors.size(); ++number) {
    const kiln_tensor &tensor = args.tensors[number];
    Argument argument{number, &tensor, sizeOf(static_cast<DType>(tensor.dtype)), {}};
    int64_t size = argument.reach;
    bool isEmpty = false;
    for (int axis = 0; axis < int(tensor.rank); ++axis) {
      isEmpty |= tensor.extents[axis] == 0;
      argument.reach += (tensor.extents[axis] - 1) * tensor.strides[axis] * size;
      if (tensor.extents[axis] > 1)
        argument.axes.push_back(axis);
    }
    if (isEmpty)
      continue;
    llvm::sort(argument.axes, [&](int a, int b) { return tensor.strides[a] > tensor.strides[b]; });
    // Each axis has to step over all that the next ones reach.
    int64_t inner = 1;
    for (int axis : llvm::reverse(argument.axes)) {
      if (tensor.strides[axis] < inner) {
        argument.axes.clear();
        break;
      }
      inner = tensor.strides[axis] * tensor.extents[axis];
    }
    Arguments.push_back(std::move(argument));
  }
}

TaskBoxes::Answer TaskBoxes::locate(const Argument &argument, const std::byte *element,
                                    std::array<int64_t, 3> block) const {
  const kiln_tensor &tensor = *argument.tensor;
  int64_t offset = element - static_cast<const std::byte *>(tensor.data);
  if (offset < 0 || offset >= argument.reach)
    return Answer::Elsewhere;
  const std::optional<BlockBox> &box = Promised->tensors[argument.number].box;
  bool isOneElement = argument.reach == sizeOf(static_cast<DType>(tensor.dtype));
  if (!box || (argument.axes.empty() && !isOneElement))
    return Answer::Inside;
  std::array<int64_t, KILN_MAX_RANK> index{};
  offset /= sizeOf(static_cast<DType>(tensor.dtype));
  for (int axis : argument.axes) {
    index[axis] = offset / tensor.strides[axis];
    offset %= tensor.strides[axis];
    if (index[axis] >= tensor.extents[axis]) // between two rows
      return Answer::Elsewhere;
  }
  if (offset != 0)
    return Answer::Elsewhere;
  for (auto [axis, span] : llvm::enumerate(box->axes)) {
    if (span.isWhole())
      continue;
    int64_t first = span.constant;
    for (int d = 0; d < KILN_MAX_GRID_DIMS; ++d)
      first += span.perBlock[d] * block[d];
    for (auto [scalar, factor] : span.perScalar)
      first += ScalarBits{Scalars[scalar], Promised->scalars[scalar].type}.asInt() * factor;
    if (index[axis] < first || index[axis] >= first + span.extent)
      return Answer::Outside;
  }
  return Answer::Inside;
}

std::optional<std::string> TaskBoxes::findBroken(const Footprint &at,
                                                 std::array<int64_t, 3> block) const {
  if (at.rows == 0 || at.cols == 0)
    return std::nullopt;
  // Rows and columns of a footprint are axes of the argument, so its corners say it all.
  for (int64_t row : {int64_t{0}, at.rows - 1})
    for (int64_t col : {int64_t{0}, at.cols - 1}) {
      const std::byte *element = at.origin + row * at.rowStride + col * at.colStride;
      const Argument *broken = nullptr;
      bool isInside = false;
      for (const Argument &argument : Arguments) {
        Answer answer = locate(argument, element, block);
        isInside |= answer == Answer::Inside;
        if (answer == Answer::Outside)
          broken = &argument;
      }
      if (broken && !isInside)
        return "'" + Promised->tensors[broken->number].name + "', of which a block touches only " +
               Promised->boxOf(broken->number);
    }
  return std::nullopt;
}

} // namespace kiln::simulator
