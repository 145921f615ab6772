// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/plane_sums.hpp"

#include <algorithm>
#include <cmath>

#include "tomoloom/reconstruct/filter.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"
#include "tomoloom/reconstruct/tilted_engine.hpp"

namespace tomoloom {
namespace {

/// Rows of a group, side by side: two of them share a complex transform, which a filter that is
/// real and even keeps apart.
constexpr std::size_t kRowsOfGroup = fft::kElement<float>;
static_assert(kRowsOfGroup == kRaySlices<float>);

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

/// sums[place] += what lies between two points and two rows, of one slice.
void add_between(const RowLines<float>& lines, const TiltedRow& seen, std::size_t places,
                 float* sums) {
  for (std::size_t i = 0; i < places; ++i) {
    const double at = seen.first + seen.step * static_cast<double>(i);
    if (!(at >= 0) || !(at < static_cast<double>(lines.points - 1))) continue;
    const double away = seen.row + seen.row_step * static_cast<double>(i);
    const auto x = static_cast<std::size_t>(at), r = static_cast<std::size_t>(away);
    const auto far = static_cast<float>(at - static_cast<double>(x));
    const auto down = static_cast<float>(away - static_cast<double>(r));
    const float *const a = lines.data + x * lines.rows + r, *const b = a + lines.rows;
    const float near = a[0] + down * (a[1] - a[0]), next = b[0] + down * (b[1] - b[0]);
    sums[i] += near + far * (next - near);
  }
}

std::size_t beside(std::size_t columns, double tilt) {
  return rows_beside({.columns = columns, .theta = {}, .tilt = tilt});
}

}  // namespace

PlaneSums::PlaneSums(std::size_t rows, std::size_t columns, double centre, const PlaneCut& cut,
                     double tilt)
    : rows_(rows),
      columns_(columns),
      centre_(centre),
      cut_(cut),
      tilt_(tilt),
      beside_(beside(columns, tilt)),
      forward_(fft::good_length(2 * columns), fft::Sign::kMinus),
      back_(forward_.length(), fft::Sign::kPlus) {
  const std::size_t groups = (rows + kRowsOfGroup - 1) / kRowsOfGroup, n = forward_.length();
  const std::vector<double> ramp = bandlimited_ramp(n);
  for (std::size_t j = 0; j < n; ++j) {
    const std::size_t k = std::min(j, n - j);
    const double x = static_cast<double>(k) / static_cast<double>(n);
    const double size = 2 * k == n ? 0 : ramp[k] * filter_window({}, x) / static_cast<double>(n);
    response_.push_back(static_cast<float>(size * std::cos(tilt)));
  }
  row_.assign(groups * columns * kRowsOfGroup, 0);
  column_ = row_;
  slice_.assign(columns * columns, 0);
}

/// `line`: zeros where the group has no rows.
const float* PlaneSums::filter_group(std::size_t group, const float* projection, float* line,
                                     float* work, float* more) const {
  const std::size_t first = group * kRowsOfGroup, count = std::min(kRowsOfGroup, rows_ - first);
  const float* const rows = projection + first * columns_;
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t x = 0; x < columns_; ++x) line[x * kRowsOfGroup + r] = rows[r * columns_ + x];
  }
  float* const spectrum = forward_.run(line, 1, columns_, work);
  for (std::size_t j = 0; j < forward_.length(); ++j) {
    for (std::size_t r = 0; r < kRowsOfGroup; ++r) spectrum[j * kRowsOfGroup + r] *= response_[j];
  }
  return back_.run(spectrum, 1, forward_.length(), more);
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
    const float* const filtered = filter_group(group, projections.data() + a * rows_ * columns_,
                                               line.data(), work.data(), more.data());
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

/// Rays cross rows: all rows of a projection are filtered, side by side, before any is added.
void PlaneSums::add_tilted(std::span<const float> projections, std::span<const double> theta,
                           Executor& executor) {
  const std::size_t groups = (rows_ + kRowsOfGroup - 1) / kRowsOfGroup;
  const std::size_t deep = groups * kRowsOfGroup + 2 * beside_;
  lines_.resize(theta.size() * columns_ * deep);
  executor.run(groups, [&](std::size_t g) {
    std::vector<float> line(columns_ * kRowsOfGroup, 0), work(forward_.work_size()),
        more(back_.work_size());
    for (std::size_t a = 0; a < theta.size(); ++a) {
      const float* const filtered = filter_group(g, projections.data() + a * rows_ * columns_,
                                                 line.data(), work.data(), more.data());
      float* const to = lines_.data() + a * columns_ * deep + beside_ + g * kRowsOfGroup;
      for (std::size_t x = 0; x < columns_; ++x) {
        std::copy_n(filtered + x * kRowsOfGroup, kRowsOfGroup, to + x * deep);
      }
    }
  });
  executor.run(theta.size() * columns_, [&](std::size_t i) {  // beyond the ends the end's row
    float* const line = lines_.data() + i * deep;
    std::fill_n(line, beside_, line[beside_]);
    std::fill(line + beside_ + rows_, line + deep, line[beside_ + rows_ - 1]);
  });
  const double middle = (static_cast<double>(columns_) - 1) / 2, sine = std::sin(tilt_);
  const auto line_of = [&](std::size_t a) {
    return RowLines<float>{
        .points = columns_, .rows = deep, .data = lines_.data() + a * columns_ * deep};
  };
  // of pixels (u, v) + i (right, 0) or i (0, -down)
  const auto seen = [&](std::size_t a, double u, double v, double right, double down, double row) {
    const double c = std::cos(theta[a]), s = std::sin(theta[a]);
    return TiltedRow{.first = centre_ + u * c + v * s,
                     .step = right * c - down * s,
                     .row = static_cast<double>(beside_) + row + sine * (v * c - u * s),
                     .row_step = sine * (-down * c - right * s)};
  };
  const double u = static_cast<double>(cut_.column) - middle;
  const double v = middle - static_cast<double>(cut_.row);
  const RayKernels<float>& kernels = ray_kernels<float>(active_isa());
  executor.run(groups, [&](std::size_t g) {
    const std::size_t at = g * columns_ * kRowsOfGroup;
    const auto row = static_cast<double>(g * kRowsOfGroup);
    for (std::size_t a = 0; a < theta.size(); ++a) {
      kernels.collect_between(line_of(a), seen(a, -middle, v, 1, 0, row), columns_,
                              row_.data() + at);
      kernels.collect_between(line_of(a), seen(a, u, middle, 0, 1, row), columns_,
                              column_.data() + at);
    }
  });
  executor.run(columns_, [&](std::size_t row) {
    for (std::size_t a = 0; a < theta.size(); ++a) {
      add_between(line_of(a),
                  seen(a, -middle, middle - static_cast<double>(row), 1, 0,
                       static_cast<double>(cut_.slice)),
                  columns_, slice_.data() + row * columns_);
    }
  });
}

void PlaneSums::add(std::span<const float> projections, std::span<const double> theta,
                    Executor& executor) {
  if (tilt_ != 0) return add_tilted(projections, theta, executor);
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
