// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/gls_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace skyloom {
namespace {

constexpr std::size_t kMostGroups = 16;
constexpr std::size_t kSampleBytes = sizeof(std::uint32_t) + 2 * sizeof(float);
constexpr std::size_t kSummed = 1 << 13;

}  // namespace

GlsSystem::GlsSystem(const OffsetSystem& pixels, const SkySums& sums)
    : sums_(sums), hit_number_(sums.tiles().tiles(), -1) {
  const std::span<const std::int32_t> hit = pixels.hit_tiles();
  for (std::size_t h = 0; h < hit.size(); ++h) {
    hit_number_[static_cast<std::size_t>(hit[h])] = static_cast<std::int32_t>(h);
    std::vector<std::uint32_t>& numbers = numbers_.emplace_back();
    for (const Symmetric3& inverse : pixels.inverse(h)) {
      const bool good = inverse.ii > 0;
      numbers.push_back(good ? static_cast<std::uint32_t>(inverses_.size()) : kGap);
      if (good) inverses_.push_back(inverse);
    }
  }
  right_side_.assign(3 * inverses_.size(), 0.0);
}

std::size_t GlsSystem::add_filter(std::vector<double> lags) {
  filters_.emplace_back(std::move(lags));
  return filters_.size() - 1;
}

std::uint32_t GlsSystem::number_of(Pixel pixel) const {
  const std::int32_t hit = hit_number_[static_cast<std::size_t>(sums_.tiles().tile(pixel))];
  if (hit < 0) return kGap;
  const auto at = sums_.find(pixel);
  return at ? numbers_[static_cast<std::size_t>(hit)][*at] : kGap;
}

void GlsSystem::project(const GlsStream& stream, std::span<const double> samples, double* to,
                        double* gaps) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t number = stream.unknowns[i];
    const double value = samples[i];
    if (number == kGap) {
      *gaps++ = value;
      continue;
    }
    double* const pixel = to + 3 * std::size_t{number};
    pixel[0] += value;
    pixel[1] += static_cast<double>(stream.q[i]) * value;
    pixel[2] += static_cast<double>(stream.u[i]) * value;
  }
}

void GlsSystem::add_up(const std::vector<std::vector<double>>& parts, std::size_t pixels,
                       std::span<double> out, Executor& executor) {
  executor.run((pixels + kSummed - 1) / kSummed, [&](std::size_t block) {
    const std::size_t end = std::min(pixels, (block + 1) * kSummed);
    for (const std::vector<double>& part : parts) {
      if (part.empty()) continue;
      for (std::size_t i = block * kSummed; i < end; ++i) out[i] += part[i];
    }
  });
}

void GlsSystem::add(std::vector<GlsStream> streams, std::vector<std::vector<double>> signals,
                    Executor& executor) {
  executor.run(streams.size(), [&](std::size_t s) {
    const GlsStream& stream = streams[s];
    auto work = works_.borrow();
    work->filtered.resize(signals[s].size());
    for (std::size_t i = 0; i < signals[s].size(); ++i) {
      if (stream.unknowns[i] == kGap) signals[s][i] = 0;
    }
    filters_[stream.filter].apply(signals[s], work->filtered, work->toeplitz);
    signals[s] = work->filtered;
  });
  for (std::size_t s = 0; s < streams.size(); ++s) {
    const std::size_t first = right_side_.size();
    right_side_.resize(first + streams[s].gaps);
    project(streams[s], signals[s], right_side_.data(), right_side_.data() + first);
    first_gaps_.push_back(gaps_);
    gaps_ += streams[s].gaps;
    samples_ += streams[s].unknowns.size();
    streams_.push_back(std::move(streams[s]));
  }
}

std::size_t GlsSystem::groups() const noexcept {
  const std::size_t sums = 3 * sizeof(double) * inverses_.size();
  const std::size_t most = std::min(kMostGroups, streams_.size());
  return std::clamp<std::size_t>(samples_ * kSampleBytes / std::max<std::size_t>(sums, 1), 1,
                                 std::max<std::size_t>(most, 1));
}

void GlsSystem::apply(std::span<const double> x, std::span<double> out, Executor& executor) const {
  const std::size_t pixels = 3 * inverses_.size();
  const std::size_t groups = this->groups();
  std::vector<std::vector<double>> parts(groups);
  executor.run(groups, [&](std::size_t g) {
    auto work = works_.borrow();
    parts[g].assign(pixels, 0.0);
    const std::size_t end = streams_.size() * (g + 1) / groups;
    for (std::size_t s = streams_.size() * g / groups; s < end; ++s) {
      const GlsStream& stream = streams_[s];
      const std::size_t n = stream.unknowns.size();
      work->samples.resize(n);
      work->filtered.resize(n);
      const double* gap = x.data() + pixels + first_gaps_[s];
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t number = stream.unknowns[i];
        if (number == kGap) {
          work->samples[i] = *gap++;
          continue;
        }
        const double* const m = x.data() + 3 * std::size_t{number};
        work->samples[i] = m[0] + static_cast<double>(stream.q[i]) * m[1] +
                           static_cast<double>(stream.u[i]) * m[2];
      }
      filters_[stream.filter].apply(work->samples, work->filtered, work->toeplitz);
      project(stream, work->filtered, parts[g].data(), out.data() + pixels + first_gaps_[s]);
    }
  });
  std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(pixels), 0.0);
  add_up(parts, pixels, out, executor);
}

void GlsSystem::precondition(std::span<const double> r, std::span<double> out) const {
  for (std::size_t p = 0; p < inverses_.size(); ++p) {
    const Stokes v = inverses_[p] * Stokes{r[3 * p], r[3 * p + 1], r[3 * p + 2]};
    out[3 * p] = v.i;
    out[3 * p + 1] = v.q;
    out[3 * p + 2] = v.u;
  }
  const std::size_t pixels = 3 * inverses_.size();
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    const double weight = filters_[streams_[s].filter].lags()[0];
    for (std::size_t k = 0; k < streams_[s].gaps; ++k) {
      const std::size_t i = pixels + first_gaps_[s] + k;
      out[i] = r[i] / weight;
    }
  }
}

Solution GlsSystem::solve(const SolveLimits& limits, Executor& executor, const Observer& observer,
                          SolverMemory* memory) const {
  return conjugate_gradients(
      {.right_side = right_side_,
       .apply = [&](std::span<const double> x, std::span<double> out) { apply(x, out, executor); },
       .precondition = [&](std::span<const double> r,
                           std::span<double> out) { precondition(r, out); }},
      limits, executor, observer, memory);
}

TileMaps GlsSystem::maps(const std::vector<double>& x) const {
  TileMaps out(numbers_.size());
  for (std::size_t h = 0; h < numbers_.size(); ++h) {
    for (const std::uint32_t number : numbers_[h]) {
      if (number == kGap) {
        out[h].push_back({NAN, NAN, NAN});
        continue;
      }
      const double* const m = x.data() + 3 * std::size_t{number};
      out[h].push_back({m[0], m[1], m[2]});
    }
  }
  return out;
}

std::size_t GlsSystem::bytes() const noexcept {
  return right_side_.size() * (5 * sizeof(double)) + samples_ * kSampleBytes +
         groups() * 3 * inverses_.size() * sizeof(double);
}

}  // namespace skyloom
