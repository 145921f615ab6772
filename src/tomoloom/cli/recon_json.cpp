// SPDX-License-Identifier: BSD-3-Clause
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/cli/recon_command.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/version.hpp"

namespace tomoloom::cli {
namespace {

Json seconds(const StageTime& time) { return {{"wall_s", time.wall_s}, {"cpu_s", time.cpu_s}}; }

}  // namespace

std::string recon_json(const ReconSummary& summary, const ReconJob& job, const ReconFacts& facts) {
  const ScanLayout& layout = summary.layout;
  Json json;
  json["program"] = "tomoloom recon";
  json["version"] = version();
  json["isa"] = isa_name(active_isa());
  json["threads"] = facts.threads;
  json["ranks"] = facts.ranks;
  json["options"] = Json::object();
  for (const auto& [key, text] : option_texts(recon_option_rows(), job)) {
    json["options"][key] = text;
  }
  json["scan"] = {{"angles", layout.angles}, {"rows", layout.rows},   {"columns", layout.columns},
                  {"flats", layout.flats},   {"darks", layout.darks}, {"type", layout.type}};
  json["volume"] = {{"first_row", summary.row()},
                    {"slices", summary.slices},
                    {"width", summary.width},
                    {"center", summary.axis()},
                    {"grid", summary.grid},
                    {"blind_pixels", summary.flaws.blind},
                    {"saturated_pixels", summary.flaws.saturated},
                    {"unlit_rows", summary.flaws.unlit},
                    {"no_numbers", summary.flaws.no_number},
                    {"resumed_slices", summary.resumed}};
  json["seconds"] = {{"wall", facts.wall_s},
                     {"read", seconds(summary.read)},
                     {"compute", seconds(summary.compute)},
                     {"write", seconds(summary.write)}};
  if (job.phase.method != Phase::kNone) json["seconds"]["phase"] = seconds(summary.phase);
  json["memory"] = {{"estimate_bytes", summary.memory},
                    {"peak_bytes", peak_memory_bytes()},
                    {"overlap", summary.overlap},
                    {"spooled", summary.spooled}};
  return json.dump(2) + "\n";
}

std::string recon_line(const ReconSummary& summary, const ReconJob& job, const ReconFacts& facts) {
  return print("wrote %s: %zu slices of %zu x %zu in %.1f s (axis at column %.3f)",
               job.output.c_str(), summary.slices, summary.width, summary.width, facts.wall_s,
               summary.axis());
}

}  // namespace tomoloom::cli
