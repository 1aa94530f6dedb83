//===- PlatformTest.cpp - the list of platforms --------------------------------------------===//
#include "kiln/Platform/CpuPlatform.h"

#include <gtest/gtest.h>

using namespace kiln;

namespace {

TEST(Platform, TheFirstThatCanDoSomethingIsTheDefault) {
  for (size_t number = 0; number < numCapabilities; ++number) {
    auto capability = Capability(number);
    if (capability == Capability::Check) // which takes the first that runs many schedules
      continue;
    const Platform *first = nullptr;
    for (const auto &platform : platforms())
      if (!first && platform->can(capability))
        first = platform.get();
    ASSERT_NE(first, nullptr) << "no platform can " << toString(capability);
    EXPECT_EQ(&defaultPlatform(capability), first) << toString(capability);
    EXPECT_TRUE(platformNames(capability).starts_with(first->name())) << toString(capability);
  }
  EXPECT_EQ(&defaultPlatform(Capability::Check), &defaultPlatform(Capability::Seeds));
}

TEST(Platform, NamesStandInWords) {
  EXPECT_EQ(inWords({}, "or"), "");
  EXPECT_EQ(inWords({"a"}, "or"), "a");
  EXPECT_EQ(inWords({"a", "b"}, "or"), "a or b");
  EXPECT_EQ(inWords({"a", "b", "c"}, "and"), "a, b and c");
}

TEST(Platform, WhatIsListedIsImplemented) {
  for (const auto &platform : platforms()) {
    if (platform->can(Capability::Check) || platform->can(Capability::Seeds)) {
      EXPECT_NE(platform->machine(), nullptr) << platform->name();
    }
    bool hasBackend = platform->makeJitBackend("", "") != nullptr;
    EXPECT_EQ(hasBackend, platform->can(Capability::Jit)) << platform->name();
  }
}

TEST(Platform, IsFoundByItsNameAndByItsMachine) {
  for (const auto &platform : platforms()) {
    EXPECT_EQ(findPlatform(platform->name()), platform.get());
    if (platform->machine()) {
      EXPECT_EQ(findPlatform(platform->machine()->name), platform.get());
    }
  }
  EXPECT_EQ(findPlatform("abacus"), nullptr);
}

TEST(Platform, NamesThatAreTakenAreRefused) {
  static constexpr Machine abacus{"abacus", "beads", 1, {}, {}, {}, PipeStorage::Heap, 2};
  std::string taken = platforms().front()->name();
  size_t count = platforms().size();
  EXPECT_EQ(registerPlatform(makeCpuPlatform(taken, abacus)).code(), StatusCode::AlreadyExists);
  static const Machine copy = *platforms().front()->machine();
  EXPECT_EQ(registerPlatform(makeCpuPlatform("beads", copy)).code(), StatusCode::AlreadyExists);
  EXPECT_EQ(platforms().size(), count);
  EXPECT_EQ(findMachine("abacus"), nullptr);
}

/// A platform that says it can do everything and does nothing says so when it is asked.
TEST(Platform, WhatIsNotImplementedIsRefusedByName) {
  Platform idle({.name = "idle", .can = {Capability::Run}});
  RunReport report;
  Status ran = idle.run({}, report);
  EXPECT_EQ(ran.code(), StatusCode::Unsupported);
  EXPECT_NE(ran.message().find("'idle'"), std::string::npos) << ran.message();
  EXPECT_EQ(idle.emit("morse", {}, {}).status().code(), StatusCode::Unsupported);
  EXPECT_EQ(idle.makeJitBackend("", ""), nullptr);
}

} // namespace
