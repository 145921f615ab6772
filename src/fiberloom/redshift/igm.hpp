// SPDX-License-Identifier: BSD-3-Clause
// What hydrogen between a source at z and us lets through, mean over lines of sight: exp(-tau).
//
// All models have the form tau = sum over lines j with lambda_j > lambda / (1 + z) of a function of
// the observed wavelength alone, plus (Inoue14) the Lyman continuum. So the sums over lines are
// tabulated once for a wavelength grid, and so is the transmission but for the continuum: between
// two edges of lines a redshift costs one look-up (IgmWalk).
#pragma once

#include <span>
#include <vector>

#include "fiberloom/redshift/template.hpp"

namespace fiberloom::redshift {

/// No absorption at longer rest-frame wavelengths, Angstrom.
inline constexpr double kLymanAlpha = 1215.67;

/// The pixel that holds the edge of the strongest line.
enum class IgmEdge {
  kAtMiddle,  ///< absorbed where its middle is, as the peer: chi2(z) jumps when an edge passes it
  kShared,    ///< absorbed in the share of it that lies bluewards: chi2(z) is continuous
};

class IgmTable {
 public:
  /// `wave`: observed, Angstrom.
  IgmTable(Igm model, std::span<const double> wave, IgmEdge edge = IgmEdge::kAtMiddle);
  /// Transmission of pixel i for a source at z.
  [[nodiscard]] double transmission(std::size_t i, double z) const noexcept;
  /// Pixels below this index may be absorbed at z; all others are let through.
  [[nodiscard]] std::size_t absorbed(double z) const noexcept;

 private:
  friend class IgmWalk;
  [[nodiscard]] double continuum(std::size_t i, double z) const noexcept;
  [[nodiscard]] double depth(std::size_t i, std::size_t lines, double z) const noexcept;
  Igm model_;
  IgmEdge edge_;
  std::vector<double> wave_;
  std::vector<double> lines_;  ///< wavelengths, decreasing
  std::vector<double> sums_;   ///< [pixel][nline + 1]: optical depth of the first lines
  std::vector<double> clear_;  ///< [nline + 1][pixel]: what they let through without the continuum
};

/// transmission() at one redshift, bit by bit the same, for pixels one after the other towards the
/// blue, from any pixel `end` <= absorbed(z) on: at(end - 1), at(end - 2) ... A larger `end` counts
/// as absorbed(z).
class IgmWalk {
 public:
  IgmWalk(const IgmTable& table, double z, std::size_t end) noexcept;
  [[nodiscard]] double at(std::size_t i) noexcept {
    return static_cast<long>(i) > change_ ? clear_[i] : at_change(i);
  }

 private:
  /// The stretch of pixels below `end` that lie bluewards of equally many lines.
  void enter(std::size_t end) noexcept;
  [[nodiscard]] double at_change(std::size_t i) noexcept;
  const IgmTable& table_;
  double z_;
  bool bluest_ = false;            ///< the stretch ends where the continuum begins
  const double* clear_ = nullptr;  ///< of the stretch
  long change_ = -1;               ///< pixels up to this one do not belong to it
};

}  // namespace fiberloom::redshift
