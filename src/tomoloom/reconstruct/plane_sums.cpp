// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/plane_sums.hpp"

#include <algorithm>
#include <cmath>

#include "tomoloom/reconstruct/filter.hpp"

namespace tomoloom {
namespace {

/// Rows of a group, side by side: two of them share a complex transform, which a filter that is
/// real and even keeps apart.
constexpr std::size_t kRowsOfGroup = fft::kElement<float>;

/// sums[place] += what a line of elements of `kWide` numbers holds at first + step place, between
/// its pixels; nothing beyond its ends.
template <std::size_t kWide>
void add_along(const float* line, std::size_t columns, double first, double step, float* sums) {
  for (std::size_t i = 0; i < columns; ++i) {
    const double at = first + step * static_cast<double>(i);
    if (!(at >= 0) || at > static_cast<double>(columns - 1)) continue;
    const std::size_t x = std::min(static_cast<std::size_t>(at), columns - 2);
    const auto far = static_cast<float>(at - static_cast<double>(x));
    const float* const a = line + x * kWide;
    const float* const b = a + kWide;
    float* const to = sums + i * kWide;
    for (std::size_t r = 0; r < kWide; ++r) to[r] += a[r] + far * (b[r] - a[r]);
  }
}

}  // namespace

PlaneSums::PlaneSums(std::size_t rows, std::size_t columns, double centre, const PlaneCut& cut)
    : rows_(rows),
      columns_(columns),
      centre_(centre),
      cut_(cut),
      forward_(fft::good_length(2 * columns), fft::Sign::kMinus),
      back_(forward_.length(), fft::Sign::kPlus) {
  const std::size_t groups = (rows + kRowsOfGroup - 1) / kRowsOfGroup, n = forward_.length();
  const std::vector<double> ramp = bandlimited_ramp(n);
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t k = std::min(j, n - j);
    const double x = static_cast<double>(k) / static_cast<double>(n);
    const double size = 2 * k == n ? 0 : ramp[k] * filter_window({}, x) / static_cast<double>(n);
    response_.push_back(static_cast<float>(size));
  }
  row_.assign(groups * columns * kRowsOfGroup, 0);
  column_ = row_;
  slice_.assign(columns * columns, 0);
}

void PlaneSums::add_group(std::size_t group, std::span<const float> projections,
                          std::span<const double> theta) {
  const std::size_t first = group * kRowsOfGroup, count = std::min(kRowsOfGroup, rows_ - first);
  const double middle = (static_cast<double>(columns_) - 1) / 2;
  const double u = static_cast<double>(cut_.column) - middle;
  const double v = middle - static_cast<double>(cut_.row);
  std::vector<float> line(columns_ * kRowsOfGroup, 0), work(forward_.work_size()),
      more(back_.work_size());
  for (std::size_t a = 0; a < theta.size(); ++a) {
    const float* const rows = projections.data() + (a * rows_ + first) * columns_;
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t x = 0; x < columns_; ++x) {
        line[x * kRowsOfGroup + r] = rows[r * columns_ + x];
      }
    }
    float* const spectrum = forward_.run(line.data(), 1, columns_, work.data());
    for (std::size_t j = 0; j < forward_.length(); ++j) {
      for (std::size_t r = 0; r < kRowsOfGroup; ++r) spectrum[j * kRowsOfGroup + r] *= response_[j];
    }
    const float* const filtered = back_.run(spectrum, 1, forward_.length(), more.data());
    const double c = std::cos(theta[a]), s = std::sin(theta[a]);
    const std::size_t at = group * columns_ * kRowsOfGroup;
    add_along<kRowsOfGroup>(filtered, columns_, centre_ - middle * c + v * s, c, row_.data() + at);
    add_along<kRowsOfGroup>(filtered, columns_, centre_ + u * c + middle * s, -s,
                            column_.data() + at);
    if (cut_.slice < first || cut_.slice >= first + count) continue;
    for (std::size_t x = 0; x < columns_; ++x) {
      lines_[a * columns_ + x] = filtered[x * kRowsOfGroup + cut_.slice - first];
    }
  }
}

void PlaneSums::add(std::span<const float> projections, std::span<const double> theta,
                    Executor& executor) {
  lines_.resize(theta.size() * columns_);
  const std::size_t groups = (rows_ + kRowsOfGroup - 1) / kRowsOfGroup;
  executor.run(groups, [&](std::size_t g) { add_group(g, projections, theta); });
  const double middle = (static_cast<double>(columns_) - 1) / 2;
  executor.run(columns_, [&](std::size_t row) {
    const double v = middle - static_cast<double>(row);
    float* const to = slice_.data() + row * columns_;
    for (std::size_t a = 0; a < theta.size(); ++a) {
      const double c = std::cos(theta[a]);
      add_along<1>(lines_.data() + a * columns_, columns_,
                   centre_ - middle * c + v * std::sin(theta[a]), c, to);
    }
  });
}

std::vector<float> PlaneSums::slice(double share) const {
  std::vector<float> out = slice_;
  for (float& value : out) value *= static_cast<float>(share);
  return out;
}

std::vector<float> PlaneSums::turned(const std::vector<float>& sums, double share) const {
  std::vector<float> out(rows_ * columns_);
  for (std::size_t r = 0; r < rows_; ++r) {
    const float* const from =
        sums.data() + r / kRowsOfGroup * columns_ * kRowsOfGroup + r % kRowsOfGroup;
    for (std::size_t i = 0; i < columns_; ++i) {
      out[r * columns_ + i] = from[i * kRowsOfGroup] * static_cast<float>(share);
    }
  }
  return out;
}

}  // namespace tomoloom
