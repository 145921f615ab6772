// SPDX-License-Identifier: BSD-3-Clause
// Writes the status page of a made-up run at a moment of choice, for the browser test:
//   write_status OUT.html EXPOSURES DONE [hostile|start|chain]
// DONE is how many frames are finished; "hostile": markup in title and messages; "start": nothing
// has been done in the first seconds; "chain": a night to redshifts, of which that many exposures
// are judged, and one failed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "fiberloom/recipes/chain/chain_status.hpp"
#include "fiberloom/recipes/night/night_status.hpp"

namespace fiberloom::night {
namespace {

constexpr int kSpectrographs = 10;
constexpr long kFirstExposure = 101;

/// What a frame is, by its place: mostly done up to `done`, a few in work, the rest waiting.
TaskState state_at(int index, int done) {
  if (index >= done) {
    const int ahead = index - done;
    return ahead < 2    ? TaskState::kWriting
           : ahead < 4  ? TaskState::kComputing
           : ahead < 7  ? TaskState::kReading
           : ahead == 9 ? TaskState::kClaimed
                        : TaskState::kWaiting;
  }
  if (index % 97 == 41) return TaskState::kFailed;
  if (index % 211 == 77) return TaskState::kMissing;
  if (index % 307 == 99) return TaskState::kAbandoned;
  return index < done / 5 ? TaskState::kUpToDate : TaskState::kDone;
}

/// Numbers as a night has them: cameras differ, the S/N falls toward dawn, a few frames are odd.
FrameQuality quality_at(const std::string& camera, int exposure, int index) {
  const double arm = camera[0] == 'b' ? 0.7 : camera[0] == 'r' ? 1.0 : 1.2;
  const double wave = std::sin(1.7 * index) + std::sin(0.61 * index);
  FrameQuality q;
  q.snr = arm * (5 - 0.08 * std::min(exposure, 50)) * (1 + 0.03 * wave);
  q.chi2 = 1.01 + 0.01 * wave + (index % 131 == 60 ? 0.9 : 0.0) + (index % 397 == 61 ? 4.0 : 0.0);
  q.flagged = 0.004 + 0.0008 * wave + (index % 173 == 90 ? 0.08 : 0.0);
  q.resolution = 2600 * arm * (1 + 0.004 * wave) * (index % 283 == 120 ? 0.8 : 1.0);
  return q;
}

StatusTask frame_at(int exposure, int camera, int done) {
  const int index = exposure * 3 * kSpectrographs + camera;
  StatusTask f;
  const long expid = kFirstExposure + exposure;
  const std::string camera_name =
      std::string(1, "brz"[camera / kSpectrographs]) + std::to_string(camera % kSpectrographs);
  char number[16];
  std::snprintf(number, sizeof number, "%08ld", expid);
  f.name = camera_name + "-" + number;
  f.labels = {{"night", "20261121"}, {"expid", expid}, {"camera", camera_name}};
  f.state = state_at(index, done);
  const bool worked = f.state != TaskState::kWaiting && f.state != TaskState::kUpToDate &&
                      f.state != TaskState::kMissing && f.state != TaskState::kClaimed;
  if (worked) f.seconds = 2.6 + 0.4 * std::sin(0.7 * index) + (index % 83 == 5 ? 4.0 : 0.0);
  if (worked) f.attempts = 1;
  f.rank = index % 4;
  if (is_good(f.state)) {
    f.measures = to_measures(quality_at(camera_name, exposure, index));
    f.page = "20261121/frame-" + f.name + ".html";
  }
  if (f.state == TaskState::kFailed) {
    f.exit_code = 14;
    f.attempts = 2;
    f.message = "/data/preproc/20261121/00000102/preproc-" + f.name +
                ".fits.gz: gzip: truncated or damaged data (31457280 bytes)";
  } else if (f.state == TaskState::kMissing) {
    f.exit_code = 10;
    f.message = "psf-" + camera_name + ".fits: no such file";
  }
  return f;
}

RunStatus made_up(int exposures, int done) {
  RunStatus s;
  const int total = exposures * 3 * kSpectrographs;
  done = std::min(done, total);
  s.title = "night 20261121";
  s.program = "fiberloom 0.1.0";
  s.host = "node-17";
  s.started_unix_s = 1795000000;
  s.updated_unix_s = 1795000000 + done;
  s.finished = done == total;
  s.ranks = 4;
  s.threads = 16;
  s.elapsed_s = 1.7 * done;
  s.left_s = done == 0 ? -1 : 1.7 * (total - done);
  s.tasks_per_node_hour = done == 0 ? 0 : 2117;
  s.bytes_in = 136255680ULL * static_cast<unsigned>(done);
  s.bytes_out = 27000000ULL * static_cast<unsigned>(done);
  s.memory_bytes = 5'900'000'000;
  s.memory_budget_bytes = 8'000'000'000;
  for (int e = 0; e < exposures; ++e) {
    for (int c = 0; c < 3 * kSpectrographs; ++c) s.tasks.push_back(frame_at(e, c, done));
  }
  const int samples = std::min(done, 200);
  for (int k = 0; k < samples; ++k) {
    StatusSample sample;
    sample.t_s = s.elapsed_s * (k + 1) / samples;
    sample.done = static_cast<int>(done * (k + 1 + 0.8 * std::sin(0.3 * k)) / samples);
    sample.failed = sample.done / 97;
    sample.read = 0.35 + 0.2 * std::sin(0.31 * k);
    sample.compute = k % 60 == 50 ? 0.6 : 0.97 + 0.02 * std::sin(k);
    sample.write = 0.12 + 0.08 * std::sin(0.9 * k);
    sample.queue = 2 + std::round(2 * std::sin(0.2 * k));
    s.samples.push_back(sample);
  }
  s.warnings = {"3 exposures have no fibermap: FIBERMIN is taken from CAMERA"};
  return s;
}

/// Quality of exposures, with a picture each, beside what it is made of.
RunStatus made_up_chain(int exposures, int done) {
  RunStatus s;
  s.title = "night 20261121";
  s.program = "fiberloom 0.1.0";
  s.host = "node-17";
  for (int e = 0; e < exposures; ++e) {
    const long expid = kFirstExposure + e;
    char number[16];
    std::snprintf(number, sizeof number, "%08ld", expid);
    for (const char* step : {"calibrate", "qa"}) {
      StatusTask task;
      const bool judged = std::string(step) == "qa";
      task.name = (judged ? "qa-" : "cframe-r0-") + std::string(number);
      task.labels = {{"night", "20261121"}, {"step", step}, {"of", "r0"}, {"expid", expid}};
      task.state = e < done ? TaskState::kDone : TaskState::kWaiting;
      if (e == done) task.state = judged ? TaskState::kBlocked : TaskState::kFailed;
      if (e == done && !judged)
        task.message = "sky-r0.fits: <img src=x onerror=\"window.hacked=1\">";
      if (judged && e < done) {
        task.page = std::string("20261121/") + number + "/exposure-" + number + ".png";
        task.measures = {
            {"fibers", 500}, {"good_fibers", 498}, {"snr_r", 5.25}, {"sky_width_r", 1.01}};
      }
      s.tasks.push_back(std::move(task));
    }
  }
  return s;
}

/// Puts markup where a file name or a message may bring some.
void make_hostile(RunStatus& status) {
  status.title += " <b>\"&{{js}}";
  for (StatusTask& f : status.tasks) {
    if (f.message.empty()) continue;
    f.message +=
        " <img src=x onerror=\"window.hacked=1\"></script><script>window.hacked=1</script>";
  }
}

}  // namespace
}  // namespace fiberloom::night

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string kind = argc > 4 ? argv[4] : "";
  if (kind == "chain") {
    std::ofstream chain(argv[1], std::ios::binary);
    chain << fiberloom::chain::status_html(
        fiberloom::night::made_up_chain(std::atoi(argv[2]), std::atoi(argv[3])));
    return chain.flush() ? 0 : 1;
  }
  auto status = fiberloom::night::made_up(std::atoi(argv[2]), std::atoi(argv[3]));
  if (kind == "hostile") fiberloom::night::make_hostile(status);
  if (kind == "start") status.samples = {{1, 0, 0, 0, 0, 0, 0}, {3, 0, 0, 0, 0, 0, 0}};
  std::ofstream file(argv[1], std::ios::binary);
  file << fiberloom::night::status_html(status, {});
  return file.flush() ? 0 : 1;
}
