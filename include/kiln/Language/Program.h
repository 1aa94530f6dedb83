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
#include "kiln/runtime/status.h"
#include "kiln/visibility.h"

#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

KILN_EXPORTED_BEGIN
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

namespace detail {

struct ParamType {
  enum { TensorKind, ScalarKind, IndexKind } kind;
  DType type;
  int rank;
  Access access;
};

struct FunctionFrame {
  std::vector<ValuePtr> args;
  std::vector<int> ranks;
  bool ok;
};

template <typename T> struct ParamTraits;
template <ElementTag T, int R, Access Use> struct ParamTraits<Parameter<T, R, Use>> {
  static constexpr ParamType type{ParamType::TensorKind, T::dtype, R, Use};
  static Parameter<T, R, Use> make(ValuePtr value, int rank) {
    return Parameter<T, R, Use>::of(value, rank);
  }
};
template <ElementTag T> struct ParamTraits<Scalar<T>> {
  static constexpr ParamType type{ParamType::ScalarKind, T::dtype, 0, Access::In};
  static Scalar<T> make(ValuePtr value, int) { return Scalar<T>::of(value); }
};
template <> struct ParamTraits<Index> {
  static constexpr ParamType type{ParamType::IndexKind, DType::Index, 0, Access::In};
  static Index make(ValuePtr value, int) { return Index::of(value); }
};

/// Whether the parameters of a lambda have types. Those written with `auto` have none to look at.
template <typename F>
concept Typed = requires { &F::operator(); };

template <typename F> struct Lambda : Lambda<decltype(&F::operator())> {};
template <typename C, typename R, typename... A> struct Lambda<R (C::*)(A...) const> {
  static std::vector<ParamType> types() { return {ParamTraits<std::remove_cvref_t<A>>::type...}; }
  template <typename F, size_t... I>
  static void call(F &body, const FunctionFrame &frame, std::index_sequence<I...>) {
    body(ParamTraits<std::remove_cvref_t<A>>::make(frame.args[I], frame.ranks[I])...);
  }
  template <typename F> static void call(F &body, const FunctionFrame &frame) {
    call(body, frame, std::index_sequence_for<A...>{});
  }
  static constexpr size_t arity = sizeof...(A);
};
template <typename C, typename R, typename... A>
struct Lambda<R (C::*)(A...)> : Lambda<R (C::*)(A...) const> {};

} // namespace detail

namespace record {
class Recorder;
} // namespace record

/// A kernel or a group, to be launched with submit.
class Kernel {
public:
  const std::string &name() const { return Name; }

private:
  friend class Program;
  friend class record::Recorder;
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

class ProgramImpl;

class Program {
public:
  explicit Program(const std::string &name, Where where = Where::current());
  Program(Program &&) noexcept;
  Program &operator=(Program &&) noexcept;
  ~Program();

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

  const std::string &name() const;
  /// The recorded IR as text.
  std::string str() const;
  /// Every mistake that was made while tracing, or that the verifier found; empty if the program is
  /// right.
  const std::vector<Status> &errors();
  ProgramImpl &impl() { return *P; }

private:
  friend class record::Recorder;
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
      detail::FunctionFrame frame = begin(header, detail::Lambda<Body>::types(), where);
      if (frame.ok)
        record([&] { detail::Lambda<Body>::call(body, frame); });
      end(frame);
    }
    return Kernel(header.name);
  }
  /// Runs a body; what it throws is a mistake of the program like any other.
  template <std::invocable Body> void record(Body body) {
#ifdef __cpp_exceptions
    try {
      body();
    } catch (const std::exception &error) {
      abandon(error.what());
    } catch (...) {
      abandon("what is no std::exception");
    }
#else
    body();
#endif
  }
  detail::FunctionFrame begin(const Header &header, std::vector<detail::ParamType> types,
                              Where where);
  void end(const detail::FunctionFrame &frame);
  /// Reports that the body of the function being traced threw, and leaves that function empty.
  void abandon(const std::string &what);

  std::unique_ptr<ProgramImpl> P;
};

//===----------------------------------------------------------------------===//
// In an orchestration
//===----------------------------------------------------------------------===//

/// An intermediate tensor; lives to the end of its block.
TensorRef alloc(const std::string &name, DType type, std::vector<Index> extents,
                Where where = Where::current());
template <ElementTag T>
TensorRef alloc(const std::string &name, std::vector<Index> extents,
                Where where = Where::current()) {
  return alloc(name, T::dtype, std::move(extents), where);
}

namespace detail {
void *beginScope(bool manual, Where where);
void endScope(void *frame);
} // namespace detail

/// A block: what is allocated in it ends with it.
template <std::invocable Body> void scope(Body body, Where where = Where::current()) {
  void *frame = detail::beginScope(false, where);
  body();
  detail::endScope(frame);
}
/// A block in which no order is inferred among its own tasks.
template <std::invocable Body> void manual_scope(Body body, Where where = Where::current()) {
  void *frame = detail::beginScope(true, where);
  body();
  detail::endScope(frame);
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
  ValuePtr value = nullptr;
  double number = 0;
  bool isNumber = false;
};

struct SubmitOptions {
  std::vector<Index> grid = {};              ///< Up to three; empty: one block.
  std::vector<TaskRef> deps = {};            ///< Besides what the tensors imply.
  bool syncStart = false;                    ///< All blocks at once.
  std::optional<ElementTest> predicate = {}; ///< Runs only if this holds: `flags[{0}] > 0`.
};

/// Launches a kernel or group.
TaskRef submit(const Kernel &kernel, std::vector<LaunchArg> args, SubmitOptions options = {},
               Where where = Where::current());
/// A task that does nothing but wait for others: one name for several dependencies.
TaskRef join(std::vector<TaskRef> tasks, Where where = Where::current());

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
struct SpmdFrame {
  std::vector<Index> blocks;
  void *op;
  TaskRef task;
};
SpmdFrame beginSpmd(const std::string &name, const std::vector<Index> &grid, size_t arity,
                    const SpmdOptions &options, Where where);
void endSpmd(const SpmdFrame &frame);
template <typename Body, size_t... I>
void callSpmd(Body &body, const SpmdFrame &frame, std::index_sequence<I...>) {
  body(frame.blocks[I]...);
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
    detail::SpmdFrame frame = detail::beginSpmd(name, grid, arity, options, where);
    detail::callSpmd(body, frame, std::make_index_sequence<arity>{});
    detail::endSpmd(frame);
    return frame.task;
  } else {
    return TaskRef::of(nullptr);
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
Pipe pipe(const std::string &name, CoreRole from, CoreRole to, std::vector<PipeTile> payload,
          PipeOptions options = {}, Where where = Where::current());
/// A pipe that carries tiles of this shape.
template <ElementTag T>
Pipe pipe(const std::string &name, CoreRole from, CoreRole to, Shape shape,
          PipeOptions options = {}, Where where = Where::current()) {
  return pipe(name, from, to, {{T::dtype, shape}}, options, where);
}

namespace detail {
void *beginRole(const std::string &name, CoreRole role, Where where);
void endRole(void *frame, const std::string &name, CoreRole role);
} // namespace detail

/// What one role does. Tensors and pipes of the group are used directly; they become parameters.
template <std::invocable Body>
void role(const std::string &name, CoreRole role, Body body, Where where = Where::current()) {
  void *frame = detail::beginRole(name, role, where);
  body();
  detail::endRole(frame, name, role);
}

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_LANGUAGE_PROGRAM_H
