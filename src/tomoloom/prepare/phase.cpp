// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/phase.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/error.hpp"
#include "tomoloom/prepare/phase_lane.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kPhaseLanes = fft::kBatch<float>, kPhaseElement = fft::kElement<float>;
constexpr double kPi = std::numbers::pi;
constexpr double kPlanckKevCm = 1.2398419843320e-7;  ///< wavelength in cm of 1 keV
/// exp(-16) is 1e-7.
constexpr double kReach = 16;
constexpr double kMostPadded = 1 << 24;  ///< along an axis: beyond, a number was mistyped

double wavelength_cm(const PhaseChoice& choice) { return kPlanckKevCm / choice.energy_kev; }

/// What TomoPy adds on both sides, before it goes up to a power of two.
std::size_t peers_padding(const PhaseChoice& choice, std::size_t size) {
  const double around = std::ceil(kPi * wavelength_cm(choice) * choice.distance_cm /
                                  (choice.pixel_cm * choice.pixel_cm));
  const double wanted = static_cast<double>(size) + around;
  if (!(wanted < kMostPadded)) {
    throw Error(Status::kUsage,
                "--phase tomopy: energy, distance and pixel ask for more than 2^24 pixels of "
                "padding");
  }
  std::size_t padded = 1;
  while (static_cast<double>(padded) < wanted) padded *= 2;
  return (padded - size) / 2;
}

/// Cycles a centimetre of frequency k.
double frequency(const PhaseChoice& choice, std::size_t k, std::size_t padded) {
  const auto n = static_cast<double>(padded), j = static_cast<double>(k);
  if (choice.method == Phase::kTomopy) {  // n points with the ends at +-1/2, none of them at 0
    if (padded == 1) return 0;
    const auto place = static_cast<double>((k + padded - padded / 2) % padded);
    return (2 * place + 1 - n) / (2 * (n - 1) * choice.pixel_cm);
  }
  return (2 * k <= padded ? j : j - n) / (n * choice.pixel_cm);
}

/// A tile of `rows` lines becomes one of `columns` lines.
void turn_tile(const float* from, std::size_t from_step, std::size_t rows, std::size_t columns,
               float* to, std::size_t to_step) {
  if (rows == kPhaseLanes && columns == kPhaseLanes) {
    for (std::size_t c = 0; c < kPhaseLanes; ++c) {
      for (std::size_t r = 0; r < kPhaseLanes; ++r) to[c * to_step + r] = from[r * from_step + c];
    }
    return;
  }
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) to[c * to_step + r] = from[r * from_step + c];
  }
}

void turn_lines(const float* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                float* to, std::size_t to_step) {
  for (std::size_t c = 0; c < columns; c += kPhaseLanes) {
    turn_tile(from + c, from_step, rows, std::min(kPhaseLanes, columns - c), to + c * to_step,
              to_step);
  }
}

/// What is at the ends goes on beyond them.
void pad_line(const PhaseAxis& axis, float* line) {
  const float* const first = line + axis.before * kPhaseElement;
  for (std::size_t i = 0; i < axis.before; ++i) {
    std::copy_n(first, kPhaseElement, line + i * kPhaseElement);
  }
  const std::size_t end = axis.before + axis.size;
  const float* const last = line + (end - 1) * kPhaseElement;
  for (std::size_t i = end; i < axis.padded; ++i) {
    std::copy_n(last, kPhaseElement, line + i * kPhaseElement);
  }
}

}  // namespace

double phase_alpha(const PhaseChoice& choice) {
  return choice.delta_beta > 0 ? 1 / (4 * kPi * kPi * choice.delta_beta) : choice.alpha;
}

double fringe_area(const PhaseChoice& choice) {
  return wavelength_cm(choice) * choice.distance_cm / (4 * kPi);
}

float PhaseAxis::least() const { return *std::min_element(plus.begin(), plus.end()); }

