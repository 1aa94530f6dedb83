//===- Program.h - kernels, groups and orchestrations -------------------------------===//
//
// A Program owns the IR that is recorded. Its functions are given as lambdas, which run at once:
//
//   p.orchestration("main", {"x", "y"}, [&](In<f32> x, Out<f32> y) {
//     spmd("copy", {ceildiv(x.dim(0), 64)}, [&](Index i) {
//       store(load(x, {i * 64, 0}, {64, 64}), y, {i * 64, 0});
//     });
//   });
//
// Names are given because C++ does not know those of a lambda's parameters.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LANGUAGE_PROGRAM_H
#define KILN_LANGUAGE_PROGRAM_H

#include "kiln/Language/Config.h"
#include "kiln/Language/Control.h"
#include "kiln/Language/Ops.h"
#include "kiln/record_c.h"

#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

inline constexpr int64_t dyn = -1;

/// The name of a parameter and, for a tensor, its extents (`dyn` where they are known at run time
/// only).
struct Param {
  Param(const char *given) : name(given) {}
  Param(const char *given, std::vector<int64_t> shape) : name(given), extents(std::move(shape)) {}
  std::string name;
  std::vector<int64_t> extents;
};

/// The parameters of a function. An object of this type is a signature that several functions
/// share: `Params io{"x", "y"}`.
struct Params {
  Params(std::initializer_list<Param> params) : list(params) {}
  Params(std::vector<Param> params) : list(std::move(params)) {}
  std::vector<Param> list;
};

/// A mistake in a program, and where it is.
struct Mistake {
  /// Line and column count from 1; a file without a name is not known.
  struct Place {
    std::string file = {};
    int32_t line = 0, col = 0;
  };
  const std::string &message() const { return Message; }
  const Place &location() const { return At; }
  /// "file:line:col: error: message".
  std::string str() const {
    if (At.file.empty())
      return "error: " + Message;
    return At.file + ":" + std::to_string(At.line) + ":" + std::to_string(At.col) +
           ": error: " + Message;
  }

  std::string Message;
  Place At;
};

namespace detail {

/// The type of a parameter, in the words of the recorder.
struct ParamType {
  const char *kind;
  DType type;
  int rank;
};
constexpr const char *wordOf(Access access) {
  constexpr const char *words[] = {"in", "out", "inout"}; // in the order of the enum
  return words[static_cast<int>(access)];
}

template <typename T> struct ParamTraits;
template <ElementTag T, int R, Access Use> struct ParamTraits<Parameter<T, R, Use>> {
  static constexpr ParamType type{wordOf(Use), T::dtype, R};
  static Parameter<T, R, Use> make(const kiln_result &made) {
    return Parameter<T, R, Use>::of(static_cast<ValueNumber>(made.number), made.rank);
  }
};
template <ElementTag T> struct ParamTraits<Scalar<T>> {
  static constexpr ParamType type{"scalar", T::dtype, 0};
  static Scalar<T> make(const kiln_result &made) { return Carrying<Scalar<T>>::from(made); }
};
template <> struct ParamTraits<Index> {
  static constexpr ParamType type{"index", DType::Index, 0};
  static Index make(const kiln_result &made) { return indexOf(made); }
};

/// Whether the parameters of a lambda have types. Those written with `auto` have none to look at.
template <typename F>
concept Typed = requires { &F::operator(); };

template <typename F> struct Lambda : Lambda<decltype(&F::operator())> {};
template <typename C, typename R, typename... A> struct Lambda<R (C::*)(A...) const> {
  static constexpr size_t arity = sizeof...(A);
  /// Ends with one that is none, because there are no empty arrays.
  static constexpr ParamType types[] = {ParamTraits<std::remove_cvref_t<A>>::type..., ParamType{}};
  template <typename F, size_t... I>
  static void call(F &body, const kiln_result *params, std::index_sequence<I...>) {
    (void)params; // where the body takes none
    body(ParamTraits<std::remove_cvref_t<A>>::make(params[I])...);
  }
  template <typename F> static void call(F &body, const kiln_result *params) {
    call(body, params, std::index_sequence_for<A...>{});
  }
};
template <typename C, typename R, typename... A>
struct Lambda<R (C::*)(A...)> : Lambda<R (C::*)(A...) const> {};

} // namespace detail

/// A kernel or a group, to be launched with submit.
class Kernel {
public:
  const std::string &name() const { return Name; }

private:
  friend class Program;
  explicit Kernel(std::string name) : Name(std::move(name)) {}
  std::string Name;
};

struct GroupOptions {
  /// Of the role that can have lanes. 0: as many as it can have (two) if a pipe has a split, else
  /// one.
  int64_t lanes = 0;
};

