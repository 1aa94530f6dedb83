//===- CacheCommand.cpp - `kiln cache ls|stat|clear|verify` ------------------------------===//
#include "abi/JsonOutput.h"
#include "kiln/Jit/Jit.h"

#include "abi/RunFiles.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <sstream>

namespace kiln {

namespace {

constexpr int exitGood = 0, exitDamaged = 1, exitBadInput = 2;

int complain(const std::string &message) {
  noteFailure(Status(StatusCode::InvalidArgument, message));
  std::cout.flush();
  std::cerr << "kiln: error: " << message << "\n";
  return exitBadInput;
}

/// What a key says in the line that begins with `field`.
std::string lineOf(const std::string &key, const std::string &field) {
  std::istringstream lines(key);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(field + " "))
      return line.substr(field.size() + 1);
  return "-";
}

int list(const DiskCache &cache, bool json, bool showKeys) {
  Json all = Json::array();
  for (const CacheListing &file : cache.list()) {
    std::string key;
    Status good = cache.verify(file, &key);
    Json item{{"name", file.name},
              {"bytes", file.bytes},
              {"last_use", utcText(file.lastUse / 1'000'000'000)},
              {"program", lineOf(key, "program")},
              {"platform", lineOf(key, "platform")},
              {"good", good.isOk()}};
    if (showKeys)
      item["key"] = key;
    all.push_back(item);
  }
  if (json) {
    printJson(all);
    return exitGood;
  }
  for (const Json &item : all) {
    std::printf("%s  %9llu bytes  used %s  %s  %s%s\n", item["name"].get<std::string>().c_str(),
                (unsigned long long)item["bytes"].get<uint64_t>(),
                item["last_use"].get<std::string>().c_str(),
                item["platform"].get<std::string>().c_str(),
                item["program"].get<std::string>().c_str(), item["good"] ? "" : "  DAMAGED");
    if (showKeys)
      std::printf("%s\n", item["key"].get<std::string>().c_str());
  }
  return exitGood;
}

int stat(const DiskCache &cache, bool json) {
  uint64_t bytes = 0, entries = 0;
  for (const CacheListing &file : cache.list()) {
    bytes += file.bytes;
    ++entries;
  }
  CacheTotals totals = cache.totals();
  Json all{{"directory", cache.options().directory},
           {"entries", entries},
           {"bytes", bytes},
           {"max_bytes", cache.options().maxBytes},
           {"hits", totals.hits},
           {"misses", totals.misses},
           {"compiles", totals.compiles},
           {"evictions", totals.evictions},
           {"rejected", totals.rejected}};
  if (json) {
    printJson(all);
    return exitGood;
  }
  for (const auto &[name, value] : all.items())
    std::printf("%-10s %s\n", name.c_str(),
                value.is_string() ? value.get<std::string>().c_str() : jsonText(value).c_str());
  return exitGood;
}

int verify(const DiskCache &cache, bool json) {
  Json damaged = Json::array();
  std::vector<CacheListing> files = cache.list();
  for (const CacheListing &file : files)
    if (Status status = cache.verify(file); !status.isOk())
      damaged.push_back(status.message());
  if (json)
    printJson({{"entries", files.size()}, {"damaged", damaged}});
  else {
    for (const Json &line : damaged)
      std::printf("%s\n", line.get<std::string>().c_str());
    std::printf("%zu of %zu entries are good\n", files.size() - damaged.size(), files.size());
  }
  return damaged.empty() ? exitGood : exitDamaged;
}

int clear(const DiskCache &cache, bool json) {
  Expected<uint64_t> removed = cache.clear();
  if (!removed)
    return complain(removed.status().message());
  if (json)
    printJson(Json::object({{"removed", *removed}}));
  else
    std::printf("removed %llu entries\n", (unsigned long long)*removed);
  return exitGood;
}

} // namespace

int cacheCommand(int argc, const char *const *argv) {
  // CLI11 may throw; this is the boundary where that ends.
  try {
    bool json = false, showKeys = false;
    CLI::App app("Looks after the cache of compiled code: $KILN_CACHE_DIR, else "
                 "$XDG_CACHE_HOME/kiln, else ~/.cache/kiln.",
                 "kiln cache");
    app.add_flag("--json", json, "Machine-readable output");
    app.fallthrough(); // inherited by the commands below
    CLI::App *ls = app.add_subcommand("ls", "Lists the entries, the most recently used first");
    ls->add_flag("--keys", showKeys, "Also print the whole keys");
    CLI::App *statistics = app.add_subcommand("stat", "Sizes, and counters of all processes");
    CLI::App *clearing = app.add_subcommand("clear", "Removes all entries");
    app.add_subcommand("verify", "Checks every entry; exit code 1 if any is damaged");
    app.require_subcommand(1);
    app.footer("Examples:\n  kiln cache ls --keys\n  kiln cache stat --json\n  kiln cache verify");
    auto isAsked = [&](const CLI::App *command) {
      return argc > 1 && command->get_name() == argv[1];
    };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(isAsked).empty())
      return complain("there is no command '" + std::string(argv[1]) +
                      "'; use ls, stat, clear or verify");
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
      if (error.get_exit_code() == 0)
        return app.exit(error);
      return complain(std::string(error.what()) + "; see kiln cache --help");
    }
    Expected<DiskCacheOptions> options = DiskCacheOptions::fromEnvironment();
    if (!options)
      return complain(options.status().message());
    DiskCache cache(*options);
    if (!cache.isEnabled())
      return complain("there is no cache: KILN_CACHE is 0, or none of KILN_CACHE_DIR, "
                      "XDG_CACHE_HOME and HOME is set");
    Status directory = cache.verifyDirectory();
    if (!directory.isOk() && directory.code() != StatusCode::NotFound) // an empty one is fine
      return complain(directory.message());
    if (*ls)
      return list(cache, json, showKeys);
    if (*statistics)
      return stat(cache, json);
    return *clearing ? clear(cache, json) : verify(cache, json);
  } catch (const std::exception &error) {
    return complain(error.what());
  }
}

} // namespace kiln
