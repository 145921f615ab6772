// SPDX-License-Identifier: BSD-3-Clause
#include "loom/trace/trace.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace loom {
namespace {

TEST(Tracer, SumsSpansByNameAndKeepsEvents) {
  Tracer tracer(true);
  for (int i = 0; i < 3; ++i) const Span span(&tracer, "a/b");
  EXPECT_EQ(tracer.sums().at("a/b").count, 3U);
  EXPECT_NE(tracer.chrome_json().find("\"name\":\"a/b\",\"ph\":\"X\""), std::string::npos);
  EXPECT_NE(tracer.text().find("x3"), std::string::npos);
}

TEST(Tracer, SaysWhichThreadDidWhatInWhichProcess) {
  Tracer tracer(true);
  tracer.name_thread("reader 0");
  { const Span span(&tracer, "read", "a \"quoted\" frame"); }
  const std::string events = tracer.chrome_events(7, 1e6);
  EXPECT_NE(events.find(R"("args":{"name":"reader 0"})"), std::string::npos) << events;
  EXPECT_NE(events.find(R"("pid":7)"), std::string::npos) << events;
  EXPECT_NE(events.find(R"("args":{"what":"a \"quoted\" frame"})"), std::string::npos) << events;
  const std::string two = Tracer::wrap_chrome_events(events + "," + events);
  EXPECT_EQ(two.front(), '{');
}

TEST(Tracer, AddsUpWhatItIsTold) {
  Tracer tracer;
  const auto t0 = tracer.origin();
  const auto after = [&](int ms) { return t0 + std::chrono::milliseconds(ms); };
  tracer.record("read", after(0), after(10));
  tracer.record("read", after(100), after(105));
  tracer.record("write", after(7), after(8));
  EXPECT_DOUBLE_EQ(tracer.sums().at("read").seconds, 0.015);
  EXPECT_EQ(tracer.sums().at("read").count, 2U);
  EXPECT_EQ(tracer.sums().size(), 2U);
  EXPECT_EQ(tracer.chrome_events(1), "") << "events are kept where they are asked for";
}

TEST(Tracer, ShiftsAndNumbersEventsForATimelineOfSeveralProcesses) {
  Tracer tracer(true);
  tracer.record("a", tracer.origin() + std::chrono::microseconds(1500),
                tracer.origin() + std::chrono::microseconds(1750));
  EXPECT_EQ(tracer.chrome_events(3, 0.5),
            "\n{\"name\":\"a\",\"ph\":\"X\",\"pid\":3,\"tid\":0,\"ts\":1500.500,\"dur\":250.000}");
}

TEST(Tracer, NumbersThreadsInTheOrderOfTheirFirstEvent) {
  Tracer tracer(true);
  { const Span span(&tracer, "here"); }
  std::thread([&] { const Span span(&tracer, "there"); }).join();
  { const Span span(&tracer, "here again"); }
  const std::string events = tracer.chrome_events(1);
  const auto thread_of = [&](const std::string& name) {
    const auto at = events.find("\"name\":\"" + name + "\"");
    return events.substr(events.find("\"tid\":", at) + 6, 1);
  };
  EXPECT_EQ(thread_of("here"), "0");
  EXPECT_EQ(thread_of("there"), "1");
  EXPECT_EQ(thread_of("here again"), "0");
}

TEST(Tracer, LosesNothingOfManyThreads) {
  Tracer tracer(true);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) const Span span(&tracer, "work");
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(tracer.sums().at("work").count, 1000U);
}

TEST(Tracer, WritesNamesThatNoTextMayHold) {
  Tracer tracer(true);
  tracer.record("a\\b\n\t\"c", tracer.origin(), tracer.origin());
  EXPECT_NE(tracer.chrome_json().find("\"a\\\\b  \\\"c\""), std::string::npos)
      << tracer.chrome_json();
}

TEST(Span, EndsOnceWhenItWasStoppedBefore) {
  Tracer tracer;
  {
    Span span(&tracer, "x");
    span.stop();
    EXPECT_EQ(tracer.sums().at("x").count, 1U);
  }
  EXPECT_EQ(tracer.sums().at("x").count, 1U);
}

TEST(Span, WithoutATracerDoesNothing) { const Span span(nullptr, "x"); }

}  // namespace
}  // namespace loom
