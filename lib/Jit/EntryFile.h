//===- EntryFile.h - the bytes of a cache entry ------------------------------------------===//
//
//   object | info (JSON) | key (text) | footer
//
// The object is a shared one where the JIT made it, a relocatable one where `kiln run` did. Pure
// functions on bytes: what the file system does is in DiskCache.cpp.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_ENTRYFILE_H
#define KILN_LIB_JIT_ENTRYFILE_H

#include "kiln/Jit/DiskCache.h"

#include <string_view>

namespace kiln {

struct EntryParts {
  NativeInfo info;
  std::string_view object, key;
};

/// The bytes after the object.
std::string renderTrailer(const Artifact &artifact, std::string_view key);
/// Takes a file apart after verifying all of it. The error says what is wrong with it.
Expected<EntryParts> parseEntry(std::string_view file);

/// 32 hexadecimal digits. Names files; what is equal here is compared in full.
std::string hashText(std::string_view bytes);

} // namespace kiln

#endif // KILN_LIB_JIT_ENTRYFILE_H
