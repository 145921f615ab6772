// SPDX-License-Identifier: BSD-3-Clause
// Checks and benchmark of the device engine, for scripts/gpu-check and CTest. Exit code: 0 all
// passed, 1 a check failed, 2 wrong use, 77 there is no CUDA device (skipped). The JSON is written
// anew after every step, so that a run that is cut short leaves what it found.
//
//   gpu_check --device cuda|emulate [--checks yes|no] [--scale tiny|small|full|camera] [--bench]
//             [--defects] [--awake] [--fibers N] [--bins N] [--frames N] [--in-flight N] [--patches
//             N]
//             [--cpu-frames N] [--repeats N] [--targets N] [--redshifts N] [--threads N]
//             [--json FILE]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "fiberloom/bench/gpu_bench.hpp"
#include "fiberloom/bench/gpu_checks.hpp"
#include "loom/device/emulated_device.hpp"

using namespace fiberloom;

namespace {

constexpr int kSkipped = 77;

std::map<std::string, std::string> parse(int argc, char** argv) {
  std::map<std::string, std::string> options{
      {"--device", "cuda"}, {"--scale", "small"},    {"--bench", ""},       {"--checks", "yes"},
      {"--fibers", "500"},  {"--bins", "2326"},      {"--frames", "30"},    {"--in-flight", "4"},
      {"--targets", "64"},  {"--redshifts", "4088"}, {"--patches", "5000"}, {"--threads", "0"},
      {"--defects", ""},    {"--cpu-frames", "1"},   {"--repeats", "5"},    {"--json", ""},
      {"--awake", ""}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (!options.contains(name)) throw Error(Status::kUsage, "gpu_check: " + name + "?");
    if (name == "--bench" || name == "--defects" || name == "--awake") {
      options[name] = "yes";
    } else if (++i < argc) {
      options[name] = argv[i];
    } else {
      throw Error(Status::kUsage, "gpu_check: " + name + " wants a value");
    }
  }
  return options;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

/// What is known so far, in a file.
class Record {
 public:
  Record(std::string path, const std::string& device)
      : path_(std::move(path)), head_("{\"device_kind\": " + json_text(device)) {}
  void skip(const std::string& why) { head_ += ", \"skipped\": " + json_text(why); }
  void add(const GpuCheck& c) {
    checks_ += (checks_.empty() ? "" : ", ") + ("{\"name\": " + json_text(c.name)) +
               ", \"passed\": " + (c.passed ? "true" : "false") +
               ", \"detail\": " + json_text(c.detail) +
               ", \"seconds\": " + std::to_string(c.seconds) + "}";
    write();
  }
  void set(const GpuBenchResult& result) {
    bench_ = ", \"bench\": " + gpu_bench_json(result);
    write();
  }
  int finish(int code) {
    head_ += ", \"exit\": " + std::to_string(code);
    write();
    return code;
  }

 private:
  void write() const {
    if (path_.empty()) return;
    const std::string whole = path_ + ".tmp";  // whoever is cut while writing leaves the last one
    std::ofstream(whole) << head_ << ", \"checks\": [" << checks_ << "]" << bench_ << "}\n";
    (void)std::rename(whole.c_str(), path_.c_str());
  }
  std::string path_, head_, checks_, bench_;
};

GpuCheckScale scale_of(const std::string& name) {
  if (name == "tiny") return GpuCheckScale::kTiny;
  if (name == "full") return GpuCheckScale::kFull;
  if (name == "camera") return GpuCheckScale::kCamera;
  return GpuCheckScale::kSmall;
}

/// Number of checks that failed.
int run_checks(std::map<std::string, std::string>& o, Record& record) {
  const bool emulate = o["--device"] == "emulate";
  int failed = 0;
  GpuCheckOptions check;
  check.open = [emulate](int i) {
    return emulate ? make_emulated_device()
                   : open_cuda_device(i % std::max(1, cuda_device_count()));
  };
  check.scale = scale_of(o["--scale"]);
  check.threads = std::stoul(o["--threads"]);
  check.done = [&](const GpuCheck& c) {
    std::cout << (c.passed ? "passed  " : "FAILED  ") << c.name << ": " << c.detail << " ("
              << c.seconds << " s)\n"
              << std::flush;
    failed += c.passed ? 0 : 1;
    record.add(c);
  };
  (void)run_gpu_checks(check);
  return failed;
}

/// Number of parts that could not be measured.
int run_bench(std::map<std::string, std::string>& o, Record& record) {
  GpuBenchOptions bench;
  bench.backend = o["--device"] == "emulate" ? Backend::kEmulate : Backend::kCuda;
  bench.fibers = std::stoi(o["--fibers"]);
  bench.bins = std::stoul(o["--bins"]);
  bench.awake = !o["--awake"].empty();
  bench.defects = !o["--defects"].empty();
  bench.frames = std::stoi(o["--frames"]);
  bench.frames_in_flight = std::stoi(o["--in-flight"]);
  bench.baseline_patches = std::stoi(o["--patches"]);
  bench.threads = std::stoul(o["--threads"]);
  bench.cpu_frames = std::stoi(o["--cpu-frames"]);
  bench.repeats = std::stoi(o["--repeats"]);
  bench.scan_targets = std::stoi(o["--targets"]);
  bench.scan_redshifts = std::stoi(o["--redshifts"]);
  bench.done = [&](const GpuBenchResult& r) { record.set(r); };
  const GpuBenchResult result = run_gpu_bench(bench);
  std::cout << gpu_bench_table(result) << std::flush;
  record.set(result);
  return static_cast<int>(result.failures.size());
}

int run(std::map<std::string, std::string> o) {
  Record record(o["--json"], o["--device"]);
  const std::string why = o["--device"] == "emulate" ? "" : why_no_cuda();
  if (!why.empty()) {
    std::cout << "skipped: " << why << '\n';
    record.skip(why);
    return record.finish(kSkipped);
  }
  int failed = 0;
  if (o["--checks"] == "yes") failed += run_checks(o, record);
  if (!o["--bench"].empty()) failed += run_bench(o, record);
  return record.finish(failed == 0 ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return dynamic_cast<const Error*>(&e) != nullptr ? 2 : 70;
  }
}
