// SPDX-License-Identifier: BSD-3-Clause
// The benchmark's result as text and as JSON (by hand: the bare build has no JSON library).
#include "fiberloom/bench/gpu_bench.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

/// "-" where nothing was measured.
std::string share(double part, double whole) {
  return part > 0 && whole > 0 ? print("%.1f %%", 100 * part / whole) : std::string("-");
}
std::string number(double value) {
  return value > 0 ? print("%.*f", value < 100 ? 3 : 1, value) : std::string("-");
}
std::string milliseconds(double seconds) { return number(1e3 * seconds); }
double ratio(double part, double whole) { return part > 0 && whole > 0 ? part / whole : 0; }

/// "yes", "no", or "-" where there is nothing to hold against each other.
enum class Met { kYes, kNo, kUnknown };
Met met(const GpuGoal& g, const GpuBenchResult& r) {
  if (!r.comparable() || g.asked == 0 || !(g.measured > 0)) return Met::kUnknown;
  return (g.at_most ? g.measured <= g.asked : g.measured >= g.asked) ? Met::kYes : Met::kNo;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string goals_table(const GpuBenchResult& r) {
  std::string t =
      print("\n%-42s %10s %9s %10s %5s\n", "", "asked for", "moonshot", "measured", "met");
  for (const GpuGoal& g : gpu_bench_goals(r)) {
    const Met m = met(g, r);
    const std::string asked =
        g.asked > 0 ? print("%s %g", g.at_most ? "<=" : ">=", g.asked) : std::string("reported");
    t += print("%-42s %10s %9s %10s %5s\n", g.what, asked.c_str(),
               g.moonshot > 0 ? print("%g", g.moonshot).c_str() : "", number(g.measured).c_str(),
               m == Met::kYes ? "yes" : (m == Met::kNo ? "NO" : "-"));
  }
  if (!r.comparable())
    t += "(asked of 500 fibres x 2326 bins on a card: nothing is met or missed here)\n";
  return t;
}

std::string goals_json(const GpuBenchResult& r) {
  std::string t = "{";
  for (const GpuGoal& g : gpu_bench_goals(r)) {
    const Met m = met(g, r);
    t += print("%s\"%s\": {", t.size() > 1 ? ", " : "", g.key);
    if (g.asked > 0) t += print("\"%s\": %g, ", g.at_most ? "at_most" : "at_least", g.asked);
    if (g.moonshot > 0) t += print("\"moonshot\": %g, ", g.moonshot);
    t += "\"measured\": " + (g.measured > 0 ? print("%.6g", g.measured) : std::string("null")) +
         ", \"met\": " + (m == Met::kYes ? "true" : (m == Met::kNo ? "false" : "null")) + "}";
  }
  return t + "}";
}

std::string stages_table(const std::vector<GpuBenchStage>& stages, const DeviceRates& rates) {
  std::string t = print("%-18s %10s %9s %10s %10s %10s %10s\n", "stage", "ms", "launches", "GFLOP",
                        "GB", "of double", "of copy");
  for (const GpuBenchStage& s : stages) {
    double bandwidth = rates.copy_bytes_per_s;
    if (s.name == "copy in" || s.name == "templates") bandwidth = rates.in_bytes_per_s;
    if (s.name == "copy out") bandwidth = rates.out_bytes_per_s;
    t += print("%-18s %10s %9ld %10.2f %10.3f %10s %10s\n", s.name.c_str(),
               milliseconds(s.seconds).c_str(), s.launches, s.flops / 1e9, s.bytes / 1e9,
               share(ratio(s.flops, s.seconds), rates.double_flops).c_str(),
               share(ratio(s.bytes, s.seconds), bandwidth).c_str());
  }
  return t;
}

std::string stages_json(const std::vector<GpuBenchStage>& stages) {
  std::string t = "[";
  for (const GpuBenchStage& s : stages) {
    t += (t.size() > 1 ? ", " : "") + std::string("{\"name\": ") + quoted(s.name) +
         print(", \"seconds\": %.6g, \"launches\": %ld, \"flops\": %.6g, \"bytes\": %.6g",
               s.seconds, s.launches, s.flops, s.bytes) +
         (s.end > 0 ? print(", \"begin_s\": %.6g, \"end_s\": %.6g}", s.begin, s.end) : "}");
  }
  return t + "]";
}

std::string scan_table(const ScanBenchResult& r, const DeviceRates& rates) {
  if (r.scan_s == 0) return "";
  const auto line = [](const char* what, const std::string& value, const std::string& rest) {
    return print("%-26s %12s ms%s\n", what, value.c_str(), rest.c_str());
  };
  return print("\nscan for redshifts: %d targets x %zu redshifts of %d templates, %zu pixels\n\n",
               r.targets, r.redshifts, r.templates, r.pixels) +
         stages_table(r.stages, rates) + "\n" +
         line("compute of the scan", milliseconds(r.compute_s),
              print(", %.3g a target", 1e3 * r.compute_s / r.targets)) +
         line("copies of that scan", milliseconds(r.copies_s), "") +
         line("one scan, end to end", milliseconds(r.scan_s),
              print(", best; the first, with the templates, %.1f", 1e3 * r.first_s)) +
         line("one CPU core", milliseconds(r.cpu_s),
              print("; chi2 differs by %.2g of that of no model", r.difference));
}

std::string scan_json(const ScanBenchResult& r) {
  return print(
             "{\"targets\": %d, \"templates\": %d, \"redshifts\": %zu, \"pixels\": %zu, "
             "\"compute_s\": %.6g, \"copies_s\": %.6g, \"first_s\": %.6g, \"scan_s\": %.6g, "
             "\"cpu_s\": %.6g, \"difference\": %.6g, \"memory_bytes\": %zu, \"stages\": ",
             r.targets, r.templates, r.redshifts, r.pixels, r.compute_s, r.copies_s, r.first_s,
             r.scan_s, r.cpu_s, r.difference, r.memory_bytes) +
         stages_json(r.stages) + "}";
}

}  // namespace

