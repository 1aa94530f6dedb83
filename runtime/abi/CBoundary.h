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

#include "kiln/runtime/status.h"

#include <exception>
#include <new>

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

/// For functions that return the number of a code.
inline constexpr auto internalError = static_cast<int32_t>(StatusCode::Internal);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_CBOUNDARY_H
