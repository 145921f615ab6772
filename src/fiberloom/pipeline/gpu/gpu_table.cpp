// SPDX-License-Identifier: BSD-3-Clause
// The benchmark's result as text and as JSON (by hand: the bare build has no JSON library).
#include "fiberloom/base/print.hpp"
#include "fiberloom/pipeline/gpu/gpu_bench.hpp"

namespace fiberloom {
namespace {

/// "-" where nothing was measured.
std::string share(double part, double whole) {
  return part > 0 && whole > 0 ? print("%.1f %%", 100 * part / whole) : std::string("-");
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

std::string gpu_bench_table(const GpuBenchResult& r) {
  std::string t = print("%s, %d multiprocessors, %.1f GB\n", r.device.name.c_str(),
                        r.device.multiprocessors, static_cast<double>(r.device.memory_bytes) / 1e9);
  if (!r.device.emulated) {
    t += print("at most %d MHz, memory %d MHz; CUDA %d.%d, the driver's %d.%d\n",
               r.device.clock_khz / 1000, r.device.memory_clock_khz / 1000, r.device.runtime / 1000,
               r.device.runtime % 1000 / 10, r.device.driver / 1000, r.device.driver % 1000 / 10);
  }
  t += print("measured limits: copy %.2f TB/s, in %.1f GB/s, out %.1f GB/s, double %.1f TFLOP/s\n",
             r.rates.copy_bytes_per_s / 1e12, r.rates.in_bytes_per_s / 1e9,
             r.rates.out_bytes_per_s / 1e9, r.rates.double_flops / 1e12);
  t += print("%d fibres x %zu bins, %zu bundles on the CPU\n\n", r.fibers, r.bins, r.cpu_bundles);
  t += print("%-18s %10s %9s %10s %10s %10s %10s\n", "stage", "ms", "launches", "GFLOP", "GB",
             "of double", "of copy");
  for (const GpuBenchStage& s : r.stages) {
    double bandwidth = r.rates.copy_bytes_per_s;
    if (s.name == "copy in") bandwidth = r.rates.in_bytes_per_s;
    if (s.name == "copy out") bandwidth = r.rates.out_bytes_per_s;
    t += print("%-18s %10.3f %9ld %10.2f %10.3f %10s %10s\n", s.name.c_str(), 1e3 * s.seconds,
               s.launches, s.flops / 1e9, s.bytes / 1e9,
               share(s.flops / s.seconds, r.rates.double_flops).c_str(),
               share(s.bytes / s.seconds, bandwidth).c_str());
  }
  t += print(
      "\ncompute of a frame        %10.3f ms\ncopies of a frame         %10.3f ms\n"
      "one frame, end to end     %10.3f ms\n",
      1e3 * r.compute_s, 1e3 * r.copies_s, 1e3 * r.frame_s);
  if (r.frames > 0) {
    const double each = r.overlapped_s / r.frames;
    t += print(
        "%d frames, %d in flight    %10.3f ms a frame; the longer of copies and compute is %s "
        "of it\n",
        r.frames, r.frames_in_flight, 1e3 * each,
        share(std::max(r.compute_s, r.copies_s), each).c_str());
  }
  if (r.cpu_frame_s > 0) {
    t += print("one CPU core              %10.3f ms, %.1f times the compute\n", 1e3 * r.cpu_frame_s,
               r.compute_s > 0 ? r.cpu_frame_s / r.compute_s : 0.0);
  }
  const GpuBaseline& b = r.baseline;
  if (b.patches > 0) {
    t += print(
        "peers' dense algebra      %10.3f ms (%d patches of %d: factor %.1f, inverse %.1f, "
        "eigen %.1f ms), %.1f times the compute\n",
        1e3 * b.seconds(), b.patches, b.unknowns, 1e3 * b.cholesky_s, 1e3 * b.inverse_s,
        1e3 * b.eigen_s, r.compute_s > 0 ? b.seconds() / r.compute_s : 0.0);
  } else if (!b.note.empty()) {
    t += "peers' dense algebra: " + b.note + "\n";
  }
  for (const std::string& f : r.failures) t += "NOT MEASURED: " + f + "\n";
  return t;
}

std::string gpu_bench_json(const GpuBenchResult& r) {
  std::string t =
      "{\"device\": " + quoted(r.device.name) +
      print(", \"emulated\": %s, \"multiprocessors\": %d, \"memory_bytes\": %zu",
            r.device.emulated ? "true" : "false", r.device.multiprocessors, r.device.memory_bytes) +
      print(
          ", \"capability\": \"%d.%d\", \"clock_khz\": %d, \"memory_clock_khz\": %d, "
          "\"cache_bytes\": %zu, \"driver\": %d, \"runtime\": %d",
          r.device.major, r.device.minor, r.device.clock_khz, r.device.memory_clock_khz,
          r.device.cache_bytes, r.device.driver, r.device.runtime);
  t += print(
      ", \"limits\": {\"copy_bytes_per_s\": %.6g, \"in_bytes_per_s\": %.6g, "
      "\"out_bytes_per_s\": %.6g, \"double_flops\": %.6g}",
      r.rates.copy_bytes_per_s, r.rates.in_bytes_per_s, r.rates.out_bytes_per_s,
      r.rates.double_flops);
  t += print(", \"fibers\": %d, \"bins\": %zu, \"cpu_bundles\": %zu, \"stages\": [", r.fibers,
             r.bins, r.cpu_bundles);
  for (std::size_t i = 0; i < r.stages.size(); ++i) {
    const GpuBenchStage& s = r.stages[i];
    t += (i > 0 ? ", " : "") + std::string("{\"name\": ") + quoted(s.name) +
         print(", \"seconds\": %.6g, \"launches\": %ld, \"flops\": %.6g, \"bytes\": %.6g}",
               s.seconds, s.launches, s.flops, s.bytes);
  }
  t += print(
      "], \"compute_s\": %.6g, \"copies_s\": %.6g, \"frame_s\": %.6g, \"frames\": %d, "
      "\"frames_in_flight\": %d, \"overlapped_s\": %.6g, \"cpu_frame_s\": %.6g",
      r.compute_s, r.copies_s, r.frame_s, r.frames, r.frames_in_flight, r.overlapped_s,
      r.cpu_frame_s);
  const GpuBaseline& b = r.baseline;
  t += print(
           ", \"baseline\": {\"patches\": %d, \"unknowns\": %d, \"cholesky_s\": %.6g, "
           "\"inverse_s\": %.6g, \"eigen_s\": %.6g, \"note\": ",
           b.patches, b.unknowns, b.cholesky_s, b.inverse_s, b.eigen_s) +
       quoted(b.note) + "}, \"failures\": [";
  for (std::size_t i = 0; i < r.failures.size(); ++i) {
    t += (i > 0 ? ", " : "") + quoted(r.failures[i]);
  }
  return t + "]}";
}

}  // namespace fiberloom
