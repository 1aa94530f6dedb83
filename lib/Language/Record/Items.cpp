//===- Items.cpp - arguments and results of the recorder --------------------------------===//
#include "Items.h"

#include "kiln/Machine/Machine.h"

#include "llvm/ADT/STLExtras.h"

namespace kiln::record {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static const char *kindName(kiln_value_kind kind) {
  switch (kind) {
  case KILN_VALUE_CONSTANT:
  case KILN_VALUE_INDEX:
    return "an index";
  case KILN_VALUE_CONDITION:
    return "a condition";
  case KILN_VALUE_SCALAR:
    return "a scalar";
  case KILN_VALUE_TILE:
    return "a tile";
  case KILN_VALUE_TENSOR:
    return "a tensor";
  case KILN_VALUE_PIPE:
    return "a pipe";
  case KILN_VALUE_TASK:
    return "a task";
  default:
    return "a value";
  }
}

std::string describe(Recorder &recorder, const kiln_item &item) {
  switch (item.kind) {
  case KILN_ITEM_NOTHING:
    return "nothing";
  case KILN_ITEM_INTEGER:
    return "the integer " + std::to_string(item.is.integer);
  case KILN_ITEM_REAL:
    return "the number " + std::to_string(item.is.real);
  case KILN_ITEM_TEXT:
    return item.is.text ? "the text '" + std::string(item.is.text) + "'" : "a text that is NULL";
  case KILN_ITEM_LIST:
    return "a list of " + std::to_string(item.count);
  case KILN_ITEM_VALUE:
  case KILN_ITEM_TEMPORARY: {
    const Held &held = recorder.held(item.is.value);
    std::string name = kindName(held.kind);
    return held.kind == KILN_VALUE_SCALAR ? name + " of " + toString(held.type) : name;
  }
  default:
    throw BadArgument("an item of kind " + std::to_string(item.kind) + " does not exist");
  }
}

static bool isValue(const kiln_item &item) {
  return item.kind == KILN_ITEM_VALUE || item.kind == KILN_ITEM_TEMPORARY;
}

bool isNotMade(Recorder &recorder, const kiln_item &item) {
  return isValue(item) && item.is.value == 0 && recorder.canGoOn();
}

void refuse(Recorder &recorder, const kiln_item &item, const char *wanted) {
  throw WrongKind(item, std::string("takes ") + wanted + ", not " + describe(recorder, item));
}

const Held &valueOf(Recorder &recorder, const kiln_item &item, kiln_value_kind kind,
                    const char *wanted) {
  if (!isValue(item))
    refuse(recorder, item, wanted);
  const Held &held = recorder.held(item.is.value);
  if (held.kind != kind)
    refuse(recorder, item, wanted);
  return held;
}

std::span<const kiln_item> listOf(Recorder &recorder, const kiln_item &item, const char *wanted) {
  if (item.kind != KILN_ITEM_LIST)
    refuse(recorder, item, wanted);
  if (item.count > 0 && !item.is.list)
    throw BadArgument("takes a list, not NULL");
  return {item.is.list, item.count};
}

std::string textOf(Recorder &recorder, const kiln_item &item, const char *wanted) {
  if (item.kind == KILN_ITEM_NOTHING)
    return {};
  if (item.kind != KILN_ITEM_TEXT || !item.is.text)
    refuse(recorder, item, wanted);
  return item.is.text;
}

size_t wordOf(Recorder &recorder, const kiln_item &item, std::span<const char *const> words) {
  std::string wanted;
  for (const char *word : words)
    wanted += (wanted.empty() ? "" : word == words.back() ? " or " : ", ") + std::string(word);
  std::string said = textOf(recorder, item, wanted.c_str());
  auto found = llvm::find_if(words, [&](const char *word) { return said == word; });
  if (found == words.end())
    refuse(recorder, item, wanted.c_str());
  return size_t(found - words.begin());
}

Index Item<Index>::from(Recorder &recorder, const kiln_item &item) {
  if (item.kind == KILN_ITEM_NOTHING)
    return 0;
  if (item.kind == KILN_ITEM_INTEGER)
    return item.is.integer;
  return Index::of(valueOf(recorder, item, KILN_VALUE_INDEX, "an integer or an index").value);
}

int64_t Item<int64_t>::from(Recorder &recorder, const kiln_item &item) {
  if (item.kind == KILN_ITEM_NOTHING)
    return 0;
  if (item.kind != KILN_ITEM_INTEGER)
    refuse(recorder, item, "an integer that is known while the program is made");
  return item.is.integer;
}

double Item<double>::from(Recorder &recorder, const kiln_item &item) {
  if (item.kind == KILN_ITEM_NOTHING)
    return 0;
  if (item.kind == KILN_ITEM_INTEGER)
    return double(item.is.integer);
  if (item.kind != KILN_ITEM_REAL)
    refuse(recorder, item, "a number that is known while the program is made");
  return item.is.real;
}

Shape Item<Shape>::from(Recorder &recorder, const kiln_item &item) {
  std::vector<int64_t> extents = Item<std::vector<int64_t>>::from(recorder, item);
  if (extents.size() != 2)
    refuse(recorder, item, "a shape of two extents, rows and columns");
  return {extents[0], extents[1]};
}

DType Item<DType>::from(Recorder &recorder, const kiln_item &item) {
  std::string name = textOf(recorder, item, "an element type");
  if (std::optional<DType> type = parseDType(name); type && info(*type).isElement)
    return *type;
  refuse(recorder, item, "an element type");
}

CoreRole Item<CoreRole>::from(Recorder &recorder, const kiln_item &item) {
  std::string name = textOf(recorder, item, "a role");
  if (const Role *known = findRole(name))
    return {known->name};
  refuse(recorder, item, ("a role: " + roleNames()).c_str());
}

static Tile tileOf(const Held &held) { return {held.value, held.rows, held.cols, held.type}; }

Tile Item<Tile>::from(Recorder &recorder, const kiln_item &item) {
  return tileOf(valueOf(recorder, item, KILN_VALUE_TILE, "a tile"));
}

TileOperand Item<TileOperand>::from(Recorder &recorder, const kiln_item &item) {
  if (item.kind == KILN_ITEM_INTEGER || item.kind == KILN_ITEM_REAL)
    return {.number = Item<double>::from(recorder, item), .isNumber = true};
  if (isValue(item)) {
    const Held &held = recorder.held(item.is.value);
    if (held.kind == KILN_VALUE_TILE)
      return {.value = held.value,
              .rows = held.rows,
              .cols = held.cols,
              .type = held.type,
              .isTile = true,
              .isTemporary = item.kind == KILN_ITEM_TEMPORARY};
    if (held.kind == KILN_VALUE_SCALAR)
      return {.value = held.value, .type = held.type};
  }
  refuse(recorder, item, "a tile, a scalar or a number");
}

Number Item<Number>::from(Recorder &recorder, const kiln_item &item) {
  if (item.kind == KILN_ITEM_INTEGER || item.kind == KILN_ITEM_REAL)
    return {.number = Item<double>::from(recorder, item), .isNumber = true};
  const Held &held = valueOf(recorder, item, KILN_VALUE_SCALAR, "a scalar or a number");
  return {.value = held.value, .type = held.type};
}

TensorRef Item<TensorRef>::from(Recorder &recorder, const kiln_item &item) {
  const Held &held = valueOf(recorder, item, KILN_VALUE_TENSOR, "a tensor");
  return TensorRef(held.value, held.type, held.rank, held.access);
}

LaunchArg Item<LaunchArg>::from(Recorder &recorder, const kiln_item &item) {
  if (item.kind == KILN_ITEM_INTEGER || item.kind == KILN_ITEM_REAL)
    return {.number = Item<double>::from(recorder, item), .isNumber = true};
  if (isValue(item)) {
    const Held &held = recorder.held(item.is.value);
    if (held.kind == KILN_VALUE_TENSOR || held.kind == KILN_VALUE_INDEX ||
        held.kind == KILN_VALUE_SCALAR)
      return {.value = held.value};
  }
  refuse(recorder, item, "a tensor, an index, a scalar or a number");
}

Wire Item<Wire>::from(Recorder &recorder, const kiln_item &item) {
  if (item.kind == KILN_ITEM_INTEGER)
    return {nullptr, Wire::OfIndex, DType::Index, 1, 1, item.is.integer};
  if (isNotMade(recorder, item))
    return {nullptr, Wire::OfNothing};
  if (isValue(item)) {
    const Held &held = recorder.held(item.is.value);
    switch (held.kind) {
    case KILN_VALUE_TILE:
      return {held.value, Wire::OfTile, held.type, held.rows, held.cols};
    case KILN_VALUE_INDEX:
      return {held.value, Wire::OfIndex, DType::Index};
    case KILN_VALUE_SCALAR:
      return {held.value, Wire::OfScalar, held.type};
    case KILN_VALUE_TASK:
      return {held.value, Wire::OfTask};
    default:
      break;
    }
  }
  refuse(recorder, item, "a tile, an index, a scalar or a task");
}

/// The parts of an item that stands for several things.
static std::span<const kiln_item> partsOf(Recorder &recorder, const kiln_item &item, size_t count,
                                          const char *wanted) {
  std::span<const kiln_item> parts = listOf(recorder, item, wanted);
  if (parts.size() != count)
    refuse(recorder, item, wanted);
  return parts;
}

PipeTile Item<PipeTile>::from(Recorder &recorder, const kiln_item &item) {
  auto parts = partsOf(recorder, item, 2, "an element type and a shape");
  return {Item<DType>::from(recorder, parts[0]), Item<Shape>::from(recorder, parts[1])};
}

Part Item<Part>::from(Recorder &recorder, const kiln_item &item) {
  auto parts =
      partsOf(recorder, item, 6, "rows, columns, where they begin, and those of the whole");
  auto number = [&](size_t at) { return Item<int64_t>::from(recorder, parts[at]); };
  auto index = [&](size_t at) { return Item<Index>::from(recorder, parts[at]); };
  return {{number(0), number(1)}, index(2), index(3), {number(4), number(5)}};
}

ElementTest Item<ElementTest>::from(Recorder &recorder, const kiln_item &item) {
  static constexpr const char *signs[] = {"==", "!=", "<", "<=", ">", ">="}; // as in ElementTest
  auto parts = partsOf(recorder, item, 4, "an element of a tensor compared with a constant");
  return {Item<TensorRef>::from(recorder, parts[0]), Item<Indices>::from(recorder, parts[1]),
          ElementTest::Compare(wordOf(recorder, parts[2], signs)),
          Item<int64_t>::from(recorder, parts[3])};
}

RankGroup Item<RankGroup>::from(Recorder &recorder, const kiln_item &item) {
  auto parts = partsOf(recorder, item, 3, "an axis of a mesh, its extents and its names");
  return {Item<int64_t>::from(recorder, parts[0]),
          Item<std::vector<int64_t>>::from(recorder, parts[1]),
          Item<std::vector<std::string>>::from(recorder, parts[2])};
}

ParamSpec Item<ParamSpec>::from(Recorder &recorder, const kiln_item &item) {
  static constexpr const char *kinds[] = {"in", "out", "inout", "scalar", "index"};
  auto parts = partsOf(recorder, item, 5, "a name, a kind, an element type, a rank and extents");
  ParamSpec spec;
  if (parts[0].kind != KILN_ITEM_NOTHING)
    spec.name = Item<std::string>::from(recorder, parts[0]);
  spec.extents = Item<std::vector<int64_t>>::from(recorder, parts[4]);
  if (parts[1].kind == KILN_ITEM_NOTHING)
    return spec;
  size_t kind = wordOf(recorder, parts[1], kinds);
  spec.kind = kind < 3 ? ParamSpec::OfTensor : kind == 3 ? ParamSpec::OfScalar : ParamSpec::OfIndex;
  spec.type = kind == 4 ? DType::Index : Item<DType>::from(recorder, parts[2]);
  spec.rank = int(Item<int64_t>::from(recorder, parts[3]));
  spec.access = kind < 3 ? Access(kind) : Access::In;
  return spec;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void give(Recorder &recorder, const Tile &tile) {
  recorder.give({KILN_VALUE_TILE, tile.value(), tile.dtype(), tile.rows(), tile.cols()});
}
void give(Recorder &recorder, Index index) {
  if (index.isConstant())
    recorder.give(index.constant());
  else
    recorder.give({KILN_VALUE_INDEX, index.value(), DType::Index});
}
void give(Recorder &recorder, Cond condition) {
  recorder.give({KILN_VALUE_CONDITION, condition.value, DType::I1});
}
void give(Recorder &recorder, Scalar scalar) {
  recorder.give({KILN_VALUE_SCALAR, scalar.value, scalar.type});
}
void give(Recorder &recorder, const TensorRef &tensor) {
  recorder.give(
      {KILN_VALUE_TENSOR, tensor.value(), tensor.dtype(), 1, 1, tensor.rank(), tensor.access()});
}
void give(Recorder &recorder, Pipe pipe) { recorder.give({KILN_VALUE_PIPE, pipe.value}); }
void give(Recorder &recorder, TaskRef task) { recorder.give({KILN_VALUE_TASK, task.value}); }
void give(Recorder &recorder, const std::pair<Tile, Tile> &tiles) {
  give(recorder, tiles.first);
  give(recorder, tiles.second);
}
void give(Recorder &recorder, const std::vector<Tile> &tiles) {
  for (const Tile &tile : tiles)
    give(recorder, tile);
}
void give(Recorder &recorder, const Wires &wires) {
  for (const Wire &wire : wires)
    switch (wire.kind) {
    case Wire::OfTile:
      give(recorder, Tile(wire.value, wire.rows, wire.cols, wire.type));
      break;
    case Wire::OfIndex:
      give(recorder, wire.value ? Index::of(wire.value) : Index(wire.constant));
      break;
    case Wire::OfScalar:
      give(recorder, Scalar{wire.value, wire.type});
      break;
    case Wire::OfTask:
      give(recorder, TaskRef{wire.value});
      break;
    case Wire::OfNothing:
      throw NotRecorded();
    }
}

} // namespace kiln::record
