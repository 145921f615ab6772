// SPDX-License-Identifier: BSD-3-Clause
// bench_scaling: a table of what `fiberloom night` would give on 1 to 1,000 nodes, from the stage
// times that `fiberloom bench night --json FILE` measured on one.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "scaling_model.hpp"

namespace {

using namespace fiberloom::bench;

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What many nodes would give: the real dispatcher over modelled nodes");
  Cluster cluster;
  std::string measured;
  std::vector<int> nodes{1, 8, 64, 1000};
  int night = 1000, each = 100;
  double shared_gb = 100, node_gb = 5;
  app.add_option("--measured", measured, "JSON of fiberloom bench night; default: round figures")
      ->check(CLI::ExistingFile);
  app.add_option("--nodes", nodes, "numbers of nodes")->delimiter(',')->capture_default_str();
  app.add_option("--cores", cluster.cores, "cores of a node")->capture_default_str();
  app.add_option("--shared-gb", shared_gb, "file system, GB/s for all nodes")
      ->capture_default_str();
  app.add_option("--node-gb", node_gb, "file system, GB/s for one node")->capture_default_str();
  app.add_option("--in-flight", cluster.frames_in_flight, "frames in flight on a node")
      ->capture_default_str();
  app.add_option("--message-us", cluster.message_s, "rank 0 on one message, microseconds")
      ->transform([](const std::string& us) { return std::to_string(std::stod(us) * 1e-6); });
  app.add_option("--night", night, "frames of a night")->capture_default_str();
  app.add_option("--each", each, "frames a node of a large reprocessing")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  cluster.shared_bytes_s = shared_gb * 1e9;
  cluster.node_bytes_s = node_gb * 1e9;
  const auto kinds = read_kinds(measured);
  const double alone = rate_alone(cluster, kinds);

  const char* const head =
      " nodes   frames     wall s  frames/node-h      eff   cores     link  storage  rank 0  held "
      "back by\n";
  std::printf("one night of %d frames\n%s", night, head);
  for (const int n : nodes) {
    cluster.nodes = n;
    row(cluster, kinds, night, alone);
  }
  std::printf("reprocessing, %d frames a node\n%s", each, head);
  for (const int n : nodes) {
    cluster.nodes = n;
    row(cluster, kinds, n * each, alone);
  }
  return 0;
}
