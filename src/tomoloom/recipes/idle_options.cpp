// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/idle_options.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "tomoloom/recipes/recon_option_table.hpp"

namespace tomoloom {
namespace {

using Words = std::vector<std::string_view>;

const Words kFiltering{"exact", "gridrec", "fbp"};

/// Options by their keys, or how those begin; `wanted` of option `of`, or `unwanted`.
struct Belongs {
  std::string_view key;
  bool begins;  ///< all keys that begin so
  const char* of;
  Words wanted, unwanted;
  const char* words;
};

// Long: a table, in the order in which an option is held against its rows.
const std::vector<Belongs>& table() {
  static const std::vector<Belongs> kAll{
      {"filter", false, "method", kFiltering, {}, "--method exact, gridrec or fbp"},
      {"filter_cutoff", false, "method", kFiltering, {}, "--method exact, gridrec or fbp"},
      {"filter_cutoff",
       false,
       "filter",
       {"hann", "hamming", "parzen", "butterworth"},
       {},
       "--filter hann, hamming, parzen or butterworth"},
      {"filter_order", false, "filter", {"butterworth"}, {}, "--filter butterworth"},
      {"iterations", false, "method", {}, kFiltering, "a --method that iterates"},
      {"blocks",
       false,
       "method",
       {"osem", "ospml_quad", "ospml_hybrid", "bart"},
       {},
       "--method osem, ospml_quad, ospml_hybrid or bart"},
      {"reg_par",
       false,
       "method",
       {"tv", "tikh", "grad", "pml_quad", "pml_hybrid", "ospml_quad", "ospml_hybrid"},
       {},
       "--method tv, tikh, grad, pml_... or ospml_..."},
      {"reg_edge",
       false,
       "method",
       {"pml_hybrid", "ospml_hybrid"},
       {},
       "--method pml_hybrid or ospml_hybrid"},
      {"phase_", true, "phase", {}, {"none"}, "--phase"},
      {"phase_alpha", false, "phase_delta_beta", {"0"}, {}, "--phase-delta-beta 0"},
      {"phase_unpadded", false, "phase", {"tomopy"}, {}, "--phase tomopy"},
      {"stripe_", true, "stripe", {}, {"none"}, "--stripe"},
      {"stripe_size", false, "stripe", {}, {"ti", "fw", "fitting"}, "a --stripe of columns"},
      {"stripe_large_size", false, "stripe", {"all"}, {}, "--stripe all"},
      {"stripe_snr",
       false,
       "stripe",
       {"interpolation", "large", "dead", "all"},
       {},
       "--stripe interpolation, large, dead or all"},
      {"stripe_drop",
       false,
       "stripe",
       {"interpolation", "large"},
       {},
       "--stripe interpolation or large"},
      {"stripe_sigma", false, "stripe", {"fw", "filtering"}, {}, "--stripe fw or filtering"},
      {"stripe_sigma_x", false, "stripe", {"fitting"}, {}, "--stripe fitting"},
      {"stripe_sigma_y", false, "stripe", {"fitting"}, {}, "--stripe fitting"},
      {"stripe_order", false, "stripe", {"fitting"}, {}, "--stripe fitting"},
      {"stripe_alpha", false, "stripe", {"ti"}, {}, "--stripe ti"},
      {"stripe_blocks", false, "stripe", {"ti"}, {}, "--stripe ti"},
      {"stripe_level", false, "stripe", {"fw"}, {}, "--stripe fw"},
      {"ring_threshold", false, "ring_width", {}, {"0"}, "--ring-width"},
      {"ring_angle", false, "ring_width", {}, {"0"}, "--ring-width"},
      {"dark_zero", false, "input", {"counts"}, {}, "--input counts"},
      {"outlier_size", false, "outlier", {}, {"0"}, "--outlier"},
      {"zarr_level", false, "format", {"zarr"}, {}, "--format zarr"},
  };
  return kAll;
}

bool holds(const Words& words, const std::string& text) {
  return std::ranges::find(words, text) != words.end();
}

}  // namespace

std::vector<IdleOption> find_idle_options(const ReconJob& job) {
  std::map<std::string, std::string> given, usual;
  for (const auto& [key, text] : option_texts(recon_option_rows(), job)) given[key] = text;
  for (const auto& [key, text] : option_texts(recon_option_rows(), ReconJob())) usual[key] = text;
  std::vector<IdleOption> out;
  for (const auto& [key, text] : given) {
    if (text == usual[key]) continue;
    for (const Belongs& one : table()) {
      if (one.begins ? !key.starts_with(one.key) : key != one.key) continue;
      const std::string& state = given[one.of];
      if (one.wanted.empty() ? !holds(one.unwanted, state) : holds(one.wanted, state)) continue;
      out.push_back({.key = key, .of = one.of, .state = state, .wanted = one.words});
      break;
    }
  }
  return out;
}

std::vector<std::string> idle_options(const ReconJob& job) {
  std::vector<std::string> out;
  for (const IdleOption& one : find_idle_options(job)) {
    std::string name = "--" + one.key;
    std::ranges::replace(name, '_', '-');
    out.push_back(name + " changes nothing without " + one.wanted);
  }
  return out;
}

}  // namespace tomoloom
