// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/compare_volumes.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "tomoloom/exchange/image_stack.hpp"
#include "tomoloom/exchange/scan_reader.hpp"
#include "tomoloom/exchange/zarr_reader.hpp"

namespace tomoloom {

std::unique_ptr<FrameSource> open_slices(const std::string& path, const std::string& group) {
  if (is_zarr(path)) return std::make_unique<ZarrReader>(path);
  if (is_stack(path))
    return std::make_unique<StackReader>(StackFiles{.data = path, .flats = {}, .darks = {}});
  return std::make_unique<ScanReader>(path, group);
}

void read_slice(const FrameSource& volume, std::size_t number, LargeVector<float>& out) {
  FrameBlock block;
  block.floats = std::move(out);
  volume.frames(volume.layout().data, number, 1, 0, volume.layout().rows, block);
  if (volume.layout().counts) block.floats.assign(block.counts.begin(), block.counts.end());
  out = std::move(block.floats);
}

void DifferenceSums::add(std::size_t slice, std::span<const float> first,
                         std::span<const float> second, std::size_t columns, double circle) {
  const std::size_t rows = first.size() / columns;
  const double half = circle * static_cast<double>(std::min(rows, columns)) / 2;
  const double middle_row = (static_cast<double>(rows) - 1) / 2;
  const double middle_column = (static_cast<double>(columns) - 1) / 2;
  double squares = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double y = static_cast<double>(i / columns) - middle_row;
    const double x = static_cast<double>(i % columns) - middle_column;
    if (circle > 0 && x * x + y * y > half * half) continue;
    const auto a = static_cast<double>(first[i]), b = static_cast<double>(second[i]);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      ++found_.left_out;
      found_.one_sided += std::isfinite(a) != std::isfinite(b) ? 1 : 0;
      continue;
    }
    ++count;
    const double apart = a - b;
    squares += apart * apart;
    first_ += a;
    second_ += b;
    first_squares_ += a * a;
    second_squares_ += b * b;
    products_ += a * b;
    if (std::abs(apart) <= found_.largest) continue;
    found_.largest = std::abs(apart);
    found_.slice = slice;
    found_.row = i / columns;
    found_.column = i % columns;
  }
  found_.count += count;
  squares_ += squares;
  const double rms = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
  if (rms <= found_.worst_rms) return;
  found_.worst_rms = rms;
  found_.worst_slice = slice;
}

VolumeDifference DifferenceSums::result() const {
  VolumeDifference out = found_;
  if (out.count == 0) return out;
  const auto n = static_cast<double>(out.count);
  out.rms = std::sqrt(squares_ / n);
  out.relative = squares_ > 0 ? std::sqrt(squares_ / second_squares_) : 0;
  out.mean_first = first_ / n;
  out.mean_second = second_ / n;
  out.gain = second_squares_ > 0 ? products_ / second_squares_ : 0;
  const double wide = first_squares_ - n * out.mean_first * out.mean_first;
  const double other = second_squares_ - n * out.mean_second * out.mean_second;
  const double shared = products_ - n * out.mean_first * out.mean_second;
  out.correlation = wide > 0 && other > 0 ? shared / std::sqrt(wide * other) : 0;
  return out;
}

void check_same_size(const FrameSource& first, const FrameSource& second) {
  const ScanLayout& a = first.layout();
  const ScanLayout& b = second.layout();
  if (a.angles == b.angles && a.rows == b.rows && a.columns == b.columns) return;
  throw Error(Status::kWrongShape, b.path + ": found " + sizes_of({b.angles, b.rows, b.columns}) +
                                       ", expected " + sizes_of({a.angles, a.rows, a.columns}) +
                                       " as " + a.path);
}

VolumeDifference compare_volumes(const FrameSource& first, const FrameSource& second, double circle,
                                 const Observer& observer) {
  check_same_size(first, second);
  DifferenceSums sums;
  LargeVector<float> a, b;
  const std::size_t slices = first.layout().angles;
  for (std::size_t s = 0; s < slices; ++s) {
    stop_if_asked(observer);
    read_slice(first, s, a);
    read_slice(second, s, b);
    sums.add(s, a, b, first.layout().columns, circle);
    if (observer.progress) observer.progress("slices", s + 1, slices);
  }
  return sums.result();
}

}  // namespace tomoloom
