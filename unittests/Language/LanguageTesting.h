//===- LanguageTesting.h - recording a program, and what it got wrong -----------------===//
#ifndef KILN_UNITTESTS_LANGUAGE_LANGUAGETESTING_H
#define KILN_UNITTESTS_LANGUAGE_LANGUAGETESTING_H

#include "kiln/kiln.h"

#include <gtest/gtest.h>

namespace kiln::testing {

inline bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Exactly one mistake, at this line, saying this.
inline void expectError(Program &p, uint32_t line, const std::string &part) {
  ASSERT_EQ(p.errors().size(), 1u)
      << (p.errors().size() > 1 ? p.errors()[1].str() : "no mistake was reported");
  const Mistake &error = p.errors()[0];
  EXPECT_TRUE(has(error.message(), part)) << error.message();
  EXPECT_EQ(error.location().line, int32_t(line)) << error.str();
  EXPECT_TRUE(has(error.location().file, "unittests/Language/Language")) << error.str();
}

/// No mistakes, and IR with all of these.
inline void expectText(Program &p, const std::vector<std::string> &parts) {
  ASSERT_TRUE(p.errors().empty()) << p.errors()[0].str();
  std::string text = p.str();
  for (const std::string &part : parts)
    EXPECT_TRUE(has(text, part)) << part << "\nis not in\n" << text;
}

/// Records one kernel over `a` (In) and `b` (Out).
template <typename Body> Program kernel(Body body) {
  Program p("test");
  p.kernel("k", {"a", "b"}, [&](In<f32> a, Out<f32> b) {
    body(a, b);
    store(zeros<f32>(8, 8), b, {0, 0});
    load(a, {0, 0}, {8, 8});
  });
  return p;
}

} // namespace kiln::testing

#endif // KILN_UNITTESTS_LANGUAGE_LANGUAGETESTING_H
