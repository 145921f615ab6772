// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/status_text.hpp"

#include <cmath>

#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"

namespace loom::batch {

double rounded(double value) { return std::round(1000 * value) / 1000; }

StateCounts count_states(const RunStatus& status) {
  StateCounts counts;
  for (const StatusTask& task : status.tasks) ++counts[state_name(task.state)];
  return counts;
}

std::string counts_text(const StateCounts& counts) {
  std::string text;
  for (const auto& [name, n] : counts) {
    text += (text.empty() ? "" : ", ") + std::to_string(n) + " " + name;
  }
  return text;
}

Json counts_json(const StateCounts& counts) {
  Json json = Json::object();
  for (const auto& [name, n] : counts) json[name] = n;
  return json;
}

Json run_json(const RunStatus& s, const char* schema) {
  return {{"schema", schema},
          {"title", s.title},
          {"program", s.program},
          {"host", s.host},
          {"started_unix_s", s.started_unix_s},
          {"updated_unix_s", s.updated_unix_s},
          {"finished", s.finished},
          {"ranks", s.ranks},
          {"threads", s.threads},
          {"elapsed_s", rounded(s.elapsed_s)},
          {"left_s", rounded(s.left_s)},
          {"bytes_in", s.bytes_in},
          {"bytes_out", s.bytes_out},
          {"memory_bytes", s.memory_bytes},
          {"warnings", s.warnings},
          {"counts", counts_json(count_states(s))}};
}

std::map<std::string, std::string> page_values(const RunStatus& s) {
  std::string warnings;
  for (const std::string& warning : s.warnings) {
    warnings += "<li>" + page::escape_html(warning) + "</li>";
  }
  return {{"title", page::escape_html(s.title)},
          {"program", page::escape_html(s.program)},
          {"host", page::escape_html(s.host)},
          {"css", std::string(page::common_css())},
          {"refresh", s.finished ? "" : "<meta http-equiv=\"refresh\" content=\"5\">"},
          {"counts", counts_text(count_states(s))},
          {"warnings", warnings}};
}

}  // namespace loom::batch
