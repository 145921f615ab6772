// SPDX-License-Identifier: BSD-3-Clause
// Three planes of a volume, without the volume: filtered back projection to what lies on them
// alone, projection by projection, so that a scan can be looked at while it goes on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/fft/fft.hpp"
#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

/// Where the planes lie: a slice, and a row and a column of all slices.
struct PlaneCut {
  std::size_t slice = 0, row = 0, column = 0;
};

class PlaneSums {
 public:
  /// Of projections [row][column]; slices are as wide as these, and with an axis tilted along the
  /// beam (radians) planes across it as TiltedEngine's.
  PlaneSums(std::size_t rows, std::size_t columns, double centre, const PlaneCut& cut,
            double tilt = 0);

  /// Adds projections [angle][row][column] at angles theta (radians), values finite. Linear between
  /// pixels of the filtered line. O(rows columns log columns + columns^2) an angle.
  void add(std::span<const float> projections, std::span<const double> theta, Executor& executor);

  /// The planes with each angle standing for `share` radians: slice [row][column], then those
  /// through the row and the column: [slice][column], [slice][row].
  [[nodiscard]] std::vector<float> slice(double share) const;
  [[nodiscard]] std::vector<float> row(double share) const { return turned(row_, share); }
  [[nodiscard]] std::vector<float> column(double share) const { return turned(column_, share); }

 private:
  /// The rows of a group, filtered: elements of the group's rows.
  const float* filter_group(std::size_t group, const float* projection, float* line, float* work,
                            float* more) const;
  void add_group(std::size_t group, std::span<const float> projections,
                 std::span<const double> theta);
  void add_tilted(std::span<const float> projections, std::span<const double> theta,
                  Executor& executor);
  [[nodiscard]] std::vector<float> turned(const std::vector<float>& sums, double share) const;

  std::size_t rows_, columns_;
  double centre_;
  PlaneCut cut_;
  double tilt_;
  std::size_t beside_;  ///< rows on either side of lines of rows, with a tilted axis
  fft::Plan<float> forward_, back_;
  std::vector<float> response_;
  std::vector<float> row_, column_;  ///< [group of rows][place] elements of the group's rows
  std::vector<float> slice_;         ///< [row][column]
  /// Filtered, [angle][column]: the cut slice's, or with a tilted axis all rows and those beside.
  std::vector<float> lines_;
};

}  // namespace tomoloom
