// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/usable.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fiberloom/spectrum/banded.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/same_wave.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {
namespace {

/// Which rows of R are numbers throughout; the others become 0: what they hold would spread to
/// whatever they are summed with, whatever their weight.
std::vector<bool> clear_broken_rows(Banded<float> r) {
  std::vector<bool> good(r.n);
  const std::vector<double> sums = row_sums(r);
  std::transform(sums.begin(), sums.end(), good.begin(),
                 [](double sum) { return std::isfinite(sum); });
  if (std::find(good.begin(), good.end(), false) == good.end()) return good;
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    for (std::size_t j = r.first(k); j < r.last(k); ++j) {
      if (!good[j + k - r.half()]) r(k, j) = 0;
    }
  }
  return good;
}

}  // namespace

std::uint32_t fatal_bits(Purpose purpose, char band) noexcept {
  const std::uint32_t flat =
      kBrokenFiber | kBrightNeighbor | kBadFiberStatus | kBadTrace | kBadArc | kManyRejected;
  if (purpose == Purpose::kFlat) return flat;
  std::uint32_t bits = flat | kMissingPosition | kBadPosition | kBadFlat;
  const bool all = band != 'b' && band != 'r' && band != 'z';
  if (all || band == 'b') bits |= kBadAmpB;
  if (all || band == 'r') bits |= kBadAmpR;
  if (all || band == 'z') bits |= kBadAmpZ;
  return purpose == Purpose::kStars ? bits | kPoorPosition : bits;
}

std::vector<bool> forbidden(const Spectra& spectra, Purpose purpose, char band) {
  std::vector<bool> out(spectra.nspec(), false);
  if (!spectra.fibermap) return out;
  const auto status = spectra.fibermap->integers("FIBERSTATUS", 0);
  if (!status) return out;
  const std::uint32_t bits = fatal_bits(purpose, band);
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s] = (static_cast<std::uint32_t>((*status)[s]) & bits) != 0;
  }
  return out;
}

Array2D<double> usable_ivar(const Spectra& spectra, Purpose purpose, char band) {
  const std::vector<bool> out_of_use = forbidden(spectra, purpose, band);
  Array2D<double> ivar(spectra.nspec(), spectra.nwave(), 0.0);
  for (std::size_t s = 0; s < spectra.nspec(); ++s) {
    if (out_of_use[s]) continue;
    for (std::size_t i = 0; i < spectra.nwave(); ++i) {
      const double v = spectra.ivar(s, i);
      const bool masked = !spectra.mask.empty() && spectra.mask(s, i) != 0;
      if (!masked && v > 0 && std::isfinite(v) && std::isfinite(spectra.flux(s, i))) {
        ivar(s, i) = v;
      }
    }
  }
  return ivar;
}

std::size_t drop_what_is_no_number(Spectra& spectra) {
  std::size_t lost = 0;
  std::vector<bool> seen(spectra.nwave(), true);  // bins whose row of R is of numbers
  for (std::size_t s = 0; s < spectra.nspec(); ++s) {
    if (!spectra.resolution.empty()) seen = clear_broken_rows(banded(spectra.resolution, s));
    for (std::size_t i = 0; i < spectra.nwave(); ++i) {
      double &f = spectra.flux(s, i), &v = spectra.ivar(s, i);
      // as a file holds it: in single precision
      const bool good = std::isfinite(static_cast<float>(f)) &&
                        std::isfinite(static_cast<float>(v)) && v >= 0 && (seen[i] || v == 0);
      if (good) continue;
      f = v = 0;
      if (spectra.mask.empty()) {
        spectra.mask = Array2D<std::uint32_t>(spectra.nspec(), spectra.nwave(), 0U);
      }
      spectra.mask(s, i) |= kNoData;
      ++lost;
    }
  }
  return lost;
}

void require_same_grid(const char* what, const std::vector<double>& wave, std::size_t nspec,
                       const Spectra& spectra) {
  const std::string wanted =
      std::to_string(spectra.nspec()) + " spectra of " + std::to_string(spectra.nwave()) + " bins";
  if (nspec != spectra.nspec() || wave.size() != spectra.nwave()) {
    throw Error(Status::kWrongShape, std::string(what) + ": " + std::to_string(nspec) +
                                         " spectra of " + std::to_string(wave.size()) +
                                         " bins, expected those of the frame, " + wanted);
  }
  const std::size_t i = first_other_bin(wave, spectra.wave);
  if (i == wave.size()) return;
  throw Error(Status::kWrongShape,
              print("%s: bin %zu lies at %.4f Angstrom, expected that of the frame, %.4f", what, i,
                    wave[i], spectra.wave[i]));
}

bool any_above_zero(std::span<const double> weights) noexcept {
  return std::any_of(weights.begin(), weights.end(), [](double v) { return v > 0; });
}

}  // namespace fiberloom::calibrate
