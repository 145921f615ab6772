// SPDX-License-Identifier: BSD-3-Clause
// Which fibres were on the sky alone: the rule for calibrations, depth, coadds, redshifts, pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fiberloom/spectrum/table.hpp"

namespace fiberloom {

/// Is this OBJTYPE of a FIBERMAP that of a fibre on the sky?
[[nodiscard]] constexpr bool is_sky_type(std::string_view objtype) noexcept {
  return objtype == "SKY";
}

/// By row of a FIBERMAP; nullopt where no column OBJTYPE tells.
[[nodiscard]] inline std::optional<std::vector<bool>> sky_fibers(const Table& fibermap) {
  const auto types = fibermap.text_column("OBJTYPE");
  if (!types) return std::nullopt;
  std::vector<bool> out;
  for (const std::string& type : *types) out.push_back(is_sky_type(type));
  return out;
}
[[nodiscard]] inline std::optional<std::vector<bool>> sky_fibers(
    const std::optional<Table>& fibermap) {
  return fibermap ? sky_fibers(*fibermap) : std::nullopt;
}

}  // namespace fiberloom
