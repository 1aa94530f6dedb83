//===- Recorder.h - the state behind kiln/record_c.h ----------------------------------===//
//
// The program, the values that were given out as numbers, and the loops, branches and functions
// that are open.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_LANGUAGE_RECORD_RECORDER_H
#define KILN_LIB_LANGUAGE_RECORD_RECORDER_H

#include "Tracer.h"

#include <functional>
#include <span>
#include <stdexcept>

namespace kiln::record {

/// What is wrong with the arguments of an operation.
struct BadArgument : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An argument, or a part of one, that is of another kind than is wanted.
struct WrongKind : BadArgument {
  WrongKind(const kiln_item &item, const std::string &what) : BadArgument(what), item(&item) {}
  const kiln_item *item;
};

/// A value of the program that was given out.
struct Held {
  kiln_value_kind kind;
  ValuePtr value;
  DType type = DType::F32;
  int64_t rows = 1, cols = 1;
  int rank = 0;
  Access access = Access::InOut;
};

/// Something that was begun and has to be ended. Where a mistake was reported at its beginning it
/// has no operation.
struct Frame {
  enum Kind { Function, Spmd, Role, Scope, Loop, Condition, While, Then, Else, Body };
  Kind kind;
  mlir::Operation *op = nullptr;
  std::string name = {}; ///< Of a role.
  CoreRole role{};
  Wires carried = {};  ///< By a loop, inside it; what a body has combined so far.
  Wires results = {};  ///< Of the first side of a branch.
  Wires poisoned = {}; ///< What a body without an operation results in.
};

class Recorder {
public:
  /// Without a program: what needs none can be done.
  Recorder() = default;
  Recorder(const std::string &name, Where where, uint32_t flags);

  /// Gives out a value as a number.
  void give(const Held &held);
  void give(int64_t constant);
  const Held &held(uint64_t number) const;

  void begin(Frame frame) { frames.push_back(std::move(frame)); }
  /// Takes off the innermost open frame, which must be of this kind.
  Frame end(Frame::Kind kind, const char *what);
  bool isIn(Frame::Kind kind) const { return !frames.empty() && frames.back().kind == kind; }
  /// Takes off what is open inside the innermost function.
  void endAllInFunction();

  /// Whether mistakes do not end the recording.
  bool canGoOn() const { return goesOn || !program; }
  /// Whether nothing more can be recorded.
  bool hasStopped() const { return program && !goesOn && !program->errors.empty(); }
  /// Adds a mistake.
  void fail(const std::string &message, Where where);

  std::unique_ptr<Tracer> program;
  std::vector<kiln_result> results; ///< Of the operation that was recorded last.
  std::string text, file;           ///< What was returned last.

private:
  bool goesOn = false;      ///< After a mistake.
  uint64_t firstNumber = 1; ///< Of the values: no two programs have a number in common.
  std::vector<Held> values;
  std::vector<Frame> frames;
};

/// An operation of the language.
struct RecordedOp {
  std::string name, summary;
  struct Parameter {
    std::string name;
    const char *kind;
    const char *standard; ///< What it is if it is not given, as JSON; null: it has to be given.
  };
  std::vector<Parameter> parameters;
  std::function<void(Recorder &, const kiln_item *)> record;
};

const std::vector<RecordedOp> &operations();

// Each adds the operations of its file.
void addScalarOperations(std::vector<RecordedOp> &list);
void addTensorOperations(std::vector<RecordedOp> &list);
void addTileOperations(std::vector<RecordedOp> &list);
void addLaunchOperations(std::vector<RecordedOp> &list);
void addControlOperations(std::vector<RecordedOp> &list);
void addRankOperations(std::vector<RecordedOp> &list);

} // namespace kiln::record

/// The recorder that a front end holds.
struct kiln_recorder {
  kiln::record::Recorder recorder;
};

#endif // KILN_LIB_LANGUAGE_RECORD_RECORDER_H