std::vector<GpuGoal> gpu_bench_goals(const GpuBenchResult& r) {
  return {{"compute_ms", "compute of a frame, ms", 20, 8, true, 1e3 * r.compute_s},
          {"overlapped_frame_ms", "a frame from host memory, overlapped, ms", 40, 0, true,
           1e3 * r.overlapped_frame_s()},
          {"overlap_percent", "the longer of copies and compute, of it, %", 80, 0, false,
           100 * r.overlap()},
          {"baseline_ratio", "peers' dense algebra over the compute", 20, 0, false,
           ratio(r.baseline.seconds(), r.compute_s)},
          {"cpu_core_ratio", "one CPU core over the compute", 0, 0, false,
           ratio(r.cpu_frame_s, r.compute_s)},
          {"scan_cpu_core_ratio", "one CPU core's scan over the card's, end to end", 0, 0, false,
           ratio(r.scan.cpu_s, r.scan.scan_s)}};
}

std::string gpu_bench_table(const GpuBenchResult& r) {
  std::string t =
      print("%s, %.1f GB", r.device.name.c_str(), static_cast<double>(r.device.memory_bytes) / 1e9);
  if (!r.device.emulated) {
    t +=
        print(", %d multiprocessors\nat most %d MHz, memory %d MHz; CUDA %d.%d, the driver's %d.%d",
              r.device.multiprocessors, r.device.clock_khz / 1000, r.device.memory_clock_khz / 1000,
              r.device.runtime / 1000, r.device.runtime % 1000 / 10, r.device.driver / 1000,
              r.device.driver % 1000 / 10);
  }
  t += '\n';
  if (r.rates.copy_bytes_per_s > 0) {
    t +=
        print("measured limits: copy %.2f TB/s, in %.1f GB/s, out %.1f GB/s, double %.1f TFLOP/s\n",
              r.rates.copy_bytes_per_s / 1e12, r.rates.in_bytes_per_s / 1e9,
              r.rates.out_bytes_per_s / 1e9, r.rates.double_flops / 1e12);
  }
  t += print("%d fibres x %zu bins, %zu bundles on the CPU\n\n", r.fibers, r.bins, r.cpu_bundles);
  t += stages_table(r.stages, r.rates);
  const auto line = [&t](const char* what, const std::string& value, const std::string& rest) {
    t += print("%-26s %12s ms%s\n", what, value.c_str(), rest.c_str());
  };
  t += '\n';
  line("compute of a frame", milliseconds(r.compute_s),
       r.repeats > 0 ? print(", best of %d as its stages above; median ", r.repeats) +
                           milliseconds(r.median_compute_s)
                     : "");
  if (r.spots_again_s > 0) {
    line("with spots made again", milliseconds(r.spots_again_s),
         ", for the diagnostics, instead of kept");
  }
  line("copies of that frame", milliseconds(r.copies_s), "");
  line("one frame, end to end", milliseconds(r.frame_s),
       r.repeats > 0 ? ", best; median " + milliseconds(r.median_frame_s) +
                           "; from host memory to host memory"
                     : "");
  std::string host;
  for (const auto& [name, seconds] : r.host)
    host +=
        (host.empty() ? "" : ", ") + name.substr(name.find('/') + 1) + " " + milliseconds(seconds);
  if (!host.empty()) t += "its host's part, means: " + host + "\n";
  if (r.frames > 0) {
    line("a frame, overlapped", milliseconds(r.overlapped_frame_s()),
         print(", of %d, %d in flight; ", r.frames, r.frames_in_flight) +
             milliseconds(r.overlapped_cpu_s / r.frames) + " of the host's processors");
  }
  if (r.cpu_frame_s > 0) line("one CPU core", milliseconds(r.cpu_frame_s), "");
  const GpuBaseline& b = r.baseline;
  if (b.patches > 0) {
    line("peers' dense algebra", milliseconds(b.seconds()),
         print(" (%d patches of %d: factor %.1f, inverse %.1f, eigen %.1f)", b.patches, b.unknowns,
               1e3 * b.cholesky_s, 1e3 * b.inverse_s, 1e3 * b.eigen_s));
  } else if (!b.note.empty()) {
    t += "peers' dense algebra: " + b.note + "\n";
  }
  t += scan_table(r.scan, r.rates);
  t += goals_table(r);
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
          "\"cache_bytes\": %zu, \"shared_bytes\": %zu, \"driver\": %d, \"runtime\": %d",
          r.device.major, r.device.minor, r.device.clock_khz, r.device.memory_clock_khz,
          r.device.cache_bytes, r.device.shared_bytes, r.device.driver, r.device.runtime);
  t += print(
      ", \"limits\": {\"copy_bytes_per_s\": %.6g, \"in_bytes_per_s\": %.6g, "
      "\"out_bytes_per_s\": %.6g, \"double_flops\": %.6g}",
      r.rates.copy_bytes_per_s, r.rates.in_bytes_per_s, r.rates.out_bytes_per_s,
      r.rates.double_flops);
  t += print(", \"fibers\": %d, \"bins\": %zu, \"cpu_bundles\": %zu, \"stages\": ", r.fibers,
             r.bins, r.cpu_bundles);
  t += stages_json(r.stages) + ", \"host\": {";
  for (const auto& [name, seconds] : r.host)
    t += (t.ends_with('{') ? "" : ", ") + quoted(name) + print(": %.6g", seconds);
  t += "}";
  t += print(
      ", \"best_of\": %d, \"compute_s\": %.6g, \"median_compute_s\": %.6g, \"copies_s\": %.6g, "
      "\"spots_again_s\": %.6g, \"frame_s\": %.6g, \"median_frame_s\": %.6g, \"frames\": %d, "
      "\"frames_in_flight\": %d, "
      "\"overlapped_s\": %.6g, \"overlapped_cpu_s\": %.6g, \"overlap\": %.6g, \"cpu_frame_s\": "
      "%.6g",
      r.repeats, r.compute_s, r.median_compute_s, r.copies_s, r.spots_again_s, r.frame_s,
      r.median_frame_s, r.frames, r.frames_in_flight, r.overlapped_s, r.overlapped_cpu_s,
      r.overlap(), r.cpu_frame_s);
  t += ", \"asked_for\": " + goals_json(r);
  const GpuBaseline& b = r.baseline;
  t += print(
           ", \"baseline\": {\"patches\": %d, \"unknowns\": %d, \"cholesky_s\": %.6g, "
           "\"inverse_s\": %.6g, \"eigen_s\": %.6g, \"note\": ",
           b.patches, b.unknowns, b.cholesky_s, b.inverse_s, b.eigen_s) +
       quoted(b.note) + "}, \"scan\": " + scan_json(r.scan) + ", \"failures\": [";
  for (std::size_t i = 0; i < r.failures.size(); ++i) {
    t += (i > 0 ? ", " : "") + quoted(r.failures[i]);
  }
  return t + "]}";
}

}  // namespace fiberloom
