// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/night_report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "fiberloom/cli/device_json.hpp"
#include "fiberloom/cli/stage_json.hpp"
#include "fiberloom/recipes/night/extract_kind.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::cli {
namespace {

using night::TaskState;

std::string duration(double seconds) {
  if (seconds < 100) return print("%.0f s", seconds);
  if (seconds < 6000) return print("%.0f min", seconds / 60);
  return print("%.1f h", seconds / 3600);
}

std::string rates(const night::RunStatus& s) {
  return print("%.3g frames a minute, %.0f a node-hour", s.tasks_per_minute, s.tasks_per_node_hour);
}

double busy(double seconds, double wall, std::size_t threads) {
  return wall > 0 && threads > 0 ? 100 * seconds / wall / static_cast<double>(threads) : 0;
}

Json frame_json(const night::Task& its_task, const night::Outcome& o) {
  const night::FrameTask& task = night::frame_of(its_task);
  Json json = {{"name", task.name},
               {"night", task.night},
               {"expid", task.expid},
               {"camera", task.camera},
               {"state", night::state_name(o.state)},
               {"exit_code", o.exit_code},
               {"message", o.message},
               {"attempts", o.attempts},
               {"rank", o.rank},
               {"image", task.job.image},
               {"psf", task.job.psf},
               {"output", task.job.output}};
  for (const night::Measure& m : o.measures) json["quality"][m.name] = m.value;
  if (!o.page.empty()) json["report"] = o.page;
  if (o.state != TaskState::kDone) return json;
  const TakenOver by_cpu = night::taken_over(o);
  json["taken_over_by_cpu"] = {{"bundles", by_cpu.bundles}, {"device_failure", by_cpu.failure}};
  json["start_s"] = o.start_s;
  json["end_s"] = o.end_s;
  json["seconds"] = {{"read", stage_json(o.read)},
                     {"compute", stage_json(o.compute)},
                     {"write", stage_json(o.write)}};
  json["bytes_in"] = o.bytes_in;
  json["bytes_out"] = o.bytes_out;
  json["crc32"] = o.output_checksum;
  return json;
}

/// What the CPU took over from devices: bundles of so many frames, and frames after a failure.
struct TakenOverSums {
  std::size_t frames = 0, bundles = 0, after_failure = 0;
};

TakenOverSums taken_over(const night::NightReport& report) {
  TakenOverSums sums;
  for (const night::Outcome& o : report.outcomes) {
    if (o.state != TaskState::kDone) continue;
    const TakenOver by_cpu = night::taken_over(o);
    sums.frames += by_cpu.bundles > 0;
    sums.bundles += static_cast<std::size_t>(by_cpu.bundles);
    sums.after_failure += !by_cpu.failure.empty();
  }
  return sums;
}

Json stages_json(const night::NightReport& report) {
  StageTime read, compute, write;
  for (const night::Outcome& o : report.outcomes) {
    if (o.state != TaskState::kDone) continue;
    read += o.read;
    compute += o.compute;
    write += o.write;
  }
  const auto one = [](const StageTime& t, double busy_s, std::size_t threads) -> Json {
    return {{"wall_s", t.wall_s}, {"cpu_s", t.cpu_s}, {"busy_s", busy_s}, {"threads", threads}};
  };
  const night::StageLoad& load = report.load;
  return {{"read", one(read, load.read_s, load.readers)},
          {"compute", one(compute, load.compute_s, load.threads)},
          {"write", one(write, load.write_s, load.writers)}};
}

/// What all ranks have in common, and sums.
struct RankSums {
  double first_s = 0, own_start_s = 0;  ///< of the rank whose first unit came last
  double cores = 0, mpi_s = 0, loop_cpu_s = 0, wait_s = 0;
  int parts = 0;
};

RankSums sums_of(const night::NightRanksReport& report) {
  RankSums sums;
  for (const night::RankReport& r : report.ranks) {
    if (r.first_unit_s > 0) {  // a rank may have got none
      sums.first_s = std::max(sums.first_s, r.first_unit_s);
      sums.own_start_s = std::max(sums.own_start_s, r.first_unit_s - r.open_s);
    }
    sums.cores += r.cores;
    sums.mpi_s += r.mpi_s;
    sums.loop_cpu_s += r.loop_cpu_s;
    sums.wait_s += r.wait_s;
    sums.parts += r.parts;
  }
  return sums;
}

double per_frame(double sum, const night::NightRanksReport& report) {
  return sum / static_cast<double>(std::max<std::size_t>(report.night.counts.done, 1));
}

Json mpi_json(const night::NightRanksReport& report) {
  const RankSums sums = sums_of(report);
  Json json = {{"library", report.library},
               {"nodes", report.nodes},
               {"first_unit_s", sums.first_s},
               {"start_without_mpi_s", sums.own_start_s},
               {"mpi_s_per_frame", per_frame(sums.mpi_s, report)},
               {"loop_cpu_s_per_frame", per_frame(sums.loop_cpu_s, report)},
               {"parts", sums.parts}};
  json["ranks"] = Json::array();
  for (const night::RankReport& r : report.ranks) {
    json["ranks"].push_back({{"rank", r.rank},
                             {"host", r.host},
                             {"threads", r.cores},
                             {"frames", r.tasks},
                             {"parts", r.parts},
                             {"launch_s", r.launch_s},
                             {"open_s", r.open_s},
                             {"first_unit_s", r.first_unit_s},
                             {"wait_s", r.wait_s},
                             {"mpi_s", r.mpi_s},
                             {"loop_cpu_s", r.loop_cpu_s},
                             {"cpu_s", r.cpu_s},
                             {"peak_memory_bytes", r.peak_memory_bytes},
                             {"bytes_sent", r.bytes_sent}});
  }
  return json;
}

}  // namespace

