// SPDX-License-Identifier: BSD-3-Clause
// Unix time as ERFA wants it.
#pragma once

#include <erfa.h>
#include <erfam.h>

#include <cmath>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// Whole days and the rest, so that no digit is lost.
struct JulianDate {
  double day = 0, part = 0;
};

[[nodiscard]] inline JulianDate utc_date(double unix_time) noexcept {
  constexpr double kUnixJulian = 2440587.5;
  const double days = std::floor(unix_time / ERFA_DAYSEC);
  return {kUnixJulian + days, (unix_time - days * ERFA_DAYSEC) / ERFA_DAYSEC};
}

[[nodiscard]] inline JulianDate terrestrial_date(double unix_time) noexcept {
  const JulianDate utc = utc_date(unix_time);
  double tai1 = 0, tai2 = 0;
  JulianDate tt;
  eraUtctai(utc.day, utc.part, &tai1, &tai2);
  eraTaitt(tai1, tai2, &tt.day, &tt.part);
  return tt;
}

}  // namespace skyloom
