// SPDX-License-Identifier: BSD-3-Clause
// status.json: the whole of NightStatus under its own names; the page's data are a compact form of
// the same.
#include "fiberloom/pipeline/night/night_status.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "fiberloom/pipeline/page/embedded.hpp"
#include "fiberloom/pipeline/page/page.hpp"

namespace fiberloom::night {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "fiberloom-status-1";

/// Milliseconds are enough for an observer, and keep the page small.
double rounded(double value) { return std::round(1000 * value) / 1000; }

Json frame_json(const StatusFrame& f) {
  return {{"name", f.name},
          {"night", f.night},
          {"camera", f.camera},
          {"expid", f.expid},
          {"state", state_name(f.state)},
          {"seconds", rounded(f.seconds)},
          {"message", f.message},
          {"exit_code", f.exit_code},
          {"attempts", f.attempts},
          {"rank", f.rank}};
}

Json sample_json(const StatusSample& s) {
  return {{"t_s", rounded(s.t_s)},
          {"done", s.done},
          {"failed", s.failed},
          {"read", rounded(s.read)},
          {"compute", rounded(s.compute)},
          {"write", rounded(s.write)},
          {"queue", rounded(s.queue)}};
}

std::map<std::string, std::size_t> count_states(const NightStatus& status) {
  std::map<std::string, std::size_t> counts;
  for (int s = 0; s <= static_cast<int>(FrameState::kAbandoned); ++s) {
    counts[state_name(static_cast<FrameState>(s))] = 0;
  }
  for (const StatusFrame& frame : status.frames) ++counts[state_name(frame.state)];
  return counts;
}

/// All but frames and samples, under the names that both forms share.
Json run_json(const NightStatus& s) {
  return {{"schema", kSchema},
          {"title", s.title},
          {"program", s.program},
          {"host", s.host},
          {"started_unix_s", s.started_unix_s},
          {"updated_unix_s", s.updated_unix_s},
          {"finished", s.finished},
          {"watching", s.watching},
          {"ranks", s.ranks},
          {"threads", s.threads},
          {"elapsed_s", rounded(s.elapsed_s)},
          {"left_s", rounded(s.left_s)},
          {"frames_per_node_hour", rounded(s.frames_per_node_hour)},
          {"bytes_in", s.bytes_in},
          {"bytes_out", s.bytes_out},
          {"memory_bytes", s.memory_bytes},
          {"memory_budget_bytes", s.memory_budget_bytes},
          {"warnings", s.warnings}};
}

/// Text in messages may hold any bytes (a file name does): what is no UTF-8 becomes U+FFFD.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', true, Json::error_handler_t::replace);
}

/// The page's data: frames and samples as rows of numbers, a third of the size.
std::string page_data(const NightStatus& status) {
  Json json = run_json(status);
  json["columns"] = {"name",    "night",     "expid",    "camera", "state",
                     "seconds", "exit_code", "attempts", "rank",   "message"};
  json["frames"] = Json::array();
  for (const StatusFrame& f : status.frames) {
    json["frames"].push_back({f.name, f.night, f.expid, f.camera, state_name(f.state),
                              rounded(f.seconds), f.exit_code, f.attempts, f.rank, f.message});
  }
  json["samples"] = Json::array();
  for (const StatusSample& s : status.samples) {
    json["samples"].push_back({rounded(s.t_s), s.done, s.failed, rounded(s.read),
                               rounded(s.compute), rounded(s.write), rounded(s.queue)});
  }
  return page::escape_script(dump(json, -1));
}

/// "29 done, 1 failed, 270 waiting": what the page says without JavaScript.
std::string plain_counts(const NightStatus& status) {
  std::string out;
  for (const auto& [name, n] : count_states(status)) {
    if (n == 0) continue;
    out += (out.empty() ? "" : ", ") + std::to_string(n) + " " + name;
  }
  return out.empty() ? "no frames" : out;
}

}  // namespace

std::string state_name(FrameState state) {
  switch (state) {
    case FrameState::kWaiting:
      return "waiting";
    case FrameState::kClaimed:
      return "claimed";
    case FrameState::kReading:
      return "reading";
    case FrameState::kComputing:
      return "computing";
    case FrameState::kWriting:
      return "writing";
    case FrameState::kDone:
      return "done";
    case FrameState::kUpToDate:
      return "up-to-date";
    case FrameState::kFailed:
      return "failed";
    case FrameState::kMissing:
      return "missing";
    case FrameState::kAbandoned:
      return "abandoned";
  }
  return "unknown";
}

std::string status_json(const NightStatus& status) {
  Json json = run_json(status);
  json["counts"] = count_states(status);
  json["frames"] = Json::array();
  for (const StatusFrame& frame : status.frames) json["frames"].push_back(frame_json(frame));
  json["samples"] = Json::array();
  for (const StatusSample& sample : status.samples) json["samples"].push_back(sample_json(sample));
  return dump(json, 1) + "\n";
}

std::string status_html(const NightStatus& status) {
  const std::string title = page::escape_html(status.title);
  const std::string program = page::escape_html(status.program);
  const std::string css = std::string(page::common_css()) + std::string(page::status_css());
  const std::string js = std::string(page::common_js()) + std::string(page::status_charts_js()) +
                         std::string(page::status_js());
  const std::string data = page_data(status), plain = plain_counts(status);
  return page::fill(page::status_html(), {{"title", title},
                                          {"program", program},
                                          {"css", css},
                                          {"js", js},
                                          {"plain", plain},
                                          {"data", data}});
}

}  // namespace fiberloom::night
