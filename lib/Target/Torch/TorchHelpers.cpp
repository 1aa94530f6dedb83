//===- TorchHelpers.cpp - helpers for scalars, tensors and launches ----------------===//
#include "TorchHelpers.h"

#include "kiln/Target/Text/Names.h"
#include "kiln/runtime/task.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace kiln::torch {

static constexpr Helper kImports[] = {
    {"collections", "import collections\n"},
    {"math", "import math\n"},
};

static constexpr Helper kState[] = {
    {"_block", "_block = [0, 0, 0]  # the index of the block that runs\n"},
    {"_grid", "_grid = [1, 1, 1]  # how many blocks there are\n"},
    {"_current_sb", "_current_sb = [0]  # the lane of the task that runs\n"},
    {"_current_task",
     "_current_task = ['']  # the task that runs, where blocks meet at barriers\n"},
    {"_arrivals", "_arrivals = {}  # how often each of those tasks has come to a barrier\n"},
    {"_rank", "_rank = [0, 1]  # the rank that runs, and how many there are\n"},
    {"_visits",
     "_visits = {}  # how often each rank has come to collectives of a group, and to receives\n"},
    {"_meetings", "_meetings = {}  # the ranks that have come to each collective\n"},
    {"_mail", "_mail = {}  # what one rank has sent to another\n"},
    {"_awaited", "_awaited = {}  # what each rank is to receive\n"},
    {"_pipes", "_pipes = {}  # the pipes of the group that runs, by name\n"},
};

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static constexpr Helper kScalarHelpers[] = {
    {"_wrap", R"py(
def _wrap(value, bits):
    """The integer that remains of value in so many bits."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half
)py"},
    {"_index", R"py(
def _index(value):
    """An index that fits its 64 bits."""
    if not -(1 << 63) <= value < 1 << 63:
        raise OverflowError(f'the result {value} does not fit the 64 bits of an index')
    return value
)py"},
    {"_unsigned", R"py(
def _unsigned(value, bits):
    """The bits of an integer read as an unsigned number."""
    return value % (1 << bits)
)py"},
    {"_div_trunc", R"py(
def _div_trunc(a, b):
    """Integer division that rounds toward zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient
)py"},
    {"_rem_trunc", R"py(
def _rem_trunc(a, b):
    """The remainder of _div_trunc: it has the sign of a."""
    return a - b * _div_trunc(a, b)
)py"},
    {"_shift_left", R"py(
def _shift_left(value, count, bits):
    """A count outside 0 to bits - 1 shifts everything out."""
    return _wrap(value << count, bits) if 0 <= count < bits else 0
)py"},
    {"_shift_right", R"py(
def _shift_right(value, count, bits):
    """Copies the sign; a count outside 0 to bits - 1 leaves nothing else."""
    return value >> (count if 0 <= count < bits else bits - 1)
)py"},
    {"_shift_right_unsigned", R"py(
def _shift_right_unsigned(value, count, bits):
    """A count outside 0 to bits - 1 shifts everything out."""
    return _wrap(_unsigned(value, bits) >> count, bits) if 0 <= count < bits else 0
)py"},
    {"_float", R"py(
def _float(value, dtype=torch.float32):
    """A scalar rounded to a float type; Python's own floats are wider."""
    if isinstance(value, int) and value >= 1 << 63:  # too large for int64; half of it rounds alike
        value = 2 * torch.tensor(value >> 1 | value & 1).float().item()
    wide = torch.int64 if isinstance(value, int) else torch.float64
    return torch.tensor(value, dtype=wide).float().to(dtype).item()
)py"},
    {"_range", R"py(
def _range(start, stop, step):
    """The iterations of a loop, whose step is at least 1."""
    if step < 1:
        raise RuntimeError(f'the step of the loop is {step}; it must be positive')
    return range(start, stop, step)
)py"},
    {"_float_f8", R"py(
def _float_f8(value, kind):
    """A scalar rounded to an 8-bit float."""
    return _round_f8(torch.tensor(value, dtype=torch.float32), kind).item()
)py"},
    {"_div_float", R"py(
def _div_float(a, b):
    """Division as hardware does it: by zero it gives infinity or NaN."""
    return (torch.tensor(a, dtype=torch.float64) / b).item()
)py"},
    {"_rem_float", R"py(
def _rem_float(a, b):
    """The remainder, with the sign of the dividend; NaN for a divisor of zero."""
    return torch.fmod(torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)).item()
)py"},
    {"_max_float", R"py(
def _max_float(a, b):
    """The larger; NaN if either is, and 0.0 above -0.0."""
    if a == b:
        return a if str(b)[0] == '-' else b
    return a if a != a or a > b else b
)py"},
    {"_min_float", R"py(
def _min_float(a, b):
    """The smaller; NaN if either is, and -0.0 below 0.0."""
    if a == b:
        return a if str(a)[0] == '-' else b
    return a if a != a or a < b else b
)py"},
    {"_float_to_int", R"py(
def _float_to_int(value, bits):
    """Rounds toward zero and saturates; NaN becomes 0."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)
)py"},
};

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static constexpr Helper kElementHelpers[] = {
    {"_round", R"py(
def _round(x, dtype):
    """x rounded to a 16-bit float, nearest even, and kept as float32."""
    return x.to(dtype).float()
)py"},
    {"_f8_values", R"py(
def _f8_values(exponent_bits, bias, largest):
    """The values of the bit patterns 0, 1, ... of an 8-bit float, to one past the largest."""
    mantissa_bits = 7 - exponent_bits
    values = []
    for bits in range(largest + 2):
        exponent, mantissa = bits >> mantissa_bits, bits & ((1 << mantissa_bits) - 1)
        if exponent > 0:
            mantissa += 1 << mantissa_bits
        values.append(mantissa * 2.0 ** (max(exponent, 1) - bias - mantissa_bits))
    return torch.tensor(values)
)py"},
    {"_F8", R"py(
# kind: the values of its bit patterns, and its NaN. What rounds beyond the largest finite value
# becomes the pattern after it: NaN in e4m3fn, infinity in e5m2.
_F8 = {
    'e4m3fn': (_f8_values(4, 7, 0x7E), 0x7F),
    'e5m2': (_f8_values(5, 15, 0x7B), 0x7E),
}
)py"},
    {"_to_f8", R"py(
def _to_f8(x, kind):
    """The bit patterns of x in an 8-bit float: nearest even, in one step."""
    values, nan = _F8[kind]
    middles = (values[:-1] + values[1:]) / 2
    low = torch.bucketize(x.abs(), middles)
    high = torch.bucketize(x.abs(), middles, right=True)  # differs in a tie: take the even one
    bits = torch.where(low % 2 == 0, low, high)
    bits = bits.masked_fill(torch.isnan(x), nan)
    return (bits + 128 * torch.signbit(x)).to(torch.uint8)
)py"},
    {"_from_f8", R"py(
def _from_f8(bits, kind):
    """The values of bit patterns of an 8-bit float, as float32."""
    values, _ = _F8[kind]
    magnitude = bits.long() & 0x7F
    largest = len(values) - 2
    x = values[magnitude.clamp(max=largest)]
    x = x.masked_fill(magnitude > largest, float('nan'))
    if kind == 'e5m2':
        x = x.masked_fill(magnitude == largest + 1, float('inf'))
    return torch.where(bits >= 128, -x, x)
)py"},
    {"_round_f8", R"py(
def _round_f8(x, kind):
    """x rounded to an 8-bit float and kept as float32."""
    return _from_f8(_to_f8(x, kind), kind)
)py"},
    {"_to_int", R"py(
def _to_int(x, dtype):
    """Floats to integers: rounds toward zero and saturates; NaN becomes 0."""
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    x = x.double().masked_fill(torch.isnan(x), 0.0)
    whole = x.clamp(low, high).to(dtype)
    return whole.masked_fill(x >= high, high).masked_fill(x <= low, low)
)py"},
};

//===----------------------------------------------------------------------===//
// Tensors in global memory
//===----------------------------------------------------------------------===//

static constexpr Helper kTensorHelpers[] = {
    {"_check", R"py(
def _check(name, x, dtype, shape):
    """Asserts what a tensor or tile is; None stands for any extent."""
    assert isinstance(x, torch.Tensor), f'{name}: expected a tensor, got {type(x).__name__}'
    assert x.dtype == dtype, f'{name}: expected {dtype}, got {x.dtype}'
    good = x.dim() == len(shape) and all(n in (None, m) for n, m in zip(shape, x.shape))
    assert good, f'{name}: expected shape {shape}, got {tuple(x.shape)}'
)py"},
    {"_alloc", R"py(
def _alloc(shape, dtype):
    """A tensor nobody has written yet: NaN, or bytes a5, so that reading it too early shows."""
    x = torch.empty(shape, dtype=dtype)
    if dtype.is_floating_point:
        return x.fill_(float('nan'))
    if dtype == torch.bool:
        return x.fill_(True)
    if dtype == torch.uint8:
        return x.fill_(0x7F)  # NaN in both 8-bit floats
    return x.fill_(int.from_bytes(b'\xa5' * x.element_size(), 'little', signed=True))
)py"},
    {"_check_box", R"py(
def _check_box(x, offsets, sizes):
    """A box of a tensor or tile lies inside it."""
    for axis, (offset, size, extent) in enumerate(zip(offsets, sizes, x.shape)):
        if offset < 0 or size < 0 or offset + size > extent:
            raise IndexError(f'axis {axis}: {size} from {offset} on is outside the extent {extent}')
)py"},
    {"_slice", R"py(
def _slice(x, offsets, sizes, drop=()):
    """A box of a tensor, by reference; the axes to drop have extent 1."""
    _check_box(x, offsets, sizes)
    box = [slice(offset, offset + size) for offset, size in zip(offsets, sizes)]
    for axis in drop:
        box[axis] = offsets[axis]
    return x[tuple(box)]
)py"},
    {"_reshape", R"py(
def _reshape(x, shape):
    """A tensor in another shape, by reference."""
    if not x.is_contiguous():
        raise ValueError(f'only a contiguous tensor can be reshaped; this has strides {x.stride()}')
    return x.view(shape)
)py"},
    {"_read", R"py(
def _read(x, index):
    """One element of a tensor or tile, as a scalar."""
    _check_box(x, index, (1,) * len(index))
    return x[index].item()
)py"},
    {"_write", R"py(
def _write(value, x, index):
    """Writes one element of a tensor."""
    _check_box(x, index, (1,) * len(index))
    x[index] = value
)py"},
    {"_check_touches", R"py(
def _check_touches(x, index, shape):
    """Some of a tile at index lies in x; in an empty x it begins where x does."""
    for i, extent, size in zip(index, x.shape, (*(1,) * (x.dim() - 2), *shape)):
        if i == extent == 0:
            return
        if not -size < i < extent:
            raise IndexError(f'a tile of {shape[0]}x{shape[1]} at {[*index]} lies wholly outside '
                             f'a tensor of {[*x.shape]}')
)py"},
    {"_window", R"py(
def _window(x, index, shape, valid, outside=False):
    """What a tile at index covers of x: that part of x, and the box of the tile it fills."""
    if x.dim() == 1:
        x, index = (x[None, :], (0, *index)) if shape[0] == 1 else (x[:, None], (*index, 0))
    rows, cols = shape if valid is None else map(min, shape, valid)
    if rows > 0 and cols > 0 and not outside:
        _check_touches(x, index, shape)
    *lead, row, col = index
    inside = all(0 <= i < extent for i, extent in zip(lead, x.shape))
    x = x[tuple(lead)] if inside else x.new_empty((0, 0))
    top, left = max(-row, 0), max(-col, 0)
    bottom = max(top, min(rows, x.shape[0] - row))
    right = max(left, min(cols, x.shape[1] - col))
    part = x[row + top:row + bottom, col + left:col + right]
    return part, (slice(top, bottom), slice(left, right))
)py"},
    {"_load", R"py(
def _load(x, index, shape, pad=0, valid=None, outside=False):
    """A tile of x. Elements outside x, or outside the valid extents, read as pad."""
    part, box = _window(x, index, shape, valid, outside)
    tile = torch.full(shape, pad, dtype=torch.float32 if x.is_floating_point() else x.dtype)
    tile[box] = part.to(tile.dtype)
    return tile
)py"},
    {"_store", R"py(
def _store(tile, x, index, valid=None):
    """Writes a tile into x: the elements inside x and inside the valid extents."""
    part, box = _window(x, index, tile.shape, valid)
    part.copy_(tile[box])
)py"},
    {"_row_numbers", R"py(
def _row_numbers(rows, index, count, valid):
    """Row numbers from index on, along the last axis; outside rows or valid: -1, which is no row."""
    valid = None if valid is None else (1, valid[0])
    return _load(rows, index, (1, count), -1, valid)[0].tolist()
)py"},
    {"_gather_rows", R"py(
def _gather_rows(x, index, shape, rows, row_index, pad=0, valid=None):
    """A tile of x in which row r is row index[-2] + rows[r] of x, or pad where that is no row."""
    *lead, row, col = index
    tile = torch.full(shape, pad, dtype=torch.float32 if x.is_floating_point() else x.dtype)
    cols = None if valid is None else (1, valid[1])
    for r, number in enumerate(_row_numbers(rows, row_index, shape[0], valid)):
        if number >= 0 and 0 <= row + number < x.shape[-2]:
            tile[r] = _load(x, (*lead, row + number, col), (1, shape[1]), pad, cols)[0]
    return tile
)py"},
    {"_scatter_rows", R"py(
def _scatter_rows(tile, x, index, rows, row_index, valid=None, add=None):
    """Writes each row of a tile where _gather_rows would read it; without add each row only once."""
    *lead, row, col = index
    cols = None if valid is None else (1, valid[1])
    written = set()
    for r, number in enumerate(_row_numbers(rows, row_index, tile.shape[0], valid)):
        if number < 0 or not 0 <= row + number < x.shape[-2]:
            continue
        if number in written and add is None:
            raise ValueError(f'row number {number} occurs twice')
        written.add(number)
        part, place = tile[r:r + 1], (*lead, row + number, col)
        old = _load(x, place, part.shape, valid=cols) if add else None
        _store(add(old, part) if add else part, x, place, cols)
)py"},
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static_assert(maxBlocks == int64_t{1} << 40, "_blocks says the same");

static constexpr Helper kLaunchHelpers[] = {
    {"_blocks", R"py(
def _blocks(grid):
    """The blocks of a grid, the last dimension fastest; while they run _grid says how many."""
    if min(grid) < 0:
        raise ValueError(f'grid {[*grid]} has a negative dimension')
    if math.prod(grid) > 2**40:
        raise ValueError(f'grid {[*grid]} has too many blocks: a launch has at most {2**40}')
    _grid[:] = rows, cols, depth = (*grid, 1, 1)[:3]
    return ((i, j, k) for i in range(rows) for j in range(cols) for k in range(depth))
)py"},
    {"_launch", R"py(
def _launch(kernel, grid, *args):
    """Runs a kernel once for each block of a grid."""
    try:
        for block in _blocks(grid):
            _block[:] = block
            kernel(*args)
    finally:
        _block[:], _grid[:] = [0, 0, 0], [1, 1, 1]
)py"},
    {"_run_task", R"py(
def _run_task(kernel, grid, *args):
    """Runs one task. To watch tasks, put another function in the place of this one."""
    _tasks[kernel](grid, *args)
)py"},
};

//===----------------------------------------------------------------------===//
// Which of them a file needs
//===----------------------------------------------------------------------===//

static void collectIdentifiers(StringRef text, llvm::StringSet<> &names) {
  while (!text.empty()) {
    text = text.drop_until(text::isNamePart);
    StringRef word = text.take_while(text::isNamePart);
    names.insert(word);
    text = text.drop_front(word.size());
  }
}

std::string preludeFor(StringRef body) {
  llvm::StringSet<> names;
  collectIdentifiers(body, names);
  llvm::SmallVector<std::string> roleHelpers;
  llvm::SmallVector<StringRef> sorted(names.keys());
  llvm::sort(sorted); // a StringSet has no order of its own
  for (StringRef name : sorted) {
    std::string text = names.contains((name + "_g").str()) ? "" : rolePipeHelper(name);
    if (!text.empty())
      roleHelpers.push_back(text);
  }
  for (const std::string &text : roleHelpers)
    collectIdentifiers(text, names);

  // Helpers only ever add names, so looking at them until nothing is added finds them all.
  const ArrayRef<Helper> groups[] = {kScalarHelpers, kElementHelpers, kTensorHelpers, tileHelpers(),
                                     kLaunchHelpers, pipeHelpers(),   rankHelpers()};
  llvm::StringSet<> used;
  for (size_t before = ~size_t(0); before != used.size();) {
    before = used.size();
    for (ArrayRef<Helper> group : groups)
      for (const Helper &helper : group)
        if (names.contains(helper.name) && used.insert(helper.name).second)
          collectIdentifiers(helper.text, names);
  }

  std::string imports, state, rest;
  for (const Helper &helper : kImports)
    if (names.contains(helper.name))
      imports += helper.text;
  for (const Helper &helper : kState)
    if (names.contains(helper.name))
      state += helper.text;
  for (ArrayRef<Helper> group : groups)
    for (const Helper &helper : group)
      if (used.contains(helper.name))
        rest += "\n" + helper.text.str();
  for (const std::string &text : roleHelpers)
    rest += text;
  return imports + (imports.empty() ? "" : "\n") + "import torch\n" + (state.empty() ? "" : "\n") +
         state + rest;
}

} // namespace kiln::torch
