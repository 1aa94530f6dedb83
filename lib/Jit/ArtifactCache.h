//===- ArtifactCache.h - from a key to code in this process ------------------------------===//
//
// What: memory first, then disk, then a compile: once for each key, however many threads and
//   processes ask at the same time.
//
// Threads: any.
//
//===----------------------------------------------------------------------------===//
#ifndef KILN_LIB_JIT_ARTIFACTCACHE_H
#define KILN_LIB_JIT_ARTIFACTCACHE_H

#include "kiln/Jit/Jit.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <unordered_map>

namespace kiln {

class ArtifactCache {
public:
  using Code = std::shared_ptr<const LoadedProgram>;
  using Compile = std::function<Expected<Artifact>()>;
  /// Brings the very bytes that were verified or compiled into this process.
  using Load = std::function<Expected<Code>(const NativeInfo &, std::string_view object)>;

  ArtifactCache(DiskCacheOptions disk, std::function<void(const std::string &)> log)
      : Disk(std::move(disk)), Log(std::move(log)) {}

  /// The code for a key, loaded to report at `places`. `compile` runs if nobody has it; its failure
  /// is everybody's who waited with the same places, and is not remembered.
  Expected<Code> get(const std::string &key, std::span<const SourceLoc> places,
                     const Compile &compile, const Load &load);

  /// Each line once: a directory that cannot be used would be told of at every compile.
  void log(const std::string &line);
  void countCallState() { ++CallStates; }
  JitCounters counters() const;
  const DiskCache &disk() const { return Disk; }

private:
  /// Code as it was loaded for one program; gone with the last who calls it.
  struct Loaded {
    std::vector<SourceLoc> places;
    std::weak_ptr<const LoadedProgram> code;
  };
  /// A key that somebody is getting, or has got.
  struct Slot {
    bool isDone = false;
    std::vector<SourceLoc> places; ///< Of whoever is getting it.
    Status failure;
    Artifact artifact;
    std::mutex loading;
    std::vector<Loaded> loaded; ///< One for each program that differs in where it stands.
    /// Loaded without anybody who calls it: the latest, for a program that is made anew for every
    /// call; and all of what may run on when calls are over.
    std::vector<Code> kept;

    void add(std::span<const SourceLoc> at, const Code &code);
  };
  struct Fetched {
    Artifact artifact;
    Code code;
  };

  static Expected<Code> codeOf(Slot &slot, std::span<const SourceLoc> places, const Load &load);
  Expected<Fetched> fetch(const std::string &key, const Compile &compile, const Load &load);
  Expected<Fetched> compileAndStore(const std::string &key, const Compile &compile,
                                    const Load &load);
  /// The code on disk, if it is there and good. Only the first look complains.
  std::optional<Fetched> loadFromDisk(const std::string &key, const Load &load, bool isFirstLook);

  DiskCache Disk;
  std::function<void(const std::string &)> Log;
  std::mutex LogMutex;
  std::set<std::string> Logged;
  mutable std::mutex Mutex;
  std::condition_variable Done;
  std::unordered_map<std::string, std::shared_ptr<Slot>> Slots; ///< By full key.
  std::atomic<uint64_t> MemoryHits{0}, DiskHits{0}, Misses{0}, Compiles{0}, CallStates{0},
      Evictions{0}, Bytes{0};
};

} // namespace kiln

#endif // KILN_LIB_JIT_ARTIFACTCACHE_H
