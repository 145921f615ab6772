// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/flux_unit.hpp"

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

bool has(const std::string& unit, const char* word) { return unit.find(word) != std::string::npos; }

bool is_flux(const std::string& unit) { return has(unit, "erg"); }
bool is_counts(const std::string& unit) { return has(unit, "electron") || has(unit, "count"); }

}  // namespace

void FluxUnits::add(const std::string& path, const std::string& unit) {
  if (!is_flux(unit) && !is_counts(unit)) return;
  if (unit_.empty()) {
    path_ = path;
    unit_ = unit;
  }
  if (is_flux(unit) == is_flux(unit_)) return;
  throw Error(Status::kWrongShape, path + ": FLUX: BUNIT is '" + unit + "', that of " + path_ +
                                       " '" + unit_ + "', expected spectra in the same units");
}

void FluxUnits::tell(const Observer& observer) const {
  if (unit_.empty() || is_flux(unit_)) return;
  observer.warn(path_ + ": FLUX: BUNIT is '" + unit_ +
                "', expected a flux: these are no calibrated spectra");
}

}  // namespace fiberloom
