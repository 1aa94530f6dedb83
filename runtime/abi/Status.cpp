#include "kiln/runtime/status.h"

#include "kiln/runtime/shown.h"

#include <cstdio>

using namespace kiln;

const char *kiln::toString(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "ok";
  case StatusCode::InvalidArgument:
    return "invalid argument";
  case StatusCode::FailedPrecondition:
    return "failed precondition";
  case StatusCode::NotFound:
    return "not found";
  case StatusCode::AlreadyExists:
    return "already exists";
  case StatusCode::OutOfMemory:
    return "out of memory";
  case StatusCode::Unsupported:
    return "unsupported";
  case StatusCode::KernelFailed:
    return "kernel failed";
  case StatusCode::Deadlock:
    return "deadlock";
  case StatusCode::IoError:
    return "I/O error";
  case StatusCode::Internal:
    return "internal error";
  case StatusCode::Interrupted:
    return "interrupted";
  }
  return "unknown";
}

std::string SourceLoc::str() const {
  std::string text = file;
  if (file.empty() || line <= 0)
    return text;
  text += ":" + std::to_string(line);
  if (col > 0)
    text += ":" + std::to_string(col);
  return text;
}

Status::Status(StatusCode code, std::string message, SourceLoc loc)
    : Rep(std::make_shared<const Record>(Record{code, std::move(message), std::move(loc)})) {
  assert(code != StatusCode::Ok && "success carries no message: use Status::ok()");
}

const std::string &Status::message() const {
  static const std::string none;
  return Rep ? Rep->Message : none;
}

const SourceLoc &Status::location() const {
  static const SourceLoc none;
  return Rep ? Rep->Loc : none;
}

std::string Status::str() const {
  if (isOk())
    return "ok";
  std::string where = Rep->Loc.str();
  return shown((where.empty() ? "" : where + ": ") + "error: " + Rep->Message);
}

std::string kiln::shown(std::string_view text) {
  std::string result;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t') {
      result += c;
      continue;
    }
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    result += escaped;
  }
  return result;
}

Status Status::withPrefix(const std::string &prefix) const {
  return isOk() ? *this : Status(Rep->Code, prefix + ": " + Rep->Message, Rep->Loc);
}

Status Status::asFaultOfProgram() const {
  return code() == StatusCode::InvalidArgument
             ? Status(StatusCode::KernelFailed, Rep->Message, Rep->Loc)
             : *this;
}

Status Status::withLocation(const SourceLoc &loc) const {
  return isOk() || Rep->Loc.isKnown() ? *this : Status(Rep->Code, Rep->Message, loc);
}
