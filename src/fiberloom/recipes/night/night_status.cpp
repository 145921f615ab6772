// SPDX-License-Identifier: BSD-3-Clause
// status.json: the whole of RunStatus under its own names; the page's data are a compact form of
// the same.
#include "fiberloom/recipes/night/night_status.hpp"

#include <algorithm>

#include "fiberloom/recipes/page_texts.hpp"
#include "loom/base/print.hpp"
#include "loom/batch/status_text.hpp"
#include "loom/json/json.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::night {
namespace {

constexpr const char* kStatusSchema = "fiberloom-status-1";
constexpr std::size_t kShownOutliers = 50;  // of the page; status.json has all

const char* word_of(Verdict verdict) {
  return verdict == Verdict::kBad ? "bad" : verdict == Verdict::kOdd ? "odd" : "good";
}

/// Numbers for an observer need no more digits than these.
double brief(double value) { return std::stod(print("%.4g", value)); }

const std::string& text_of(const StatusTask& task, const char* label) {
  return std::get<std::string>(find_label(task.labels, label)->value);
}

long expid_of(const StatusTask& task) {
  return std::get<long>(find_label(task.labels, "expid")->value);
}

/// Verdicts and outliers, by the place of a frame in the status.
struct RatedStatus {
  std::vector<std::optional<std::array<Verdict, kMetrics>>> verdicts;
  std::vector<Outlier> outliers;
};

RatedStatus rate(const RunStatus& status, const QualityLimits& limits) {
  std::vector<RatedFrame> rated;
  std::vector<std::size_t> place;
  for (std::size_t i = 0; i < status.tasks.size(); ++i) {
    const StatusTask& f = status.tasks[i];
    const auto quality = quality_of(f.measures);
    if (!quality) continue;
    rated.push_back({text_of(f, "camera"), *quality});
    place.push_back(i);
  }
  Ratings ratings = rate_frames(rated, limits);
  RatedStatus out;
  out.verdicts.resize(status.tasks.size());
  for (std::size_t k = 0; k < place.size(); ++k) out.verdicts[place[k]] = ratings.verdicts[k];
  out.outliers = std::move(ratings.outliers);
  for (Outlier& o : out.outliers) o.frame = place[o.frame];
  return out;
}

Json limits_json(const QualityLimits& limits) {
  Json json;
  for (std::size_t m = 0; m < kMetrics; ++m) {
    const Limit limit = limit_of(limits, m);
    json[metric_name(m)] = {limit.odd, limit.bad};
  }
  return json;
}

Json quality_json(const FrameQuality& quality, const std::array<Verdict, kMetrics>& verdicts) {
  Json json;
  for (std::size_t m = 0; m < kMetrics; ++m) json[metric_name(m)] = brief(metric_value(quality, m));
  json["verdict"] = word_of(*std::max_element(verdicts.begin(), verdicts.end()));
  return json;
}

Json frame_json(const StatusTask& f) {
  return {{"name", f.name},
          {"night", text_of(f, "night")},
          {"camera", text_of(f, "camera")},
          {"expid", expid_of(f)},
          {"state", state_name(f.state)},
          {"seconds", rounded(f.seconds)},
          {"message", f.message},
          {"exit_code", f.exit_code},
          {"attempts", f.attempts},
          {"rank", f.rank},
          {"report", f.page}};
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

/// Every state, those without a frame too: readers of status.json look them up by name.
StateCounts count_all_states(const RunStatus& status) {
  StateCounts counts = count_states(status);
  for (int s = 0; s <= static_cast<int>(TaskState::kAbandoned); ++s) {
    counts.try_emplace(state_name(static_cast<TaskState>(s)), 0);
  }
  return counts;
}

/// All but frames and samples, under the names that both forms share.
Json night_json(const RunStatus& s) {
  return {{"schema", kStatusSchema},
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
          {"frames_per_node_hour", rounded(s.tasks_per_node_hour)},
          {"bytes_in", s.bytes_in},
          {"bytes_out", s.bytes_out},
          {"memory_bytes", s.memory_bytes},
          {"memory_budget_bytes", s.memory_budget_bytes},
          {"warnings", s.warnings}};
}

/// Text in messages may hold any bytes (a file name does): what is no UTF-8 becomes U+FFFD.
std::string dump(const Json& json, int indent) { return json.dump(indent, JsonText::kAscii); }

/// The page's data: frames and samples as rows of numbers, a third of the size.
std::string page_data(const RunStatus& status, const QualityLimits& limits) {
  Json json = night_json(status);
  json["columns"] = {"name",     "night", "expid",   "camera",  "state",    "seconds", "exit_code",
                     "attempts", "rank",  "message", "quality", "verdicts", "report"};
  const RatedStatus rated = rate(status, limits);
  json["frames"] = Json::array();
  for (std::size_t i = 0; i < status.tasks.size(); ++i) {
    const StatusTask& f = status.tasks[i];
    Json quality, verdicts;
    for (std::size_t m = 0; rated.verdicts[i] && m < kMetrics; ++m) {
      quality.push_back(brief(metric_value(*quality_of(f.measures), m)));
      verdicts.push_back(static_cast<int>((*rated.verdicts[i])[m]));
    }
    json["frames"].push_back({f.name, text_of(f, "night"), expid_of(f), text_of(f, "camera"),
                              state_name(f.state), rounded(f.seconds), f.exit_code, f.attempts,
                              f.rank, f.message, quality, verdicts, f.page});
  }
  json["limits"] = Json::array();
  for (std::size_t m = 0; m < kMetrics; ++m) {
    const Limit limit = limit_of(limits, m);
    json["limits"].push_back({limit.odd, limit.bad});
  }
  json["outlier_count"] = rated.outliers.size();
  json["outliers"] = Json::array();
  for (const Outlier& o : rated.outliers) {
    if (json["outliers"].size() == kShownOutliers) break;
    json["outliers"].push_back(
        {o.frame, o.metric, brief(o.value), brief(o.median), brief(o.sigmas)});
  }
  json["samples"] = Json::array();
  for (const StatusSample& s : status.samples) {
    json["samples"].push_back({rounded(s.t_s), s.done, s.failed, rounded(s.read),
                               rounded(s.compute), rounded(s.write), rounded(s.queue)});
  }
  return page::escape_script(dump(json, -1));
}

/// "29 done, 1 failed, 270 waiting": what the page says without JavaScript.
std::string plain_counts(const RunStatus& status) {
  return status.tasks.empty() ? "no frames" : counts_text(count_states(status));
}

}  // namespace

std::string status_json(const RunStatus& status, const QualityLimits& limits) {
  Json json = night_json(status);
  json["counts"] = count_all_states(status);
  json["frames"] = Json::array();
  const RatedStatus rated = rate(status, limits);
  for (std::size_t i = 0; i < status.tasks.size(); ++i) {
    Json frame = frame_json(status.tasks[i]);
    const auto& verdicts = rated.verdicts[i];
    frame["quality"] =
        verdicts ? quality_json(*quality_of(status.tasks[i].measures), *verdicts) : Json();
    json["frames"].push_back(std::move(frame));
  }
  json["limits"] = limits_json(limits);
  json["outliers"] = Json::array();
  for (const Outlier& o : rated.outliers) {
    json["outliers"].push_back({{"name", status.tasks[o.frame].name},
                                {"metric", metric_name(o.metric)},
                                {"value", brief(o.value)},
                                {"median", brief(o.median)},
                                {"sigmas", brief(o.sigmas)}});
  }
  json["samples"] = Json::array();
  for (const StatusSample& sample : status.samples) json["samples"].push_back(sample_json(sample));
  return dump(json, 1) + "\n";
}

std::string status_html(const RunStatus& status, const QualityLimits& limits) {
  const std::string title = page::escape_html(status.title);
  const std::string program = page::escape_html(status.program);
  const std::string css = std::string(page::common_css()) + std::string(texts::status_css());
  const std::string js = std::string(page::common_js()) + std::string(texts::status_charts_js()) +
                         std::string(texts::status_quality_js()) + std::string(texts::status_js());
  const std::string data = page_data(status, limits), plain = plain_counts(status);
  return page::fill(texts::status_html(), {{"title", title},
                                           {"program", program},
                                           {"css", css},
                                           {"js", js},
                                           {"plain", plain},
                                           {"data", data}});
}

}  // namespace fiberloom::night
