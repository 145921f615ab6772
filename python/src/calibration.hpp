// SPDX-License-Identifier: BSD-3-Clause
// The steps of the calibration as a part of fiberloom._core.
#pragma once

#include <pybind11/pybind11.h>

namespace fiberloom::python {

void bind_calibration(pybind11::module_& m);

}  // namespace fiberloom::python
