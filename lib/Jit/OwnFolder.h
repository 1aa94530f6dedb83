//===- OwnFolder.h - a folder whose files nobody but this user has made ---------------------===//
//
// What is read back and believed, code or values, lies in a folder that belongs to this user and
// that nobody else may write to. It is opened once for each operation, and files are opened in it,
// never through their path: whoever exchanges it behind its name changes nothing.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_OWNFOLDER_H
#define KILN_LIB_JIT_OWNFOLDER_H

#include "kiln/runtime/status.h"

#include <string>
#include <sys/stat.h>
#include <utility>

namespace kiln {

/// Why another user could change what this file or folder holds; null if none can.
const char *whyNotOwn(const struct stat &st);

class OwnFolder {
public:
  /// What to say of a folder that is not used.
  struct Words {
    const char *what;    ///< "cache directory"
    const char *harm;    ///< What others could do otherwise: "have their code executed".
    const char *instead; ///< What to do if it cannot be made one's own; may be empty.
  };

  /// NotFound if it is not there; else why it is not used.
  static Expected<OwnFolder> open(const std::string &path, const Words &words);
  /// Makes missing parents with the user's mask, and the folder itself for nobody else.
  static Expected<OwnFolder> openOrMake(const std::string &path, const Words &words);

  OwnFolder(OwnFolder &&other) noexcept : Fd(std::exchange(other.Fd, -1)) {}
  OwnFolder &operator=(OwnFolder &&) = delete;
  ~OwnFolder();

  int fd() const { return Fd; }
  /// A file in it, but nothing that a link refers to, and without waiting for who writes to a FIFO.
  int openFile(const std::string &name, int flags) const;
  bool remove(const std::string &name) const;

private:
  explicit OwnFolder(int fd) : Fd(fd) {}
  int Fd;
};

/// The bytes of a file that is open: at most so many, of a regular file that is nobody else's.
Expected<std::string> readOwnFile(int fd, uint64_t maxBytes);

} // namespace kiln

#endif // KILN_LIB_JIT_OWNFOLDER_H
