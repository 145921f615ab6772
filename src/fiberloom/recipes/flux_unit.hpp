// SPDX-License-Identifier: BSD-3-Clause
// Whether spectra are what a detector counted or light of the sky: the one does not go with the
// other.
#pragma once

#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// All spectra of a job, file by file.
class FluxUnits {
 public:
  /// Throws kWrongShape where BUNIT `unit` of a file's FLUX says electrons and that of a file
  /// before says flux, or the other way round, or the same in other powers of ten.
  void add(const std::string& path, const std::string& unit);
  /// Warns where they are electrons: what is made of them is of no calibrated spectra.
  void tell(const Observer& observer) const;

 private:
  std::string path_, unit_;  ///< of the first that says one of the two
};

}  // namespace fiberloom
