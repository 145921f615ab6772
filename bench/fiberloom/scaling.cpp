// SPDX-License-Identifier: BSD-3-Clause
// bench_scaling: a table of what `fiberloom night` would give on 1 to 1,000 nodes, from the stage
// times that `fiberloom bench night --json FILE` measured on one.
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "loom/program/run_program.hpp"
#include "scaling_model.hpp"

namespace {

using namespace fiberloom::bench;
using namespace loom;  // NOLINT(google-build-using-namespace)

constexpr const char* kName = "bench_scaling";

double link_busy(const Forecast& f, const Cluster& c) {
  return f.storage_busy * c.shared_bytes_s / (c.node_bytes_s * c.nodes);
}

/// "kinds" of the file, or the defaults when there is none.
std::vector<FrameKind> read_kinds(const std::string& path) {
  std::vector<FrameKind> kinds;
  if (path.empty()) return {FrameKind{}};
  std::ifstream file(path);
  const nlohmann::json measured = nlohmann::json::parse(file);
  for (const auto& [name, k] : measured.at("kinds").items()) {
    FrameKind kind;
    kind.compute_core_s = k.at("compute_core_s");
    kind.io_core_s = k.at("read_core_s").get<double>() + k.at("write_core_s").get<double>();
    kind.bytes_in = k.at("bytes_in");
    kind.bytes_out = k.at("bytes_out");
    kind.bundles = k.at("bundles");
    kinds.push_back(kind);
  }
  return kinds;
}

/// What holds the job back, in words.
const char* limit(const Forecast& f, const Cluster& c) {
  if (f.desk_busy > 0.7) return "rank 0";
  if (f.storage_busy > 0.8) return "file system";
  if (f.cores_busy > 0.8) return "cores";
  if (link_busy(f, c) > 0.8) return "the node's link";
  if (static_cast<double>(f.frames) < 10.0 * c.nodes) return "too few frames";
  return "start and end";
}

void row(const Cluster& cluster, const std::vector<FrameKind>& kinds, int count, double alone) {
  std::vector<int> frames;
  for (int i = 0; i < count; ++i) frames.push_back(i % static_cast<int>(kinds.size()));
  const Forecast f = forecast(cluster, kinds, frames);
  const double rate = 3600.0 * static_cast<double>(f.frames) / f.wall_s / cluster.nodes;
  std::printf("%6d %8ld %10.1f %14.0f %8.2f %7.0f%% %7.0f%% %7.0f%% %7.1f%%  %s\n", cluster.nodes,
              f.frames, f.wall_s, rate, rate / alone, 100 * f.cores_busy,
              100 * link_busy(f, cluster), 100 * f.storage_busy, 100 * f.desk_busy,
              limit(f, cluster));
}

double rate_alone(Cluster cluster, const std::vector<FrameKind>& kinds) {
  cluster.nodes = 1;
  cluster.start_s = 0;
  std::vector<int> frames;
  for (int i = 0; i < 300; ++i) frames.push_back(i % static_cast<int>(kinds.size()));
  return 3600.0 * 300 / forecast(cluster, kinds, frames).wall_s;
}

struct Setting {
  Cluster cluster;
  std::string measured;
  std::vector<long> nodes{1, 8, 64, 1000};
  int night = 1000, each = 100;
  double shared_gb = 100, node_gb = 5, message_us = 30;
};

int model(const Setting& setting) {
  Cluster cluster = setting.cluster;
  cluster.shared_bytes_s = setting.shared_gb * 1e9;
  cluster.node_bytes_s = setting.node_gb * 1e9;
  cluster.message_s = setting.message_us * 1e-6;
  const auto kinds = read_kinds(setting.measured);
  const double alone = rate_alone(cluster, kinds);

  const char* const head =
      " nodes   frames     wall s  frames/node-h      eff   cores     link  storage  rank 0  held "
      "back by\n";
  std::printf("one night of %d frames\n%s", setting.night, head);
  for (const long n : setting.nodes) {
    cluster.nodes = static_cast<int>(n);
    row(cluster, kinds, setting.night, alone);
  }
  std::printf("reprocessing, %d frames a node\n%s", setting.each, head);
  for (const long n : setting.nodes) {
    cluster.nodes = static_cast<int>(n);
    row(cluster, kinds, static_cast<int>(n) * setting.each, alone);
  }
  return 0;
}

Command make_command() {
  const auto setting = std::make_shared<Setting>();
  Command command{.name = kName,
                  .text = "what many nodes would give: the real dispatcher over modelled nodes"};
  Options& options = command.options;
  const auto add = [&](const char* names, auto* slot, const char* text) {
    options.add(names, slot, text, {.shows_default = true});
  };
  options.add("--measured", &setting->measured,
              "JSON of fiberloom bench night; default: round figures");
  options.add("--nodes", &setting->nodes, "numbers of nodes",
              {.shows_default = true, .delimiter = ','});
  add("--cores", &setting->cluster.cores, "cores of a node");
  add("--shared-gb", &setting->shared_gb, "file system, GB/s for all nodes");
  add("--node-gb", &setting->node_gb, "file system, GB/s for one node");
  add("--in-flight", &setting->cluster.frames_in_flight, "frames in flight on a node");
  add("--message-us", &setting->message_us, "rank 0 on one message, microseconds");
  add("--night", &setting->night, "frames of a night");
  add("--each", &setting->each, "frames a node of a large reprocessing");
  command.run = [setting](const Invocation&) { return model(*setting); };
  return command;
}

}  // namespace

int main(int argc, char** argv) { return loom::run_program(kName, argc, argv, make_command); }
