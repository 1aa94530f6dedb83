#include "OwnFolder.h"

#include "abi/FileIo.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace kiln {

const char *whyNotOwn(const struct stat &st) {
  if (st.st_uid != geteuid())
    return "it belongs to another user";
  return st.st_mode & (S_IWGRP | S_IWOTH) ? "others may write to it" : nullptr;
}

Expected<OwnFolder> OwnFolder::open(const std::string &path, const Words &words) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == ENOTDIR) // who cannot store will say why
    return Status(StatusCode::NotFound, "there is no directory " + path);
  if (fd < 0)
    return errnoStatus(std::string("open the ") + words.what, path);
  OwnFolder folder(fd);
  struct stat st;
  if (fstat(fd, &st) != 0)
    return errnoStatus(std::string("look at the ") + words.what, path);
  if (const char *why = whyNotOwn(st))
    return Status(StatusCode::IoError,
                  std::string("the ") + words.what + " '" + path + "' is not used: " + why +
                      ", so that they could " + words.harm +
                      "; make it yours alone (chown, chmod go-w)" + words.instead);
  return folder;
}

Expected<OwnFolder> OwnFolder::openOrMake(const std::string &path, const Words &words) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0777);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return errnoStatus(std::string("make the ") + words.what, path);
  return open(path, words);
}

OwnFolder::~OwnFolder() {
  if (Fd >= 0)
    ::close(Fd);
}

int OwnFolder::openFile(const std::string &name, int flags) const {
  return ::openat(Fd, name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

bool OwnFolder::remove(const std::string &name) const {
  return ::unlinkat(Fd, name.c_str(), 0) == 0;
}

Expected<std::string> readOwnFile(int fd, uint64_t maxBytes) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
    return Status(StatusCode::IoError, "it is no regular file");
  if (const char *why = whyNotOwn(st))
    return Status(StatusCode::IoError, why);
  if (uint64_t(st.st_size) > maxBytes)
    return Status(StatusCode::IoError, "it is larger than " + std::to_string(maxBytes) + " bytes");
  std::string bytes(size_t(st.st_size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done, off_t(done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Status(StatusCode::IoError, "it cannot be read");
    done += size_t(got);
  }
  return bytes;
}

} // namespace kiln
