#include "FileIo.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace kiln;

Status kiln::errnoStatus(const std::string &action, const std::string &path) {
  int error = errno;
  StatusCode code = error == ENOENT ? StatusCode::NotFound : StatusCode::IoError;
  return Status(code, "cannot " + action + " '" + path + "': " + std::strerror(error));
}

Expected<InputFile> InputFile::open(const std::string &path) {
  // Non-blocking, so that a FIFO in place of the file is refused below and not waited for.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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

Expected<std::string> kiln::readFile(const std::string &path, uint64_t maxBytes) {
  Expected<InputFile> file = InputFile::open(path);
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
  std::string temp = path + ".tmp" + std::to_string(getpid());
  std::FILE *file = std::fopen(temp.c_str(), "wb");
  if (!file)
    return errnoStatus("create", temp);
  bool good = true;
  for (std::string_view part : parts)
    if (!part.empty()) // whose data() may be null
      good = good && std::fwrite(part.data(), 1, part.size(), file) == part.size();
  int writeError = errno;
  // Close in any case; a full disk may show only here.
  if (std::fclose(file) != 0 && good) {
    writeError = errno;
    good = false;
  }
  if (good && std::rename(temp.c_str(), path.c_str()) == 0)
    return Status::ok();
  if (!good)
    errno = writeError;
  Status error = errnoStatus("write", path);
  std::remove(temp.c_str());
  return error;
}

Status kiln::writeFileAtomically(const std::string &path, std::string_view contents) {
  return writeFileAtomically(path, std::span<const std::string_view>(&contents, 1));
}
