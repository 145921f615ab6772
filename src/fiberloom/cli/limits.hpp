// SPDX-License-Identifier: BSD-3-Clause
// Limits of numbers on the command line, in words that a person reads ("expected a number above 0,
// got -1").
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::cli {

/// Shortest text of a bound: 0.05, 1e-12, 86400.
inline std::string bound_text(double value) { return print("%.6g", value); }

/// A check that `good` holds for the number, else an error "expected a number `words`"; help shows
/// `help`.
template <class Good>
CLI::Validator number_check(Good good, const std::string& words, const std::string& help) {
  return {[good, words](std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && good(value)) return {};
            return "expected a number " + words + ", got " + text;
          },
          help};
}

inline CLI::Validator positive() {
  return number_check([](double v) { return v > 0; }, "above 0", "");
}

inline CLI::Validator at_least_zero() {
  return number_check([](double v) { return v >= 0; }, "of at least 0", "");
}

inline CLI::Validator between(double low, double high) {
  const std::string range = bound_text(low) + " to " + bound_text(high);
  return number_check([low, high](double v) { return v >= low && v <= high; }, "from " + range,
                      range);
}

}  // namespace fiberloom::cli
