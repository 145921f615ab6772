// SPDX-License-Identifier: BSD-3-Clause
// Whether two spectra of a target are one and the same, where no column says of which exposures
// they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "fiberloom/spectrum/table.hpp"

namespace fiberloom {

/// Of each row: EXPID, else that of a frame's header, else one of PLATE and MJD; -1: nobody says.
[[nodiscard]] std::vector<std::int64_t> exposure_numbers(
    const Table& table, std::optional<std::int64_t> of_header = {});

/// Whether each row says which fibre (FIBER) of which exposure it is: then light that is there
/// twice is known by that.
[[nodiscard]] bool tells_exposures(const Table& table, std::optional<std::int64_t> of_header = {});

/// A spectrum, the file that it is in, and its exposure_numbers().
struct SeenLight {
  const std::string* path;
  std::int64_t exposure;
  std::span<const double> wave, flux, ivar;
};
/// Row `row` of spectra, which stay where they are, as `path`.
[[nodiscard]] SeenLight light_of(const std::string& path, std::int64_t exposure,
                                 const Spectra& spectra, std::size_t row);

/// Throws kUsage where two spectra of a target are the same numbers on the same wavelengths, with a
/// weight that is not 0, and nobody says that they are of two exposures: no noise comes twice, its
/// light would count twice.
void require_no_copies(std::int64_t target, std::span<const SeenLight> seen);
/// The same of all targets, of which these are the rows; `fibermap`, `paths`: of each row.
void require_no_copies(const Spectra& spectra, const Table& fibermap,
                       std::span<const std::string> paths,
                       std::span<const std::vector<std::size_t>> targets);

}  // namespace fiberloom
