// SPDX-License-Identifier: BSD-3-Clause
// What earlier steps of the calibration gave, out of Python, and how it is applied.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom::python {

/// What is applied to spectra before a step; none: it has been.
struct Corrections {
  std::optional<FiberFlat> flat;
  std::optional<SkyModel> sky;
  std::optional<FluxCalibration> flux;
  double heliocor = 1;
  char band = 'b';

  void apply(Spectra& to) const;
};
[[nodiscard]] Corrections to_corrections(const pybind11::dict& d);

}  // namespace fiberloom::python
