//===- DumpRecord.h - one captured argument ------------------------------===//
//
// What: what the writer keeps per captured argument during the run; the manifest is rendered from
//   these afterwards. Fixed size and trivially copyable, so that capturing never allocates for
//   the record itself.
//
// Invariant: rank <= KILN_MAX_RANK. The writer checks before it copies a shape.
//
// Threads: plain data. Internal to the dump.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_DUMP_DUMPRECORD_H
#define KILN_RUNTIME_DUMP_DUMPRECORD_H

#include "kiln/abi.h"

#include <cstdint>
#include <type_traits>

namespace kiln {

struct DumpRecord {
  enum Flags : uint8_t {
    Scalar = 1,
    Contiguous = 2,
    Internal = 4,
    Truncated = 8,
    Unsigned = 16,
    Marked = 32
  };

  uint64_t sequence; // of the capture, over all threads
  uint64_t task;
  uint64_t address;
  uint64_t bufferId;
  uint64_t offset;     // elements from the start of the buffer
  uint64_t binOffset;  // bytes; within the buffer until that is written
  uint64_t binSize;    // bytes
  uint64_t scalarBits; // scalars only
  int64_t shape[KILN_MAX_RANK];
  int64_t strides[KILN_MAX_RANK];
  uint32_t kernel; // its function id
  uint16_t argIndex;
  uint8_t role;  // kiln_direction
  uint8_t stage; // DumpStage
  uint8_t dtype; // kiln_dtype
  uint8_t rank;
  uint8_t flags;
  uint8_t reserved[5];
};

static_assert(sizeof(DumpRecord) == 160, "a dump record has a fixed size of 160 bytes");
static_assert(std::is_trivially_copyable_v<DumpRecord>, "a dump record is copied as bytes");

} // namespace kiln

#endif // KILN_RUNTIME_DUMP_DUMPRECORD_H
