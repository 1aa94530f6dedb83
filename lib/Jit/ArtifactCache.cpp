#include "ArtifactCache.h"

#include <algorithm>

namespace kiln {

Expected<std::shared_ptr<const LoadedProgram>> loadSharedObject(const NativeInfo &info,
                                                                std::string_view object,
                                                                std::span<const SourceLoc> places) {
  Expected<std::shared_ptr<SharedObject>> mapped =
      SharedObject::fromBytes(object, info.entry.name, places);
  if (!mapped)
    return mapped.status();
  NativeInfo here = info;
  setPlaces(here, places);
  Expected<std::shared_ptr<const NativeProgram>> program =
      NativeProgram::load(std::move(*mapped), std::move(here));
  if (!program)
    return program.status();
  return std::shared_ptr<const LoadedProgram>(std::move(*program));
}

static bool areEqual(const std::vector<SourceLoc> &one, std::span<const SourceLoc> other) {
  return std::ranges::equal(one, other);
}

void ArtifactCache::Slot::add(std::span<const SourceLoc> at, const Code &code) {
  std::erase_if(loaded, [](const Loaded &known) { return known.code.expired(); });
  loaded.push_back({{at.begin(), at.end()}, code});
  if (!code->outlivesCalls())
    kept.clear();
  kept.push_back(code);
}

/// The code of a slot, loaded once for each program that stands elsewhere.
Expected<ArtifactCache::Code> ArtifactCache::codeOf(Slot &slot, std::span<const SourceLoc> places,
                                                    const Load &load) {
  std::lock_guard lock(slot.loading);
  for (const Loaded &known : slot.loaded)
    if (Code code = areEqual(known.places, places) ? known.code.lock() : nullptr)
      return code;
  Expected<Code> code = load(slot.artifact.info, slot.artifact.object);
  if (code)
    slot.add(places, *code);
  return code;
}

Expected<ArtifactCache::Code> ArtifactCache::get(const std::string &key,
                                                 std::span<const SourceLoc> places,
                                                 const Compile &compile, const Load &load) {
  std::shared_ptr<Slot> slot;
  {
    std::unique_lock lock(Mutex);
    while (!slot) {
      auto [found, isNew] = Slots.try_emplace(key, nullptr);
      if (isNew) {
        slot = found->second = std::make_shared<Slot>();
        slot->places.assign(places.begin(), places.end());
        break;
      }
      std::shared_ptr<Slot> other = found->second;
      Done.wait(lock, [&] { return other->isDone; });
      if (other->failure.isOk()) {
        ++MemoryHits;
        lock.unlock();
        return codeOf(*other, places, load);
      }
      if (areEqual(other->places, places))
        return other->failure;
      // It failed at the lines of another program: this one has to fail at its own.
    }
  }
  Expected<Fetched> fetched = fetch(key, compile, load);
  std::unique_lock lock(Mutex);
  slot->isDone = true;
  slot->failure = fetched.status();
  if (fetched) {
    slot->add(slot->places, fetched->code);
    if (!places.empty()) // only then another program can ask for it
      slot->artifact = std::move(fetched->artifact);
  } else {
    Slots.erase(key);
  }
  Done.notify_all();
  return fetched ? Expected<Code>(fetched->code) : fetched.status();
}

std::optional<ArtifactCache::Fetched>
ArtifactCache::loadFromDisk(const std::string &key, const Load &load, bool isFirstLook) {
  auto reject = [&](const Status &why) {
    if (isFirstLook && why.code() != StatusCode::NotFound) {
      log(why.message());
      Disk.count({.rejected = 1});
    }
    return std::nullopt;
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
  return Fetched{{std::move(entry->info), std::move(entry->object)}, *code};
}

Expected<ArtifactCache::Fetched> ArtifactCache::fetch(const std::string &key,
                                                      const Compile &compile, const Load &load) {
  if (std::optional<Fetched> found = loadFromDisk(key, load, /*isFirstLook=*/true))
    return std::move(*found);
  std::optional<KeyLock> lock = Disk.lock(key);
  // Whoever held the lock may just have written it.
  if (std::optional<Fetched> found = loadFromDisk(key, load, /*isFirstLook=*/false))
    return std::move(*found);
  return compileAndStore(key, compile, load);
}

Expected<ArtifactCache::Fetched>
ArtifactCache::compileAndStore(const std::string &key, const Compile &compile, const Load &load) {
  ++Misses;
  Expected<Artifact> artifact = compile();
  if (!artifact)
    return artifact.status();
  Expected<Code> code = load(artifact->info, artifact->object);
  if (!code)
    return code.status();
  ++Compiles;
  Bytes += artifact->object.size();
  if (Disk.isEnabled()) {
    uint64_t evicted = 0;
    if (Status stored = Disk.store(key, *artifact, &evicted); !stored.isOk())
      log(stored.message());
    Evictions += evicted;
    Disk.count({.misses = 1, .compiles = 1, .evictions = evicted});
  }
  return Fetched{std::move(*artifact), *code};
}

void ArtifactCache::log(const std::string &line) {
  std::lock_guard lock(LogMutex);
  if (Log && Logged.insert(line).second)
    Log(line);
}

JitCounters ArtifactCache::counters() const {
  JitCounters now{MemoryHits, DiskHits, Misses, Compiles, CallStates, Evictions, Bytes};
  std::lock_guard lock(Mutex);
  for (const auto &[key, slot] : Slots) {
    if (!slot->isDone)
      continue;
    std::lock_guard loading(slot->loading);
    for (const Loaded &loaded : slot->loaded) {
      if (Code code = loaded.code.lock()) {
        GraphCounts graphs = code->graphCounts();
        now.graphs += graphs.graphs;
        now.graphLaunches += graphs.launches;
      }
    }
  }
  return now;
}

} // namespace kiln
