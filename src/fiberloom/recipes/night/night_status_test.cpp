// SPDX-License-Identifier: BSD-3-Clause
// status.json and status.html of a run: complete, valid, safe, the same every time.
#include "fiberloom/recipes/night/night_status.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "loom/base/print.hpp"

namespace fiberloom::night {
namespace {

constexpr const char* kHostile =
    "</script><script>alert(1)</script> \"' & {{js}} \xFF \xE2\x80\xA8 <!--";

RunStatus sample() {
  RunStatus s;
  s.title = "night 20261121";
  s.program = "fiberloom 0.1.0";
  s.host = "node-1";
  s.started_unix_s = 1795000000;
  s.updated_unix_s = 1795000090;
  s.ranks = 2;
  s.threads = 8;
  s.elapsed_s = 90.123456;
  s.left_s = 30;
  s.tasks_per_node_hour = 1800;
  s.memory_bytes = 12345678901234ULL;
  s.memory_budget_bytes = 20000000000000ULL;
  for (int i = 0; i <= static_cast<int>(TaskState::kAbandoned); ++i) {
    StatusTask f;
    const std::string camera = print("r%d", i);
    f.name = camera + "-00000012";
    f.labels = {{"night", "20261121"}, {"expid", 12L}, {"camera", camera}};
    f.state = static_cast<TaskState>(i);
    f.seconds = 1.5 + i;
    s.tasks.push_back(f);
  }
  s.tasks[7].message = kHostile;
  s.tasks[7].exit_code = 14;
  s.samples = {{1.0, 0, 0, 0.5, 0.25, 0.125, 2}, {2.0, 1, 1, 0.5, 1.0, 0.0, 0}};
  s.warnings = {kHostile};
  return s;
}

/// The text of the page's data element.
std::string data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto first = html.find(open) + open.size();
  return html.substr(first, html.find("</script>", first) - first);
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(StateName, IsDifferentForEveryState) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(TaskState::kBlocked); ++i) {
    names.insert(state_name(static_cast<TaskState>(i)));
  }
  EXPECT_EQ(names.size(), 11u);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(StatusJson, HoldsEveryMember) {
  const auto json = nlohmann::json::parse(status_json(sample(), {}));

  EXPECT_EQ(json.at("schema"), "fiberloom-status-1");
  EXPECT_EQ(json.at("memory_bytes"), 12345678901234ULL);
  EXPECT_EQ(json.at("elapsed_s"), 90.123);
  EXPECT_EQ(json.at("counts").at("failed"), 1);
  EXPECT_EQ(json.at("counts").at("up-to-date"), 1);
  ASSERT_EQ(json.at("frames").size(), 10u);
  EXPECT_EQ(json.at("frames")[7].at("state"), "failed");
  EXPECT_EQ(json.at("frames")[7].at("exit_code"), 14);
  EXPECT_EQ(json.at("samples")[1].at("compute"), 1.0);
  for (const char* member :
       {"title", "program", "host", "started_unix_s", "updated_unix_s", "finished", "watching",
        "ranks", "threads", "left_s", "frames_per_node_hour", "bytes_in", "bytes_out",
        "memory_budget_bytes", "warnings"}) {
    EXPECT_TRUE(json.contains(member)) << member;
  }
}

TEST(StatusJson, CarriesHostileTextAsText) {
  const auto json = nlohmann::json::parse(status_json(sample(), {}));
  const std::string message = json.at("frames")[7].at("message");
  EXPECT_EQ(message.find("</script><script>alert(1)</script> \"' & {{js}} "), 0u);
  EXPECT_NE(message.find("\xEF\xBF\xBD"), std::string::npos) << "the byte that is no UTF-8";
}

TEST(StatusJson, StaysValidWithNumbersThatAreNone) {
  RunStatus s = sample();
  s.left_s = std::numeric_limits<double>::quiet_NaN();
  s.tasks_per_node_hour = std::numeric_limits<double>::infinity();

  const auto json = nlohmann::json::parse(status_json(s, {}));

  EXPECT_TRUE(json.at("left_s").is_null());
  EXPECT_TRUE(json.at("frames_per_node_hour").is_null());
}

TEST(StatusHtml, HoldsTheRunAsValidData) {
  const auto data = nlohmann::json::parse(data_of(status_html(sample(), {})));
  ASSERT_EQ(data.at("frames").size(), 10u);
  EXPECT_EQ(data.at("frames")[7].size(), data.at("columns").size());
  EXPECT_EQ(data.at("frames")[7][4], "failed");
  EXPECT_EQ(data.at("samples")[1][4], 1.0);
}

TEST(StatusHtml, IsNotChangedInStructureByHostileText) {
  RunStatus hostile = sample();
  hostile.title = hostile.host = hostile.program = kHostile;
  hostile.tasks[3].name = kHostile;
  hostile.tasks[3].labels[0].value = kHostile;
  hostile.tasks[3].labels[2].value = kHostile;

  const std::string plain = status_html(sample(), {}), html = status_html(hostile, {});

  for (const char* tag : {"<script", "</script>", "<!--", "<style", "<img"}) {
    EXPECT_EQ(occurrences(html, tag), occurrences(plain, tag)) << tag;
  }
  EXPECT_EQ(nlohmann::json::parse(data_of(html)).at("frames")[3][0].get<std::string>().find("</sc"),
            0u);
}

TEST(StatusHtml, NeedsNoOtherFile) {
  const std::string html = status_html(sample(), {});
  EXPECT_EQ(html.find("http://"), html.find("http://www.w3.org/2000/svg"));  // a name, not a link
  for (const char* word : {"https://", "<link rel=\"stylesheet", "script src", "@import", "url("}) {
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  }
}

TEST(StatusHtml, IsTheSameForTheSameRun) {
  EXPECT_EQ(status_html(sample(), {}), status_html(sample(), {}));
  EXPECT_EQ(status_json(sample(), {}), status_json(sample(), {}));
}

TEST(StatusHtml, TakesARunWithoutFrames) {
  const std::string html = status_html(RunStatus{}, {});
  EXPECT_NE(html.find("no frames"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(data_of(html)).at("frames").empty());
}

}  // namespace
}  // namespace fiberloom::night
