// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/frame_source.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {

double middle_of_row(const ScanLayout& layout) noexcept {
  return layout.middle.value_or((static_cast<double>(layout.columns) - 1) / 2);
}

std::vector<double> radians(const ScanLayout& layout) {
  std::vector<double> theta;
  for (const double degrees : layout.theta_deg) theta.push_back(degrees * std::numbers::pi / 180);
  return theta;
}

void FrameSource::check_count(const char* option, const char* what, std::size_t found) const {
  const std::size_t wanted = projections();
  if (found == wanted || (grows() && found > wanted)) return;
  throw Error(kScanMismatch, print("%s: %s: found %zu %s, expected %zu, one a projection",
                                   layout_.path.c_str(), option, found, what, wanted));
}

std::vector<double> FrameSource::of_those_there(std::vector<double> all) {
  if (grows()) layout_.expected = std::max(layout_.expected, all.size());
  all.resize(layout_.angles);
  return all;
}

void FrameSource::give_shifts(std::vector<double> columns) {
  check_count("--shifts", "numbers", columns.size());
  layout_.shift = of_those_there(std::move(columns));
}

void FrameSource::give_axis(std::vector<double> columns) {
  if (columns.size() != layout_.rows) {
    throw Error(kScanMismatch, print("%s: --centers: found %zu numbers, expected %zu, one a row",
                                     layout_.path.c_str(), columns.size(), layout_.rows));
  }
  layout_.axis = std::move(columns);
}

void FrameSource::leave_darks() noexcept {
  layout_.dark.clear();
  layout_.darks = 0;
  layout_.dark_value = 0;
  layout_.has_dark_value = true;  // it is known
}

void FrameSource::give_weights(std::vector<double> weights) {
  check_count("--weights", "numbers", weights.size());
  if (std::any_of(weights.begin(), weights.end(), [](double w) { return w < 0; }) ||
      std::all_of(weights.begin(), weights.end(), [](double w) { return w == 0; })) {
    throw Error(kScanMismatch,
                layout_.path + ": --weights: expected numbers of at least 0, some above it");
  }
  const double most = *std::max_element(weights.begin(), weights.end());
  for (double& w : weights) w /= most;
  layout_.weight = of_those_there(std::move(weights));
}

void FrameSource::give_filter(std::vector<double> weights, bool each) {
  const std::size_t sets = each ? projections() : 1;
  if (weights.empty() || weights.size() % sets != 0) {
    throw Error(kScanMismatch,
                print("%s: --filter-weights: found %zu numbers, expected %s", layout_.path.c_str(),
                      weights.size(),
                      each ? print("as many for each of %zu projections", sets).c_str() : "some"));
  }
  layout_.filter = std::move(weights);
  layout_.filter_sets = sets;
}

void FrameSource::give_flat_places(const std::vector<std::size_t>& places) {
  const std::size_t sets = places.size();
  const bool rises = std::is_sorted(places.begin(), places.end(), std::less_equal<>());
  const bool even = layout_.flats > 0 && sets > 0 && layout_.flats % sets == 0;
  if (!even && grows()) return;  // others are to come: those that are there are one set so far
  if (!even || !rises || places.back() > projections()) {
    throw Error(kScanMismatch,
                print("%s: --flats-at: %zu flats of %zu projections: expected as many rising "
                      "places as there are sets of them, all of one size",
                      layout_.path.c_str(), layout_.flats, layout_.angles));
  }
  layout_.flat_sets = sets;
  layout_.flat_set.assign(layout_.angles, 0);
  std::size_t first = 0;
  for (std::size_t m = 0; m < sets; ++m) {
    // half-way to the next set; half a projection rounds to even, as TomoPy's
    const auto half = m + 1 < sets
                          ? std::nearbyint(static_cast<double>(places[m + 1] - places[m]) / 2)
                          : static_cast<double>(layout_.angles);
    const std::size_t end = std::min(
        layout_.angles, m + 1 < sets ? places[m] + static_cast<std::size_t>(half) : layout_.angles);
    for (std::size_t a = first; a < end; ++a) layout_.flat_set[a] = static_cast<std::uint32_t>(m);
    first = std::max(first, end);
  }
}

void FrameSource::give_angles(std::vector<double> theta_deg) {
  check_count("--theta", "angles", theta_deg.size());
  layout_.theta_deg = of_those_there(std::move(theta_deg));
  layout_.source = AngleSource::kGiven;
}

void FrameSource::assume_angles() {
  const std::size_t n = layout_.angles;
  const double step = n > 1 ? 180.0 / static_cast<double>(n - 1) : 0;
  layout_.theta_deg.resize(n);
  for (std::size_t a = 0; a < n; ++a) layout_.theta_deg[a] = step * static_cast<double>(a);
  layout_.source = AngleSource::kAssumed;
}

std::string file_stamp(const std::string& path) {
  const auto when = std::filesystem::last_write_time(path).time_since_epoch().count();
  return "size=" + std::to_string(std::filesystem::file_size(path)) +
         " time=" + std::to_string(when);
}

std::string stamp_of_files(std::span<const std::string> paths) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (const std::string& path : paths) {
    const std::string stamp = std::filesystem::exists(path) ? file_stamp(path) : "none";
    for (const char c : path + " " + stamp + "\n") {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
  }
  return print("%016llx", static_cast<unsigned long long>(hash));
}

std::string sizes_of(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

}  // namespace tomoloom
