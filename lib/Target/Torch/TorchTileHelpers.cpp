//===- TorchTileHelpers.cpp - what tiles compute, in Python ------------------------===//
#include "TorchHelpers.h"

namespace kiln::torch {

static constexpr Helper kTileHelpers[] = {
    {"_iota", R"py(
def _iota(shape, axis, dtype):
    """A tile whose elements are their index along an axis, wrapped to the type."""
    index = torch.arange(shape[axis])
    index = index % 2 == 1 if dtype == torch.bool else index.to(dtype)
    return (index[:, None] if axis == 0 else index[None, :]).expand(shape)
)py"},
    {"_int_div", R"py(
def _int_div(a, b):
    """Integer division of tiles, rounding toward zero."""
    if (b == 0).any():
        raise ZeroDivisionError('integer division by zero in a tile')
    quotient = torch.div(a, b.masked_fill(b == -1, 1), rounding_mode='trunc')
    return torch.where(b == -1, -a, quotient)  # dividing by -1 could overflow
)py"},
    {"_int_fmod", R"py(
def _int_fmod(a, b):
    """The remainder of _int_div: it has the sign of a."""
    if (b == 0).any():
        raise ZeroDivisionError('integer remainder by zero in a tile')
    return torch.fmod(a, b.masked_fill(b == -1, 1))  # dividing by -1 could overflow
)py"},
    {"_shl", R"py(
def _shl(a, b):
    """a shifted left; a count outside 0 to width - 1 shifts everything out."""
    bits = torch.iinfo(a.dtype).bits
    return (a << b.clamp(0, bits - 1)).masked_fill((b < 0) | (b >= bits), 0)
)py"},
    {"_shr", R"py(
def _shr(a, b):
    """a shifted right, copying the sign; a count outside 0 to width - 1 leaves nothing else."""
    bits = torch.iinfo(a.dtype).bits
    return a >> b.masked_fill((b < 0) | (b >= bits), bits - 1)
)py"},
    {"_extract", R"py(
def _extract(x, index, shape):
    """A box of a tile."""
    _check_box(x, index, shape)
    return x[index[0]:index[0] + shape[0], index[1]:index[1] + shape[1]]
)py"},
    {"_insert", R"py(
def _insert(x, into, index):
    """A tile with a box of it replaced by x."""
    _check_box(into, index, x.shape)
    result = into.clone()
    result[index[0]:index[0] + x.shape[0], index[1]:index[1] + x.shape[1]] = x
    return result
)py"},
    {"_mask", R"py(
def _mask(x, valid, pad):
    """Elements outside the valid extents become pad."""
    rows, cols = torch.arange(x.shape[0])[:, None], torch.arange(x.shape[1])
    return x.masked_fill((rows >= valid[0]) | (cols >= valid[1]), pad)
)py"},
    {"_mask_diag", R"py(
def _mask_diag(x, offset, pad):
    """Elements with column > row + offset become pad."""
    rows, cols = torch.arange(x.shape[0])[:, None], torch.arange(x.shape[1])
    return x.masked_fill(cols > rows + offset, pad)
)py"},
    {"_shifted", R"py(
def _shifted(x, dim, first):
    """The elements one place further along an axis: a scan without the element itself."""
    start = torch.full_like(x.narrow(dim, 0, 1), first)
    return torch.cat((start, x.narrow(dim, 0, x.shape[dim] - 1)), dim)
)py"},
    {"_lines", R"py(
def _lines(tiles, dim, starts):
    """The starts as lines, and the lines of several tiles along an axis, in order."""
    lines = list(zip(*(tile.split(1, dim) for tile in tiles)))
    starts = (start if torch.is_tensor(start) else torch.full_like(line, start)
              for start, line in zip(starts, lines[0]))
    return tuple(starts), lines
)py"},
    {"_reduce_with", R"py(
def _reduce_with(tiles, dim, starts, combine):
    """Combines the lines of tiles, one after the other."""
    so_far, lines = _lines(tiles, dim, starts)
    for line in lines:
        so_far = combine(*so_far, *line)
    return so_far
)py"},
    {"_scan_with", R"py(
def _scan_with(tiles, dim, starts, combine, exclusive=False, reverse=False):
    """Combines the lines of tiles, one after the other, and keeps every step."""
    so_far, lines = _lines(tiles, dim, starts)
    steps = []
    for line in reversed(lines) if reverse else lines:
        before, so_far = so_far, combine(*so_far, *line)
        steps.append(before if exclusive else so_far)
    return tuple(torch.cat(line, dim) for line in zip(*(reversed(steps) if reverse else steps)))
)py"},
    {"_sort_rows", R"py(
def _sort_rows(x, descending=False):
    """Each row in order, equal elements as they were, NaN last; and the columns they came from."""
    key = x if not descending else -x if x.is_floating_point() else ~x
    columns = torch.sort(key, dim=1, stable=True).indices
    return torch.gather(x, 1, columns), columns.int()
)py"},
    {"_topk_rows", R"py(
def _topk_rows(x, count):
    """The largest elements of each row, in order, and the columns they came from."""
    values, columns = _sort_rows(x, descending=True)
    return values[:, :count], columns[:, :count]
)py"},
    {"_philox", R"py(
def _philox(key, blocks):
    """Philox4x32-10: four words for each block number, as int64. Products wrap at 64 bits."""
    low = 0xFFFFFFFF
    words = [blocks & low, blocks >> 32 & low, torch.zeros_like(blocks), torch.zeros_like(blocks)]
    keys = [key & low, key >> 32 & low]
    for _ in range(10):
        even, odd = words[0] * 0xD2511F53, words[2] * 0xCD9E8D57
        words = [odd >> 32 & low ^ words[1] ^ keys[0], odd & low,
                 even >> 32 & low ^ words[3] ^ keys[1], even & low]
        keys = [keys[0] + 0x9E3779B9 & low, keys[1] + 0xBB67AE85 & low]
    return torch.stack(words, dim=1)
)py"},
    {"_random", R"py(
def _random(key, counter, shape, dtype):
    """The words of the Philox blocks from counter on; as floats their upper 24 bits, in [0, 1)."""
    count = shape[0] * shape[1]
    words = _philox(key, counter + torch.arange((count + 3) // 4))
    words = words.flatten()[:count].reshape(shape)
    return (words >> 8).to(dtype) * 2.0 ** -24 if dtype.is_floating_point else words.to(dtype)
)py"},
};

llvm::ArrayRef<Helper> tileHelpers() { return kTileHelpers; }

} // namespace kiln::torch
