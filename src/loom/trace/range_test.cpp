// SPDX-License-Identifier: BSD-3-Clause
#include "loom/trace/range.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "loom/trace/trace.hpp"

namespace loom {
namespace {

/// What a profiler would have been told: "a(" for a push, ")" for a pop.
std::string& told() {
  static std::string text;
  return text;
}
constexpr RangeHook kRecorder{[](const char* name) noexcept { told() += std::string(name) + '('; },
                              []() noexcept { told() += ')'; }};

class RangeTest : public testing::Test {
 protected:
  void SetUp() override {
    told().clear();
    set_range_hook(&kRecorder);
  }
  void TearDown() override { set_range_hook(nullptr); }
};

TEST_F(RangeTest, NestsAsScopesDo) {
  {
    const Range a("a");
    { const Range b("b"); }
    const Range c("c");
  }
  EXPECT_EQ(told(), "a(b()c())");
}

TEST_F(RangeTest, EndsWhereAnExceptionLeavesItsScope) {
  try {
    const Range a("a");
    const Range b("b");
    throw std::runtime_error("fault");
  } catch (const std::runtime_error&) {
    told() += " caught";
  }
  EXPECT_EQ(told(), "a(b()) caught");
}

TEST_F(RangeTest, EndsOnceWhenItWasStoppedBefore) {
  {
    Range a("a");
    a.stop();
    told() += ' ';
  }
  EXPECT_EQ(told(), "a() ");
}

TEST_F(RangeTest, EndsWhereItBeganWhenTheHookIsTakenAwayOrComesLate) {
  {
    const Range a("a");
    set_range_hook(nullptr);
    const Range b("b");
    set_range_hook(&kRecorder);
  }
  EXPECT_EQ(told(), "a()");
}

TEST_F(RangeTest, IsOpenedByEverySpanWithATracerAndWithout) {
  Tracer tracer;
  try {
    const Span outer(nullptr, "outer");
    Span inner(&tracer, "inner");
    inner.stop();
    throw std::runtime_error("fault");
  } catch (const std::runtime_error&) {
    told() += " caught";
  }
  EXPECT_EQ(told(), "outer(inner()) caught");
}

TEST(Range, WithoutAHookDoesNothing) {
  told().clear();
  { const Range range("a"); }
  EXPECT_EQ(told(), "");
}

}  // namespace
}  // namespace loom
