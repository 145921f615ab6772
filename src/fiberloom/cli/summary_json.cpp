// SPDX-License-Identifier: BSD-3-Clause
// The JSON text; names are a contract with scripts.
#include "fiberloom/cli/summary_json.hpp"

#include <cmath>

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

/// A parameter's polynomial, and its values where one looks first.
Json trace_fit(const TraceReport& traces, const TraceFit& fit) {
  Json json = {{"degree", fit.degree},      {"windows", fit.windows}, {"left_out", fit.dropped},
               {"chi2_a_window", fit.chi2}, {"terms", Json::array()}, {"table", Json::array()}};
  const std::vector<TraceTerm> terms = trace_terms(traces.degree);
  for (std::size_t t = 0; t < fit.coef.size(); ++t) {
    json["terms"].push_back({{"fiber", terms[t].i},
                             {"wave", terms[t].k},
                             {"pixels", fit.coef[t]},
                             {"error", std::sqrt(fit.covariance(t, t))}});
  }
  const TraceDomain& d = traces.domain;
  for (const double u : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    for (const double v : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
      json["table"].push_back(
          {{"column", 0.5 * (d.x_first * (1 - u) + d.x_last * (1 + u))},
           {"wave_aa", 0.5 * (d.wave_first_aa * (1 - v) + d.wave_last_aa * (1 + v))},
           {"pixels", fit.value(traces.degree, u, v)},
           {"error", fit.error(traces.degree, u, v)}});
    }
  }
  return json;
}

Json wings(const WingReport& wings) {
  if (wings.reach == 0) return {};
  return {{"reach", wings.reach},
          {"rounds", wings.rounds},
          {"last_change_sigma", wings.last_sigma},
          {"share_of_light", wings.share},
          {"most_electrons", wings.most_e}};
}

Json trace_shifts(const TraceReport& traces) {
  if (traces.degree < 0) return {};
  const TraceDomain& d = traces.domain;
  Json json = {{"degree", traces.degree},
               {"settled", traces.settled},
               {"columns", {d.x_first, d.x_last}},
               {"wave_aa", {d.wave_first_aa, d.wave_last_aa}},
               {"rounds", Json::array()}};
  for (const TraceRound& round : traces.rounds) {
    json["rounds"].push_back({{"chi2", round.chi2},
                              {"pixels", round.pixels},
                              {"parameters", round.parameters},
                              {"largest_step_pixels", round.largest_step}});
  }
  for (std::size_t p = 0; p < kTraceParameters; ++p) {
    const TraceFit& fit = traces.parameters[p];
    json[kTraceParameterNames[p]] = fit.measured() ? trace_fit(traces, fit) : Json();
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
                    {"pixmask", job.pixmask},
                    {"shifted_psf", job.shifted_psf}};
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
  json["trace_shifts"] = trace_shifts(s.traces);
  json["wings"] = wings(s.wings);
  json["bundles"] = Json::array();
  for (const BundleReport& report : s.bundles) json["bundles"].push_back(bundle(report));
  json["timers"] = Json::object();
  for (const auto& [name, sum] : tracer.sums()) {
    json["timers"][name] = {{"seconds", sum.seconds}, {"count", sum.count}};
  }
  return json.dump(2) + "\n";
}

}  // namespace fiberloom::cli
