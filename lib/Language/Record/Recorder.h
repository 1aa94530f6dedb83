//===- Recorder.h - a program that another language records ---------------------------===//
//
// The state behind kiln/record_c.h: the program, the values that were given out as numbers, and the
// loops, branches and functions that are open. What records is the C++ front end itself.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_LANGUAGE_RECORD_RECORDER_H
#define KILN_LIB_LANGUAGE_RECORD_RECORDER_H

#include "Tracer.h"

#include "kiln/Language/Combine.h"
#include "kiln/record_c.h"

#include <functional>
#include <span>
#include <stdexcept>

namespace kiln::record {

/// What is wrong with the arguments of an operation, before the front end sees them.
struct BadArgument : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A value of the program with what its C++ handle would know.
struct Held {
  kiln_value_kind kind;
  ValuePtr value;
  DType type = DType::F32;
  int64_t rows = 1, cols = 1;
  int rank = 0;
  Access access = Access::InOut;
};

/// A parameter of a function that is to be recorded.
struct ParamSpec {
  std::string name = {};
  detail::ParamType type;
  std::vector<int64_t> extents;
};

/// Something that was begun and has to be ended.
struct Frame {
  enum Kind { Function, Spmd, Role, Scope, Loop, Condition, While, Then, Else, Body };
  Kind kind;
  void *op = nullptr;
  detail::LoopFrame loop{0, {}, nullptr};
  detail::SpmdFrame spmd{{}, nullptr, TaskRef::of(nullptr)};
  detail::FunctionFrame function{{}, {}, false};
  std::string name = {};
  CoreRole role{nullptr};
  detail::Wires thenValues = {};
  detail::BodyFrame body{{}, {}, nullptr, {}};
};

class Recorder {
public:
  Recorder(const std::string &name, const kiln_where &at);

  /// Gives out a value as a number.
  void give(const Held &held);
  void give(int64_t constant);
  const Held &held(uint64_t number) const;

  void begin(Frame frame) { frames.push_back(std::move(frame)); }
  /// Takes off the innermost open frame, which must be of this kind.
  Frame end(Frame::Kind kind, const char *what);
  bool isIn(Frame::Kind kind) const { return !frames.empty() && frames.back().kind == kind; }

  void beginFunction(const std::string &kind, const std::string &name,
                     const std::vector<ParamSpec> &params, const KernelOptions &options,
                     Where where);
  void endFunction();
  Kernel kernelOf(const std::string &name) const;

  /// The mistake that ends the recording.
  void fail(const std::string &message, const kiln_where &at);
  const std::vector<Status> &errors() { return program.impl().errors; }

  Program program;
  std::vector<kiln_result> results; ///< Of the operation being recorded.
  std::string text, file;           ///< What was returned last.

private:
  std::vector<Held> values;
  std::vector<Frame> frames;
};

/// An operation of the language.
struct Operation {
  std::string name, summary;
  struct Parameter {
    std::string name;
    const char *kind;
    const char *standard; ///< What it is if it is not given, as JSON; null: it has to be given.
  };
  std::vector<Parameter> parameters;
  std::function<void(Recorder &, const kiln_item *, Where)> record;
};

const std::vector<Operation> &operations();
/// Adds the operations that begin and end something.
void addFrameOperations(std::vector<Operation> &list);

} // namespace kiln::record

#endif // KILN_LIB_LANGUAGE_RECORD_RECORDER_H
