// SPDX-License-Identifier: BSD-3-Clause
// The spectral lines by name, for whoever draws spectra outside the program.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "fiberloom/redshift/line_list.hpp"

namespace fiberloom {

/// Vacuum wavelength at rest, name, "emission", "absorption" or "both" of each.
[[nodiscard]] inline std::vector<std::tuple<double, std::string, std::string>> named_lines() {
  std::vector<std::tuple<double, std::string, std::string>> lines;
  for (const redshift::NamedLine& line : redshift::kNamedLines) {
    const char* const kind = line.kind == redshift::LineKind::kEmission ? "emission"
                             : line.kind == redshift::LineKind::kBoth   ? "both"
                                                                        : "absorption";
    lines.emplace_back(line.wave_aa, line.name, kind);
  }
  return lines;
}

}  // namespace fiberloom
