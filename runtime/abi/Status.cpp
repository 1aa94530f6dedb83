#include "kiln/runtime/status.h"

#include "kiln/runtime/shown.h"

#include <algorithm>
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

/// How many bytes at the beginning of a text steer a terminal: control characters, also those of
/// two bytes (U+009B begins a command as ESC [ does), and what turns the direction of writing.
static size_t numSteering(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7f)
    return byte(0) == '\n' || byte(0) == '\t' ? 0 : 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) <= 0x9f)
    return 2;
  bool turns = byte(0) == 0xe2 && ((byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                                   (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));
  return turns ? 3 : 0;
}

std::string kiln::shown(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    size_t steering = numSteering(text);
    if (steering == 0)
      result += text.front();
    for (size_t i = 0; i < steering; ++i) {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text[i]));
      result += escaped;
    }
    text.remove_prefix(std::max<size_t>(steering, 1));
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
