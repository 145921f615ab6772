// SPDX-License-Identifier: BSD-3-Clause
// The destriping equations sample by sample, as they are written down: the oracle of
// offset_system.hpp. One thread, the whole sky, every sample kept.
#pragma once

#include <span>
#include <vector>

#include "skyloom/mapping/offset_system.hpp"

namespace skyloom {

/// A detector's samples of an observation.
struct PlainStream {
  std::vector<Pixel> pixels;
  std::vector<double> q, u, signal;
  std::vector<std::uint8_t> flags;  ///< empty: none
  std::size_t step = 0;             ///< samples of a baseline; 0: one
  double weight = 1;
};

class PlainSystem {
 public:
  PlainSystem(const Healpix& sky, std::vector<PlainStream> streams, const SolveOptions& options);

  [[nodiscard]] std::size_t size() const noexcept { return good_.size(); }
  /// M^T N^-1 Z applied to M a, or to the signal where there is no `a`.
  [[nodiscard]] std::vector<double> projected(std::span<const double> a) const;
  /// (P^T N^-1 P)^-1 P^T N^-1 (d - M a) of every pixel.
  [[nodiscard]] std::vector<Stokes> map(std::span<const double> a) const;
  [[nodiscard]] const std::vector<Conditioned>& pixels() const noexcept { return inverses_; }

 private:
  /// Calls use(stream, sample, baseline) for samples that are not flagged.
  template <class Use>
  void over_samples(const Use& use) const;
  [[nodiscard]] double value(std::size_t stream, std::size_t sample, std::size_t baseline,
                             std::span<const double> a) const;
  [[nodiscard]] std::vector<Stokes> binned(std::span<const double> a) const;

  Healpix sky_;
  std::vector<PlainStream> streams_;
  std::vector<Conditioned> inverses_;
  std::vector<char> good_;  ///< baselines
};

}  // namespace skyloom
