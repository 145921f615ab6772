// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/cli/map_summary.hpp"

#include "loom/base/print.hpp"
#include "loom/simd/isa.hpp"
#include "skyloom/recipes/map_option_table.hpp"
#include "skyloom/recipes/version.hpp"

namespace skyloom::cli {
namespace {

Json seconds(const StageTime& time) { return {{"wall_s", time.wall_s}, {"cpu_s", time.cpu_s}}; }

}  // namespace

std::string summary_line(const MapSummary& s) {
  std::string text = print(
      "%zu samples of %zu detectors in %zu runs, %zu pixels hit, %zu of them cut (%zu samples)",
      s.samples, s.detectors, s.runs, s.hit_pixels, s.cut_pixels, s.cut_samples);
  if (!s.residuals.empty()) {
    text += s.gls ? print("; maximum likelihood, %zu samples left out", s.gaps)
                  : print("; %zu offsets", s.baselines);
    text += print(" in %zu iterations, residual %.2g", s.residuals.size(), s.residuals.back());
  }
  if (s.glitches > 0) text += print("; %zu samples flagged as glitches", s.glitches);
  return text;
}

void tell_of_no_numbers(const MapSummary& s, const Observer& observer) {
  if (s.not_finite == 0) return;
  observer.warn(
      print("%zu of %zu samples are no numbers, or beyond 1e30 K, and no flag says so: left out",
            s.not_finite, s.samples));
}

Json summary_json(const MapSummary& s, const MapJob& job, const RunFacts& facts) {
  Json json;
  json["program"] = facts.program;
  json["version"] = version();
  json["isa"] = isa_name(active_isa());
  json["threads"] = facts.threads;
  json["ranks"] = {{"size", facts.ranks.size},
                   {"library", facts.ranks.library},
                   {"open_s", facts.ranks.open_s},
                   {"solve_sent_bytes", s.solve_sent_bytes}};
  json["options"] = Json::object();
  for (const auto& [key, text] : option_texts(map_option_rows(), job)) json["options"][key] = text;
  json["data"] = {{"observations", s.observations},
                  {"detectors", s.detectors},
                  {"samples", s.samples},
                  {"good", s.good},
                  {"flagged", s.flagged},
                  {"not_finite", s.not_finite},
                  {"unfitted_stretches", s.unfitted},
                  {"glitch_samples", s.glitches},
                  {"runs", s.runs}};
  json["maps"] = {{"hit_pixels", s.hit_pixels},         {"cut_pixels", s.cut_pixels},
                  {"cut_samples", s.cut_samples},       {"baselines", s.baselines},
                  {"left_baselines", s.left_baselines}, {"gaps", s.gaps},
                  {"converged", s.converged},           {"recalled_iterations", s.recalled}};
  json["parts"] = Json::array();
  for (std::size_t i = 0; i < s.parts.size(); ++i) {
    const PartSummary& part = s.parts[i];
    Json one = {
        {"good", part.good}, {"hit_pixels", part.hit_pixels}, {"cut_pixels", part.cut_pixels}};
    if (i < s.gls_parts.size()) {
      one["iterations"] = s.gls_parts[i].iterations;
      one["converged"] = s.gls_parts[i].converged;
      one["gaps"] = s.gls_parts[i].gaps;
    }
    json["parts"].push_back(one);
  }
  json["residuals"] = Json::array();
  for (const double residual : s.residuals) json["residuals"].push_back(residual);
  json["seconds"] = {{"wall", facts.wall_s},
                     {"compress", seconds(s.compress)},
                     {"set_up", seconds(s.set_up)},
                     {"solve", seconds(s.solve)},
                     {"write", seconds(s.write)}};
  json["memory"] = {{"planned_bytes", s.planned_bytes},
                    {"sums_bytes", s.sums_bytes},
                    {"system_bytes", s.system_bytes},
                    {"peak_bytes", peak_memory_bytes()}};
  return json;
}

}  // namespace skyloom::cli
