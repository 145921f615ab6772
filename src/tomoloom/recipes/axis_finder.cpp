// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/axis_finder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/stop.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/reconstruct/centre.hpp"
#include "tomoloom/reconstruct/centre_entropy.hpp"

namespace tomoloom {
namespace {

/// Bands of rows that a line is put through.
constexpr std::size_t kBands = 8;
/// A part of the detector's rows that tells how the axis leans.
constexpr std::size_t kPartOfRows = 4;
/// Columns on either side that entropy is looked at in, at least.
constexpr double kLeastReach = 8;

const char* what_is_wanted(AxisSearch search) {
  switch (search) {
    case AxisSearch::kPairs:
      return ": --center pairs wants projections half a turn apart";
    case AxisSearch::kLean:
      return ": --center fit wants angles over 180 degrees, and rows of different heights";
    default:
      return ": --center auto wants angles over 180 degrees";
  }
}

}  // namespace

std::vector<std::size_t> rows_spread(std::size_t first, std::size_t rows, std::size_t count) {
  count = std::min(count, rows);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(first + (2 * i + 1) * rows / (2 * count));
  return out;
}

AxisFinder::AxisFinder(const ReconJob& job, const ScanLayout& layout, const ReconSummary& summary,
                       BlockSource& source, Executor& executor, const Observer& observer)
    : job_(job),
      layout_(layout),
      summary_(summary),
      source_(source),
      executor_(executor),
      observer_(observer),
      theta_(radians(layout)) {}

std::vector<float> AxisFinder::prepared(const std::vector<std::size_t>& rows) const {
  const std::size_t count = rows.size(), n = layout_.columns;
  std::vector<float> all(layout_.angles * count * n);
  LargeVector<float> one;
  RawBlock raw;
  for (std::size_t r = 0; r < count; ++r) {
    stop_if_asked(observer_);
    read_block(source_, rows[r], 1, observer_, raw);
    (void)prepare_block(job_, layout_, raw, executor_, one);
    for (std::size_t a = 0; a < layout_.angles; ++a) {
      std::copy_n(one.data() + a * n, n, all.data() + (a * count + r) * n);
    }
  }
  return all;
}

std::optional<double> AxisFinder::column_of(const std::vector<std::size_t>& rows) const {
  const std::size_t n = layout_.columns;
  const std::vector<float> integrals = prepared(rows);
  const StackView view{.data = integrals.data(),
                       .slices = rows.size(),
                       .angle_stride = rows.size() * n,
                       .slice_stride = n};
  const double width = static_cast<double>(n), low = width / 4, high = 3 * width / 4;
  switch (job_.search) {
    case AxisSearch::kPairs:
      return find_centre_of_pairs(view, n, theta_, low, high);
    case AxisSearch::kEntropy: {
      // far from the axis the body leaves the circle, and entropy falls again
      const double start =
          find_centre(view, n, theta_, low, high, executor_).value_or((width - 1) / 2);
      const double reach = std::max(kLeastReach, width / 32);
      return find_centre_by_entropy(view, n, theta_, std::max(low, start - reach),
                                    std::min(high, start + reach), executor_,
                                    [&] { stop_if_asked(observer_); });
    }
    default:
      return find_centre(view, n, theta_, low, high, executor_);
  }
}

/// Through what is found in bands of rows the line of Theil and Sen: up to a quarter of the bands
/// may see nothing, or the holder.
Axis AxisFinder::fit() const {
  const std::size_t rows = summary_.slices, bands = std::min(kBands, rows);
  if (rows * kPartOfRows < layout_.rows) {
    throw Error(Status::kUnsupported,
                layout_.path + ": --center fit wants at least a quarter of the rows (--rows)");
  }
  std::vector<std::pair<double, double>> found;  // row, column
  for (std::size_t b = 0; b < bands; ++b) {
    const std::size_t begin = b * rows / bands, end = (b + 1) * rows / bands;
    const auto column =
        column_of(rows_spread(summary_.first_row + begin, end - begin, kCentreRows));
    const double middle =
        static_cast<double>(summary_.first_row) + (static_cast<double>(begin + end) - 1) / 2;
    if (column) found.emplace_back(middle, *column);
    if (observer_.progress) observer_.progress("axis", b + 1, bands);
  }
  if (found.size() < 2) {
    throw Error(Status::kUnsupported,
                layout_.path + what_is_wanted(job_.search) + ": give the column");
  }
  std::vector<double> slopes, starts;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t k = i + 1; k < found.size(); ++k) {
      slopes.push_back((found[k].second - found[i].second) / (found[k].first - found[i].first));
    }
  }
  const double slope = median_of(slopes);
  for (const auto& [row, column] : found) starts.push_back(column - slope * row);
  const double start = median_of(starts);
  return {start, start + slope * (static_cast<double>(layout_.rows) - 1)};
}

Axis AxisFinder::find() const {
  if (job_.search == AxisSearch::kLean) return fit();
  const std::size_t count = job_.search == AxisSearch::kEntropy ? 1 : kCentreRows;
  const auto column = column_of(rows_spread(summary_.first_row, summary_.slices, count));
  if (!column) {
    throw Error(Status::kUnsupported,
                layout_.path + what_is_wanted(job_.search) + ": give the column");
  }
  return {*column, *column};
}

}  // namespace tomoloom
