// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/flat_average.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <string>

#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/spectrum/same_wave.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/linalg/bounded.hpp"

namespace fiberloom::calibrate {
namespace {

void require_alike(const FiberFlat& a, const FiberFlat& b, bool same_fibers) {
  const bool same_shape =
      a.wave.size() == b.wave.size() && (!same_fibers || a.flat.rows() == b.flat.rows());
  if (same_shape) {
    const std::size_t i = first_other_bin(a.wave, b.wave);
    if (i == a.wave.size()) return;
    throw Error(Status::kWrongShape,
                print("fibre flats to be averaged: bin %zu lies at %.4f Angstrom, expected that of "
                      "the first, %.4f",
                      i, b.wave[i], a.wave[i]));
  }
  throw Error(Status::kWrongShape,
              "fibre flats to be averaged: " + std::to_string(b.flat.rows()) + " fibres, " +
                  std::to_string(b.wave.size()) + " bins, expected those of the first, " +
                  std::to_string(a.flat.rows()) + " and " + std::to_string(a.wave.size()));
}

bool is_good(const FiberFlat& f, std::size_t s, std::size_t i) {
  return f.ivar(s, i) > 0 && f.mask(s, i) == 0;
}

/// One pixel of all flats into the first.
void average_pixel(std::span<const FiberFlat> flats, std::size_t s, std::size_t i, FiberFlat& out) {
  double sum = 0, weight = 0, ivar = 0;
  std::uint32_t joined = 0;
  bool free = false;
  std::vector<double> values;
  for (const FiberFlat& f : flats) {
    ivar += f.ivar(s, i);
    joined |= f.mask(s, i);
    if (f.mask(s, i) != 0) continue;
    free = true;
    values.push_back(f.flat(s, i));
    sum += f.ivar(s, i) * f.flat(s, i);
    weight += f.ivar(s, i);
  }
  out.mask(s, i) = free ? 0 : joined;
  if (flats.size() > 2) {
    out.flat(s, i) = values.empty() ? flats.front().flat(s, i) : median_of(values);
    out.ivar(s, i) = ivar * 2 / std::numbers::pi;  // what a median loses against a mean
  } else {
    out.flat(s, i) = weight > 0 ? sum / weight : 0;
    out.ivar(s, i) = weight;
  }
}

double mean_of_lamp(std::span<const FiberFlat> flats, std::size_t i) {
  double sum = 0, weight = 0;
  for (const FiberFlat& f : flats) {
    double w = 0;
    for (std::size_t s = 0; s < f.flat.rows(); ++s) {
      if (f.mask(s, i) == 0) w += flats.size() > 2 ? (f.ivar(s, i) > 0 ? 1 : 0) : f.ivar(s, i);
    }
    sum += w * f.mean[i];
    weight += w;
  }
  return weight > 0 ? sum / weight : 0;
}

/// Places of fibres that may say how the focal plane is lit, and where they are in the flats.
struct LitFiber {
  const LampFlat* flat;
  std::size_t row;
  std::array<double, 4> basis;  ///< 1, x, y, x^2 + y^2, in units of the focal plane's radius
};

std::vector<LitFiber> lit_fibers(const LampFlat& one) {
  const FiberFlat& f = one.flat;
  const auto column = [&](const char* name) {
    const auto values = f.fibermap ? f.fibermap->column(name) : std::nullopt;
    if (values) return *values;
    throw Error(Status::kMissingKeyword, std::string("fibre flats to be combined: no column ") +
                                             name + " of a FIBERMAP, expected places of fibres");
  };
  const std::vector<double> x = column("FIBERASSIGN_X"), y = column("FIBERASSIGN_Y");
  const auto status = f.fibermap->integers("FIBERSTATUS", 0);
  constexpr double kRadius = 407.5;  // mm
  std::vector<LitFiber> out;
  for (std::size_t s = 0; s < f.flat.rows(); ++s) {
    std::size_t good = 0;
    for (std::size_t i = 0; i < f.flat.cols(); ++i) good += is_good(f, s, i) ? 1 : 0;
    if (good <= f.flat.cols() / 2 || (status && (*status)[s] != 0)) continue;
    const double u = x[s] / kRadius, v = y[s] / kRadius;
    if (std::isfinite(u) && std::isfinite(v)) out.push_back({&one, s, {1, u, v, u * u + v * v}});
  }
  return out;
}

/// What a fibre's flat counts for in the centre's value: of the polynomial through all fibres. One
/// weight a fibre, as the places are the same at all wavelengths.
std::vector<double> centre_weights(const std::vector<LitFiber>& fibers) {
  constexpr std::size_t kTerms = 4;
  Array2D<double> gram(kTerms, kTerms, 0.0);
  for (const LitFiber& f : fibers) {
    for (std::size_t r = 0; r < kTerms; ++r) {
      for (std::size_t c = 0; c < kTerms; ++c) gram(r, c) += f.basis[r] * f.basis[c];
    }
  }
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::vector<double> first{1, 0, 0, 0}, low(kTerms, -kNone), high(kTerms, kNone);
  const std::vector<double> v =
      bounded_least_squares({gram.data(), kTerms, kTerms, kTerms}, first, low, high).c;
  std::vector<double> out;
  double sum = 0, noise = 0;
  for (const LitFiber& f : fibers) {
    double weight = 0;
    for (std::size_t r = 0; r < kTerms; ++r) weight += v[r] * f.basis[r];
    out.push_back(weight);
    sum += weight;
    noise += weight * weight;
  }
  // A centre that is told worse than by one fibre would weigh the lamps by its noise.
  constexpr double kOne = 1, kRounding = 1e-6;
  if (fibers.size() < kTerms || !(noise <= kOne) || !(std::abs(sum - 1) < kRounding)) {
    out.assign(fibers.size(), 1 / static_cast<double>(fibers.size()));
  }
  return out;
}

std::vector<double> centre_of(const std::vector<LitFiber>& fibers, std::size_t n) {
  const std::vector<double> weights = centre_weights(fibers);
  std::vector<double> out(n, 0.0);
  for (std::size_t k = 0; k < fibers.size(); ++k) {
    const LitFiber& f = fibers[k];
    for (std::size_t i = 0; i < n; ++i) out[i] += weights[k] * f.flat->flat.flat(f.row, i);
  }
  return out;
}

/// A bin of all fibres, and their errors with it.
void scale_bin(FiberFlat& f, std::size_t i, double factor, ScaledErrors errors) {
  for (std::size_t s = 0; s < f.flat.rows(); ++s) {
    f.flat(s, i) *= factor;
    if (factor == 0) {
      f.ivar(s, i) = 0;
    } else if (errors == ScaledErrors::kFollow) {
      f.ivar(s, i) /= factor * factor;
    }
  }
}

/// Flats of one lamp against the mean of its spectra, in the centre of the focal plane 1.
void unite_lamp(std::vector<LampFlat*>& flats, ScaledErrors errors) {
  const std::size_t n = flats.front()->flat.wave.size();
  std::vector<double> mean(n, 0.0);
  for (const LampFlat* f : flats) {
    for (std::size_t i = 0; i < n; ++i) {
      mean[i] += f->flat.mean[i] / static_cast<double>(flats.size());
    }
  }
  std::vector<LitFiber> lit;
  for (LampFlat* f : flats) {
    for (std::size_t i = 0; i < n; ++i) {
      const double scale = mean[i] != 0 ? f->flat.mean[i] / mean[i] : f->flat.mean[i];
      scale_bin(f->flat, i, scale, errors);
    }
    const std::vector<LitFiber> more = lit_fibers(*f);
    lit.insert(lit.end(), more.begin(), more.end());
  }
  if (lit.empty()) {
    throw Error(Status::kNumerical,
                "fibre flats to be combined: no fibre of a lamp is good, expected four at least");
  }
  const std::vector<double> centre = centre_of(lit, n);
  for (LampFlat* f : flats) {
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = centre[i] != 0 ? 1 / centre[i] : 1;
      f->flat.mean[i] *= factor;
      scale_bin(f->flat, i, factor, ScaledErrors::kFollow);
    }
  }
}

/// Lamps of one spectrograph: the mean, with errors as they add up.
FiberFlat mean_of_lamps(const std::vector<const FiberFlat*>& lamps) {
  FiberFlat out = *lamps.front();
  const double count = static_cast<double>(lamps.size());
  for (std::size_t i = 0; i < out.wave.size(); ++i) {
    double mean = 0;
    for (const FiberFlat* f : lamps) mean += f->mean[i] / count;
    out.mean[i] = mean;
    for (std::size_t s = 0; s < out.flat.rows(); ++s) {
      double value = 0, variance = 0;
      std::uint32_t mask = 0;
      bool known = true;
      for (const FiberFlat* f : lamps) {
        value += f->flat(s, i) / count;
        known = known && f->ivar(s, i) > 0;
        if (known) variance += 1 / (f->ivar(s, i) * count * count);
        mask |= f->mask(s, i);
      }
      out.flat(s, i) = value;
      out.ivar(s, i) = known ? 1 / variance : 0;
      out.mask(s, i) = known ? mask : mask | kBadFiberFlat;
    }
  }
  return out;
}

/// FIBERSTATUS of fibres of which more than a quarter is masked.
void mark_bad(FiberFlat& flat) {
  if (!flat.fibermap) return;
  const auto status = flat.fibermap->integers("FIBERSTATUS", 0);
  if (!status) return;
  std::vector<std::int32_t> bits(status->begin(), status->end());
  for (std::size_t s = 0; s < flat.flat.rows(); ++s) {
    const std::uint32_t* row = flat.mask.row(s);
    const auto masked = std::count_if(row, row + flat.flat.cols(), [](auto m) { return m != 0; });
    constexpr std::ptrdiff_t kShare = 4;
    if (kShare * masked <= static_cast<std::ptrdiff_t>(flat.flat.cols())) continue;
    bits[s] |= static_cast<std::int32_t>(kBadFlat);
  }
  Table fresh;
  fresh.add("FIBERSTATUS", std::span<const std::int32_t>(bits));
  for (Column& c : flat.fibermap->columns) {
    if (c.name != "FIBERSTATUS") continue;
    if (c.cell != Cell::kInt32) flat.fibermap->described = 0, flat.fibermap->descriptions.clear();
    c = fresh.columns.front();
  }
}

/// Straight lines over spikes, likely cosmic rays, and over pixels of an error above 5 %.
void bridge_spikes(FiberFlat& flat) {
  constexpr double kUnknown = 1e6, kSpike = 0.1, kSigma = 3, kMostVariance = 0.05 * 0.05;
  const std::size_t n = flat.wave.size();
  for (std::size_t s = 0; s < flat.flat.rows(); ++s) {
    std::vector<double> variance(n), x, y;
    std::vector<std::size_t> bad;
    for (std::size_t i = 0; i < n; ++i) {
      variance[i] = flat.ivar(s, i) > 0 ? 1 / flat.ivar(s, i) : kUnknown;
    }
    for (std::size_t i = 0; i < n; ++i) {
      double above = 0, error = 0;
      if (i > 0 && i + 1 < n) {
        above = flat.flat(s, i) - 0.5 * (flat.flat(s, i - 1) + flat.flat(s, i + 1));
        error = variance[i] + 0.25 * (variance[i - 1] + variance[i + 1]);
      }
      if (above > kSpike + kSigma * std::sqrt(error) || variance[i] > kMostVariance) {
        bad.push_back(i);
      } else {
        x.push_back(flat.wave[i]), y.push_back(flat.flat(s, i));
      }
    }
    if (x.empty()) continue;
    for (const std::size_t i : bad) {
      const bool inside = flat.wave[i] >= x.front() && flat.wave[i] <= x.back();
      flat.flat(s, i) = inside ? interpolate(x, y, flat.wave[i]) : 1;
    }
  }
}

}  // namespace

