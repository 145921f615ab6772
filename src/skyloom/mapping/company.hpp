// SPDX-License-Identifier: BSD-3-Clause
// Several processes that solve one system: each has streams of its own, tiles of the sky are shared
// by those that hit them. Knows no MPI. Whoever works alone has no Company.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/mapping/symmetric3.hpp"

namespace skyloom {

class SkySums;

/// Every process calls the same verbs in the same order; sums have an order that depends on how the
/// data are shared out alone.
class Company {
 public:
  virtual ~Company() = default;
  [[nodiscard]] virtual bool first() const = 0;
  /// Each value over all processes: the same bytes in all of them.
  virtual void sum(std::span<double> values) = 0;
  /// Tiles that others hit too get the sums of all, in all of them; the lists of their pixels are
  /// then the same as well. `sums`: of the whole, then of parts; tiles of the first are shared.
  virtual void merge(std::span<SkySums* const> sums) = 0;
  /// After merge(): do others hit this tile, and is it this process that tells of it?
  [[nodiscard]] virtual bool shared(std::int32_t tile) const = 0;
  [[nodiscard]] virtual bool owns(std::int32_t tile) const = 0;
  /// Values of the pixels of shared tiles, in the order of their numbers, into those of all
  /// processes: begin() sends, end() waits; there is time between for what is not shared.
  virtual void begin(std::span<const std::span<Stokes>> tiles) = 0;
  virtual void end(std::span<const std::span<Stokes>> tiles) = 0;
};

/// One value over all processes; alone, itself.
[[nodiscard]] inline double sum_of(Company* company, double value) {
  if (company != nullptr) company->sum({&value, 1});
  return value;
}

}  // namespace skyloom