std::size_t phase_reach(const PhaseChoice& choice, std::size_t most) {
  const double length =
      std::sqrt(fringe_area(choice) / phase_alpha(choice)) / (2 * kPi * choice.pixel_cm);
  const double reach = std::ceil(kReach * length) + 1;
  return reach < static_cast<double>(most) ? static_cast<std::size_t>(reach) : most;
}

PhaseAxis phase_axis(const PhaseChoice& choice, std::size_t size, std::size_t reach) {
  PhaseAxis axis;
  axis.size = size;
  if (choice.method == Phase::kTomopy) {
    axis.before = choice.unpadded ? 0 : peers_padding(choice, size);
    axis.padded = size + 2 * axis.before;
  } else {
    axis.before = reach;
    axis.padded = fft::good_length(size + 2 * reach);
  }
  const double area = fringe_area(choice);
  for (std::size_t k = 0; k < axis.padded; ++k) {
    const double f = frequency(choice, k, axis.padded);
    const double g = frequency(choice, (axis.padded - k) % axis.padded, axis.padded);
    axis.plus.push_back(static_cast<float>(area * f * f));
    axis.minus.push_back(static_cast<float>(area * g * g));
  }
  return axis;
}

float phase_scale(const PhaseAxis& along, const PhaseAxis& across, float alpha) {
  const float least = along.least() + across.least() + alpha;
  return 0.5F * least / (static_cast<float>(across.padded) * static_cast<float>(along.padded));
}

PhaseFilter::PhaseFilter(const PhaseChoice& choice, std::size_t rows, std::size_t columns, Isa isa)
    : alpha_(static_cast<float>(phase_alpha(choice))),
      row_axis_(phase_axis(choice, columns, phase_reach(choice, std::max(rows, columns)))),
      column_axis_(phase_axis(choice, rows, phase_reach(choice, std::max(rows, columns)))),
      along_(row_axis_.padded, fft::Sign::kMinus, isa),
      along_back_(row_axis_.padded, fft::Sign::kPlus, isa),
      across_(column_axis_.padded, fft::Sign::kMinus, isa),
      across_back_(column_axis_.padded, fft::Sign::kPlus, isa),
      groups_((row_axis_.padded + kPhaseLanes - 1) / kPhaseLanes) {}

float* PhaseFilter::spectrum(std::size_t group, std::size_t row) noexcept {
  return spectrum_.data() + (group * column_axis_.size + row) * kPhaseElement;
}

/// Two real images share a transform as real and imaginary part: the filter is made even and so
/// keeps them apart. Rows that are padding are not transformed: they equal the first or last one.
void PhaseFilter::rows_there(const Images& images, std::size_t group) {
  const std::size_t columns = row_axis_.size, first = group * kPhaseLanes;
  const std::size_t rows = std::min(kPhaseLanes, column_axis_.size - first);
  std::vector<float> line(row_axis_.padded * kPhaseElement, 0), work(along_.work_size());
  float* const inside = line.data() + row_axis_.before * kPhaseElement;
  turn_lines(images.first_in.data() + first * columns, columns, rows, columns, inside,
             kPhaseElement);
  if (!images.second_in.empty()) {
    turn_lines(images.second_in.data() + first * columns, columns, rows, columns,
               inside + kPhaseLanes, kPhaseElement);
  }
  pad_line(row_axis_, line.data());
  const float* const result = along_.run(line.data(), work.data());
  for (std::size_t g = 0; g < groups_; ++g) {
    const std::size_t k = g * kPhaseLanes, count = std::min(kPhaseLanes, row_axis_.padded - k);
    for (const std::size_t part : {std::size_t{0}, kPhaseLanes}) {
      turn_tile(result + k * kPhaseElement + part, kPhaseElement, count, rows,
                spectrum(g, first) + part, kPhaseElement);
    }
  }
}

