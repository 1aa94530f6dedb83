#include "Tune/Report.h"
#include "abi/JsonOutput.h"

using llvm::ArrayRef;

namespace kiln {

/// How many were tried that differ from another in what the compiler was told.
static size_t numTold(const Search &search) {
  return llvm::count_if(search.tried(), [](const auto &each) { return !each->trial.told.empty(); });
}

/// What was tried, in this order, for who reads the file.
static Json describe(const Found &found, ArrayRef<Candidate *> list) {
  Json tried = Json::array();
  for (const Candidate *candidate : list) {
    Json row{{"values", found.choices.valuesOf(candidate->trial)}};
    if (candidate->isMeasured()) {
      row["compile_seconds"] = candidate->compileSeconds;
      row["seconds"] = candidate->seconds();
      row["rounds"] = candidate->times.size();
      row["in_turns"] = candidate->isFinalist;
    } else {
      row["refused"] = candidate->refusal;
    }
    tried.push_back(std::move(row));
  }
  const Budget &budget = found.budget;
  return {{"program", found.program},
          {"platform", found.platform},
          {"default_seconds", found.search.usual().seconds()},
          {"seconds", found.winner->seconds()},
          {"tuned_in_seconds", budget.used()},
          {"choices", found.choices.count()},
          {"choices_tried", list.size() - numTold(found.search)},
          {"spent",
           {{"preparing", budget.preparing},
            {"compiling", budget.compiling},
            {"checking", budget.checking},
            {"measuring", budget.measuring}}},
          {"tried", std::move(tried)}};
}

/// The same for who reads the screen.
static void print(const Found &found, ArrayRef<Candidate *> list) {
  size_t told = numTold(found.search);
  std::printf("%s on %s: %zu of %llu choices", found.program.c_str(), found.platform.c_str(),
              list.size() - told, (unsigned long long)found.choices.count());
  if (told)
    std::printf(" and %zu of the compiler's", told);
  const Budget &budget = found.budget;
  std::printf(" tried in %.1f s (%.1f preparing, %.1f compiling, %.1f checking, %.1f measuring)\n",
              budget.used(), budget.preparing, budget.compiling, budget.checking, budget.measuring);
  const Candidate &usual = found.search.usual();
  for (const Candidate *candidate : list) {
    std::string words = found.choices.words(candidate->trial);
    if (!candidate->isMeasured()) {
      std::printf("  %-32s  refused: %s\n", words.c_str(), candidate->refusal.c_str());
      continue;
    }
    const char *remark = candidate == found.winner ? "  <- winner"
                         : candidate == &usual     ? "  (default)"
                         : !candidate->isFinalist  ? "  (first look)"
                                                   : "";
    std::printf("  %-32s  %10.3f ms  %5.2f x the default's speed%s\n", words.c_str(),
                candidate->seconds() * 1e3, usual.seconds() / candidate->seconds(), remark);
  }
}

int reportAndKeep(const Found &found, const TuneStore &store, const std::string &key, bool asJson) {
  std::vector<Candidate *> list = found.search.ranking();
  for (const std::unique_ptr<Candidate> &candidate : found.search.tried())
    if (!candidate->isMeasured())
      list.push_back(candidate.get());
  ConfigValues values = found.choices.valuesOf(found.winner->trial);
  Json about = describe(found, list);
  Status kept = store.isEnabled() ? store.put(key, values, about) : Status::ok();
  bool isKept = store.isEnabled() && kept.isOk();
  if (asJson) {
    Json json{{"winner", values}};
    json.update(about);
    if (isKept)
      json["file"] = store.pathOf(key);
    printJson(json);
  } else {
    print(found, list);
    if (!store.isEnabled())
      std::printf("not kept: there is no cache (KILN_CACHE, KILN_CACHE_DIR)\n");
    else if (isKept)
      std::printf("kept in %s\n", store.pathOf(key).c_str());
  }
  if (!kept.isOk())
    printErrors({kept.withPrefix("the winner could not be kept")});
  return kept.isOk() ? kGood : kWrong;
}

} // namespace kiln
