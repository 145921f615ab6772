// SPDX-License-Identifier: BSD-3-Clause
// bench_bookkeeping: what the batch engine itself costs, with tasks that do nothing but write a
// line: planning a large tree, running a smaller one from nothing, and running it again.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/batch/explain.hpp"
#include "loom/batch/run.hpp"
#include "loom/batch/test_text_kind.hpp"
#include "loom/program/run_program.hpp"
#include "loom/runtime/usage.hpp"

namespace {

using namespace loom;         // NOLINT(google-build-using-namespace)
using namespace loom::batch;  // NOLINT(google-build-using-namespace)

constexpr const char* kName = "bench_bookkeeping";
constexpr std::size_t kCameras = 3, kSteps = 4, kExposuresOfTile = 4;

/// A tree in the shape of a night's: chains of four steps a camera, one task an exposure's cameras,
/// one a tile's exposures. The first `count` tasks of it.
std::vector<Task> make_tree(const std::string& folder, std::size_t count) {
  std::vector<Task> tasks;
  const auto path = [&](const std::string& name) { return folder + "/out/" + name + ".txt"; };
  std::vector<std::string> of_tile;
  for (std::size_t e = 0; tasks.size() < count; ++e) {
    std::vector<std::string> of_exposure;
    for (std::size_t c = 0; c < kCameras; ++c) {
      std::string input = folder + "/in.txt";
      for (std::size_t s = 0; s < kSteps; ++s) {
        const std::string name =
            "s" + std::to_string(s) + "-c" + std::to_string(c) + "-" + std::to_string(e);
        tasks.push_back(test::text_task(name, {input}, path(name)));
        input = path(name);
      }
      of_exposure.push_back(input);
    }
    of_tile.insert(of_tile.end(), of_exposure.begin(), of_exposure.end());
    const std::string name = "stars-" + std::to_string(e);
    tasks.push_back(test::text_task(name, of_exposure, path(name)));
    if (e % kExposuresOfTile != kExposuresOfTile - 1) continue;
    Task tile = test::text_task("tile-" + std::to_string(e), {}, path("tile-" + std::to_string(e)));
    tile.any_inputs = std::move(of_tile);
    of_tile.clear();
    tasks.push_back(std::move(tile));
  }
  tasks.resize(count);
  for (Task& task : tasks) task.by_content = true;
  return tasks;
}

class Clock {
 public:
  void lap(const std::string& what) {
    const double wall = std::chrono::duration<double>(Now::now() - start_).count();
    const double cpu = cpu_seconds() - cpu_;
    std::printf("%-44s %7.2f s, %7.2f CPU-s\n", what.c_str(), wall, cpu);
    start_ = Now::now();
    cpu_ = cpu_seconds();
  }

 private:
  using Now = std::chrono::steady_clock;
  Now::time_point start_ = Now::now();
  double cpu_ = cpu_seconds();
};

BatchJob job_of(const std::string& folder, std::size_t count) {
  BatchJob job{.folder = RunFolder(folder + "/out", {"loom", "1"}),
               .kinds = WorkKinds({std::make_shared<test::TextKind>()})};
  job.plan = [=, kinds = job.kinds, run_folder = job.folder] {
    return plan_batch(make_tree(folder, count), kinds, run_folder, Check::kStamps);
  };
  job.title = [](const std::vector<Task>&) { return std::string("bookkeeping"); };
  job.monitor.ledger.labels = {{"word"}, {"number", LedgerShape::LabelColumn::Type::kInteger}};
  job.monitor.ledger.measures = {"letters"};
  return job;
}

struct Setting {
  std::string folder;
  std::size_t plan = 100000, tasks = 10000, threads = 1;
};

int measure(const Setting& setting) {
  namespace fs = std::filesystem;
  if (fs::exists(setting.folder) && !fs::is_empty(setting.folder)) {
    throw Error(Status::kUsage, setting.folder + ": expected an empty folder");
  }
  fs::create_directories(setting.folder);
  const std::string folder = fs::absolute(setting.folder).string();
  write_text_file(folder + "/in.txt", "hello");
  Clock clock;
  static_cast<void>(job_of(folder, setting.plan).plan());
  clock.lap(print("plan %zu tasks", setting.plan));
  BatchJob job = job_of(folder, setting.tasks);
  job.pipeline.threads = setting.threads;
  for (const char* what : {"run", "run again"}) {
    const BatchReport report = run_batch(job, {}, {}, nullptr);
    if (exit_status(report) != Status::kOk) return static_cast<int>(exit_status(report));
    clock.lap(print("%s %zu tasks", what, setting.tasks));
  }
  static_cast<void>(stand_of_tasks(job.folder));
  clock.lap(print("status of %zu tasks", setting.tasks));
  fs::remove_all(folder);
  return 0;
}

Command make_command() {
  const auto setting = std::make_shared<Setting>();
  Command command{.name = kName, .text = "what the batch engine itself costs"};
  command.options.add("folder", &setting->folder, "an empty folder, removed afterwards",
                      {.required = true});
  command.options.add("--plan", &setting->plan, "tasks of the tree that is planned",
                      {.shows_default = true});
  command.options.add("--tasks", &setting->tasks, "tasks that are run", {.shows_default = true});
  command.options.add("--threads", &setting->threads, "that compute", {.shows_default = true});
  command.run = [setting](const Invocation&) { return measure(*setting); };
  return command;
}

}  // namespace

int main(int argc, char** argv) { return loom::run_program(kName, argc, argv, make_command); }