/// What a kernel asks for where the compiler divides it over roles and lanes. It chooses what is
/// not said. Where a machine has no roles or lanes, nothing of it has an effect.
struct KernelOptions {
  std::optional<Split> split = {}; ///< How the lanes of a role share the work.
  int64_t lanes = 0;               ///< How many lanes share it; 0: as many as there are.
  int64_t slots = 0;               ///< Of each pipe between the roles; 0: the machine's default.
  int stages = 0;                  ///< Of the loops that say nothing of their own.
};

class Program {
public:
  explicit Program(const std::string &name, Where where = Where::current())
      : Name(name),
        Handle(kiln_recorder_create(name.c_str(), KILN_RECORDER_GOES_ON,
                                    {where.file_name(), where.line(), where.column()})) {
    detail::threadPrograms.latest = Handle;
  }
  Program(Program &&other) noexcept
      : Name(std::move(other.Name)), Handle(std::exchange(other.Handle, nullptr)) {}
  Program &operator=(Program &&other) noexcept {
    std::swap(Name, other.Name);
    std::swap(Handle, other.Handle);
    std::swap(Mistakes, other.Mistakes);
    return *this;
  }
  ~Program() { kiln_recorder_destroy(release()); }

  /// The control plane: allocates, launches, loops.
  template <typename Body>
  void orchestration(const std::string &name, Params params, Body body,
                     Where where = Where::current()) {
    trace({"orchestration", name, params.list}, body, where);
  }
  /// A kernel whose roles the compiler chooses.
  template <typename Body>
  Kernel kernel(const std::string &name, Params params, Body body, Where where = Where::current()) {
    return kernel(name, KernelOptions{}, std::move(params), std::move(body), where);
  }
  template <typename Body>
  Kernel kernel(const std::string &name, KernelOptions options, Params params, Body body,
                Where where = Where::current()) {
    return trace({"incore", name, params.list, options}, body, where);
  }
  /// The roles that run together on one core group; makes pipes and roles in its body.
  template <typename Body>
  Kernel group(const std::string &name, Params params, Body body, Where where = Where::current()) {
    return group(name, GroupOptions{}, std::move(params), std::move(body), where);
  }
  template <typename Body>
  Kernel group(const std::string &name, GroupOptions options, Params params, Body body,
               Where where = Where::current()) {
    return trace({"group", name, params.list, {.lanes = options.lanes}}, body, where);
  }

  const std::string &name() const { return Name; }
  /// The recorded IR as text.
  std::string str() const { return kiln_recorder_text(Handle, 0); }
  /// Every mistake that was made while tracing, or that the verifier found; empty if the program is
  /// right.
  const std::vector<Mistake> &errors() {
    if (kiln_recorder_verify(Handle) == 0)
      return Mistakes;
    for (;;) { // there may be more than there were
      kiln_where at;
      auto index = static_cast<uint32_t>(Mistakes.size());
      std::string message = kiln_recorder_error(Handle, index, &at);
      if (message.empty())
        return Mistakes;
      Mistakes.push_back(
          {message, {at.file, static_cast<int32_t>(at.line), static_cast<int32_t>(at.column)}});
    }
  }
  /// What records it, for the compiler; it stays the program's.
  kiln_recorder *recorder() { return Handle; }
  /// The same, to keep: the caller destroys it.
  kiln_recorder *release() {
    if (detail::threadPrograms.latest == Handle)
      detail::threadPrograms.latest = nullptr;
    return std::exchange(Handle, nullptr);
  }

private:
  /// A function that is to be traced.
  struct Header {
    const char *kind;
    std::string name;
    std::vector<Param> params;
    KernelOptions options = {};
  };
  template <typename Body> Kernel trace(const Header &header, Body &body, Where where) {
    static_assert(detail::Typed<Body>,
                  "the body is a lambda whose parameters are written with their types, such as "
                  "In<f32> x, not with auto");
    if constexpr (detail::Typed<Body>) {
      detail::Recorded frame =
          begin(header, detail::Lambda<Body>::types, detail::Lambda<Body>::arity, where);
      if (frame.ok) {
        detail::ThreadPrograms &programs = detail::threadPrograms;
        kiln_recorder *before = programs.traced;
        programs.traced = Handle;
        record([&] { detail::Lambda<Body>::call(body, frame.results); }, where);
        detail::recordNothing("function.end", {}, where);
        programs.traced = before;
      }
    }
    return Kernel(header.name);
  }
  /// Runs a body; what it throws is a mistake of the program like any other.
  template <std::invocable Body> void record(Body body, Where where) {
#ifdef __cpp_exceptions
    try {
      body();
    } catch (const std::exception &error) {
      detail::recordNothing("function.abandon", {error.what()}, where);
    } catch (...) {
      detail::recordNothing("function.abandon", {"what is no std::exception"}, where);
    }
#else
    (void)where;
    body();
#endif
  }
  KILN_OUT_OF_LINE detail::Recorded begin(const Header &header, const detail::ParamType *types,
                                          size_t numTypes, Where where) {
    // Names and types that stand alone are told, too.
    size_t numNames = header.params.size(), count = numNames < numTypes ? numTypes : numNames;
    detail::List extents, parts, params;
    for (const Param &param : header.params)
      for (int64_t extent : param.extents)
        extents.add(extent);
    for (size_t index = 0, extent = 0; index < count; ++index) {
      bool hasName = index < numNames, hasType = index < numTypes;
      const detail::ParamType type = hasType ? types[index] : detail::ParamType{};
      size_t rank = hasName ? header.params[index].extents.size() : 0;
      parts.add(hasName ? detail::Item(header.params[index].name) : detail::Item());
      parts.add(hasType ? detail::Item(type.kind) : detail::Item());
      parts.add(type.type);
      parts.add(type.rank);
      parts.add(detail::Item::ofList(extents.items().data() + extent, rank));
      extent += rank;
    }
    for (size_t index = 0; index < count; ++index)
      params.add(detail::Item::ofList(parts.items().data() + 5 * index, 5));
    const KernelOptions &options = header.options;
    return detail::recordAll("function.begin",
                             {header.kind, header.name, params, detail::itemOf(options.split),
                              options.lanes, options.slots, options.stages},
                             where, Handle);
  }

