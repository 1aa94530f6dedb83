#include "FileIo.h"

#include "ParseNumber.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace kiln;

Status kiln::errnoStatus(const std::string &action, const std::string &path) {
  int error = errno;
  StatusCode code = error == ENOENT ? StatusCode::NotFound : StatusCode::IoError;
  return Status(code, "cannot " + action + " '" + path + "': " + std::strerror(error));
}

Expected<InputFile> InputFile::open(const std::string &path, Links links) {
  // Non-blocking, so that a FIFO in place of the file is refused below and not waited for.
  int fd = ::open(path.c_str(),
                  O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == Links::Refuse ? O_NOFOLLOW : 0));
  if (fd < 0 && links == Links::Refuse && errno == ELOOP)
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' is a link; put the file itself there");
  if (fd < 0)
    return errnoStatus("open", path);
  struct stat st;
  if (fstat(fd, &st) != 0) {
    Status error = errnoStatus("stat", path);
    ::close(fd);
    return error;
  }
  if (!S_ISREG(st.st_mode)) {
    ::close(fd);
    return Status(StatusCode::InvalidArgument, "'" + path + "' is not a regular file");
  }
  return InputFile(fd, static_cast<uint64_t>(st.st_size), path);
}

InputFile::InputFile(InputFile &&other) noexcept
    : Fd(std::exchange(other.Fd, -1)), Size(other.Size), Path(std::move(other.Path)) {}

InputFile::~InputFile() {
  if (Fd >= 0)
    ::close(Fd);
}

Status InputFile::read(uint64_t offset, std::span<std::byte> target) const {
  size_t done = 0;
  while (done < target.size()) {
    ssize_t got =
        ::pread(Fd, target.data() + done, target.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errnoStatus("read", Path);
    if (got == 0)
      return Status(StatusCode::IoError,
                    "'" + Path + "' ends at byte " + std::to_string(offset + done) + "; " +
                        std::to_string(target.size() - done) + " more are needed");
    done += static_cast<size_t>(got);
  }
  return Status::ok();
}

Expected<std::string> kiln::readFile(const std::string &path, uint64_t maxBytes, Links links) {
  Expected<InputFile> file = InputFile::open(path, links);
  if (!file)
    return file.status();
  if (file->size() > maxBytes)
    return Status(StatusCode::InvalidArgument,
                  "'" + path + "' has " + std::to_string(file->size()) + " bytes; at most " +
                      std::to_string(maxBytes) + " are expected here");
  std::string contents(file->size(), '\0');
  Status read = file->read(0, std::as_writable_bytes(std::span(contents)));
  if (!read.isOk())
    return read;
  return contents;
}

Status kiln::writeFileAtomically(const std::string &path, std::span<const std::string_view> parts) {
  Expected<std::unique_ptr<TemporaryFile>> file = TemporaryFile::create(path);
  if (!file)
    return file.status();
  for (std::string_view part : parts)
    if (Status failed = (*file)->write(part); !failed.isOk())
      return failed;
  return (*file)->commit();
}

Status kiln::writeFileAtomically(const std::string &path, std::string_view contents) {
  return writeFileAtomically(path, std::span<const std::string_view>(&contents, 1));
}

//===----------------------------------------------------------------------===//
// Temporary files and folders
//===----------------------------------------------------------------------===//

static constexpr std::string_view temporarySuffix = ".tmp";

bool kiln::tryLock(int fd) {
  int result;
  do
    result = flock(fd, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

bool kiln::isLinked(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/// NAME.N.tmpPID, another one each time.
static std::string temporaryName(const std::string &name) {
  static std::atomic<uint64_t> counter{0};
  return name + "." + std::to_string(counter++) + std::string(temporarySuffix) +
         std::to_string(getpid());
}

/// The process that a name of this form belongs to.
static std::optional<pid_t> ownerOf(std::string_view name) {
  size_t at = name.rfind(temporarySuffix);
  if (at == std::string_view::npos || at == 0)
    return std::nullopt;
  std::string_view digits = name.substr(at + temporarySuffix.size());
  pid_t pid = 0;
  return parseAll(digits, pid) && pid > 0 ? std::optional(pid) : std::nullopt;
}

Expected<std::unique_ptr<TemporaryFile>> TemporaryFile::create(const std::string &name, int folder,
                                                               unsigned mode) {
  std::string temporary;
  for (int attempt = 0; attempt < 16; ++attempt) {
    temporary = temporaryName(name);
    int fd = ::openat(folder, temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                      mode);
    if (fd < 0 && errno != EEXIST)
      return errnoStatus("create", temporary);
    // Between the two, somebody who sweeps may have taken it for a dead writer's. Where there are
    // no locks nobody sweeps either.
    if (fd >= 0 && (!tryLock(fd) || isLinked(fd)))
      return std::unique_ptr<TemporaryFile>(new TemporaryFile(folder, name, temporary, fd));
    if (fd >= 0)
      ::close(fd);
  }
  return Status(StatusCode::IoError, "cannot create '" + temporary + "': it exists already");
}

TemporaryFile::TemporaryFile(int folder, std::string name, std::string temporary, int fd)
    : Folder(folder), Fd(fd), Name(std::move(name)), Temporary(std::move(temporary)),
      Removal([this](const Status &) {
        remove();
        return "";
      }) {}

TemporaryFile::~TemporaryFile() {
  if (!IsDone)
    remove();
  if (Fd >= 0)
    ::close(Fd);
}

void TemporaryFile::remove() { ::unlinkat(Folder, Temporary.c_str(), 0); }

Status TemporaryFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(Fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return errnoStatus("write", Name);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return Status::ok();
}

Status TemporaryFile::commit() {
  // Renamed while it is locked: nobody may take it for a leaving. A full disk may show only when it
  // is closed, on some file systems.
  if (::renameat(Folder, Temporary.c_str(), Folder, Name.c_str()) != 0)
    return errnoStatus("write", Name);
  IsDone = true;
  if (::close(std::exchange(Fd, -1)) == 0)
    return Status::ok();
  Status failed = errnoStatus("write", Name);
  ::unlinkat(Folder, Name.c_str(), 0);
  return failed;
}

Expected<std::unique_ptr<TemporaryFolder>> TemporaryFolder::create(const std::string &name) {
  std::error_code error;
  std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error)
    return Status(StatusCode::IoError,
                  "there is no folder for temporary files: " + error.message());
  sweepTemporaries(base.string());
  std::string path;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    path = (base / temporaryName(name)).string();
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST)
        continue;
      break;
    }
    int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && (!tryLock(fd) || isLinked(fd)))
      return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path, fd));
    if (fd >= 0)
      ::close(fd);
  }
  return errnoStatus("create", path);
}

