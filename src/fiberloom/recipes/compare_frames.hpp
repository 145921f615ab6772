// SPDX-License-Identifier: BSD-3-Clause
// How far two frames of the same exposure are apart. Numbers only; cli/ prints them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

struct CompareOptions {
  std::uint32_t mask_bits = ~0U;  ///< MASK bits that make a bin bad (where both files have a MASK)
  std::size_t list = 0;           ///< how many bins masked on one side only to name
  double far_pull = std::numeric_limits<double>::infinity();  ///< bins beyond it are counted as far
};

/// A bin: fibre number and wavelength, for the reader.
struct BinName {
  std::int64_t fiber = 0;
  double wave_aa = 0;
};

/// Frames a and b, row by row. A bin is masked where ivar is not positive, or by MASK; all
/// differences are over bins good on both sides. pull = (flux_a - flux_b) / sqrt(1/ivar_a +
/// 1/ivar_b).
struct FrameComparison {
  static constexpr std::array<double, 5> kThresholds{1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
  static constexpr std::size_t kPatchBins = 50;  ///< of the peers' patches, by default
  static constexpr std::size_t kSeamBins = 5;    ///< on either side of an edge

  std::size_t nspec = 0, nwave = 0, good = 0;
  std::array<std::size_t, kThresholds.size()> pulls_below{};  ///< |pull| < threshold
  std::size_t far = 0;           ///< bins beyond CompareOptions::far_pull
  std::size_t far_at_seams = 0;  ///< those beside a multiple of kPatchBins bins from the first
  double max_pull = 0;           ///< infinite when a good bin is not finite
  BinName max_pull_at;
  double max_ivar = 0;  ///< relative to the larger of the two
  BinName max_ivar_at;
  /// entries whose row lies inside the grid, row and column good; common diagonals only
  std::optional<double> max_resolution;  ///< infinite when one of them is not finite
  std::size_t masked_a = 0, masked_b = 0, only_a = 0, only_b = 0;
  std::vector<BinName> list_only_a, list_only_b;

  [[nodiscard]] double mask_difference() const noexcept;  ///< fraction of all bins
};

/// Throws kWrongShape when grids differ (those of each fibre, too) or rows cannot be matched (by
/// FIBER, else by position).
[[nodiscard]] FrameComparison compare_frames(const FrameFile& a, const FrameFile& b,
                                             const CompareOptions& options = {});

/// A line for who wonders about far pulls: empty, or that one of the frames was made in patches, or
/// that most of them lie where patches would have met. A guess from the outside, and worded as one.
[[nodiscard]] std::string seam_hint(const FrameFile& a, const FrameFile& b,
                                    const FrameComparison& comparison);

/// Lines on what makes numbers differ before any pixel does: HELIOCOR, BUNIT.
[[nodiscard]] std::vector<std::string> unlike_hints(const FrameFile& a, const FrameFile& b);

/// Fibre number of each row: FIBERMAP column FIBER, else FIBERMIN + row, else row.
[[nodiscard]] std::vector<std::int64_t> fiber_numbers(const std::optional<Table>& fibermap,
                                                      const HeaderCards& header, std::size_t rows);

}  // namespace fiberloom
