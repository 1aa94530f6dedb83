#include "kiln/Jit/DiskCache.h"

#include "EntryFile.h"
#include "abi/FileIo.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace kiln {

namespace {

constexpr std::string_view kEntrySuffix = ".kiln", kLockSuffix = ".lock", kTempSuffix = ".tmp";

/// A file descriptor, closed by its destructor.
struct File {
  explicit File(int fd) : fd(fd) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() { close(); }
  bool isOpen() const { return fd >= 0; }
  /// A full disk may show only here.
  bool close() {
    int closing = std::exchange(fd, -1);
    return closing < 0 || ::close(closing) == 0;
  }
  int fd;
};

bool tryLock(int fd) {
  int result;
  do
    result = flock(fd, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Still the file that its path names: not removed since it was opened.
bool isLinked(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

bool writeAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return false;
    bytes.remove_prefix(size_t(put));
  }
  return true;
}

bool readAll(int fd, std::string &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done, off_t(done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += size_t(got);
  }
  return true;
}

/// Calls `visit(name, path)` for each file whose name ends so.
template <typename Visit>
void forEachFile(const std::string &directory, std::string_view suffix, Visit visit) {
  DIR *dir = opendir(directory.c_str());
  if (!dir)
    return;
  while (dirent *item = readdir(dir)) {
    std::string_view name = item->d_name;
    if (name.ends_with(suffix))
      visit(std::string(name), directory + "/" + std::string(name));
  }
  closedir(dir);
}

int64_t nanoseconds(const timespec &time) {
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

DiskCacheOptions DiskCacheOptions::fromEnvironment() {
  DiskCacheOptions options;
  auto get = [](const char *name) {
    return std::string(std::getenv(name) ? std::getenv(name) : "");
  };
  if (get("KILN_CACHE") == "0")
    return options;
  if (std::string own = get("KILN_CACHE_DIR"); !own.empty())
    options.directory = own;
  else if (std::string xdg = get("XDG_CACHE_HOME"); xdg.starts_with('/'))
    options.directory = xdg + "/kiln";
  else if (std::string home = get("HOME"); !home.empty())
    options.directory = home + "/.cache/kiln";
  std::string bytes = get("KILN_CACHE_BYTES");
  if (!bytes.empty() && bytes.find_first_not_of("0123456789") == std::string::npos)
    options.maxBytes = std::strtoull(bytes.c_str(), nullptr, 10);
  return options;
}

DiskCache::DiskCache(DiskCacheOptions options) : Options(std::move(options)) {}

std::string DiskCache::pathOf(const std::string &key) const {
  return Options.directory + "/" + hashText(key) + std::string(kEntrySuffix);
}

/// Makes missing parents with the user's mask, and the directory itself for nobody else.
Status DiskCache::makeDirectory() const {
  const std::string &path = Options.directory;
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0777);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return errnoStatus("make the cache directory", path);
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Reads a file that belongs to this user, whole.
static Expected<CacheEntry> readOwn(const std::string &path, uint64_t maxBytes,
                                    std::string &bytes) {
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.isOpen() && (errno == ENOENT || errno == ENOTDIR)) // who cannot store will say why
    return Status(StatusCode::NotFound, "there is no entry " + path);
  if (!file.isOpen())
    return errnoStatus("open", path);
  auto reject = [&](const char *why) {
    return Status(StatusCode::IoError, "cache entry " + path + " is not used: " + why);
  };
  struct stat st;
  if (fstat(file.fd, &st) != 0 || !S_ISREG(st.st_mode))
    return reject("it is no regular file");
  if (st.st_uid != geteuid())
    return reject("it belongs to another user");
  if (st.st_mode & (S_IWGRP | S_IWOTH))
    return reject("others may write to it");
  if (uint64_t(st.st_size) > maxBytes)
    return reject("it is larger than the whole cache may be");
  bytes.resize(size_t(st.st_size));
  if (!readAll(file.fd, bytes))
    return reject("it cannot be read");
  CacheEntry entry;
  entry.path = path;
  entry.device = st.st_dev;
  entry.inode = st.st_ino;
  return entry;
}

static Expected<CacheEntry> loadFile(const std::string &path, uint64_t maxBytes,
                                     const std::string *wantedKey, std::string *foundKey) {
  std::string bytes;
  Expected<CacheEntry> entry = readOwn(path, maxBytes, bytes);
  if (!entry)
    return entry;
  Expected<EntryParts> parts = parseEntry(bytes);
  if (!parts)
    return parts.status().withPrefix("cache entry " + path + " is not used");
  if (wantedKey && parts->key != *wantedKey)
    return Status(StatusCode::IoError,
                  "cache entry " + path + " is not used: it was made for another key");
  if (foundKey)
    *foundKey = parts->key;
  entry->info = std::move(parts->info);
  bytes.resize(parts->object.size());
  entry->object = std::move(bytes);
  return entry;
}

Expected<CacheEntry> DiskCache::load(const std::string &key) const {
  if (!isEnabled())
    return Status(StatusCode::NotFound, "there is no cache");
  std::string path = pathOf(key);
  Expected<CacheEntry> entry = loadFile(path, Options.maxBytes, &key, nullptr);
  if (entry) // used now; where that cannot be said, it only goes earlier
    utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return entry;
}

Status DiskCache::verify(const CacheListing &file, std::string *key) const {
  std::string found;
  Expected<CacheEntry> entry = loadFile(file.path, Options.maxBytes, nullptr, &found);
  if (!entry)
    return entry.status();
  if (pathOf(found) != file.path)
    return Status(StatusCode::IoError,
                  "cache entry " + file.path + " is not used: it was made for another key");
  if (key)
    *key = found;
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// A fresh file that its writer holds locked, so that the leavings of dead writers can be told from
/// the work of living ones.
static int createTemporary(const std::string &stem, std::string &path) {
  static std::atomic<uint64_t> counter{0};
  for (int attempt = 0; attempt < 16; ++attempt) {
    path = stem + "." + std::to_string(getpid()) + "." + std::to_string(counter++) +
           std::string(kTempSuffix);
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST)
      continue;
    if (fd < 0)
      return -1;
    // Between the two, somebody who sweeps may have taken it for a dead writer's.
    if (tryLock(fd) && isLinked(fd))
      return fd;
    ::close(fd);
  }
  errno = EAGAIN;
  return -1;
}

/// Removes temporary files that nobody holds.
static void sweepTemporaries(const std::string &directory) {
  forEachFile(directory, kTempSuffix, [](const std::string &, const std::string &path) {
    File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.isOpen() && tryLock(file.fd))
      ::unlink(path.c_str());
  });
}

Expected<CacheEntry> DiskCache::store(const std::string &key, const Artifact &artifact,
                                      uint64_t *evicted) const {
  if (!isEnabled())
    return Status(StatusCode::NotFound, "there is no cache");
  if (Status made = makeDirectory(); !made.isOk())
    return made;
  std::string trailer = renderTrailer(artifact, key), path = pathOf(key), temporary;
  if (artifact.object.size() + trailer.size() > Options.maxBytes)
    return Status(StatusCode::OutOfMemory, "an entry of " + std::to_string(artifact.object.size()) +
                                               " bytes is larger than the whole cache may be");
  File file(createTemporary(path, temporary));
  if (!file.isOpen())
    return errnoStatus("create a cache entry in", Options.directory);
  struct stat st{};
  bool good = writeAll(file.fd, artifact.object) && writeAll(file.fd, trailer) &&
              ::fsync(file.fd) == 0 && fstat(file.fd, &st) == 0 &&
              ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!good) {
    Status error = errnoStatus("write the cache entry", path);
    ::unlink(temporary.c_str());
    return error;
  }
  file.close();
  uint64_t removed = trim(path);
  if (evicted)
    *evicted = removed;
  CacheEntry entry;
  entry.info = artifact.info;
  entry.path = path;
  entry.device = st.st_dev;
  entry.inode = st.st_ino;
  return entry;
}

