//===- Record.h - how the front end speaks to the recorder --------------------------===//
//
// `recordTile("load", {tensor, List(at), ...}, where)` records an operation by its name; see
// kiln/record_c.h. For the front end's own code.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_RECORD_H
#define KILN_LANGUAGE_RECORD_H

#include "kiln/Language/Types.h"
#include "kiln/record_c.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

/// Recording is quick enough out of line, and programs compile faster.
#define KILN_OUT_OF_LINE [[gnu::noinline, gnu::cold]]

namespace kiln::detail {

/// The programs of a thread: that whose function is being traced, and the one made last, which
/// hears of mistakes outside any function.
struct ThreadPrograms {
  kiln_recorder *traced, *latest;
};
/// Visible, because the libraries of a process have it in common.
[[gnu::visibility("default")]] inline constinit thread_local ThreadPrograms threadPrograms{nullptr,
                                                                                           nullptr};

/// Null: there is no program.
inline kiln_recorder *currentRecorder() {
  return threadPrograms.traced ? threadPrograms.traced : threadPrograms.latest;
}

inline const char *wordOf(Split split) {
  constexpr const char *words[] = {"none", "up_down", "left_right"}; // in the order of the enum
  return words[static_cast<int>(split)];
}

class List;

/// An argument of an operation. It borrows what it is made from.
struct Item : kiln_item {
  Item() : kiln_item{KILN_ITEM_NOTHING, 0, {0}} {}
  template <std::integral I> Item(I number) : Item() {
    kind = KILN_ITEM_INTEGER;
    is.integer = static_cast<int64_t>(number);
  }
  Item(double number) : Item() {
    kind = KILN_ITEM_REAL;
    is.real = number;
  }
  Item(const char *text) : Item() {
    kind = KILN_ITEM_TEXT;
    is.text = text;
  }
  Item(const std::string &text) : Item(text.c_str()) {}
  Item(DType type) : Item(toString(type)) {}
  Item(Split split) : Item(wordOf(split)) {}
  Item(CoreRole role) : Item(role.name) {}
  Item(Index index) : Item(index.constant()) {
    if (!index.isConstant())
      *this = ofValue(index.value());
  }
  Item(Cond condition) : Item(ofValue(condition.value())) {}
  template <ElementTag T> Item(Scalar<T> scalar) : Item(ofValue(scalar.value())) {}
  template <ElementTag T> Item(const ScalarOperand<T> &x) : Item(x.number) {
    if (!x.isNumber)
      *this = ofValue(x.value);
  }
  Item(const Tile &tile) : Item(ofValue(tile.value())) {}
  Item(const TileArg &x) : Item(ofValue(x.value(), x.isTemporary)) {}
  Item(const TileOperand &x) : Item(x.number) {
    if (!x.isNumber)
      *this = ofValue(x.value, x.isTemporary);
  }
  Item(const TensorRef &tensor) : Item(ofValue(tensor.value())) {}
  Item(Pipe pipe) : Item(ofValue(pipe.value())) {}
  Item(TaskRef task) : Item(ofValue(task.value())) {}
  Item(const List &list);

  static Item ofValue(ValueNumber value, bool isTemporary = false) {
    Item item;
    item.kind = isTemporary ? KILN_ITEM_TEMPORARY : KILN_ITEM_VALUE;
    item.is.value = value;
    return item;
  }
  static Item ofList(const Item *first, size_t length) {
    Item item;
    item.kind = KILN_ITEM_LIST;
    item.count = static_cast<uint32_t>(length);
    item.is.list = first;
    return item;
  }
};
static_assert(sizeof(Item) == sizeof(kiln_item), "items are passed as an array");

/// Several arguments as one. It lives as long as the items made from it are used.
class List {
public:
  List() = default;
  List(std::initializer_list<Item> items) {
    for (const Item &item : items)
      add(item);
  }
  template <typename T> explicit List(const std::vector<T> &all) {
    for (const T &each : all)
      add(each);
  }
  KILN_OUT_OF_LINE void add(const Item &item) { Items.push_back(item); }
  const std::vector<Item> &items() const { return Items; }

private:
  std::vector<Item> Items;
};
inline Item::Item(const List &list) : Item(ofList(list.items().data(), list.items().size())) {}

template <typename T> Item itemOf(const std::optional<T> &given) {
  return given ? Item(*given) : Item();
}

KILN_OUT_OF_LINE inline int32_t recordInto(kiln_recorder *recorder, const char *operation,
                                           std::initializer_list<Item> items, Where where,
                                           kiln_result *result) {
  return kiln_record(recorder, operation, items.begin(), static_cast<uint32_t>(items.size()),
                     {where.file_name(), where.line(), where.column()}, result, result ? 1 : 0);
}

/// The first result of an operation; the number 0 if it was not recorded or has none.
KILN_OUT_OF_LINE inline kiln_result recordOne(const char *operation,
                                              std::initializer_list<Item> items, Where where) {
  kiln_result none{0, KILN_VALUE_CONSTANT, static_cast<int32_t>(DType::F32), 1, 1, 0, 0};
  kiln_result result = none;
  return recordInto(currentRecorder(), operation, items, where, &result) > 0 ? result : none;
}

/// All results of an operation, which are there until the next one is recorded.
struct Recorded {
  bool ok = false; ///< Whether it was recorded.
  const kiln_result *results = nullptr;
  int32_t count = 0;
};
KILN_OUT_OF_LINE inline Recorded recordAll(const char *operation, std::initializer_list<Item> items,
                                           Where where,
                                           kiln_recorder *recorder = currentRecorder()) {
  int32_t count = recordInto(recorder, operation, items, where, nullptr);
  return count < 0 ? Recorded{} : Recorded{true, kiln_recorder_results(recorder), count};
}

inline Tile tileOf(const kiln_result &made) {
  return Tile::of(static_cast<ValueNumber>(made.number), made.rows, made.cols,
                  static_cast<DType>(made.dtype));
}
inline Index indexOf(const kiln_result &made) {
  return made.kind == KILN_VALUE_CONSTANT ? Index(made.number)
                                          : Index::of(static_cast<ValueNumber>(made.number));
}

inline TaskRef taskOf(const kiln_result &made) {
  return TaskRef::of(static_cast<ValueNumber>(made.number));
}

inline void recordNothing(const char *operation, std::initializer_list<Item> items, Where where) {
  recordInto(currentRecorder(), operation, items, where, nullptr);
}
inline Tile recordTile(const char *operation, std::initializer_list<Item> items, Where where) {
  return tileOf(recordOne(operation, items, where));
}
inline Index recordIndex(const char *operation, std::initializer_list<Item> items, Where where) {
  return indexOf(recordOne(operation, items, where));
}
/// A scalar, condition, pipe or task.
inline ValueNumber recordValue(const char *operation, std::initializer_list<Item> items,
                               Where where) {
  return static_cast<ValueNumber>(recordOne(operation, items, where).number);
}
inline TensorRef recordTensor(const char *operation, std::initializer_list<Item> items,
                              Access access, Where where) {
  kiln_result made = recordOne(operation, items, where);
  return TensorRef::of(static_cast<ValueNumber>(made.number), static_cast<DType>(made.dtype),
                       made.rank, access);
}

} // namespace kiln::detail

#endif // KILN_LANGUAGE_RECORD_H
