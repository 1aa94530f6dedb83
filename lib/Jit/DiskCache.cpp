#include "kiln/Jit/DiskCache.h"

#include "EntryFile.h"
#include "OwnFolder.h"
#include "abi/Environment.h"
#include "abi/FileIo.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace kiln {

namespace {

constexpr const char *kEntrySuffix = ".kiln", *kLockSuffix = ".lock";

/// A file descriptor, closed by its destructor.
struct File {
  explicit File(int fd) : fd(fd) {}
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() {
    if (fd >= 0)
      ::close(fd);
  }
  bool isOpen() const { return fd >= 0; }
  int release() { return std::exchange(fd, -1); }
  int fd;
};

int64_t nanoseconds(const timespec &time) {
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::string entryName(const std::string &key) { return hashText(key) + kEntrySuffix; }

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

Expected<DiskCacheOptions> DiskCacheOptions::fromEnvironment() {
  DiskCacheOptions options;
  Expected<bool> isOn = flagFromEnvironment("KILN_CACHE", true);
  Expected<std::optional<uint64_t>> bytes = numberFromEnvironment("KILN_CACHE_BYTES");
  if (!isOn || !bytes)
    return isOn ? bytes.status() : isOn.status();
  options.maxBytes = bytes->value_or(options.maxBytes);
  if (!*isOn)
    return options;
  if (std::string own = textFromEnvironment("KILN_CACHE_DIR"); !own.empty())
    options.directory = own;
  else if (std::string xdg = textFromEnvironment("XDG_CACHE_HOME"); xdg.starts_with('/'))
    options.directory = xdg + "/kiln";
  else if (std::string home = textFromEnvironment("HOME"); !home.empty())
    options.directory = home + "/.cache/kiln";
  return options;
}

DiskCache::DiskCache(DiskCacheOptions options) : Options(std::move(options)) {}

std::string DiskCache::pathOf(const std::string &key) const {
  return Options.directory + "/" + entryName(key);
}

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

/// The directory, open.
class DiskCache::Folder : public OwnFolder {
public:
  explicit Folder(OwnFolder folder) : OwnFolder(std::move(folder)) {}

  /// Of the files whose names end so.
  std::vector<std::string> names(std::string_view suffix) const {
    std::vector<std::string> found;
    File own(openFile(".", O_RDONLY | O_DIRECTORY));
    DIR *dir = own.isOpen() ? fdopendir(own.fd) : nullptr;
    if (!dir)
      return found;
    own.release();
    while (dirent *item = readdir(dir))
      if (std::string_view(item->d_name).ends_with(suffix))
        found.emplace_back(item->d_name);
    closedir(dir);
    return found;
  }

  /// Removes what dead processes left behind: temporary files, and locks that nobody holds.
  void sweep() const {
    sweepTemporaries(fd());
    for (const std::string &name : names(kLockSuffix)) {
      File file(openFile(name, O_RDWR));
      if (file.isOpen() && tryLock(file.fd) && isLinked(file.fd))
        remove(name);
    }
  }
};

static constexpr OwnFolder::Words kWords = {"cache directory", "have their code executed",
                                            ", or set KILN_CACHE_DIR to another"};

Expected<DiskCache::Folder> DiskCache::open() const {
  if (!isEnabled())
    return Status(StatusCode::NotFound, "there is no cache");
  Expected<OwnFolder> folder = OwnFolder::open(Options.directory, kWords);
  return folder ? Expected(Folder(std::move(*folder))) : folder.status();
}

Expected<DiskCache::Folder> DiskCache::openOrMake() const {
  if (!isEnabled())
    return open();
  Expected<OwnFolder> folder = OwnFolder::openOrMake(Options.directory, kWords);
  return folder ? Expected(Folder(std::move(*folder))) : folder.status();
}

Status DiskCache::verifyDirectory() const { return open().status(); }

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Expected<CacheEntry> DiskCache::loadFrom(const Folder &folder, const std::string &name,
                                         const std::string *wantedKey,
                                         std::string *foundKey) const {
  CacheEntry entry;
  entry.path = Options.directory + "/" + name;
  File file(folder.openFile(name, O_RDONLY));
  if (!file.isOpen())
    return errnoStatus("open", entry.path); // NotFound, usually
  auto reject = [&](const std::string &why) {
    return Status(StatusCode::IoError, "cache entry " + entry.path + " is not used: " + why);
  };
  Expected<std::string> read = readOwnFile(file.fd, Options.maxBytes);
  if (!read)
    return reject(read.status().message());
  std::string &bytes = *read;
  Expected<EntryParts> parts = parseEntry(bytes);
  if (!parts)
    return reject(parts.status().message());
  std::string key(parts->key);
  if (wantedKey ? key != *wantedKey : entryName(key) != name)
    return reject("it was made for another key");
  if (foundKey)
    *foundKey = key;
  entry.info = std::move(parts->info);
  bytes.resize(parts->object.size());
  entry.object = std::move(bytes);
  return entry;
}

Expected<CacheEntry> DiskCache::load(const std::string &key) const {
  Expected<Folder> folder = open();
  if (!folder)
    return folder.status();
  std::string name = entryName(key);
  Expected<CacheEntry> entry = loadFrom(*folder, name, &key, nullptr);
  if (entry) // used now; where that cannot be said, it only goes earlier
    utimensat(folder->fd(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return entry;
}

Status DiskCache::verify(const CacheListing &file, std::string *key) const {
  Expected<Folder> folder = open();
  return folder ? loadFrom(*folder, file.name, nullptr, key).status() : folder.status();
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

Status DiskCache::store(const std::string &key, const Artifact &artifact, uint64_t *evicted) const {
  Expected<Folder> folder = openOrMake();
  if (!folder)
    return folder.status();
  std::string trailer = renderTrailer(artifact, key), name = entryName(key);
  if (artifact.object.size() + trailer.size() > Options.maxBytes)
    return Status(StatusCode::OutOfMemory, "an entry of " + std::to_string(artifact.object.size()) +
                                               " bytes is larger than the whole cache may be, " +
                                               std::to_string(Options.maxBytes) +
                                               " bytes; KILN_CACHE_BYTES says how much");
  Expected<std::unique_ptr<TemporaryFile>> file = TemporaryFile::create(name, folder->fd(), 0600);
  Status done = file.status();
  for (std::string_view part : {std::string_view(artifact.object), std::string_view(trailer)})
    if (done.isOk())
      done = (*file)->write(part);
  // Not waiting for the disk, which may take seconds: what a power failure leaves half-written has
  // not the checksum of what it should be.
  if (done.isOk())
    done = (*file)->commit();
  if (!done.isOk())
    return done.withPrefix("nothing is stored in the cache directory '" + Options.directory + "'");
  uint64_t removed = trim(*folder, name);
  if (evicted)
    *evicted = removed;
  return Status::ok();
}

uint64_t DiskCache::trim(const Folder &folder, const std::string &keep) const {
  folder.sweep();
  std::vector<CacheListing> files = listOf(folder);
  uint64_t total = 0, removed = 0;
  for (const CacheListing &file : files)
    total += file.bytes;
  for (auto file = files.rbegin(); file != files.rend() && total > Options.maxBytes; ++file) {
    if (file->name == keep || !folder.remove(file->name))
      continue;
    total -= file->bytes;
    ++removed;
  }
  return removed;
}

std::vector<CacheListing> DiskCache::listOf(const Folder &folder) const {
  std::vector<CacheListing> files;
  for (const std::string &name : folder.names(kEntrySuffix)) {
    struct stat st;
    if (fstatat(folder.fd(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back(
          {name, Options.directory + "/" + name, uint64_t(st.st_size), nanoseconds(st.st_mtim)});
  }
  std::sort(files.begin(), files.end(), [](const CacheListing &a, const CacheListing &b) {
    return std::tie(b.lastUse, a.name) < std::tie(a.lastUse, b.name);
  });
  return files;
}

std::vector<CacheListing> DiskCache::list() const {
  Expected<Folder> folder = open();
  return folder ? listOf(*folder) : std::vector<CacheListing>();
}

Expected<uint64_t> DiskCache::clear() const {
  Expected<Folder> folder = open();
  if (!folder)
    return folder.status().code() == StatusCode::NotFound ? Expected<uint64_t>(uint64_t{0})
                                                          : folder.status();
  uint64_t removed = 0;
  for (const CacheListing &file : listOf(*folder)) {
    if (!folder->remove(file.name) && errno != ENOENT)
      return errnoStatus("remove", file.path);
    ++removed;
  }
  folder->sweep();
  return removed;
}

//===----------------------------------------------------------------------===//
// Locks
//===----------------------------------------------------------------------===//

KeyLock::KeyLock(KeyLock &&other) noexcept
    : Folder(std::exchange(other.Folder, -1)), Fd(std::exchange(other.Fd, -1)),
      Name(std::move(other.Name)) {}

KeyLock::~KeyLock() {
  if (Fd < 0)
    return;
  // Removed while held: who waits for it notices that it is gone and starts again.
  ::unlinkat(Folder, Name.c_str(), 0);
  ::close(Fd);
  ::close(Folder);
}

std::optional<KeyLock> DiskCache::lock(const std::string &key) const {
  Expected<Folder> folder = openOrMake();
  if (!folder)
    return std::nullopt;
  std::string name = hashText(key) + kLockSuffix;
  auto deadline = std::chrono::steady_clock::now() + Options.lockPatience;
  auto pause = std::chrono::microseconds(200);
  while (true) {
    File file(folder->openFile(name, O_RDWR | O_CREAT));
    if (!file.isOpen())
      return std::nullopt;
    bool isLocked = tryLock(file.fd);
    if (!isLocked && errno != EWOULDBLOCK)
      return std::nullopt; // a file system without locks
    if (isLocked && isLinked(file.fd)) {
      File own(::fcntl(folder->fd(), F_DUPFD_CLOEXEC, 0));
      if (!own.isOpen())
        return std::nullopt;
      return KeyLock(own.release(), file.release(), name);
    }
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

/// Locks the totals for a moment. They are statistics: whoever does not get the lock goes on
/// without.
static bool lockTotals(int fd) {
  for (int attempt = 0; fd >= 0 && attempt < 20; ++attempt) {
    if (tryLock(fd))
      return true;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return false;
}

void DiskCache::count(const CacheTotals &more) const {
  Expected<Folder> folder = open();
  File file(folder ? folder->openFile("totals", O_RDWR | O_CREAT) : -1);
  if (!lockTotals(file.fd))
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
  Expected<Folder> folder = open();
  File file(folder ? folder->openFile("totals", O_RDWR) : -1);
  if (!lockTotals(file.fd) || ::pread(file.fd, &totals, sizeof totals, 0) != ssize_t(sizeof totals))
    return {};
  return totals;
}

} // namespace kiln