uint64_t DiskCache::trim(const std::string &keep) const {
  sweepTemporaries(Options.directory);
  std::vector<CacheListing> files = list();
  uint64_t total = 0, removed = 0;
  for (const CacheListing &file : files)
    total += file.bytes;
  for (auto file = files.rbegin(); file != files.rend() && total > Options.maxBytes; ++file) {
    if (file->path == keep || ::unlink(file->path.c_str()) != 0)
      continue;
    total -= file->bytes;
    ++removed;
  }
  return removed;
}

std::vector<CacheListing> DiskCache::list() const {
  std::vector<CacheListing> files;
  if (!isEnabled())
    return files;
  forEachFile(Options.directory, kEntrySuffix,
              [&](const std::string &name, const std::string &path) {
                struct stat st;
                if (lstat(path.c_str(), &st) == 0)
                  files.push_back({name, path, uint64_t(st.st_size), nanoseconds(st.st_mtim)});
              });
  std::sort(files.begin(), files.end(), [](const CacheListing &a, const CacheListing &b) {
    return std::tie(b.lastUse, a.name) < std::tie(a.lastUse, b.name);
  });
  return files;
}

Expected<uint64_t> DiskCache::clear() const {
  uint64_t removed = 0;
  for (const CacheListing &file : list()) {
    if (::unlink(file.path.c_str()) != 0 && errno != ENOENT)
      return errnoStatus("remove", file.path);
    ++removed;
  }
  if (isEnabled())
    sweepTemporaries(Options.directory);
  return removed;
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

KeyLock::KeyLock(KeyLock &&other) noexcept
    : Fd(std::exchange(other.Fd, -1)), Path(std::move(other.Path)) {}

KeyLock::~KeyLock() {
  if (Fd < 0)
    return;
  // Removed while held: who waits for it notices that it is gone and starts again.
  ::unlink(Path.c_str());
  ::close(Fd);
}

std::optional<KeyLock> DiskCache::lock(const std::string &key) const {
  if (!isEnabled() || !makeDirectory().isOk())
    return std::nullopt;
  std::string path = Options.directory + "/" + hashText(key) + std::string(kLockSuffix);
  auto deadline = std::chrono::steady_clock::now() + Options.lockPatience;
  auto pause = std::chrono::microseconds(200);
  while (true) {
    File file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.isOpen())
      return std::nullopt;
    bool isLocked = tryLock(file.fd);
    if (!isLocked && errno != EWOULDBLOCK)
      return std::nullopt; // a file system without locks
    if (isLocked && isLinked(file.fd))
      return KeyLock(std::exchange(file.fd, -1), path);
    if (isLocked)
      continue; // the last holder removed it
    if (std::chrono::steady_clock::now() >= deadline)
      return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(10));
  }
}

