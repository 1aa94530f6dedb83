//===- FileIo.h - files read whole, written atomically, named safely -----===//
//
// What: reading a file whole; writing one so that it appears complete or not at all (a temporary
//   file in the same folder, then rename); sweeping what dead writers left; and file names made of
//   names that programs and files contain. Internal to the runtime.
//
// Temporary files are called NAME.N.tmpPID. Their writer holds them locked, and removes them also
// when the process is interrupted. Only kill -9 leaves one behind, which nobody holds then: whoever
// writes to the folder next removes it.
//
// Threads: any; two writers of one path race only for who is last.
//
//===---------------------------------------------------------------------===//
#ifndef KILN_RUNTIME_ABI_FILEIO_H
#define KILN_RUNTIME_ABI_FILEIO_H

#include "kiln/runtime/interrupt.h"
#include "kiln/runtime/status.h"

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

/// An IoError (NotFound for a missing file) made from errno: "cannot <action> '<path>': <reason>".
Status errnoStatus(const std::string &action, const std::string &path);

/// Whether a file may be a link to another one. What comes from elsewhere, such as a run's folder,
/// must not show the files of whoever looks at it.
enum class Links { Follow, Refuse };

/// An open regular file, closed by its destructor.
class InputFile {
public:
  static Expected<InputFile> open(const std::string &path, Links links = Links::Follow);
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
Expected<std::string> readFile(const std::string &path, uint64_t maxBytes,
                               Links links = Links::Follow);

/// Writes the parts one after the other.
Status writeFileAtomically(const std::string &path, std::span<const std::string_view> parts);
Status writeFileAtomically(const std::string &path, std::string_view contents);

//===----------------------------------------------------------------------===//
// Temporary files and folders
//===----------------------------------------------------------------------===//

/// What will be the file `name` of a folder, until commit() under another name. Removed by its
/// destructor otherwise.
class TemporaryFile {
public:
  /// `folder` is an open one, or AT_FDCWD where `name` is a path; it stays the caller's.
  static Expected<std::unique_ptr<TemporaryFile>>
  create(const std::string &name, int folder = AT_FDCWD, unsigned mode = 0666);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  int fd() const { return Fd; }
  Status write(std::string_view bytes);
  /// Closes it and puts it in its place.
  Status commit();

private:
  TemporaryFile(int folder, std::string name, std::string temporary, int fd);
  void remove();

  int Folder, Fd;
  std::string Name, Temporary;
  bool IsDone = false;
  OnInterrupt Removal;
};

/// A new folder in the system's place for temporary files, for this user only. Removed with all
/// that is in it by its destructor.
class TemporaryFolder {
public:
  static Expected<std::unique_ptr<TemporaryFolder>> create(const std::string &name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return Path; }

private:
  TemporaryFolder(std::string path, int fd);
  void remove();

  std::string Path;
  int Fd; ///< Locked.
  OnInterrupt Removal;
};

/// Removes the temporary files and folders that dead processes of this user left in a folder.
void sweepTemporaries(const std::string &folder);
/// The same for an open folder, which stays the caller's.
void sweepTemporaries(int folder);

/// Takes the lock of a file without waiting; false if somebody has it, or there are no locks.
bool tryLock(int fd);
/// Still the file that a name refers to: not removed since it was opened.
bool isLinked(int fd);

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Makes file names of names that may hold anything: letters, digits, '_' and '-' stay, the rest
/// becomes '_'. Never empty, never a path, and never twice the same.
class FileNames {
public:
  std::string operator()(std::string_view name);

private:
  std::set<std::string> Used;
};

} // namespace kiln

#endif // KILN_RUNTIME_ABI_FILEIO_H
