//===- Items.h - C++ functions as operations of the recorder ---------------------------===//
//
// `operation("load", "Reads a tile.", {"tensor", "at", ...}, load)` makes an operation of a
// function or a lambda: the types of its parameters say how arguments are read, and its result how
// values are given out. A parameter whose name ends in `?` may be left out.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_LANGUAGE_RECORD_ITEMS_H
#define KILN_LIB_LANGUAGE_RECORD_ITEMS_H

#include "Recorder.h"

#include <tuple>

namespace kiln::record {

/// The name of a kernel.
struct KernelName {
  std::string name;
};

/// How an argument of a C++ type is read: what front ends call the kind, what it is if it is not
/// given (JSON; null: it must be), and the value.
template <typename T> struct Item;

/// Whether an item stands for what was not made, because of a mistake that has been reported. Most
/// operations are then not recorded; those that end something are.
bool isNotMade(Recorder &recorder, const kiln_item &item);
std::string describe(Recorder &recorder, const kiln_item &item);
[[noreturn]] void refuse(Recorder &recorder, const kiln_item &item, const char *wanted);
const Held &valueOf(Recorder &recorder, const kiln_item &item, kiln_value_kind kind,
                    const char *wanted);
std::span<const kiln_item> listOf(Recorder &recorder, const kiln_item &item, const char *wanted);
std::string textOf(Recorder &recorder, const kiln_item &item, const char *wanted);
/// The position of a word among those that may be said.
size_t wordOf(Recorder &recorder, const kiln_item &item, std::span<const char *const> words);

template <> struct Item<Index> {
  static constexpr const char *kind = "index", *standard = "0";
  static Index from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<int64_t> {
  static constexpr const char *kind = "integer", *standard = "0";
  static int64_t from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<double> {
  static constexpr const char *kind = "number", *standard = "0.0";
  static double from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<bool> {
  static constexpr const char *kind = "flag", *standard = "false";
  static bool from(Recorder &recorder, const kiln_item &item) {
    return Item<int64_t>::from(recorder, item) != 0;
  }
};
template <> struct Item<std::string> {
  static constexpr const char *kind = "text", *standard = "\"\"";
  static std::string from(Recorder &recorder, const kiln_item &item) {
    return textOf(recorder, item, "a text");
  }
};
template <> struct Item<KernelName> {
  static constexpr const char *kind = "kernel", *standard = nullptr;
  static KernelName from(Recorder &recorder, const kiln_item &item) {
    return {textOf(recorder, item, "a kernel")};
  }
};
template <> struct Item<Shape> {
  static constexpr const char *kind = "shape", *standard = nullptr;
  static Shape from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<DType> {
  static constexpr const char *kind = "dtype", *standard = nullptr;
  static DType from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<CoreRole> {
  static constexpr const char *kind = "role", *standard = nullptr;
  static CoreRole from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<Tile> {
  static constexpr const char *kind = "tile", *standard = nullptr;
  static Tile from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<TileArg> {
  static constexpr const char *kind = "tile", *standard = nullptr;
  static TileArg from(Recorder &recorder, const kiln_item &item) {
    return {Item<Tile>::from(recorder, item), item.kind == KILN_ITEM_TEMPORARY};
  }
};
template <> struct Item<TileOperand> {
  static constexpr const char *kind = "operand", *standard = nullptr;
  static TileOperand from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<Number> {
  static constexpr const char *kind = "scalar", *standard = nullptr;
  static Number from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<Cond> {
  static constexpr const char *kind = "condition", *standard = nullptr;
  static Cond from(Recorder &recorder, const kiln_item &item) {
    if (isNotMade(recorder, item))
      return {nullptr};
    return {valueOf(recorder, item, KILN_VALUE_CONDITION, "a condition").value};
  }
};
template <> struct Item<TensorRef> {
  static constexpr const char *kind = "tensor", *standard = nullptr;
  static TensorRef from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<Pipe> {
  static constexpr const char *kind = "pipe", *standard = nullptr;
  static Pipe from(Recorder &recorder, const kiln_item &item) {
    return {valueOf(recorder, item, KILN_VALUE_PIPE, "a pipe").value};
  }
};
template <> struct Item<TaskRef> {
  static constexpr const char *kind = "task", *standard = nullptr;
  static TaskRef from(Recorder &recorder, const kiln_item &item) {
    return {valueOf(recorder, item, KILN_VALUE_TASK, "a task").value};
  }
};
template <> struct Item<LaunchArg> {
  static constexpr const char *kind = "argument", *standard = nullptr;
  static LaunchArg from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<Wire> {
  static constexpr const char *kind = "carried", *standard = nullptr;
  static Wire from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<PipeTile> {
  static constexpr const char *kind = "payload", *standard = nullptr;
  static PipeTile from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<Part> {
  static constexpr const char *kind = "part", *standard = nullptr;
  static Part from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<ElementTest> {
  static constexpr const char *kind = "predicate", *standard = nullptr;
  static ElementTest from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<RankGroup> {
  static constexpr const char *kind = "group", *standard = nullptr;
  static RankGroup from(Recorder &recorder, const kiln_item &item);
};
template <> struct Item<ParamSpec> {
  static constexpr const char *kind = "parameter", *standard = nullptr;
  static ParamSpec from(Recorder &recorder, const kiln_item &item);
};

/// An enumeration, by the words for its values in order.
template <typename T> struct Words;
template <> struct Words<Split> {
  static constexpr const char *kind = "split", *standard = "\"none\"";
  static constexpr const char *words[] = {"none", "up_down", "left_right"};
};
template <> struct Words<Pad> {
  static constexpr const char *kind = "pad", *standard = "\"zero\"";
  static constexpr const char *words[] = {"zero", "min", "max"};
};
template <> struct Words<Order> {
  static constexpr const char *kind = "order", *standard = "\"ascending\"";
  static constexpr const char *words[] = {"ascending", "descending"};
};
template <> struct Words<Combine> {
  static constexpr const char *kind = "combine", *standard = "\"sum\"";
  static constexpr const char *words[] = {"sum", "product", "max", "min"};
};
template <typename T>
  requires requires { Words<T>::words; }
struct Item<T> {
  static constexpr const char *kind = Words<T>::kind, *standard = Words<T>::standard;
  static T from(Recorder &recorder, const kiln_item &item) {
    return item.kind == KILN_ITEM_NOTHING ? T{} : T(wordOf(recorder, item, Words<T>::words));
  }
};

template <typename T> struct Item<std::vector<T>> {
  static constexpr const char *kind = Item<T>::kind, *standard = "[]";
  static std::vector<T> from(Recorder &recorder, const kiln_item &item) {
    std::vector<T> all;
    if (item.kind != KILN_ITEM_NOTHING)
      for (const kiln_item &each : listOf(recorder, item, "a list"))
        all.push_back(Item<T>::from(recorder, each));
    return all;
  }
};
template <typename T> struct Item<std::optional<T>> {
  static constexpr const char *kind = Item<T>::kind, *standard = "null";
  static std::optional<T> from(Recorder &recorder, const kiln_item &item) {
    if (item.kind == KILN_ITEM_NOTHING)
      return std::nullopt;
    return Item<T>::from(recorder, item);
  }
};

// What an operation results in.
void give(Recorder &recorder, const Tile &tile);
void give(Recorder &recorder, Index index);
void give(Recorder &recorder, Cond condition);
void give(Recorder &recorder, Scalar scalar);
void give(Recorder &recorder, const TensorRef &tensor);
void give(Recorder &recorder, Pipe pipe);
void give(Recorder &recorder, TaskRef task);
void give(Recorder &recorder, const std::pair<Tile, Tile> &tiles);
void give(Recorder &recorder, const Wires &wires);
void give(Recorder &recorder, const std::vector<Tile> &tiles);

/// What stands for a parameter while the arguments are read one after the other.
template <typename T> struct Read {
  static constexpr bool isArgument = true;
  static T from(Recorder &recorder, const kiln_item *&next) {
    return Item<T>::from(recorder, *next++);
  }
};
template <typename T> struct Read<const T &> : Read<T> {};
template <> struct Read<Recorder &> {
  static constexpr bool isArgument = false;
  static std::reference_wrapper<Recorder> from(Recorder &recorder, const kiln_item *&) {
    return recorder;
  }
};

template <typename F> struct Callable : Callable<decltype(&F::operator())> {};
template <typename C, typename R, typename... A>
struct Callable<R (C::*)(A...) const> : Callable<R (*)(A...)> {};
template <typename R, typename... A> struct Callable<R (*)(A...)> {
  template <typename F> static void call(const F &body, Recorder &recorder, const kiln_item *next) {
    // Braces read from left to right.
    std::tuple arguments{Read<A>::from(recorder, next)...};
    if constexpr (std::is_void_v<R>)
      std::apply(body, std::move(arguments));
    else
      give(recorder, std::apply(body, std::move(arguments)));
  }
  static void addParameters(RecordedOp &operation, std::initializer_list<std::string> names) {
    auto name = names.begin();
    auto add = [&]<typename T>(std::type_identity<T>) {
      if constexpr (Read<T>::isArgument) {
        using Argument = Item<std::remove_cvref_t<T>>;
        bool isOptional = name->ends_with('?');
        operation.parameters.push_back({name->substr(0, name->size() - isOptional), Argument::kind,
                                        isOptional ? Argument::standard : nullptr});
        ++name;
      }
    };
    (add(std::type_identity<A>{}), ...);
  }
};

template <typename F>
RecordedOp operation(std::string name, std::string summary,
                     std::initializer_list<std::string> parameters, F body) {
  RecordedOp made{std::move(name), std::move(summary), {}, {}};
  Callable<F>::addParameters(made, parameters);
  made.record = [body](Recorder &recorder, const kiln_item *items) {
    Callable<F>::call(body, recorder, items);
  };
  return made;
}

} // namespace kiln::record

#endif // KILN_LIB_LANGUAGE_RECORD_ITEMS_H
