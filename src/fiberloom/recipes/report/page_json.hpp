// SPDX-License-Identifier: BSD-3-Clause
// What data of a page are made of: short numbers, wavelengths, elements that hold packed arrays.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::report {

/// Six digits: numbers of a page need no more.
[[nodiscard]] double brief(double value);

/// {first, step} of a linear grid (to a ten-thousandth of a step), else all wavelengths.
[[nodiscard]] Json wave_json(const std::vector<double>& wave);

/// An element that holds packed numbers.
[[nodiscard]] std::string data_html(const std::string& id, const std::string& packed);

}  // namespace fiberloom::report
