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
      {"stripe_", true, "stripe", {}, {"none"}, "--stripe"},
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

std::vector<std::string> idle_options(const ReconJob& job) {
  std::map<std::string, std::string> given, usual;
  for (const auto& [key, text] : option_texts(recon_option_rows(), job)) given[key] = text;
  for (const auto& [key, text] : option_texts(recon_option_rows(), ReconJob())) usual[key] = text;
  std::vector<std::string> out;
  for (const auto& [key, text] : given) {
    if (text == usual[key]) continue;
    for (const Belongs& one : table()) {
      if (one.begins ? !key.starts_with(one.key) : key != one.key) continue;
      const std::string& state = given[one.of];
      if (one.wanted.empty() ? !holds(one.unwanted, state) : holds(one.wanted, state)) continue;
      std::string name = "--" + key;
      std::ranges::replace(name, '_', '-');
      out.push_back(name + " changes nothing without " + one.words);
      break;
    }
  }
  return out;
}

}  // namespace tomoloom