TemporaryFolder::TemporaryFolder(std::string path, int fd)
    : Path(std::move(path)), Fd(fd), Removal([this](const Status &) {
        remove();
        return "";
      }) {}

TemporaryFolder::~TemporaryFolder() {
  remove();
  ::close(Fd);
}

void TemporaryFolder::remove() {
  std::error_code ignored;
  std::filesystem::remove_all(Path, ignored);
}

void kiln::sweepTemporaries(const std::string &folder) {
  int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return;
  sweepTemporaries(fd);
  ::close(fd);
}

void kiln::sweepTemporaries(int folder) {
  // A description of its own: reading moves the place.
  int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = own < 0 ? nullptr : fdopendir(own);
  if (!dir) {
    if (own >= 0)
      ::close(own);
    return;
  }
  std::string base = "/proc/self/fd/" + std::to_string(folder) + "/";
  while (dirent *item = readdir(dir)) {
    std::optional<pid_t> owner = ownerOf(item->d_name);
    struct stat st;
    if (!owner || *owner == getpid() || kill(*owner, 0) == 0 || errno != ESRCH ||
        fstatat(folder, item->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_uid != geteuid() ||
        !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
      continue;
    int fd = ::openat(folder, item->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    // In another container the writer may live although there is no such process here.
    if (fd >= 0 && tryLock(fd)) {
      std::error_code ignored;
      if (S_ISDIR(st.st_mode))
        std::filesystem::remove_all(base + item->d_name, ignored);
      else
        ::unlinkat(folder, item->d_name, 0);
    }
    if (fd >= 0)
      ::close(fd);
  }
  closedir(dir);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Together with a number and a suffix less than the 255 that file systems allow.
static constexpr size_t maxNameBytes = 220;

std::string FileNames::operator()(std::string_view name) {
  std::string base(name.substr(0, maxNameBytes));
  for (char &c : base)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-')
      c = '_';
  if (base.empty())
    base = "_";
  std::string unique = base;
  for (int n = 2; !Used.insert(unique).second; ++n)
    unique = base + "_" + std::to_string(n);
  return unique;
}
