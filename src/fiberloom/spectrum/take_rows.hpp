// SPDX-License-Identifier: BSD-3-Clause
// Some spectra out of many, and what belongs to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

/// These rows in this order. Precondition of all here: they are there.
template <class T>
[[nodiscard]] Array2D<T> take_rows(const Array2D<T>& all, std::span<const std::size_t> rows) {
  if (all.empty()) return {};
  Array2D<T> out(rows.size(), all.cols());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::copy_n(all.row(rows[r]), all.cols(), out.row(r));
  }
  return out;
}

template <class T>
[[nodiscard]] Array3D<T> take_rows(const Array3D<T>& all, std::span<const std::size_t> rows) {
  if (all.empty()) return {};
  Array3D<T> out(rows.size(), all.rows(), all.cols());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::copy_n(&all(rows[r], 0, 0), all.rows() * all.cols(), &out(r, 0, 0));
  }
  return out;
}

[[nodiscard]] inline std::optional<Table> take_rows(const std::optional<Table>& all,
                                                    std::span<const std::size_t> rows) {
  return all ? std::optional<Table>(all->take(rows)) : std::nullopt;
}

[[nodiscard]] inline Spectra take_rows(const Spectra& all, std::span<const std::size_t> rows) {
  return {.wave = all.wave,
          .flux = take_rows(all.flux, rows),
          .ivar = take_rows(all.ivar, rows),
          .mask = take_rows(all.mask, rows),
          .resolution = take_rows(all.resolution, rows),
          .fibermap = take_rows(all.fibermap, rows),
          .scores = take_rows(all.scores, rows)};
}

[[nodiscard]] inline FiberFlat take_rows(const FiberFlat& all, std::span<const std::size_t> rows) {
  return {.wave = all.wave,
          .flat = take_rows(all.flat, rows),
          .ivar = take_rows(all.ivar, rows),
          .mask = take_rows(all.mask, rows),
          .mean = all.mean,
          .fibermap = take_rows(all.fibermap, rows)};
}

/// Of the sky's own fibres all are kept: they are no rows.
[[nodiscard]] inline SkyModel take_rows(const SkyModel& all, std::span<const std::size_t> rows) {
  SkyModel out{.wave = all.wave,
               .flux = take_rows(all.flux, rows),
               .ivar = take_rows(all.ivar, rows),
               .mask = take_rows(all.mask, rows),
               .stat_ivar = take_rows(all.stat_ivar, rows),
               .throughput = {},
               .sky_targets = all.sky_targets};
  for (const std::size_t r : rows) {
    if (!all.throughput.empty()) out.throughput.push_back(all.throughput[r]);
  }
  return out;
}

}  // namespace fiberloom
