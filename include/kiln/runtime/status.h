//===- kiln/runtime/status.h - errors as values --------------------------===//
//
// What: `Status` (success, or a code with a message and perhaps a source location) and
//   `Expected<T>` (a T, or the Status that says why there is none). The runtime reports every
//   error this way; no exception crosses its boundary, and this header compiles with exceptions
//   off.
//
// Ownership: both are self-contained values; copying an error shares an immutable record.
//
// Threads: values like any other. Different copies may be used from different threads.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_STATUS_H
#define KILN_RUNTIME_STATUS_H

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace kiln {

enum class StatusCode : uint8_t {
  Ok,
  InvalidArgument,    // the caller passed something that can never work
  FailedPrecondition, // fine in itself, but not now (endScope without beginScope)
  NotFound,           // no such kernel, file, entry
  AlreadyExists,      // a name or id used twice
  OutOfMemory,
  Unsupported, // understood, but this build cannot do it
  KernelFailed,
  Deadlock,
  IoError,
  Internal,   // a bug in Kiln
  Interrupted // by a signal, or by a limit of time; see kiln/runtime/interrupt.h
};

/// The code's name in words, e.g. "invalid argument".
const char *toString(StatusCode code);

/// A place in the user's source. Line and column count from 1; 0 means unknown.
struct SourceLoc {
  std::string file;
  int32_t line = 0;
  int32_t col = 0;

  bool isKnown() const { return !file.empty(); }
  /// "file:line:col", leaving out what is unknown; empty when nothing is known.
  std::string str() const;
  friend bool operator==(const SourceLoc &, const SourceLoc &) = default;
};

class [[nodiscard]] Status {
public:
  /// Success. Costs nothing.
  Status() = default;
  static Status ok() { return Status(); }

  /// An error. `code` must not be Ok.
  Status(StatusCode code, std::string message, SourceLoc loc = {});

  bool isOk() const { return !Rep; }
  StatusCode code() const { return Rep ? Rep->Code : StatusCode::Ok; }
  /// The message alone; empty for success.
  const std::string &message() const;
  const SourceLoc &location() const;

  /// "file:line:col: error: message", or "ok": what a tool prints.
  std::string str() const;

  /// The same error with "prefix: " before its message. Success stays success.
  Status withPrefix(const std::string &prefix) const;
  /// The same error as one of the program that ran, not of whoever called it: InvalidArgument
  /// becomes KernelFailed. A program is blamed for the values it computes, on every platform.
  Status asFaultOfProgram() const;
  /// The same error at `loc`, unless it has a location already.
  Status withLocation(const SourceLoc &loc) const;

private:
  struct Record {
    StatusCode Code;
    std::string Message;
    SourceLoc Loc;
  };
  std::shared_ptr<const Record> Rep;
};

/// A T or an error. Test it (`if (!x) return x.status();`) before using `*x`.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : Storage(std::in_place_index<0>, std::move(value)) {}
  Expected(Status error) : Storage(std::in_place_index<1>, std::move(error)) {
    assert(!std::get<1>(Storage).isOk() && "an Expected without a value needs an error");
  }

  bool hasValue() const { return Storage.index() == 0; }
  explicit operator bool() const { return hasValue(); }

  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(value()); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

  /// Ok when there is a value, else the error.
  Status status() const { return hasValue() ? Status::ok() : *std::get_if<1>(&Storage); }

private:
  T &value() {
    assert(hasValue() && "no value: check the Expected first");
    return *std::get_if<0>(&Storage);
  }
  const T &value() const {
    assert(hasValue() && "no value: check the Expected first");
    return *std::get_if<0>(&Storage);
  }

  std::variant<T, Status> Storage;
};

} // namespace kiln

#endif // KILN_RUNTIME_STATUS_H