  std::string Name;
  kiln_recorder *Handle; ///< Null: it was moved from.
  std::vector<Mistake> Mistakes;
};

//===----------------------------------------------------------------------===//
// In an orchestration
//===----------------------------------------------------------------------===//

/// An intermediate tensor; lives to the end of its block.
inline TensorRef alloc(const std::string &name, DType type, std::vector<Index> extents,
                       Where where = Where::current()) {
  return detail::recordTensor("alloc", {name, type, detail::List(extents)}, Access::InOut, where);
}
template <ElementTag T>
TensorRef alloc(const std::string &name, std::vector<Index> extents,
                Where where = Where::current()) {
  return alloc(name, T::dtype, std::move(extents), where);
}

namespace detail {
template <typename Body> void recordScope(bool isManual, Body &body, Where where) {
  bool isBegun = recordAll("scope.begin", {isManual}, where).ok;
  body();
  if (isBegun)
    recordNothing("scope.end", {}, where);
}
} // namespace detail

/// A block: what is allocated in it ends with it.
template <std::invocable Body> void scope(Body body, Where where = Where::current()) {
  detail::recordScope(false, body, where);
}
/// A block in which no order is inferred among its own tasks.
template <std::invocable Body> void manual_scope(Body body, Where where = Where::current()) {
  detail::recordScope(true, body, where);
}

/// An argument of a launch: a tensor, an index or a number.
struct LaunchArg {
  LaunchArg(const TensorRef &tensor) : value(tensor.value()) {}
  LaunchArg(Index index)
      : value(index.value()), number(static_cast<double>(index.constant())),
        isNumber(index.isConstant()) {}
  template <ElementTag T> LaunchArg(Scalar<T> scalar) : value(scalar.value()) {}
  template <typename N>
    requires std::integral<N> || std::floating_point<N>
  LaunchArg(N literal) : number(static_cast<double>(literal)), isNumber(true) {}
  ValueNumber value = 0;
  double number = 0;
  bool isNumber = false;
};

namespace detail {
/// A predicate as an argument, or nothing.
class Predicate {
public:
  KILN_OUT_OF_LINE explicit Predicate(const std::optional<ElementTest> &test) {
    if (!test)
      return;
    constexpr const char *signs[] = {"==", "!=", "<", "<=", ">", ">="}; // in the order of the enum
    At = List(test->element.at());
    Parts = {test->element.tensor(), At, signs[test->compare], test->constant};
    Whole = Parts;
  }
  Predicate(const Predicate &) = delete;
  operator Item() const { return Whole; }

private:
  List At, Parts;
  Item Whole;
};
} // namespace detail

struct SubmitOptions {
  std::vector<Index> grid = {};              ///< Up to three; empty: one block.
  std::vector<TaskRef> deps = {};            ///< Besides what the tensors imply.
  bool syncStart = false;                    ///< All blocks at once.
  std::optional<ElementTest> predicate = {}; ///< Runs only if this holds: `flags[{0}] > 0`.
};

