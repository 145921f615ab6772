// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/filter.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {

const std::vector<FilterName>& filter_names() {
  static const std::vector<FilterName> names{
      {Filter::kShepp, "shepp"},   {Filter::kNone, "none"},
      {Filter::kRamlak, "ramlak"}, {Filter::kCosine, "cosine"},
      {Filter::kHann, "hann"},     {Filter::kHamming, "hamming"},
      {Filter::kParzen, "parzen"}, {Filter::kButterworth, "butterworth"},
      {Filter::kCustom, "custom"}, {Filter::kCustom2d, "custom2d"}};
  return names;
}

double filter_window(const FilterChoice& choice, double x) {
  using std::numbers::pi;
  switch (choice.filter) {
    case Filter::kNone:
    case Filter::kRamlak:
    case Filter::kCustom:
    case Filter::kCustom2d:
      return 1;
    case Filter::kShepp:
      return x == 0 ? 1 : std::sin(pi * x) / (pi * x);
    case Filter::kCosine:
      return std::cos(pi * x);
    case Filter::kHann:
      return 0.5 * (1 + std::cos(2 * pi * x / choice.cutoff));
    case Filter::kHamming:
      return 0.54 + 0.46 * std::cos(2 * pi * x / choice.cutoff);
    case Filter::kParzen: {
      const double r = 1 - x / choice.cutoff;
      return r * r * r;
    }
    case Filter::kButterworth:
      return 1 / (1 + std::pow(x / choice.cutoff, 2 * choice.order));
  }
  return 1;
}

std::vector<double> bandlimited_ramp(std::size_t n) {
  // n^2 / 8 terms from a table of cosines: 10 ms for 4096 pixels, once a run.
  using std::numbers::pi;
  std::vector<double> turn(n);
  for (std::size_t k = 0; k < n; ++k) {
    turn[k] = std::cos(2 * pi * static_cast<double>(k) / static_cast<double>(n));
  }
  std::vector<double> h(n / 2, 0);
  for (std::size_t k = 1; k < n / 2; k += 2) {
    h[k] = -2 / (pi * pi * static_cast<double>(k) * static_cast<double>(k));
  }
  std::vector<double> ramp(n / 2);
  for (std::size_t j = 0; j < n / 2; ++j) {
    double sum = 0.25;
    for (std::size_t k = 1; k < n / 2; k += 2) sum += h[k] * turn[(j * k) % n];
    ramp[j] = sum;
  }
  return ramp;
}

FilterResponse::FilterResponse(const FilterChoice& choice, std::vector<double> ramp,
                               std::size_t angles)
    : size_(std::move(ramp)) {
  const std::size_t radii = size_.size();
  if (!takes_weights(choice.filter)) {
    for (std::size_t j = 0; j < radii; ++j) {
      if (choice.filter == Filter::kNone) size_[j] = 1;
      const double x = static_cast<double>(j) / static_cast<double>(2 * radii);
      size_[j] *= filter_window(choice, x);
    }
    return;
  }
  const bool each = choice.filter == Filter::kCustom2d;
  const std::size_t wanted = each ? angles * radii : radii;
  if (choice.weights.size() != wanted) {
    const std::string sets = each ? print(", %zu for each of %zu angles", radii, angles) : "";
    throw Error(
        kScanMismatch,
        print("filter weights: found %zu numbers, expected %zu%s: one a frequency of a line "
              "of %zu points, from 0 to below half a cycle a pixel",
              choice.weights.size(), wanted, sets.c_str(), 2 * radii));
  }
  for (const double w : choice.weights) {
    constexpr double kMost = 1e20;  // beyond, single precision would overflow
    if (!(std::abs(w) <= kMost)) {
      throw Error(kScanMismatch,
                  print("filter weights: found %g, expected numbers up to %g", w, kMost));
    }
  }
  size_ = choice.weights;
  stride_ = each ? radii : 0;
}

}  // namespace tomoloom