std::string ranks_summary(const night::NightRanksReport& report) {
  const RankSums sums = sums_of(report);
  return print(
      "%zu ranks on %d node%s, %.0f threads, %s; first unit after %.2f s (%.2f s without "
      "MPI's start); MPI %.2f ms a frame; waits for units %.2f s",
      report.ranks.size(), report.nodes, report.nodes == 1 ? "" : "s", sums.cores,
      report.library.c_str(), sums.first_s, sums.own_start_s,
      1e3 * per_frame(sums.loop_cpu_s, report), sums.wait_s);
}

std::string night_line(const night::RunStatus& s) {
  std::size_t settled = 0, failed = 0, working = 0;
  for (const night::StatusTask& f : s.tasks) {
    settled += night::is_settled(f.state);
    failed += night::is_settled(f.state) && !night::is_good(f.state);
    working += night::is_in_work(f.state);
  }
  std::string line = print("%s: %zu/%zu frames", s.title.c_str(), settled, s.tasks.size());
  if (failed > 0) line += print(", %zu failed", failed);
  line += print(", %zu in work", working);
  if (s.tasks_per_node_hour > 0) line += ", " + rates(s);
  if (s.left_s >= 0 && !s.watching) line += ", " + duration(s.left_s) + " left";
  return line;
}

std::vector<std::string> night_summary(const night::NightReport& r) {
  const night::RunCounts& n = r.counts;
  std::vector<std::string> lines{night::counts_text(n, "frames")};
  if (n.done == 0) return lines;
  lines.push_back(print(
      "%.1f s, %s, %.2f CPU-s a frame, peak %.0f MB; busy: read %.0f %%, compute %.0f %%, write "
      "%.0f %%",
      r.wall_s, rates(r.status).c_str(), r.cpu_s / static_cast<double>(n.done),
      static_cast<double>(r.peak_memory_bytes) / 1e6, busy(r.load.read_s, r.wall_s, r.load.readers),
      busy(r.load.compute_s, r.wall_s, r.load.threads),
      busy(r.load.write_s, r.wall_s, r.load.writers)));
  const TakenOverSums by_cpu = taken_over(r);
  if (by_cpu.bundles + by_cpu.after_failure > 0) {
    lines.push_back(print(
        "taken over by the CPU: %zu bundles of %zu frames; frames after the device failed: %zu",
        by_cpu.bundles, by_cpu.frames, by_cpu.after_failure));
  }
  return lines;
}