//===----------------------------------------------------------------------===//
// Totals
//===----------------------------------------------------------------------===//

/// Opens the totals and locks them for a moment. They are statistics: whoever does not get the lock
/// goes on without.
static int openTotals(const std::string &directory, bool create) {
  std::string path = directory + "/totals";
  int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | (create ? O_CREAT : 0), 0600);
  for (int attempt = 0; fd >= 0 && attempt < 20; ++attempt) {
    if (tryLock(fd))
      return fd;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (fd >= 0)
    ::close(fd);
  return -1;
}

void DiskCache::count(const CacheTotals &more) const {
  File file(isEnabled() ? openTotals(Options.directory, /*create=*/true) : -1);
  if (!file.isOpen())
    return;
  CacheTotals totals;
  ssize_t got = ::pread(file.fd, &totals, sizeof totals, 0);
  if (got != ssize_t(sizeof totals))
    totals = {};
  totals.hits += more.hits;
  totals.misses += more.misses;
  totals.compiles += more.compiles;
  totals.evictions += more.evictions;
  totals.rejected += more.rejected;
  (void)!::pwrite(file.fd, &totals, sizeof totals, 0);
}

CacheTotals DiskCache::totals() const {
  CacheTotals totals;
  File file(isEnabled() ? openTotals(Options.directory, /*create=*/false) : -1);
  if (!file.isOpen() || ::pread(file.fd, &totals, sizeof totals, 0) != ssize_t(sizeof totals))
    return {};
  return totals;
}

} // namespace kiln
