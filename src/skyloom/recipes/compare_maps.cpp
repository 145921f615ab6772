// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/compare_maps.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/print.hpp"
#include "skyloom/kelvin.hpp"
#include "skyloom/sky/stokes_names.hpp"
#include "skyloom/status.hpp"

namespace skyloom {

ColumnDifference compare_columns(const std::string& name, std::span<const double> first,
                                 std::span<const double> second, Means means) {
  ColumnDifference out{.name = name};
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool a = std::isfinite(first[i]), b = std::isfinite(second[i]);
    out.first_alone += a && !b ? 1 : 0;
    out.second_alone += b && !a ? 1 : 0;
    if (!a || !b) continue;
    ++out.pixels;
    out.mean_first += first[i];
    out.mean_second += second[i];
  }
  if (out.pixels == 0) return out;
  const auto n = static_cast<double>(out.pixels);
  out.mean_first /= n;
  out.mean_second /= n;
  const double shift = means == Means::kTakenOff ? out.mean_first - out.mean_second : 0;
  double squares = 0, own = 0, other = 0, products = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!std::isfinite(first[i]) || !std::isfinite(second[i])) continue;
    const double a = first[i] - out.mean_first, b = second[i] - out.mean_second;
    const double apart = first[i] - second[i] - shift;
    squares += apart * apart;
    own += a * a;
    other += b * b;
    products += a * b;
    if (std::fabs(apart) > out.largest) {
      out.largest = std::fabs(apart);
      out.largest_at = static_cast<Pixel>(i);
    }
  }
  out.rms = std::sqrt(squares / n);
  out.spread_second = std::sqrt(other / n);
  const double of_none = out.rms > 0 ? INFINITY : 0;  // of a second map that is all alike
  out.relative = out.spread_second > 0 ? out.rms / out.spread_second : of_none;
  out.correlation = own > 0 && other > 0 ? products / std::sqrt(own * other) : 0;
  return out;
}

namespace {

bool same_unit(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b || (kelvin_of(a) && kelvin_of(a) == kelvin_of(b));
}

/// As far as names tell.
bool same_stokes(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto one = stokes_columns(a), other = stokes_columns(b);
  return !one || !other || (one->i == other->i && one->q == other->q && one->u == other->u);
}

bool same_frame(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || frame_of(a) == frame_of(b);
}

}  // namespace

void require_alike(const MapShape& a, const MapShape& b, const Observer& observer) {
  const bool same = same_pixels(a.grid, b.grid);
  if (same && a.columns.size() == b.columns.size()) {
    if (!same_stokes(a.columns, b.columns)) {
      observer.warn(a.path + " has columns " + names_in_words(a.columns) + ", " + b.path + " " +
                    names_in_words(b.columns) + ": they are compared by their places");
    }
    if (!same_unit(a.unit, b.unit)) {
      observer.warn(a.path + " is in " + a.unit + ", " + b.path + " in " + b.unit +
                    ": numbers are compared as they are");
    }
    if (!same_frame(a.frame, b.frame)) {
      observer.warn(a.path + ": COORDSYS " + a.frame + ", " + b.path + ": " + b.frame +
                    ": pixels are compared by their numbers");
    }
    return;
  }
  const std::string one = a.grid.text(), other = b.grid.text();
  throw Error(kPixelisation,
              print("%s: %s, %zu columns; %s: %s%s, %zu columns: expected the same", a.path.c_str(),
                    one.c_str(), a.columns.size(), b.path.c_str(), other.c_str(),
                    one == other && !same ? " elsewhere" : "", b.columns.size()));
}

MapDifference compare_maps(const std::string& first, const std::string& second, Means means,
                           const Observer& observer) {
  const MapTable a(first), b(second);
  require_alike({first, a.grid(), a.names(), a.unit(), a.frame()},
                {second, b.grid(), b.names(), b.unit(), b.frame()}, observer);
  MapDifference out{.columns = {}, .width = a.image() == nullptr ? 0 : a.image()->columns};
  for (std::size_t c = 0; c < a.names().size(); ++c) {
    out.columns.push_back(
        compare_columns(a.names()[c], a.column(c), b.column(c), c == 0 ? means : Means::kKept));
  }
  return out;
}

}  // namespace skyloom
