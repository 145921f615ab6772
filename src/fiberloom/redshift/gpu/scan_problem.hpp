// SPDX-License-Identifier: BSD-3-Clause
// A fast scan as a device takes it: pixels in tiles, redshifts in packs of kLanes, and what all of
// it needs of memory. Launches nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fiberloom/redshift/fast_scan.hpp"
#include "fiberloom/redshift/scan.hpp"

namespace fiberloom::redshift::gpu {

/// One template's share. Offsets count doubles.
struct CurvePlan {
  Curve* curve = nullptr;
  int nb = 0, components = 0;
  bool solved = true;  ///< on the device; else (NMF) its normal equations come back
  std::size_t packs = 0, first_pack = 0;  ///< of all packs of the scan
  std::size_t pack_doubles = 0;           ///< of the template on the pixels
  std::size_t sampled_at = 0;             ///< among all templates on the pixels
  std::size_t result_at = 0;              ///< among all results
  std::size_t result_doubles = 0;         ///< of a pack and a target
  std::size_t tables_at = 0;  ///< among all tables: of evidence, then of FastScan::Scales
  std::size_t constant_at = 0, scale_at = 0, unit_at = 0;  ///< behind that
};

/// Templates that go through the kernels together: as many vectors, as much evidence. Their packs,
/// templates on the pixels and results follow one another, and each one's tables have one order.
struct CurveGroup {
  std::size_t first_plan = 0, plans = 0;
  std::size_t packs = 0;
};

class ScanProblem {
 public:
  /// `set` and `curves` must outlive it.
  ScanProblem(const TargetSet& set, std::span<Curve> curves, Executor& executor);

  [[nodiscard]] const TargetSet& set() const noexcept { return set_; }
  [[nodiscard]] const FastScan& fast() const noexcept { return fast_; }
  [[nodiscard]] const std::vector<CurvePlan>& plans() const noexcept { return plans_; }
  [[nodiscard]] const std::vector<CurveGroup>& groups() const noexcept { return groups_; }
  [[nodiscard]] std::size_t tiles() const noexcept { return tile_first_.size(); }
  /// With those of weight 0 that fill the last group up.
  [[nodiscard]] std::size_t targets() const noexcept;
  [[nodiscard]] std::span<const int> tile_first() const noexcept { return tile_first_; }
  [[nodiscard]] std::span<const int> tile_pixels() const noexcept { return tile_pixels_; }
  [[nodiscard]] std::span<const double> rows() const noexcept { return rows_; }
  [[nodiscard]] std::span<const unsigned char> reached() const noexcept { return reached_; }
  /// Of each pack of the scan: where its template's tables begin.
  [[nodiscard]] std::span<const int> pack_tables() const noexcept { return pack_tables_; }
  /// Of evidence and scales.
  [[nodiscard]] std::span<const double> tables() const noexcept { return tables_; }
  /// Terms of the sky's continuum that each target has, and their numbers, [target][term][2].
  [[nodiscard]] int sky_terms() const noexcept { return static_cast<int>(set_.sky_terms); }
  [[nodiscard]] std::span<const double> sky() const noexcept { return sky_; }
  /// Weights, or weighted fluxes, of all pixels and targets.
  [[nodiscard]] std::size_t weights() const noexcept;
  /// Of all templates on the pixels, at all redshifts.
  [[nodiscard]] std::size_t sampled_doubles() const noexcept { return sampled_; }
  [[nodiscard]] std::size_t result_doubles() const noexcept { return results_; }
  /// The redshifts of a pack of a template.
  [[nodiscard]] static ZPack redshifts(const CurvePlan& plan, std::size_t pack) noexcept;
  /// A number that says what the templates on the pixels are: of templates, redshifts, wavelengths
  /// and hydrogen. Never 0.
  [[nodiscard]] std::uint64_t content(Executor& executor) const;

 private:
  void cut_pixels();
  void lay_sky();
  void plan_group(std::span<Curve*> curves);
  void find_reach(const CurvePlan& plan);
  [[nodiscard]] CurvePlan plan_curve(Curve& curve);

  const TargetSet& set_;
  FastScan fast_;
  std::vector<CurvePlan> plans_;
  std::vector<CurveGroup> groups_;
  std::vector<int> pack_tables_;
  std::vector<int> tile_first_, tile_pixels_;
  std::vector<double> rows_;    ///< [tile][kTileRows][ndiag]
  std::vector<double> tables_;  ///< of evidence and scales, all templates
  std::vector<double> sky_;
  std::vector<unsigned char> reached_;  ///< [pack][1 + sky_terms][tile]
  std::size_t sampled_ = 0, results_ = 0;
};

}  // namespace fiberloom::redshift::gpu
