//===- MpiOperation.h - what is in flight under MPI -----------------------------------------===//
#ifndef KILN_RUNTIME_RANKS_MPIOPERATION_H
#define KILN_RUNTIME_RANKS_MPIOPERATION_H

#include "ranks/MpiTransport.h"

namespace kiln {

/// Something in flight: requests, and what to do when all of them have ended.
struct MpiTransport::Operation {
  Collective collective;
  Done done;
  kiln_mpi_line *line = nullptr;
  int32_t me = 0;
  std::vector<kiln_mpi_request> requests;
  Stage next = nullptr; ///< Null: it has ended.
  Status status;
  /// Sent and received here where a tensor has gaps or there is no other place.
  std::vector<std::byte> source, target, headers, mine;
  Memory parts;
  bool hasHeader = false;
  LoanTerms terms;             ///< Of a message: what this rank says.
  RankReport::Pending watched; ///< What it waits for, in words.

  const std::byte *input() const {
    const kiln_tensor &from = collective.source.rank ? collective.source : collective.target;
    return source.empty() ? static_cast<const std::byte *>(from.data) : source.data();
  }
  std::byte *output() {
    return target.empty() ? static_cast<std::byte *>(collective.target.data) : target.data();
  }
  int32_t count() const { return collective.line.count; }
  DType type() const { return static_cast<DType>(collective.shaped().dtype); }
};

} // namespace kiln

#endif // KILN_RUNTIME_RANKS_MPIOPERATION_H
