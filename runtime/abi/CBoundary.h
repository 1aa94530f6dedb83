//===- CBoundary.h - where exceptions end --------------------------------===//
//
// What: what every function of the C interfaces passes through. Nothing in Kiln throws on purpose,
//   but the standard library does where memory runs out, and C callers cannot catch.
//
// Threads: any.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_CBOUNDARY_H
#define KILN_RUNTIME_ABI_CBOUNDARY_H

#include "kiln/abi.h"
#include "kiln/runtime/status.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>

namespace kiln {

/// What `body` returns; if it throws, `report` is told why and the result is `failed`. Both are
/// called with what the C interface has: `report` keeps the message for whoever asks.
template <typename Result, typename Body, typename Report>
Result withoutThrowing(Result failed, Body body, Report report) noexcept {
  try {
    try {
      return body();
    } catch (const std::bad_alloc &) {
      report(Status(StatusCode::OutOfMemory, "there is not enough memory"));
    } catch (const std::exception &error) {
      report(Status(StatusCode::Internal, error.what()));
    } catch (...) {
      report(Status(StatusCode::Internal, "something of unknown type was thrown"));
    }
  } catch (...) {
    return failed; // there is no memory for the message either
  }
  return failed;
}

/// What a caller's struct says, as far as this version knows. Such a struct begins with its `size`,
/// of which the first version had `least`. A caller with an older header has fewer fields: the rest
/// is zero. One with a newer header has more, which have to be zero, for they ask for what is not
/// there.
template <typename Struct>
Expected<Struct> knownPart(const Struct *given, uint64_t least, const std::string &name) {
  constexpr uint64_t most = 4096; // what claims to be longer was never filled, and is not read
  if (!given || given->size < least || given->size > most)
    return Status(StatusCode::InvalidArgument,
                  "the " + name + " is NULL, or its size is not that of " + name);
  Struct known{};
  std::memcpy(&known, given, std::min<uint64_t>(given->size, sizeof known));
  const auto *bytes = reinterpret_cast<const unsigned char *>(given);
  if (std::any_of(bytes + std::min<uint64_t>(given->size, sizeof known), bytes + given->size,
                  [](unsigned char byte) { return byte != 0; }))
    return Status(StatusCode::Unsupported,
                  "the " + name + " says something that this version of Kiln does not know: " +
                      std::to_string(given->size) + " bytes instead of " +
                      std::to_string(sizeof known));
  return known;
}

/// The place that code compiled by anybody says; NULL: it does not know.
inline SourceLoc placeOf(const kiln_source *where) {
  return where && where->file ? SourceLoc{where->file, where->line, where->col} : SourceLoc();
}

/// For functions that return the number of a code.
inline constexpr auto internalError = static_cast<int32_t>(StatusCode::Internal);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_CBOUNDARY_H