void PhaseFilter::columns_filtered(std::size_t group) {
  const std::size_t rows = column_axis_.size, padded = column_axis_.padded;
  std::vector<float> line(padded * kPhaseElement), work(across_.work_size()),
      more(across_back_.work_size());
  std::copy_n(spectrum(group, 0), rows * kPhaseElement,
              line.data() + column_axis_.before * kPhaseElement);
  pad_line(column_axis_, line.data());
  float* const result = across_.run(line.data(), work.data());
  float plus[kPhaseLanes], minus[kPhaseLanes];
  for (std::size_t l = 0; l < kPhaseLanes; ++l) {
    const std::size_t k = std::min(group * kPhaseLanes + l, row_axis_.padded - 1);
    plus[l] = row_axis_.plus[k] + alpha_;
    minus[l] = row_axis_.minus[k] + alpha_;
  }
  const float scale = phase_scale(row_axis_, column_axis_, alpha_);
  for (std::size_t k = 0; k < padded; ++k) {
    float* const element = result + k * kPhaseElement;
    const float up = column_axis_.plus[k], down = column_axis_.minus[k];
    for (std::size_t l = 0; l < kPhaseLanes; ++l) {
      const float weight = lane::phase_weight(plus[l], minus[l], up, down, scale);
      element[l] *= weight;
      element[l + kPhaseLanes] *= weight;
    }
  }
  const float* const back = across_back_.run(result, more.data());
  std::copy_n(back + column_axis_.before * kPhaseElement, rows * kPhaseElement, spectrum(group, 0));
}

void PhaseFilter::rows_back(const Images& images, std::size_t first, std::size_t count,
                            std::size_t group) {
  const std::size_t columns = row_axis_.size, own = group * kPhaseLanes;
  const std::size_t rows = std::min(kPhaseLanes, count - own);
  std::vector<float> line(row_axis_.padded * kPhaseElement, 0), work(along_back_.work_size());
  for (std::size_t g = 0; g < groups_; ++g) {
    const std::size_t k = g * kPhaseLanes,
                      frequencies = std::min(kPhaseLanes, row_axis_.padded - k);
    for (const std::size_t part : {std::size_t{0}, kPhaseLanes}) {
      turn_tile(spectrum(g, first + own) + part, kPhaseElement, rows, frequencies,
                line.data() + k * kPhaseElement + part, kPhaseElement);
    }
  }
  const float* const result =
      along_back_.run(line.data(), work.data()) + row_axis_.before * kPhaseElement;
  const auto give = [&](const float* from, std::span<float> out) {
    float* const to = out.data() + own * columns;
    for (std::size_t x = 0; x < columns; x += kPhaseLanes) {
      turn_tile(from + x * kPhaseElement, kPhaseElement, std::min(kPhaseLanes, columns - x), rows,
                to + x, columns);
    }
  };
  give(result, images.first_out);
  if (!images.second_out.empty()) give(result + kPhaseLanes, images.second_out);
}

void PhaseFilter::run(const Images& images, std::size_t first, std::size_t count,
                      Executor& executor) {
  spectrum_.resize(groups_ * column_axis_.size * kPhaseElement);
  const auto groups_of = [](std::size_t n) { return (n + kPhaseLanes - 1) / kPhaseLanes; };
  executor.run(groups_of(column_axis_.size), [&](std::size_t g) { rows_there(images, g); });
  executor.run(groups_, [&](std::size_t g) { columns_filtered(g); });
  executor.run(groups_of(count), [&](std::size_t g) { rows_back(images, first, count, g); });
}

std::uint64_t PhaseFilter::bytes(const PhaseChoice& choice, std::size_t rows, std::size_t columns,
                                 std::size_t threads) {
  const std::size_t reach = phase_reach(choice, std::max(rows, columns));
  const PhaseAxis along = phase_axis(choice, columns, reach),
                  down = phase_axis(choice, rows, reach);
  const std::uint64_t element = kPhaseElement * sizeof(float);
  const auto line = [&](std::size_t n) {  // a line, and what its transforms work in
    return element * (fft::is_length(n) ? 5 * n : 24 * fft::good_length(n));
  };
  const std::uint64_t groups = (along.padded + kPhaseLanes - 1) / kPhaseLanes;
  return groups * rows * element + threads * std::max(line(along.padded), line(down.padded)) +
         (along.padded + down.padded) * 64;
}

}  // namespace tomoloom
