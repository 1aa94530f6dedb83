//===- Target.h - what the fuzz targets for files share ------------------------------===//
#ifndef KILN_FUZZ_TARGET_H
#define KILN_FUZZ_TARGET_H

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace kiln::fuzz {

/// A property that does not hold; both drivers notice an abort and keep the input.
[[noreturn]] inline void report(const char *what, std::string_view input) {
  std::fprintf(stderr, "%s:\n%.*s\n", what, int(input.size()), input.data());
  std::abort();
}

/// A folder of this process, gone with it.
class Folder {
public:
  Folder()
      : Path((std::filesystem::temp_directory_path() / ("kiln-fuzz-" + std::to_string(getpid())))
                 .string()) {
    std::filesystem::create_directories(Path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(Path, ignored);
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::string &path() const { return Path; }
  void write(const std::string &name, std::string_view bytes) const {
    std::ofstream(Path + "/" + name, std::ios::binary) << bytes;
  }

private:
  std::string Path;
};

} // namespace kiln::fuzz

#endif // KILN_FUZZ_TARGET_H
