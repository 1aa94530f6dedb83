#include "ArtifactCache.h"

#include <sys/stat.h>

namespace kiln {

/// Maps the code: from its file where it has one (debuggers and profilers then find its symbols),
/// else from memory.
static Expected<ArtifactCache::Code> map(const CacheEntry &entry) {
  // Only the very file that was verified; it may have been removed or replaced since.
  struct stat st;
  bool isSame = !entry.path.empty() && ::stat(entry.path.c_str(), &st) == 0 &&
                st.st_dev == entry.device && st.st_ino == entry.inode;
  Expected<std::shared_ptr<SharedObject>> object =
      isSame ? SharedObject::open(entry.path)
             : SharedObject::fromBytes(entry.object, entry.info.entry.name);
  if (!object)
    return object.status();
  return NativeProgram::load(std::move(*object), entry.info);
}

Expected<ArtifactCache::Code> ArtifactCache::get(const std::string &key, const Compile &compile) {
  std::shared_ptr<Slot> slot;
  {
    std::unique_lock lock(Mutex);
    auto [found, isNew] = Slots.try_emplace(key, nullptr);
    if (!isNew) {
      slot = found->second;
      Done.wait(lock, [&] { return slot->isDone; });
      MemoryHits += slot->code.hasValue();
      return slot->code;
    }
    slot = found->second = std::make_shared<Slot>();
  }
  Expected<Code> code = fetch(key, compile);
  std::unique_lock lock(Mutex);
  slot->code = code;
  slot->isDone = true;
  if (!code)
    Slots.erase(key);
  Done.notify_all();
  return code;
}

ArtifactCache::Code ArtifactCache::loadFromDisk(const std::string &key, bool isFirstLook) {
  auto reject = [&](const Status &why) {
    if (isFirstLook && why.code() != StatusCode::NotFound) {
      log(why);
      Disk.count({.rejected = 1});
    }
    return nullptr;
  };
  Expected<CacheEntry> entry = Disk.load(key);
  if (!entry)
    return reject(entry.status());
  Expected<Code> code = map(*entry);
  if (!code)
    return reject(code.status().withPrefix("cache entry " + entry->path + " is not used"));
  ++DiskHits;
  Bytes += entry->object.size();
  Disk.count({.hits = 1});
  return *code;
}

Expected<ArtifactCache::Code> ArtifactCache::fetch(const std::string &key, const Compile &compile) {
  if (Code code = loadFromDisk(key, /*isFirstLook=*/true))
    return code;
  std::optional<KeyLock> lock = Disk.lock(key);
  // Whoever held the lock may just have written it.
  if (Code code = loadFromDisk(key, /*isFirstLook=*/false))
    return code;
  return compileAndStore(key, compile);
}

Expected<ArtifactCache::Code> ArtifactCache::compileAndStore(const std::string &key,
                                                             const Compile &compile) {
  ++Misses;
  ++Compiles;
  Expected<Artifact> artifact = compile();
  if (!artifact)
    return artifact.status();
  Bytes += artifact->object.size();
  CacheEntry entry;
  entry.info = artifact->info;
  uint64_t evicted = 0;
  if (Disk.isEnabled()) {
    Expected<CacheEntry> stored = Disk.store(key, *artifact, &evicted);
    if (stored)
      entry = std::move(*stored);
    else
      log(stored.status());
    Evictions += evicted;
    Disk.count({.misses = 1, .compiles = 1, .evictions = evicted});
  }
  entry.object = std::move(artifact->object);
  return map(entry);
}

JitCounters ArtifactCache::counters() const {
  return {MemoryHits, DiskHits, Misses, Compiles, CallStates, Evictions, Bytes};
}

} // namespace kiln