std::vector<std::string> plan_table(const night::BatchPlan& plan,
                                    const night::PipelineOptions& options) {
  std::vector<std::string> lines;
  std::map<std::string, std::size_t> counts;
  std::set<std::string> cameras;
  std::map<long, std::set<std::string>> exposures;
  double cost = 0;
  std::uint64_t bytes = 0, largest = 0;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const night::FrameTask& task = night::frame_of(plan.tasks[i]);
    const night::Finding& finding = plan.findings[i];
    const bool again = finding.state == TaskState::kFailed && options.retry > 0;
    const bool todo = finding.state == TaskState::kWaiting || again;
    const std::string state = todo ? "to do" : night::state_name(finding.state);
    ++counts[state];
    cameras.insert(task.camera);
    exposures[task.expid].insert(task.camera);
    lines.push_back(print("%-10s %-14s ", state.c_str(), task.name.c_str()) +
                    (todo ? task.job.image + " + " + task.job.psf + " -> " : "") + task.job.output +
                    (finding.message.empty() ? "" : " (" + finding.message + ")"));
    if (!todo) continue;
    cost += task.cost_s;
    bytes += task.image_bytes;
    largest = std::max(largest, task.memory_bytes);
  }
  for (const auto& [expid, there] : exposures) {
    std::string absent;
    for (const std::string& camera : cameras) {
      if (there.count(camera) == 0) absent += " " + camera;
    }
    if (!absent.empty())
      lines.push_back(print("absent     exposure %ld has no image of", expid) + absent);
  }
  std::string sum = print("%zu frames:", plan.tasks.size());
  const char* separator = " ";
  for (const auto& [state, count] : counts) {
    sum += separator + std::to_string(count) + " " + state;
    separator = ", ";
  }
  lines.push_back(sum);
  lines.push_back(print("expected: %.1f GB to read, %.0f core-s, about ",
                        static_cast<double>(bytes) / 1e9, cost) +
                  duration(cost / static_cast<double>(options.threads)) +
                  print(" on %zu threads; %.0f MB a frame in flight, %.1f GB allowed",
                        options.threads, static_cast<double>(largest) / 1e6,
                        static_cast<double>(options.memory_bytes) / 1e9));
  return lines;
}

std::string night_json(const night::NightReport& r, const night::FrameRequest& request,
                       const Tracer& tracer, const night::NightRanksReport* ranks) {
  const night::RunCounts& n = r.counts;
  Json json;
  json["program"] = "fiberloom night";
  json["versions"] = {{"fiberloom", version()}, {"compiler", __VERSION__}};
  json["title"] = r.status.title;
  json["input"] = request.input;
  json["output"] = request.output;
  json["exit_code"] = static_cast<int>(night::exit_status(r));
  json["counts"] = {{"frames", n.tasks},  {"done", n.done},       {"up_to_date", n.up_to_date},
                    {"failed", n.failed}, {"missing", n.missing}, {"elsewhere", n.elsewhere},
                    {"left", n.left}};
  json["ranks"] = r.status.ranks;
  json["threads"] = r.pipeline.threads;
  json["device"] = device_json(r.engine.device());
  const TakenOverSums by_cpu = taken_over(r);
  json["taken_over_by_cpu"] = {{"frames", by_cpu.frames},
                               {"bundles", by_cpu.bundles},
                               {"frames_after_device_failure", by_cpu.after_failure}};
  json["memory_budget_bytes"] = r.pipeline.memory_bytes;
  json["peak_memory_bytes"] = r.peak_memory_bytes;
  json["wall_s"] = r.wall_s;
  json["cpu_s"] = r.cpu_s;
  json["frames_per_node_hour"] = r.status.tasks_per_node_hour;
  json["frames_per_minute"] = r.status.tasks_per_minute;
  json["bytes_in"] = r.status.bytes_in;
  json["bytes_out"] = r.status.bytes_out;
  json["stages"] = stages_json(r);
  if (ranks != nullptr) json["mpi"] = mpi_json(*ranks);
  json["warnings"] = r.status.warnings;
  json["frames"] = Json::array();
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    json["frames"].push_back(frame_json(r.tasks[i], r.outcomes[i]));
  }
  json["timers"] = Json::object();
  for (const auto& [name, sum] : tracer.sums()) {
    json["timers"][name] = {{"seconds", sum.seconds}, {"count", sum.count}};
  }
  return json.dump(2) + "\n";
}

}  // namespace fiberloom::cli
