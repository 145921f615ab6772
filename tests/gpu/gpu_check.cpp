// SPDX-License-Identifier: BSD-3-Clause
// Checks and benchmark of the device engine, for scripts/gpu-check and CTest. Exit code: 0 all
// passed, 1 a check failed, 2 wrong use, 77 there is no CUDA device (skipped).
//
//   gpu_check --device cuda|emulate [--scale tiny|small|full] [--bench] [--fibers N] [--bins N]
//             [--frames N] [--in-flight N] [--patches N] [--threads N] [--json FILE]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "fiberloom/device/emulated_device.hpp"
#include "fiberloom/pipeline/gpu/gpu_bench.hpp"
#include "fiberloom/pipeline/gpu/gpu_checks.hpp"

using namespace fiberloom;

namespace {

constexpr int kSkipped = 77;

std::map<std::string, std::string> parse(int argc, char** argv) {
  std::map<std::string, std::string> options{
      {"--device", "cuda"},  {"--scale", "small"}, {"--bench", ""},       {"--checks", "yes"},
      {"--fibers", "500"},   {"--bins", "2326"},   {"--frames", "30"},    {"--in-flight", "4"},
      {"--patches", "5000"}, {"--threads", "0"},   {"--cpu-frames", "1"}, {"--json", ""}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (!options.contains(name)) throw Error(Status::kUsage, "gpu_check: " + name + "?");
    if (name == "--bench") {
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

int run(std::map<std::string, std::string> o) {
  const bool emulate = o["--device"] == "emulate";
  std::string json = "{\"device_kind\": " + json_text(o["--device"]);
  const auto finish = [&](int code) {
    json += ", \"exit\": " + std::to_string(code) + "}\n";
    if (!o["--json"].empty()) std::ofstream(o["--json"]) << json;
    return code;
  };
  const std::string why = emulate ? "" : why_no_cuda();
  if (!why.empty()) {
    std::cout << "skipped: " << why << '\n';
    json += ", \"skipped\": " + json_text(why);
    return finish(kSkipped);
  }
  int failed = 0;
  json += ", \"checks\": [";
  if (o["--checks"] == "yes") {
    GpuCheckOptions check;
    check.open = [emulate] { return emulate ? make_emulated_device() : open_cuda_device(0); };
    check.scale = o["--scale"] == "tiny"   ? GpuCheckScale::kTiny
                  : o["--scale"] == "full" ? GpuCheckScale::kFull
                                           : GpuCheckScale::kSmall;
    check.threads = std::stoul(o["--threads"]);
    check.done = [](const GpuCheck& c) {
      std::cout << (c.passed ? "passed  " : "FAILED  ") << c.name << ": " << c.detail << " ("
                << c.seconds << " s)\n"
                << std::flush;
    };
    std::string comma;
    for (const GpuCheck& c : run_gpu_checks(check)) {
      failed += c.passed ? 0 : 1;
      json += comma + "{\"name\": " + json_text(c.name) +
              ", \"passed\": " + (c.passed ? "true" : "false") +
              ", \"detail\": " + json_text(c.detail) +
              ", \"seconds\": " + std::to_string(c.seconds) + "}";
      comma = ", ";
    }
  }
  json += "]";
  if (!o["--bench"].empty()) {
    GpuBenchOptions bench;
    bench.backend = emulate ? Backend::kEmulate : Backend::kCuda;
    bench.fibers = std::stoi(o["--fibers"]);
    bench.bins = std::stoul(o["--bins"]);
    bench.frames = std::stoi(o["--frames"]);
    bench.frames_in_flight = std::stoi(o["--in-flight"]);
    bench.baseline_patches = std::stoi(o["--patches"]);
    bench.threads = std::stoul(o["--threads"]);
    bench.cpu_frames = std::stoi(o["--cpu-frames"]);
    const GpuBenchResult result = run_gpu_bench(bench);
    std::cout << gpu_bench_table(result) << std::flush;
    json += ", \"bench\": " + gpu_bench_json(result);
  }
  return finish(failed == 0 ? 0 : 1);
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