/// Launches a kernel or group.
inline TaskRef submit(const Kernel &kernel, std::vector<LaunchArg> args, SubmitOptions options = {},
                      Where where = Where::current()) {
  detail::List arguments;
  for (const LaunchArg &arg : args)
    arguments.add(arg.isNumber ? detail::Item(arg.number) : detail::Item::ofValue(arg.value));
  return TaskRef::of(detail::recordValue("submit",
                                         {kernel.name(), arguments, detail::List(options.grid),
                                          detail::List(options.deps), options.syncStart,
                                          detail::Predicate(options.predicate)},
                                         where));
}
/// A task that does nothing but wait for others: one name for several dependencies.
inline TaskRef join(std::vector<TaskRef> tasks, Where where = Where::current()) {
  return TaskRef::of(detail::recordValue("join", {detail::List(tasks)}, where));
}

/// A KernelOptions, and how the kernel is launched.
struct SpmdOptions {
  std::optional<Split> split = {}; ///< How the lanes of a role share the work.
  int64_t lanes = 0;               ///< How many lanes share it; 0: as many as there are.
  int64_t slots = 0;               ///< Of each pipe between the roles; 0: the machine's default.
  int stages = 0;                  ///< Of the loops that say nothing of their own.
  std::vector<TaskRef> deps = {};
  bool syncStart = false;
  std::optional<ElementTest> predicate = {};
};

namespace detail {
template <typename Body, size_t... I>
void callSpmd(Body &body, const Recorded &begun, std::index_sequence<I...>) {
  body((begun.ok ? indexOf(begun.results[I]) : Index(0))...);
}
} // namespace detail

/// A kernel written in place, launched over a grid; the lambda takes one block index per grid
/// dimension.
template <typename Body>
TaskRef spmd(const std::string &name, std::vector<Index> grid, SpmdOptions options, Body body,
             Where where = Where::current()) {
  static_assert(detail::Typed<Body>, "the body of spmd is a lambda whose block indices are written "
                                     "with their type, Index i, not with auto");
  if constexpr (detail::Typed<Body>) {
    constexpr size_t arity = detail::Lambda<Body>::arity;
    static_assert(arity >= 1 && arity <= 3, "the body of spmd takes one to three block indices");
    detail::Recorded begun =
        detail::recordAll("spmd.begin",
                          {name, detail::List(grid), detail::itemOf(options.split), options.lanes,
                           options.slots, options.stages, detail::List(options.deps),
                           options.syncStart, detail::Predicate(options.predicate), arity},
                          where);
    TaskRef task = begun.ok ? detail::taskOf(begun.results[arity]) : TaskRef::of(0);
    detail::callSpmd(body, begun, std::make_index_sequence<arity>{});
    if (begun.ok)
      detail::recordNothing("spmd.end", {}, where);
    return task;
  } else {
    return TaskRef::of(0);
  }
}
template <typename Body>
TaskRef spmd(const std::string &name, std::vector<Index> grid, Body body,
             Where where = Where::current()) {
  return spmd(name, std::move(grid), SpmdOptions{}, std::move(body), where);
}

//===----------------------------------------------------------------------===//
// In a group
//===----------------------------------------------------------------------===//

struct PipeOptions {
  Split split = Split::None;
  int64_t slots = 0; ///< 0: the machine's default.
};

/// A tile that travels through a pipe.
struct PipeTile {
  DType type;
  Shape shape;
};

/// A pipe from one role to another. Several tiles travel together; none make it a token, which only
/// says that something has happened.
inline Pipe pipe(const std::string &name, CoreRole from, CoreRole to, std::vector<PipeTile> payload,
                 PipeOptions options = {}, Where where = Where::current()) {
  detail::List shapes, parts, tiles;
  for (const PipeTile &tile : payload) {
    shapes.add(tile.shape.rows);
    shapes.add(tile.shape.cols);
  }
  for (size_t index = 0; index < payload.size(); ++index) {
    parts.add(payload[index].type);
    parts.add(detail::Item::ofList(shapes.items().data() + 2 * index, 2));
  }
  for (size_t index = 0; index < payload.size(); ++index)
    tiles.add(detail::Item::ofList(parts.items().data() + 2 * index, 2));
  return Pipe::of(
      detail::recordValue("pipe", {name, from, to, tiles, options.split, options.slots}, where));
}
/// A pipe that carries tiles of this shape.
template <ElementTag T>
Pipe pipe(const std::string &name, CoreRole from, CoreRole to, Shape shape,
          PipeOptions options = {}, Where where = Where::current()) {
  return pipe(name, from, to, {{T::dtype, shape}}, options, where);
}

/// What one role does. Tensors and pipes of the group are used directly; they become parameters.
template <std::invocable Body>
void role(const std::string &name, CoreRole role, Body body, Where where = Where::current()) {
  bool isBegun = detail::recordAll("role.begin", {name, role}, where).ok;
  body();
  if (isBegun)
    detail::recordNothing("role.end", {}, where);
}

} // namespace kiln

#endif // KILN_LANGUAGE_PROGRAM_H
