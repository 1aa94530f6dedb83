#include "ArtifactCache.h"

namespace kiln {

Expected<std::shared_ptr<const LoadedProgram>> loadSharedObject(const NativeInfo &info,
                                                                std::string_view object) {
  Expected<std::shared_ptr<SharedObject>> mapped = SharedObject::fromBytes(object, info.entry.name);
  if (!mapped)
    return mapped.status();
  Expected<std::shared_ptr<const NativeProgram>> program =
      NativeProgram::load(std::move(*mapped), info);
  if (!program)
    return program.status();
  return std::shared_ptr<const LoadedProgram>(std::move(*program));
}

Expected<ArtifactCache::Code> ArtifactCache::get(const std::string &key, const Compile &compile,
                                                 const Load &load) {
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
  Expected<Code> code = fetch(key, compile, load);
  std::unique_lock lock(Mutex);
  slot->code = code;
  slot->isDone = true;
  if (!code)
    Slots.erase(key);
  Done.notify_all();
  return code;
}

ArtifactCache::Code ArtifactCache::loadFromDisk(const std::string &key, const Load &load,
                                                bool isFirstLook) {
  auto reject = [&](const Status &why) {
    if (isFirstLook && why.code() != StatusCode::NotFound) {
      log(why.message());
      Disk.count({.rejected = 1});
    }
    return nullptr;
  };
  Expected<CacheEntry> entry = Disk.load(key);
  if (!entry)
    return reject(entry.status());
  Expected<Code> code = load(entry->info, entry->object);
  if (!code)
    return reject(code.status().withPrefix("cache entry " + entry->path + " is not used"));
  ++DiskHits;
  Bytes += entry->object.size();
  Disk.count({.hits = 1});
  return *code;
}

Expected<ArtifactCache::Code> ArtifactCache::fetch(const std::string &key, const Compile &compile,
                                                   const Load &load) {
  if (Code code = loadFromDisk(key, load, /*isFirstLook=*/true))
    return code;
  std::optional<KeyLock> lock = Disk.lock(key);
  // Whoever held the lock may just have written it.
  if (Code code = loadFromDisk(key, load, /*isFirstLook=*/false))
    return code;
  return compileAndStore(key, compile, load);
}

Expected<ArtifactCache::Code>
ArtifactCache::compileAndStore(const std::string &key, const Compile &compile, const Load &load) {
  ++Misses;
  Expected<Artifact> artifact = compile();
  if (!artifact)
    return artifact.status();
  Expected<Code> code = load(artifact->info, artifact->object);
  if (!code)
    return code;
  ++Compiles;
  Bytes += artifact->object.size();
  if (Disk.isEnabled()) {
    uint64_t evicted = 0;
    if (Status stored = Disk.store(key, *artifact, &evicted); !stored.isOk())
      log(stored.message());
    Evictions += evicted;
    Disk.count({.misses = 1, .compiles = 1, .evictions = evicted});
  }
  return code;
}

void ArtifactCache::log(const std::string &line) {
  std::lock_guard lock(LogMutex);
  if (Log && Logged.insert(line).second)
    Log(line);
}

JitCounters ArtifactCache::counters() const {
  JitCounters now{MemoryHits, DiskHits, Misses, Compiles, CallStates, Evictions, Bytes};
  std::lock_guard lock(Mutex);
  for (const auto &[key, slot] : Slots)
    if (slot->isDone && slot->code) {
      GraphCounts graphs = (*slot->code)->graphCounts();
      now.graphs += graphs.graphs;
      now.graphLaunches += graphs.launches;
    }
  return now;
}

} // namespace kiln
