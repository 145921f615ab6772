// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/flux_unit.hpp"

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/flux_unit.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
void FluxUnits::add(const std::string& path, const std::string& unit) {
  if (!is_flux_unit(unit) && !is_count_unit(unit)) return;
  if (unit_.empty()) {
    path_ = path;
    unit_ = unit;
  }
  if (is_flux_unit(unit) == is_flux_unit(unit_) && same_scale(unit, unit_)) return;
  throw Error(Status::kWrongShape, path + ": FLUX: BUNIT is '" + unit + "', that of " + path_ +
                                       " '" + unit_ + "', expected spectra in the same units");
}

void FluxUnits::tell(const Observer& observer) const {
  if (unit_.empty() || is_flux_unit(unit_)) return;
  observer.warn(path_ + ": FLUX: BUNIT is '" + unit_ +
                "', expected a flux: these are no calibrated spectra");
}

}  // namespace fiberloom
