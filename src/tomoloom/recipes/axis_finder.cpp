// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/axis_finder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
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
/// Columns from the ends of where it is looked for: what is found there is no minimum, or not the
/// axis.
constexpr double kEnd = 1;

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

std::optional<AxisFinder::Found> AxisFinder::column_of(const std::vector<std::size_t>& rows) const {
  const std::size_t n = layout_.columns;
  const std::vector<float> integrals = prepared(rows);
  const StackView view{.data = integrals.data(),
                       .slices = rows.size(),
                       .angle_stride = rows.size() * n,
                       .slice_stride = n};
  const auto [low, high] = searched();
  const auto between = [](std::optional<double> column, double least,
                          double most) -> std::optional<Found> {
    if (!column) return {};
    return Found{*column, *column < least + kEnd || *column > most - kEnd};
  };
  if (job_.search == AxisSearch::kPairs) {
    return between(find_centre_of_pairs(view, n, theta_, low, high), low, high);
  }
  const auto start = between(find_centre(view, n, theta_, low, high, executor_), low, high);
  if (job_.search != AxisSearch::kEntropy) return start;
  // far from the axis the body leaves the circle, and entropy falls again
  const double width = static_cast<double>(n), about = start ? start->column : (width - 1) / 2;
  const double reach = std::max(kLeastReach, width / 32);
  const double least = std::max(low, about - reach), most = std::min(high, about + reach);
  auto found = between(find_centre_by_entropy(view, n, theta_, least, most, executor_,
                                              [&] { stop_if_asked(observer_); }),
                       least, most);
  if (found && start) found->at_end = found->at_end || start->at_end;
  return found;
}

std::pair<double, double> AxisFinder::searched() const {
  const double width = static_cast<double>(layout_.columns);
  return {width / 4, 3 * width / 4};
}

/// Where nothing turns, or the axis lies elsewhere, some column is found all the same.
void AxisFinder::tell_doubt() const {
  const auto [low, high] = searched();
  observer_.warn(print(
      "%s: the axis was found at the end of where it is looked for, from column "
      "%.0f to %.0f: most likely it lies elsewhere, or nothing is seen of it "
      "(--center COLUMN)",
      layout_.path.c_str(), summary_.window.to_detector(low), summary_.window.to_detector(high)));
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
  std::size_t at_end = 0;
  for (std::size_t b = 0; b < bands; ++b) {
    const std::size_t begin = b * rows / bands, end = (b + 1) * rows / bands;
    const auto column =
        column_of(rows_spread(summary_.first_row + begin, end - begin, kCentreRows));
    const double middle =
        static_cast<double>(summary_.first_row) + (static_cast<double>(begin + end) - 1) / 2;
    if (column) found.emplace_back(middle, column->column);
    if (column && column->at_end) ++at_end;
    if (observer_.progress) observer_.progress("axis", b + 1, bands);
  }
  if (found.size() < 2) {
    throw Error(Status::kUnsupported,
                layout_.path + what_is_wanted(job_.search) + ": give the column");
  }
  if (2 * at_end > found.size()) tell_doubt();
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
  if (column->at_end) tell_doubt();
  return {column->column, column->column};
}

}  // namespace tomoloom
