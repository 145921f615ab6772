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

GlsSystem::GlsSystem(const OffsetSystem& pixels, const SkySums& sums, const TileMatrices& inverses)
    : sums_(sums), company_(pixels.company()), hit_number_(sums.tiles().tiles(), -1) {
  number_pixels(pixels, inverses);
  right_side_.assign(3 * inverses_.size(), 0.0);
}

/// First those of tiles that others tell of, then of other shared ones, then of this process alone.
void GlsSystem::number_pixels(const OffsetSystem& pixels, const TileMatrices& inverses) {
  const std::span<const std::int32_t> hit = pixels.hit_tiles();
  std::vector<std::size_t> kinds[3];
  for (std::size_t h = 0; h < hit.size(); ++h) {
    hit_number_[static_cast<std::size_t>(hit[h])] = static_cast<std::int32_t>(h);
    const bool shared = company_ != nullptr && company_->shared(hit[h]);
    kinds[!shared ? 2 : (company_->owns(hit[h]) ? 1 : 0)].push_back(h);
  }
  std::vector<std::size_t> firsts(hit.size());
  numbers_.resize(hit.size());
  for (std::size_t kind = 0; kind < 3; ++kind) {
    for (const std::size_t h : kinds[kind]) {
      firsts[h] = inverses_.size();
      for (const Symmetric3& inverse : inverses[h]) {
        const bool good = inverse.ii > 0;
        numbers_[h].push_back(good ? static_cast<std::uint32_t>(inverses_.size()) : kGap);
        if (good) inverses_.push_back(inverse);
      }
    }
    if (kind == 0) others_ = inverses_.size();
    if (kind == 1) shared_ = inverses_.size();
  }
  for (std::size_t h = 0; h < hit.size(); ++h) {
    if (company_ == nullptr || !company_->shared(hit[h])) continue;
    const auto cut = std::count(numbers_[h].begin(), numbers_[h].end(), kGap);
    shared_tiles_.emplace_back(firsts[h], numbers_[h].size() - static_cast<std::size_t>(cut));
  }
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

void GlsSystem::add_up(const std::vector<std::vector<double>>& parts, std::size_t first,
                       std::size_t end, std::span<double> out, Executor& executor) {
  executor.run((end - first + kSummed - 1) / kSummed, [&](std::size_t block) {
    const std::size_t from = first + block * kSummed, to = std::min(end, from + kSummed);
    for (std::size_t i = from; i < to; ++i) out[i] = 0;
    for (const std::vector<double>& part : parts) {
      for (std::size_t i = from; i < to; ++i) out[i] += part[i];
    }
  });
}

template <class Meanwhile>
void GlsSystem::sum_shared(std::span<double> values, const Meanwhile& meanwhile) const {
  if (company_ == nullptr) return meanwhile();
  std::vector<Stokes> pixels(shared_);
  for (std::size_t p = 0; p < shared_; ++p) {
    pixels[p] = {values[3 * p], values[3 * p + 1], values[3 * p + 2]};
  }
  std::vector<std::span<Stokes>> tiles;
  for (const auto& [first, count] : shared_tiles_) {
    tiles.push_back(std::span(pixels).subspan(first, count));
  }
  company_->begin(tiles);
  meanwhile();
  company_->end(tiles);
  for (std::size_t p = 0; p < shared_; ++p) {
    values[3 * p] = pixels[p].i;
    values[3 * p + 1] = pixels[p].q;
    values[3 * p + 2] = pixels[p].u;
  }
}

void GlsSystem::finish() {
  sum_shared(right_side_, [] {});
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
  const std::size_t shared = 3 * shared_;
  add_up(parts, 0, shared, out, executor);
  sum_shared(out.first(shared), [&] { add_up(parts, shared, pixels, out, executor); });
}

void GlsSystem::precondition(std::span<const double> r, std::span<double> out,
                             Executor& executor) const {
  const std::size_t pixels = inverses_.size();
  executor.run((pixels + kSummed - 1) / kSummed, [&](std::size_t block) {
    const std::size_t end = std::min(pixels, (block + 1) * kSummed);
    for (std::size_t p = block * kSummed; p < end; ++p) {
      const Stokes v = inverses_[p] * Stokes{r[3 * p], r[3 * p + 1], r[3 * p + 2]};
      out[3 * p] = v.i;
      out[3 * p + 1] = v.q;
      out[3 * p + 2] = v.u;
    }
  });
  executor.run(streams_.size(), [&](std::size_t s) {
    const double weight = filters_[streams_[s].filter].lags()[0];
    for (std::size_t k = 0; k < streams_[s].gaps; ++k) {
      const std::size_t i = 3 * pixels + first_gaps_[s] + k;
      out[i] = r[i] / weight;
    }
  });
}

Solution GlsSystem::solve(const SolveLimits& limits, Executor& executor, const Observer& observer,
                          SolverMemory* memory) const {
  return conjugate_gradients(
      {.right_side = right_side_,
       .others = 3 * others_,
       .apply = [&](std::span<const double> x, std::span<double> out) { apply(x, out, executor); },
       .precondition = [&](std::span<const double> r,
                           std::span<double> out) { precondition(r, out, executor); },
       .total = [&](double sum) { return sum_of(company_, sum); }},
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
