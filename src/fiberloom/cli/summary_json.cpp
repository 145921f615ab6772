// SPDX-License-Identifier: BSD-3-Clause
// The JSON text; names are a contract with scripts.
#include "fiberloom/cli/summary_json.hpp"

#include "fiberloom/cli/device_json.hpp"
#include "fiberloom/cli/stage_json.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/json/json.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::cli {
namespace {

Json pixels(const MaskCounts& counts) {
  return {{"all", counts.pixels},
          {"masked", counts.by_mask},
          {"zero_ivar", counts.zero_ivar},
          {"nan_ivar", counts.nan_ivar},
          {"negative_ivar", counts.negative_ivar},
          {"nan_image", counts.nan_image},
          {"wild_ivar", counts.wild_ivar},
          {"wild_image", counts.wild_image}};
}

Json bundle(const BundleReport& report) {
  return {{"first_fiber", report.first_fiber},
          {"nfiber", report.nfiber},
          {"windows", report.windows},
          {"half_bandwidth", report.half_bandwidth},
          {"poles", report.poles},
          {"cg_iterations", report.cg_iterations},
          {"kappa", report.kappa},
          {"bound_sigma", report.bound_sigma},
          {"solve_sigma", report.solve_sigma},
          {"seam_sigma", report.seam_sigma},
          {"unconstrained", report.unconstrained},
          {"refinements", report.refinements},
          {"rejected", report.rejected},
          {"unfit_fibers", report.unfit_fibers},
          {"fit",
           {{"chi2", report.chi2},
            {"pixels", report.pixels},
            {"parameters", report.parameters},
            {"psferr_seen", report.seen_psferr < 0 ? Json() : Json(report.seen_psferr)},
            {"bright_pixels", report.bright_pixels}}}};
}

Json leak(const LeakStatistics& leak) {
  return {{"median", leak.median}, {"one_in_1000", leak.high}, {"largest", leak.most}};
}

Json realisations(const RealisationReport& r) {
  Json json = {{"draws", r.draws},
               {"bins", r.bins},
               {"mean_pull", r.mean},
               {"mean_pull_error", r.mean_error},
               {"width", r.width},
               {"most_biased_bin", r.most_biased},
               {"correlation_with_next_fiber", r.fibers},
               {"correlation_error", r.correlation_error},
               {"resolution_rms_sigma", r.resolution_rms},
               {"resolution_largest_sigma", r.resolution_most}};
  json["correlation_with_bins"] = Json::array();
  for (const double correlation : r.lags) json["correlation_with_bins"].push_back(correlation);
  json["bundles"] = Json::array();
  for (const auto& b : r.bundles) {
    json["bundles"].push_back({{"first_fiber", b.first_fiber},
                               {"nfiber", b.nfiber},
                               {"mean_pull", b.mean},
                               {"width", b.width}});
  }
  return json;
}

}  // namespace

std::string summary_json(const ExtractSummary& s, const ExtractJob& job, const RunFacts& facts,
                         const Tracer& tracer) {
  Json json;
  json["program"] = "fiberloom extract";
  json["versions"] = {{"fiberloom", version()}, {"compiler", __VERSION__}};
  json["method"] = job.method == Method::kExact ? "exact" : "patch";
  json["threads"] = facts.threads;
  json["executor"] = facts.executor;
  json["isa"] = facts.isa;
  json["device"] = device_json(facts.device);
  json["taken_over_by_cpu"] = {{"bundles", s.by_cpu.bundles}, {"device_failure", s.by_cpu.failure}};
  json["input"] = {{"image", s.image}, {"psf", s.psf}, {"fibermap", job.fibermap}};
  json["output"] = {{"frame", s.output},
                    {"model", job.model},
                    {"residual", job.residual},
                    {"pixmask", job.pixmask}};
  json["options"] = facts.options;
  json["spectra"] = {{"specmin", s.spec_min}, {"nspec", s.nspec},  {"nwave", s.nwave},
                     {"wmin", s.wave[0]},     {"wmax", s.wave[1]}, {"dw", s.wave[2]},
                     {"heliocor", s.heliocor}};
  json["seconds"] = {{"read", stage_json(s.read)},
                     {"compute", stage_json(s.compute)},
                     {"write", stage_json(s.write)},
                     {"all", {{"wall_s", facts.wall_s}, {"cpu_s", cpu_seconds()}}}};
  json["peak_memory_bytes"] = peak_memory_bytes();
  json["memory"] = {{"estimated_bytes", s.memory.estimated_bytes},
                    {"granted_bytes", s.memory.granted_bytes},
                    {"threads", s.memory.threads}};
  json["pixels"] = pixels(s.pixels);
  json["pixels"]["rejected"] = s.rejected;
  json["bins"] = {
      {"all", s.nspec * s.nwave}, {"somebadpix", s.some_bad},       {"without_ccd", s.without_ccd},
      {"allbadpix", s.all_bad},   {"not_computed", s.not_computed}, {"bad2dfit", s.bad_fit},
      {"cosmic", s.cosmic}};
  json["resolution"] = {{"ndiag", s.leak.ndiag},
                        {"bins", s.leak.bins},
                        {"row_leak", leak(s.leak.rows)},
                        {"column_leak", leak(s.leak.columns)}};
  json["realisations"] = s.realisations ? realisations(*s.realisations) : Json();
  json["bundles"] = Json::array();
  for (const BundleReport& report : s.bundles) json["bundles"].push_back(bundle(report));
  json["timers"] = Json::object();
  for (const auto& [name, sum] : tracer.sums()) {
    json["timers"][name] = {{"seconds", sum.seconds}, {"count", sum.count}};
  }
  return json.dump(2) + "\n";
}

}  // namespace fiberloom::cli