FiberFlat average_flats(std::span<const FiberFlat> flats) {
  if (flats.empty()) {
    throw Error(Status::kWrongShape, "fibre flats to be averaged: none, expected one at least");
  }
  for (const FiberFlat& f : flats) require_alike(flats.front(), f, true);
  FiberFlat out = flats.front();
  if (flats.size() == 1) return out;
  for (std::size_t i = 0; i < out.wave.size(); ++i) {
    out.mean[i] = mean_of_lamp(flats, i);
    for (std::size_t s = 0; s < out.flat.rows(); ++s) average_pixel(flats, s, i, out);
  }
  return out;
}

bool has_places(const FiberFlat& flat) {
  return flat.fibermap && flat.fibermap->column("FIBERASSIGN_X") &&
         flat.fibermap->column("FIBERASSIGN_Y");
}

std::vector<LampFlat> combine_lamps(std::vector<LampFlat> flats, ScaledErrors errors) {
  std::map<std::int64_t, std::vector<LampFlat*>> by_lamp;
  std::map<int, std::vector<const FiberFlat*>> by_spectrograph;
  for (LampFlat& f : flats) {
    require_alike(flats.front().flat, f.flat, false);
    by_lamp[f.lamp].push_back(&f);
    by_spectrograph[f.spectrograph].push_back(&f.flat);
  }
  for (const auto& [number, lamps] : by_spectrograph) {
    if (lamps.size() == by_lamp.size()) continue;
    throw Error(Status::kWrongShape, "fibre flats to be combined: " + std::to_string(lamps.size()) +
                                         " lamps of spectrograph " + std::to_string(number) +
                                         ", expected each of " + std::to_string(by_lamp.size()) +
                                         " once");
  }
  for (auto& [lamp, all] : by_lamp) unite_lamp(all, errors);
  std::vector<LampFlat> out;
  for (const auto& [number, lamps] : by_spectrograph) {
    out.push_back({by_lamp.begin()->first, number, mean_of_lamps(lamps)});
  }
  const std::size_t n = out.empty() ? 0 : out.front().flat.wave.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> middle;
    for (const LampFlat& f : out) {
      std::vector<double> column(f.flat.flat.rows());
      for (std::size_t s = 0; s < column.size(); ++s) column[s] = f.flat.flat(s, i);
      middle.push_back(median_of(column));
    }
    const double all = median_of(middle);
    if (all == 0) continue;
    for (LampFlat& f : out) scale_bin(f.flat, i, 1 / all, errors);
  }
  for (LampFlat& f : out) mark_bad(f.flat), bridge_spikes(f.flat);
  return out;
}

}  // namespace fiberloom::calibrate
