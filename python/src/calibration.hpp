// SPDX-License-Identifier: BSD-3-Clause
// The steps of the calibration, coadds and depth as a part of fiberloom._core; what all take.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom::python {

/// A table of the library's, or a dict of columns: whole numbers, numbers, texts.
[[nodiscard]] std::optional<Table> to_fibermap(const pybind11::object& given);
/// wave, flux, ivar, mask, resolution and fibermap of a dict.
[[nodiscard]] Spectra to_spectra(const pybind11::dict& d);

void bind_calibration(pybind11::module_& m);
void bind_coadd(pybind11::module_& m);
void bind_depth(pybind11::module_& m);

}  // namespace fiberloom::python
