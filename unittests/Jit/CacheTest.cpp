#include "CBackend.h"
#include "EntryFile.h"
#include "kiln/Jit/jit_c.h"

#include <random>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

using namespace kiln;
using namespace kiln::test;

namespace {

DiskCacheOptions optionsFor(const std::string &directory, uint64_t maxBytes = 1 << 30) {
  DiskCacheOptions options;
  options.directory = directory;
  options.maxBytes = maxBytes;
  return options;
}

/// An entry that no linker would take, for tests that only store and load.
Artifact fakeArtifact(const std::string &key, size_t bytes = 20000) {
  Signature signature{"fake", "cpu", {}, {{"n", DType::I32}}};
  NativeInfo info{NativeInfo::Kind::Kernel,
                  {"fake", "symbol_of_" + hashText(key), 64, signature},
                  {{false, 0}},
                  {}};
  Artifact artifact{info, std::string(bytes, '\0')};
  std::mt19937_64 random(std::hash<std::string>{}(key));
  for (char &c : artifact.object)
    c = char(random());
  return artifact;
}

bool isEntryOf(const CacheEntry &entry, const std::string &key, size_t bytes = 20000) {
  Artifact want = fakeArtifact(key, bytes);
  return entry.object == want.object && entry.info.entry.symbol == want.info.entry.symbol;
}

/// Runs `body` in a child process; its exit code, or minus the signal.
int inChild(const std::function<int()> &body) {
  pid_t child = fork();
  if (child == 0)
    _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::vector<std::string> filesIn(const std::string &directory) {
  std::vector<std::string> names;
  for (const auto &item : std::filesystem::directory_iterator(directory))
    names.push_back(item.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// One call of a small matmul through a Jit of its own.
bool callOnce(const std::string &directory, const std::shared_ptr<CBackend> &backend,
              JitCounters *counters = nullptr, std::vector<std::string> *log = nullptr) {
  TestJit test(directory);
  Tensor a = randomTensor({4, 8}, 1), b = randomTensor({8, 4}, 2),
         c = take(Tensor::empty(DType::F32, {4, 4}));
  (void)c.fillPoison();
  bool good = test.jit.compile(backend)(a, b, c).isOk() && isProduct(a, b, c);
  if (counters)
    *counters = test.jit.counters();
  if (log)
    *log = test.log;
  return good;
}

std::shared_ptr<CBackend> makeBackend() { return std::make_shared<CBackend>(matmulKernel()); }

//===----------------------------------------------------------------------===//
// What is found again
//===----------------------------------------------------------------------===//

TEST(Cache, SecondProcessCompilesNothing) {
  TempDir dir;
  auto first = makeBackend(), second = makeBackend();
  JitCounters counters;
  std::vector<std::string> log;
  EXPECT_TRUE(callOnce(dir / "cache", first, &counters, &log));
  EXPECT_EQ(counters.compiles, 1u);
  EXPECT_EQ(counters.diskHits, 0u);
  EXPECT_TRUE(callOnce(dir / "cache", second, &counters, &log));
  EXPECT_EQ(second->compiles, 0);
  EXPECT_EQ(counters.diskHits, 1u);
  EXPECT_EQ(counters.misses, 0u);
  EXPECT_GT(counters.bytes, 0u);
  EXPECT_TRUE(log.empty());
  struct stat st;
  ASSERT_EQ(::stat((dir / "cache").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700u);
  CacheTotals totals = DiskCache(optionsFor(dir / "cache")).totals();
  EXPECT_EQ(totals.compiles, 1u);
  EXPECT_EQ(totals.hits, 1u);
  EXPECT_EQ(totals.misses, 1u);
}

TEST(Cache, TwoProcessesOneCompile) {
  TempDir dir;
  auto backend = makeBackend();
  backend->journal = dir / "journal";
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    if (child == 0)
      _exit(callOnce(dir / "cache", backend) ? 0 : 1);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(readText(dir / "journal"), "compiled\n");
  for (const std::string &name : filesIn(dir / "cache"))
    EXPECT_TRUE(name.ends_with(".kiln") || name == "totals") << name;
}

TEST(Cache, LockOfADeadProcessIsTakenOver) {
  TempDir dir;
  DiskCache cache(optionsFor(dir.str()));
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    std::optional<KeyLock> lock = cache.lock("key");
    (void)!write(ready[1], lock ? "y" : "n", 1);
    while (true)
      pause();
  }
  char got = 'n';
  EXPECT_EQ(read(ready[0], &got, 1), 1);
  EXPECT_EQ(got, 'y');
  DiskCacheOptions impatient = optionsFor(dir.str());
  impatient.lockPatience = std::chrono::milliseconds(30);
  EXPECT_FALSE(DiskCache(impatient).lock("key")) << "it is held";
  EXPECT_TRUE(DiskCache(impatient).lock("other key"));
  kill(child, SIGKILL); // whatever happened: nobody else would end it
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(DiskCache(impatient).lock("key"));
  close(ready[0]);
  close(ready[1]);
}

TEST(Cache, LocksExcludeThreadsAndLeaveNoFile) {
  TempDir dir;
  DiskCache cache(optionsFor(dir.str()));
  std::atomic<int> inside{0}, most{0}, times{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) {
        std::optional<KeyLock> lock = cache.lock("key");
        most = std::max<int>(most, ++inside);
        times += lock.has_value();
        --inside;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(times, 100);
  EXPECT_EQ(most, 1);
  EXPECT_TRUE(filesIn(dir.str()).empty());
}

TEST(Cache, KeyIsPure) {
  std::vector<TensorFacts> facts(2);
  facts[0].leadingDim = 0;
  std::string key = jitKey("program p", facts);
  EXPECT_EQ(key, "kiln-jit-key 1\nabi " + std::to_string(KILN_ABI_VERSION) +
                     "\nprogram p\ntensor 0 f32 rank 1 leading 0\ntensor 1 f32 rank 1\n");
  facts[1].use32bit = true;
  EXPECT_NE(jitKey("program p", facts), key);
}

//===----------------------------------------------------------------------===//
// What is not used
//===----------------------------------------------------------------------===//

/// A cache with one entry whose file tests then spoil.
struct Spoiled : testing::Test {
  TempDir dir;
  DiskCache cache{optionsFor(dir.str())};
  std::string key = "some key", path = cache.pathOf(key), bytes;

  void SetUp() override {
    EXPECT_OK(cache.store(key, fakeArtifact(key)));
    bytes = readText(path);
    ASSERT_TRUE(isEntryOf(take(cache.load(key)), key));
  }
  void restore() {
    std::filesystem::remove_all(path);
    EXPECT_OK(cache.store(key, fakeArtifact(key)));
    ASSERT_TRUE(cache.load(key));
  }
  void expectMiss(const char *why, int line = __builtin_LINE()) {
    Status status = cache.load(key).status();
    EXPECT_FALSE(status.isOk()) << "line " << line;
    EXPECT_TRUE(contains(status.message(), why)) << "line " << line << ": " << status.str();
    EXPECT_TRUE(contains(status.message(), path)) << "line " << line << ": " << status.str();
  }
};

TEST_F(Spoiled, FlippedBits) {
  std::mt19937 random(1);
  auto flip = [&](size_t byte, int bit) {
    std::string spoiled = bytes;
    spoiled[byte] = char(spoiled[byte] ^ (1 << bit));
    writeText(path, spoiled);
    EXPECT_FALSE(cache.load(key)) << "byte " << byte << " bit " << bit;
  };
  for (int i = 0; i < 300; ++i)
    flip(random() % bytes.size(), int(random() % 8));
  for (size_t byte = bytes.size() - 56; byte < bytes.size(); ++byte) // the whole footer
    flip(byte, int(byte % 8));
  writeText(path, bytes);
  EXPECT_TRUE(cache.load(key));
}

TEST_F(Spoiled, TruncatedAndExtended) {
  for (size_t size : {size_t(0), size_t(1), size_t(55), size_t(56), bytes.size() / 2,
                      bytes.size() - 56, bytes.size() - 1}) {
    writeText(path, bytes.substr(0, size));
    EXPECT_FALSE(cache.load(key)) << size;
    writeText(path, bytes.substr(bytes.size() - size));
    EXPECT_FALSE(cache.load(key)) << "without its beginning, " << size;
  }
  writeText(path, bytes + "x");
  EXPECT_FALSE(cache.load(key));
  writeText(path, "");
  expectMiss("shorter than any entry");
}

TEST_F(Spoiled, SizesThatLie) {
  // A footer whose sizes add up to the file again by overflow, with a right checksum.
  Artifact artifact = fakeArtifact(key);
  std::string trailer = renderTrailer(artifact, key);
  EXPECT_EQ(bytes, artifact.object + trailer);
  for (uint64_t huge : {UINT64_MAX, UINT64_MAX - bytes.size() + 1, uint64_t(1) << 63}) {
    std::string spoiled = bytes;
    std::memcpy(spoiled.data() + spoiled.size() - 40, &huge, 8);
    writeText(path, spoiled);
    expectMiss("longer than the file");
  }
}

TEST_F(Spoiled, AnotherVersion) {
  std::string spoiled = bytes;
  spoiled[spoiled.size() - 48] = char(cacheFormatVersion + 1);
  writeText(path, spoiled);
  expectMiss("another version");
  spoiled = bytes;
  spoiled[spoiled.size() - 44] = char(KILN_ABI_VERSION + 1);
  writeText(path, spoiled);
  expectMiss("another version");
}

TEST_F(Spoiled, EntryOfAnotherKey) {
  EXPECT_OK(cache.store("another key", fakeArtifact("another key")));
  std::filesystem::rename(cache.pathOf("another key"), path); // as if the hashes were equal
  expectMiss("another key");
}

TEST_F(Spoiled, ThingsThatAreNoFiles) {
  std::filesystem::rename(path, dir / "elsewhere");
  std::filesystem::create_symlink(dir / "elsewhere", path);
  EXPECT_FALSE(cache.load(key)) << "a link";
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  expectMiss("no regular file");
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expectMiss("no regular file");
}

TEST_F(Spoiled, FilesThatOthersOwnOrMayWrite) {
  ASSERT_EQ(chmod(path.c_str(), 0620), 0);
  expectMiss("others may write");
  restore();
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a file to another user";
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  expectMiss("another user");
}

TEST_F(Spoiled, DirectoriesThatOthersOwnOrMayWrite) {
  for (unsigned mode : {0720u, 0702u, 01777u}) {
    ASSERT_EQ(chmod(dir.str().c_str(), mode), 0);
    Status status = cache.load(key).status();
    expectError(status, StatusCode::IoError, {dir.str().c_str(), "others may write", "chmod go-w"});
    expectError(cache.store(key, fakeArtifact(key)), StatusCode::IoError, {"others may write"});
    EXPECT_TRUE(cache.list().empty());
    EXPECT_FALSE(cache.clear());
    EXPECT_FALSE(cache.lock(key));
  }
  ASSERT_EQ(chmod(dir.str().c_str(), 0755), 0);
  EXPECT_TRUE(cache.load(key));
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder to another user";
  ASSERT_EQ(chown(dir.str().c_str(), 65534, 65534), 0);
  expectError(cache.load(key).status(), StatusCode::IoError, {"another user"});
}

/// Whoever exchanges the file between the look at it and its use must not have his code executed.
TEST(Cache, WhatIsExecutedIsWhatWasVerified) {
  TempDir dir;
  auto backend = makeBackend();
  ASSERT_TRUE(callOnce(dir.str(), backend));
  TestJit test(dir.str());
  Compiled f = test.jit.compile(backend);
  Tensor a = randomTensor({4, 8}, 1), b = randomTensor({8, 4}, 2),
         c = take(Tensor::empty(DType::F32, {4, 4}));
  EXPECT_OK(f(a, b, c));
  EXPECT_EQ(test.jit.counters().diskHits, 1u);
  EXPECT_FALSE(contains(readText("/proc/self/maps"), dir.str()))
      << "no file of the cache is mapped";
}

TEST(Cache, FailedCompilesAreNoCompiles) {
  TempDir dir;
  auto backend = makeBackend();
  backend->fails = true;
  TestJit test(dir.str());
  Compiled f = test.jit.compile(backend);
  Operands o(8);
  EXPECT_FALSE(f(o.a, o.b, o.c).isOk());
  EXPECT_EQ(test.jit.counters().compiles, 0u);
  EXPECT_EQ(test.jit.counters().misses, 1u);
  backend->fails = false;
  EXPECT_OK(f(o.a, o.b, o.c));
  EXPECT_EQ(test.jit.counters().compiles, 1u);
}

TEST(Cache, DamageIsAMissWithOneLine) {
  TempDir dir;
  auto backend = makeBackend();
  ASSERT_TRUE(callOnce(dir.str(), backend));
  DiskCache cache(optionsFor(dir.str()));
  std::string path = cache.list().at(0).path, bytes = readText(path);
  bytes[bytes.size() / 3] ^= 4;
  writeText(path, bytes);
  EXPECT_FALSE(cache.verify(cache.list().at(0)).isOk());
  JitCounters counters;
  std::vector<std::string> log;
  EXPECT_TRUE(callOnce(dir.str(), backend, &counters, &log));
  EXPECT_EQ(counters.compiles, 1u);
  EXPECT_EQ(counters.diskHits, 0u);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_TRUE(contains(log[0], "checksum")) << log[0];
  EXPECT_TRUE(callOnce(dir.str(), backend, &counters, &log)) << "and it was written anew";
  EXPECT_EQ(counters.diskHits, 1u);
  EXPECT_TRUE(log.empty());
}

TEST(Cache, ObjectTheLinkerRefusesIsAMiss) {
  TempDir dir;
  auto backend = makeBackend();
  ASSERT_TRUE(callOnce(dir.str(), backend));
  DiskCache cache(optionsFor(dir.str()));
  std::string key;
  EXPECT_OK(cache.verify(cache.list().at(0), &key));
  EXPECT_OK(cache.store(key, fakeArtifact(key))); // all checksums right
  JitCounters counters;
  std::vector<std::string> log;
  EXPECT_TRUE(callOnce(dir.str(), backend, &counters, &log));
  EXPECT_EQ(counters.compiles, 1u);
  EXPECT_EQ(log.size(), 1u);
}

//===----------------------------------------------------------------------===//
// Writers that die, disks that are full
//===----------------------------------------------------------------------===//

TEST(Cache, KilledWritersLeaveNothingThatLoadsWrong) {
  TempDir dir;
  DiskCache cache(optionsFor(dir.str()));
  std::mt19937 random(1);
  constexpr int numKills = 200;
  // Kills fall anywhere in the first few writes, however slow the disk is today.
  auto start = std::chrono::steady_clock::now();
  EXPECT_OK(cache.store("key 0", fakeArtifact("key 0", 200000)));
  auto write = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  auto longest = unsigned(std::min<int64_t>(500 + 3 * write.count(), 50'000));
  for (int round = 0; round < numKills; ++round) {
    pid_t child = fork();
    if (child == 0) {
      for (int i = 0;; i = (i + 1) % 5) {
        std::string key = "key " + std::to_string(i);
        (void)cache.store(key, fakeArtifact(key, 200000));
      }
    }
    usleep(random() % longest);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const CacheListing &file : cache.list())
      ASSERT_TRUE(cache.verify(file).isOk()) << "after kill " << round << ": " << file.path;
  }
  int found = 0;
  for (int i = 0; i < 5; ++i) {
    std::string key = "key " + std::to_string(i);
    Expected<CacheEntry> entry = cache.load(key);
    if (entry)
      EXPECT_TRUE(isEntryOf(*entry, key, 200000));
    else
      EXPECT_EQ(entry.status().code(), StatusCode::NotFound) << entry.status().str();
    found += entry.hasValue();
  }
  EXPECT_GT(found, 0);
  EXPECT_OK(cache.store("last", fakeArtifact("last"))); // sweeps up what the dead left behind
  for (const std::string &name : filesIn(dir.str()))
    EXPECT_TRUE(name.ends_with(".kiln")) << name;
}

TEST(Cache, FilesOfLivingWritersAreNotSwept) {
  TempDir dir;
  DiskCache cache(optionsFor(dir.str()));
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      std::string key = "key " + std::to_string(t);
      for (int i = 0; i < 40; ++i)
        failed += !cache.store(key, fakeArtifact(key)).isOk();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
}

TEST(Cache, SizeIsBoundedAndTheLeastRecentlyUsedGo) {
  TempDir dir;
  DiskCache cache(optionsFor(dir.str(), 100'000)); // four entries and a bit
  uint64_t evictions = 0;
  auto store = [&](const std::string &key) {
    uint64_t evicted = 0;
    EXPECT_OK(cache.store(key, fakeArtifact(key), &evicted));
    evictions += evicted;
    uint64_t total = 0;
    for (const CacheListing &file : cache.list())
      total += file.bytes;
    EXPECT_LE(total, 100'000u);
    usleep(12000); // longer than the file system's clock ticks
  };
  for (const char *key : {"a", "b", "c", "d"})
    store(key);
  EXPECT_EQ(evictions, 0u);
  EXPECT_TRUE(cache.load("a"));
  usleep(12000);
  store("e");
  EXPECT_EQ(evictions, 1u);
  EXPECT_TRUE(cache.load("a")) << "it was used after b";
  EXPECT_FALSE(cache.load("b"));
  Status tooLarge = cache.store("f", fakeArtifact("f", 200'000));
  expectError(tooLarge, StatusCode::OutOfMemory,
              {"larger than the whole cache", "KILN_CACHE_BYTES"});
  EXPECT_TRUE(cache.load("e")) << "and nothing was removed for it";
}

TEST(Cache, CodeOutlivesItsEntry) {
  TempDir dir;
  TestJit test(dir.str());
  Compiled f = test.jit.compile(makeBackend());
  Tensor a = randomTensor({4, 8}, 1), b = randomTensor({8, 4}, 2),
         c = take(Tensor::empty(DType::F32, {4, 4}));
  EXPECT_OK(f(a, b, c));
  EXPECT_EQ(take(DiskCache(optionsFor(dir.str())).clear()), 1u);
  EXPECT_OK(c.fillPoison());
  EXPECT_OK(f(a, b, c));
  EXPECT_TRUE(isProduct(a, b, c));
}

/// The call works, compiles each time, and says so.
void expectWorksWithoutDisk(const std::string &directory, size_t lines) {
  auto backend = makeBackend();
  JitCounters counters;
  std::vector<std::string> log;
  for (int i = 1; i <= 2; ++i) {
    EXPECT_TRUE(callOnce(directory, backend, &counters, &log));
    EXPECT_EQ(backend->compiles, i);
    EXPECT_EQ(log.size(), lines) << (log.empty() ? "" : log[0]);
  }
}

TEST(Cache, NoDisk) { expectWorksWithoutDisk("", 0); }

TEST(Cache, DirectoryThatCannotBeMade) {
  TempDir dir;
  writeText(dir / "file", "");
  expectWorksWithoutDisk(dir / "file/cache", 1);
  expectWorksWithoutDisk("/proc/kiln/cache", 1);
}

TEST(Cache, DirectoryThatCannotBeWritten) {
  TempDir dir;
  chmod(dir.str().c_str(), 0500);
  auto body = [&] {
    if (geteuid() == 0 && (chown(dir.str().c_str(), 65534, 65534) != 0 || setuid(65534) != 0))
      return 3;
    expectWorksWithoutDisk(dir.str(), 1);
    return testing::Test::HasFailure() ? 1 : 0;
  };
  EXPECT_EQ(inChild(body), 0); // as nobody, if this is root, who may write everywhere
  chmod(dir.str().c_str(), 0700);
}

TEST(Cache, FullDisk) {
  TempDir dir;
  if (mount("tmpfs", dir.str().c_str(), "tmpfs", 0, "size=12k") != 0)
    GTEST_SKIP() << "only root can mount a small disk to fill";
  expectWorksWithoutDisk(dir.str(), 1);
  for (const std::string &name : filesIn(dir.str()))
    EXPECT_EQ(name, "totals") << "nothing half-written stays";
  umount(dir.str().c_str());
}

//===----------------------------------------------------------------------===//
// Where it is
//===----------------------------------------------------------------------===//

TEST(Cache, Environment) {
  auto directory = [](std::initializer_list<std::pair<const char *, const char *>> set) {
    for (const char *name :
         {"KILN_CACHE", "KILN_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "KILN_CACHE_BYTES"})
      unsetenv(name);
    for (auto [name, value] : set)
      setenv(name, value, 1);
    return take(DiskCacheOptions::fromEnvironment()).directory;
  };
  int code = inChild([&] {
    EXPECT_EQ(directory({}), "");
    EXPECT_EQ(directory({{"HOME", "/h"}}), "/h/.cache/kiln");
    EXPECT_EQ(directory({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}), "/x/kiln");
    EXPECT_EQ(directory({{"HOME", "/h"}, {"XDG_CACHE_HOME", "relative"}}), "/h/.cache/kiln");
    EXPECT_EQ(directory({{"XDG_CACHE_HOME", "/x"}, {"KILN_CACHE_DIR", "/k"}}), "/k");
    EXPECT_EQ(directory({{"KILN_CACHE_DIR", "/k"}, {"KILN_CACHE", "0"}}), "");
    EXPECT_EQ(directory({{"KILN_CACHE_DIR", "/k"}, {"KILN_CACHE", "1"}}), "/k");
    setenv("KILN_CACHE_BYTES", "12345", 1);
    EXPECT_EQ(take(DiskCacheOptions::fromEnvironment()).maxBytes, 12345u);
    for (const char *value : {"much", "1G", "-1", "1.5", "99999999999999999999"}) {
      setenv("KILN_CACHE_BYTES", value, 1);
      expectError(DiskCacheOptions::fromEnvironment().status(), StatusCode::InvalidArgument,
                  {"KILN_CACHE_BYTES", value, "a number between"});
    }
    setenv("KILN_CACHE_BYTES", "", 1);
    EXPECT_EQ(take(DiskCacheOptions::fromEnvironment()).maxBytes, uint64_t(1) << 30);
    setenv("KILN_CACHE", "no", 1);
    expectError(DiskCacheOptions::fromEnvironment().status(), StatusCode::InvalidArgument,
                {"KILN_CACHE='no'", "0 or 1"});
    Jit jit; // whoever uses it is told
    Tensor x = randomTensor({4, 4}, 1);
    expectError(jit.compile(makeBackend())(x, x, x), StatusCode::InvalidArgument, {"KILN_CACHE"});
    EXPECT_EQ(kiln_jit_create(), nullptr);
    EXPECT_TRUE(contains(kiln_jit_error(), "KILN_CACHE='no'")) << kiln_jit_error();
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(code, 0);
}

} // namespace
