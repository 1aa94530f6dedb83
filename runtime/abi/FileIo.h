//===- FileIo.h - whole files, written atomically ------------------------===//
//
// What: reading a file whole, and writing one so that it appears complete or not at all
//   (temporary file in the same directory, then rename). Internal to the runtime.
//
// Ownership: no handle outlives a call. Threads: any; two writers of one path race only for who
//   is last.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_FILEIO_H
#define KILN_RUNTIME_ABI_FILEIO_H

#include "kiln/runtime/status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

/// An IoError (NotFound for a missing file) made from errno: "cannot <action> '<path>': <reason>".
Status errnoStatus(const std::string &action, const std::string &path);

/// An open regular file, closed by its destructor.
class InputFile {
public:
  static Expected<InputFile> open(const std::string &path);
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&other) = delete;
  ~InputFile();

  uint64_t size() const { return Size; }
  /// Fills `target` from the bytes at `offset`; fewer bytes in the file is an error.
  Status read(uint64_t offset, std::span<std::byte> target) const;

private:
  InputFile(int fd, uint64_t size, std::string path) : Fd(fd), Size(size), Path(std::move(path)) {}
  int Fd;
  uint64_t Size;
  std::string Path;
};

/// The file's contents. Files above `maxBytes`, directories and devices are errors.
Expected<std::string> readFile(const std::string &path, uint64_t maxBytes);

/// Writes the parts one after the other.
Status writeFileAtomically(const std::string &path, std::span<const std::string_view> parts);
Status writeFileAtomically(const std::string &path, std::string_view contents);

} // namespace kiln

#endif // KILN_RUNTIME_ABI_FILEIO_H
