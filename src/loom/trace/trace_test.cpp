// SPDX-License-Identifier: BSD-3-Clause
#include "loom/trace/trace.hpp"

#include <gtest/gtest.h>

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

TEST(Span, WithoutATracerDoesNothing) { const Span span(nullptr, "x"); }

}  // namespace
}  // namespace loom
