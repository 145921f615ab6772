// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/usable.hpp"

#include <cmath>

namespace fiberloom::calibrate {

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

}  // namespace fiberloom::calibrate
