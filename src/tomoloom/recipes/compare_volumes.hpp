// SPDX-License-Identifier: BSD-3-Clause
// Two volumes, number by number and slice by slice: how far they are apart.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loom/base/log.hpp"
#include "tomoloom/exchange/frame_source.hpp"

namespace tomoloom {

/// A volume, or anything that lies as one: an HDF5 file with GROUP/data, a Zarr folder, or a stack
/// of images.
/// Throws what reading scans does.
[[nodiscard]] std::unique_ptr<FrameSource> open_slices(const std::string& path,
                                                       const std::string& group);
/// Slice `number`, [row][column].
void read_slice(const FrameSource& volume, std::size_t number, LargeVector<float>& out);

/// Differences first - second of what is a number in both, in double.
struct VolumeDifference {
  std::size_t count = 0, left_out = 0;         ///< pixels; those that are no number in one or both
  std::size_t one_sided = 0;                   ///< of those left out: a number in one of the two
  double rms = 0;                              ///< root of the mean square difference
  double relative = 0;                         ///< of the squares' sum of the second: relative L2;
                                               ///< infinite where that is 0 and the first is not
  double largest = 0;                          ///< absolute difference
  std::size_t slice = 0, row = 0, column = 0;  ///< where it is
  double mean_first = 0, mean_second = 0;
  double gain = 0;         ///< g for which |first - g second| is least
  double correlation = 0;  ///< of both
  std::size_t worst_slice = 0;
  double worst_rms = 0;  ///< of that slice
};

/// Sums of a comparison, slice after slice.
class DifferenceSums {
 public:
  void add(std::size_t slice, std::span<const float> first, std::span<const float> second,
           std::size_t columns, double circle);
  [[nodiscard]] VolumeDifference result() const;

 private:
  VolumeDifference found_;
  double squares_ = 0, first_ = 0, second_ = 0;
  double first_squares_ = 0, second_squares_ = 0, products_ = 0;
};

/// Within a circle of `circle` half widths of each slice; 0: all of it. Memory of two slices.
/// Throws kWrongShape where the volumes differ in size, kInterrupted.
[[nodiscard]] VolumeDifference compare_volumes(const FrameSource& first, const FrameSource& second,
                                               double circle, const Observer& observer);
/// Throws kWrongShape.
void check_same_size(const FrameSource& first, const FrameSource& second);

}  // namespace tomoloom
