#include "abi/Environment.h"

#include <cerrno>
#include <cstdlib>

using namespace kiln;

static Status refused(const char *name, const std::string &value, const char *allowed) {
  return Status(StatusCode::InvalidArgument,
                std::string(name) + "='" + value + "' is not " + allowed);
}

std::string kiln::textFromEnvironment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

Expected<bool> kiln::flagFromEnvironment(const char *name, bool otherwise) {
  std::string value = textFromEnvironment(name);
  if (value.empty())
    return otherwise;
  if (value != "0" && value != "1")
    return refused(name, value, "0 or 1");
  return value == "1";
}

Expected<std::optional<uint64_t>> kiln::numberFromEnvironment(const char *name) {
  std::string value = textFromEnvironment(name);
  if (value.empty())
    return std::optional<uint64_t>();
  char *end = nullptr;
  errno = 0;
  unsigned long long number = std::strtoull(value.c_str(), &end, 0);
  if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0)
    return refused(name, value, "a number between 0 and 2^64-1");
  return std::optional<uint64_t>(number);
}
