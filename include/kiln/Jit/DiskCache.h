//===- DiskCache.h - compiled artifacts, kept between processes --------------------------===//
//
// What: a directory of entries, one file each: the artifact's bytes, then how to enter it, the full
//   key, and a footer with sizes and a checksum over everything.
//
// Invariants: an entry appears whole or not at all (temporary file, fsync, rename) and is never
//   changed. The directory belongs to this user and nobody else may write to it; it is opened once
//   for each operation, and files are opened in it, never through a path. Nothing is used before
//   owner, sizes, version, checksum and the full key have been verified, and what is used are the
//   bytes that were verified, not the file; whatever does not fit is a miss with a reason. One
//   process compiles a key at a time (file locks, which the kernel releases when their holder
//   dies).
//
// Nothing here is ever fatal: a directory that cannot be used means no cache.
//
// Threads: any number, and any number of processes.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_JIT_DISKCACHE_H
#define KILN_JIT_DISKCACHE_H

#include "kiln/Jit/Backend.h"
#include "kiln/runtime/status.h"
#include "kiln/visibility.h"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

KILN_EXPORTED_BEGIN
namespace kiln {

/// Raised when the format of entries changes; entries of another version are misses.
inline constexpr uint32_t cacheFormatVersion = 1;

struct DiskCacheOptions {
  /// Empty: no cache.
  std::string directory;
  uint64_t maxBytes = uint64_t{1} << 30;
  /// How long to wait for another process that compiles the same key before doing it as well.
  std::chrono::milliseconds lockPatience{120'000};

  /// KILN_CACHE_DIR, else XDG_CACHE_HOME/kiln, else HOME/.cache/kiln; KILN_CACHE=0: none.
  /// KILN_CACHE_BYTES: the bound.
  static Expected<DiskCacheOptions> fromEnvironment();
};

struct CacheEntry {
  NativeInfo info;
  std::string object; ///< The bytes that were verified.
  std::string path;   ///< Where they were, for messages.
};

/// What happened since the directory was made, in all processes.
struct CacheTotals {
  uint64_t hits = 0, misses = 0, compiles = 0, evictions = 0, rejected = 0;
};

/// A file of the cache, for people.
struct CacheListing {
  std::string name, path;
  uint64_t bytes = 0;
  int64_t lastUse = 0; ///< Nanoseconds since 1970.
};

/// Held while one process compiles a key. Released by its destructor, and by death.
class KeyLock {
public:
  KeyLock(KeyLock &&other) noexcept;
  KeyLock &operator=(KeyLock &&) = delete;
  ~KeyLock();

private:
  friend class DiskCache;
  KeyLock(int folder, int fd, std::string name) : Folder(folder), Fd(fd), Name(std::move(name)) {}
  int Folder, Fd;
  std::string Name;
};

class DiskCache {
public:
  explicit DiskCache(DiskCacheOptions options);

  bool isEnabled() const { return !Options.directory.empty(); }
  const DiskCacheOptions &options() const { return Options; }

  /// The verified entry. NotFound: there is none; any other code: there is a file that is not used,
  /// and the message says which and why.
  Expected<CacheEntry> load(const std::string &key) const;
  /// Writes an entry, then removes the least recently used ones beyond the bound; `evicted`, if
  /// given, counts those.
  Status store(const std::string &key, const Artifact &artifact, uint64_t *evicted = nullptr) const;
  /// Whether the directory is there and can be trusted; NotFound, or why not.
  Status verifyDirectory() const;
  /// Waits for the key's lock. Nothing if there is no cache, the lock cannot be made, or patience
  /// ran out: go on without.
  std::optional<KeyLock> lock(const std::string &key) const;

  void count(const CacheTotals &more) const;
  CacheTotals totals() const;

  /// Entries, the most recently used first.
  std::vector<CacheListing> list() const;
  /// Verifies one file of list() as load() does, whatever its key; `key` gets it.
  Status verify(const CacheListing &file, std::string *key = nullptr) const;
  /// Removes all entries, and what dead writers left behind; the number of entries.
  Expected<uint64_t> clear() const;

  /// Where a key's entry is.
  std::string pathOf(const std::string &key) const;

private:
  class Folder;
  Expected<Folder> open() const;
  Expected<Folder> openOrMake() const;
  /// Reads and verifies an entry. `wantedKey` may be null: any.
  Expected<CacheEntry> loadFrom(const Folder &folder, const std::string &name,
                                const std::string *wantedKey, std::string *foundKey) const;
  std::vector<CacheListing> listOf(const Folder &folder) const;
  /// Removes the least recently used entries beyond the bound, but not `keep`; their number.
  uint64_t trim(const Folder &folder, const std::string &keep) const;

  DiskCacheOptions Options;
};

} // namespace kiln
KILN_EXPORTED_END

#endif // KILN_JIT_DISKCACHE_H
