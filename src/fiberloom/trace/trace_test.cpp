// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/trace/trace.hpp"

#include <gtest/gtest.h>

namespace fiberloom {
namespace {

TEST(Tracer, SumsSpansByNameAndKeepsEvents) {
  Tracer tracer(true);
  for (int i = 0; i < 3; ++i) const Span span(&tracer, "a/b");
  EXPECT_EQ(tracer.sums().at("a/b").count, 3U);
  EXPECT_NE(tracer.chrome_json().find("\"name\":\"a/b\",\"ph\":\"X\""), std::string::npos);
  EXPECT_NE(tracer.text().find("x3"), std::string::npos);
}

TEST(Span, WithoutATracerDoesNothing) { const Span span(nullptr, "x"); }

}  // namespace
}  // namespace fiberloom
