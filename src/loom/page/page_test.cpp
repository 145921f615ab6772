// SPDX-License-Identifier: BSD-3-Clause
// Text stays text, whatever it holds.
#include "loom/page/page.hpp"

#include <gtest/gtest.h>

#include "loom/base/error.hpp"
#include "loom/page/embedded.hpp"

namespace loom::page {
namespace {

TEST(EscapeHtml, LeavesNoCharacterThatMakesMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\" id='y'>&amp;</a>"),
            "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;");
}

TEST(EscapeHtml, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_EQ(escape_html("Å \xE2\x88\x9A \xF0\x9F\x94\xAD"), "Å \xE2\x88\x9A \xF0\x9F\x94\xAD");
  EXPECT_EQ(escape_html("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(escape_html("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // overlong
  EXPECT_EQ(escape_html("\xE2\x88"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // cut off
  EXPECT_EQ(escape_html(std::string("a\0b\x1b", 4)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(EscapeScript, CannotCloseTheElement) {
  const std::string safe = escape_script(R"({"m":"</script><!-- &"})");
  EXPECT_EQ(safe, "{\"m\":\"\\u003c/script\\u003e\\u003c!-- \\u0026\"}");
}

TEST(Fill, DoesNotLookIntoValues) {
  EXPECT_EQ(fill("<{{a}}|{{b}}>", {{"a", "{{b}}"}, {"b", "2"}}), "<{{b}}|2>");
}

TEST(Fill, NamesAPlaceholderWithoutValue) {
  try {
    (void)fill("{{a}} {{nobody}}", {{"a", "1"}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInternal);
    EXPECT_NE(std::string(error.what()).find("nobody"), std::string::npos);
  }
  EXPECT_THROW((void)fill("{{a", {{"a", "1"}}), Error);
}

TEST(Embedded, HoldsTheFilesByteForByte) {
  EXPECT_EQ(common_css().substr(0, 2), "/*");
  EXPECT_TRUE(common_css().ends_with("}\n"));
  EXPECT_NE(common_js().find("\\u202f"), std::string_view::npos);  // a backslash survives
  EXPECT_NE(common_js().find("'–'"), std::string_view::npos);      // and so does UTF-8
}

TEST(Utf8, WhatIsNoneIsReplacedByteByByte) {
  EXPECT_EQ(to_utf8("n\xc3\xa9 plain"), "n\xc3\xa9 plain");
  EXPECT_EQ(to_utf8("n\xe9!\xff"), "n\xef\xbf\xbd!\xef\xbf\xbd");
  EXPECT_TRUE(is_utf8("n\xc3\xa9"));
  EXPECT_FALSE(is_utf8("n\xe9"));
}

TEST(UrlOfPath, NoByteOfANameIsMarkupSchemeOrQuery) {
  EXPECT_EQ(url_of_path("20261121/frame-r0.html"), "20261121/frame-r0.html");
  EXPECT_EQ(url_of_path("javascript:a?b#c %\xe9\""), "javascript%3Aa%3Fb%23c%20%25%E9%22");
  EXPECT_EQ(url_of_path("../x/<b>"), "../x/%3Cb%3E");
}

}  // namespace
}  // namespace loom::page
