// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/offset_system.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "loom/base/print.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr double kRounding = 256 * 0x1p-52;
constexpr Stokes kCut{NAN, NAN, NAN};
constexpr std::size_t kRunsOfTask = 1 << 14;
constexpr std::size_t kBaselinesOfTask = 1 << 12;

}  // namespace

OffsetSystem::OffsetSystem(const SkySums& sums, std::vector<Stream>& streams,
                           const SolveOptions& options, Executor& executor, Company* company)
    : sums_(sums),
      company_(company),
      hit_tiles_(sums.hit_tiles()),
      hit_number_(sums.tiles().tiles(), -1) {
  for (std::size_t h = 0; h < hit_tiles_.size(); ++h) {
    hit_number_[static_cast<std::size_t>(hit_tiles_[h])] = static_cast<std::int32_t>(h);
    if (is_shared(h)) shared_.push_back(h);
  }
  invert_tiles(sums, options, executor);
  for (const Stream& stream : streams) {
    firsts_.push_back(weights_.size());
    weights_.resize(weights_.size() + stream.lengths.size(), stream.weight);
  }
  drop_cut_runs(streams, executor);
  judge_baselines(streams, options);
  sort_runs(streams, executor);
  make_right_side(executor);
}

void OffsetSystem::invert_tiles(const SkySums& sums, const SolveOptions& options,
                                Executor& executor) {
  inverses_.resize(hit_tiles_.size());
  std::vector<std::array<std::size_t, 3>> counts(hit_tiles_.size());  // good, cut, cut samples
  executor.run(hit_tiles_.size(), [&](std::size_t h) {
    const auto pixels = sums.tile(static_cast<std::size_t>(hit_tiles_[h]));
    inverses_[h].resize(pixels.size());
    auto& [good, cut, samples] = counts[h];
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      inverses_[h][p] = invert(pixels[p].weights, options.least_reciprocal).inverse;
      if (inverses_[h][p].ii > 0) {
        ++good;
      } else {
        ++cut;
        samples += pixels[p].hits;
      }
    }
  });
  double all[2] = {0, 0};  // good and cut, of all processes
  for (std::size_t h = 0; h < hit_tiles_.size(); ++h) {
    if (!this->counts(h)) continue;
    const auto& [good, cut, samples] = counts[h];
    all[0] += static_cast<double>(good);
    all[1] += static_cast<double>(cut);
    cut_pixels_ += cut;
    cut_samples_ += samples;
  }
  if (company_ != nullptr) company_->sum(all);
  any_pixel_ = all[0] > 0;
  if (!any_pixel_ && !options.may_be_empty) {
    throw Error(kNoGoodData,
                print("no pixel is seen at enough angles: %.0f were hit and are cut", all[1]));
  }
}

void OffsetSystem::drop_cut_runs(std::vector<Stream>& streams, Executor& executor) {
  signal_.assign(weights_.size(), 0.0);
  diagonal_.assign(weights_.size(), 0.0);  // good samples, for now
  executor.run(streams.size(), [&](std::size_t s) {
    Stream& stream = streams[s];
    stream.keep_signal_alone();
    std::size_t from = 0, to = 0;
    for (Segment& segment : stream.segments) {
      const std::size_t end = from + segment.runs;
      const std::size_t baseline = firsts_[s] + segment.baseline;
      const auto tile = static_cast<std::size_t>(segment.tile);
      const auto& inverse = inverses_[static_cast<std::size_t>(hit_number_[tile])];
      segment.runs = 0;
      for (; from < end; ++from) {
        Run run = stream.runs[from];
        run.place = static_cast<std::uint16_t>(*sums_.find(tile, run.place));
        if (!(inverse[run.place].ii > 0)) continue;
        signal_[baseline] += stream.signal[from];
        diagonal_[baseline] += run.n;
        stream.runs[to++] = run;
        ++segment.runs;
      }
    }
    stream.runs.resize(to);
    std::vector<double>().swap(stream.signal);
  });
}

void OffsetSystem::judge_baselines(const std::vector<Stream>& streams,
                                   const SolveOptions& options) {
  for (std::size_t s = 0; s < streams.size(); ++s) {
    for (std::size_t k = 0; k < streams[s].lengths.size(); ++k) {
      const std::size_t b = firsts_[s] + k;
      const double good = diagonal_[b], all = streams[s].lengths[k];
      if (!(good > options.good_fraction * all) || !(weights_[b] > 0)) {
        if (weights_[b] * good > 0)
          knows_constant_ = true;  // its samples are in C, its offset is 0
        weights_[b] = 0;
        ++left_baselines_;
      }
      diagonal_[b] = weights_[b] * good;
    }
  }
  double all[3] = {static_cast<double>(weights_.size()), static_cast<double>(left_baselines_),
                   knows_constant_ ? 1.0 : 0.0};
  if (company_ != nullptr) company_->sum(all);
  knows_constant_ = all[2] > 0;
  if (all[1] == all[0] && any_pixel_) {
    throw Error(kNoGoodData, print("every one of %.0f baselines has too few good samples", all[0]));
  }
}

void OffsetSystem::sort_runs(std::vector<Stream>& streams, Executor& executor) {
  const std::vector<TileVisit> visits = visits_by_tile(streams);
  std::vector<const Run*> sources;  // of each part's runs
  tile_parts_.assign(hit_tiles_.size() + 1, 0);
  groups_.push_back(0);
  std::size_t tile = 0, group_start = 0, runs = 0;
  const auto finish_tiles = [&](std::size_t end) {
    for (; tile < end; ++tile) {
      tile_parts_[tile + 1] = parts_.size();
      if (runs - group_start < kRunsOfTask && tile + 1 < hit_tiles_.size()) continue;
      groups_.push_back(tile + 1);
      group_start = runs;
    }
  };
  for (const TileVisit& visit : visits) {
    finish_tiles(static_cast<std::size_t>(hit_number_[static_cast<std::size_t>(visit.tile)]));
    const Stream& stream = streams[visit.stream];
    const Segment& segment = stream.segments[visit.segment];
    const std::size_t baseline = firsts_[visit.stream] + segment.baseline;
    if (segment.runs == 0 || weights_[baseline] == 0) continue;
    parts_.push_back({runs, static_cast<std::uint32_t>(baseline), segment.runs});
    sources.push_back(stream.runs.data() + visit.first_run);
    runs += segment.runs;
  }
  finish_tiles(hit_tiles_.size());
  runs_ = Buffer<Run>(runs);
  executor.run(groups_.size() - 1, [&](std::size_t g) {
    for (std::size_t k = tile_parts_[groups_[g]]; k < tile_parts_[groups_[g + 1]]; ++k) {
      std::copy_n(sources[k], parts_[k].runs, runs_.data() + parts_[k].first_run);
    }
  });
  for (Stream& stream : streams) {
    std::vector<Run>().swap(stream.runs);
    std::vector<Segment>().swap(stream.segments);
  }
  baseline_parts_.assign(weights_.size() + 1, 0);
  for (const RunPart& part : parts_) ++baseline_parts_[part.baseline + 1];
  for (std::size_t b = 0; b < weights_.size(); ++b) baseline_parts_[b + 1] += baseline_parts_[b];
  std::vector<std::size_t> next(baseline_parts_.begin(), baseline_parts_.end() - 1);
  part_places_.resize(parts_.size());
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    part_places_[next[parts_[k].baseline]++] = static_cast<std::uint32_t>(k);
  }
}

void OffsetSystem::add_tile(std::size_t tile, std::span<const double> a, double sign,
                            Stokes* z) const {
  for (std::size_t k = tile_parts_[tile]; k < tile_parts_[tile + 1]; ++k) {
    const RunPart& part = parts_[k];
    const double value = sign * weights_[part.baseline] * a[part.baseline];
    const Run* const end = runs_.data() + part.first_run + part.runs;
    for (const Run* run = end - part.runs; run != end; ++run) {
      lane::add_run(*run, value, z[run->place]);
    }
  }
}

void OffsetSystem::take_tile(std::size_t tile, const Stokes* m, double* parts) const {
  for (std::size_t k = tile_parts_[tile]; k < tile_parts_[tile + 1]; ++k) {
    const RunPart& part = parts_[k];
    const Run* const end = runs_.data() + part.first_run + part.runs;
    double sum = 0;
    for (const Run* run = end - part.runs; run != end; ++run) {
      sum += lane::take_run(*run, m[run->place]);
    }
    parts[k] = sum;
  }
}

void OffsetSystem::over_tiles(Executor& executor,
                              const std::function<void(std::size_t, Stokes*)>& task) const {
  executor.run(groups_.size() - 1, [&](std::size_t g) {
    std::vector<Stokes> scratch(sums_.tiles().pixels());
    for (std::size_t tile = groups_[g]; tile < groups_[g + 1]; ++tile) task(tile, scratch.data());
  });
}

/// out = from - weight times the sum of a baseline's parts.
void OffsetSystem::collect(const double* parts, std::span<const double> from, std::span<double> out,
                           Executor& executor) const {
  const std::size_t n = weights_.size();
  executor.run((n + kBaselinesOfTask - 1) / kBaselinesOfTask, [&](std::size_t task) {
    const std::size_t end = std::min(n, (task + 1) * kBaselinesOfTask);
    for (std::size_t b = task * kBaselinesOfTask; b < end; ++b) {
      out[b] = lane::collect(from[b], weights_[b], parts, part_places_.data(), baseline_parts_[b],
                             baseline_parts_[b + 1]);
    }
  });
}

void OffsetSystem::make_right_side(Executor& executor) {
  Buffer<double> parts(std::max<std::size_t>(parts_.size(), 1));
  over_tiles(executor, [&](std::size_t tile, Stokes* scratch) {
    Stokes* const m = scratch;
    const auto pixels = sums_.tile(static_cast<std::size_t>(hit_tiles_[tile]));
    for (std::size_t p = 0; p < pixels.size(); ++p) m[p] = inverses_[tile][p] * pixels[p].signal;
    take_tile(tile, m, parts.data());
  });
  double all[2] = {0, 0};  // squares, and how many are not left out
  for (std::size_t b = 0; b < signal_.size(); ++b) {
    signal_[b] *= weights_[b];
    all[0] += signal_[b] * signal_[b];
    all[1] += weights_[b] > 0 ? 1 : 0;
  }
  if (company_ != nullptr) company_->sum(all);
  rounding_ = kRounding * std::sqrt(all[0]);
  right_side_.resize(weights_.size());
  collect(parts.data(), signal_, right_side_, executor);
  if (knows_constant_) return std::vector<double>().swap(signal_);
  // b has no part along the constant, in which A is 0; what rounding gives it no solution has
  double sum = 0;
  for (const double value : right_side_) sum += value;
  sum = sum_of(company_, sum);
  for (std::size_t b = 0; b < right_side_.size(); ++b) {
    right_side_[b] = weights_[b] > 0 ? right_side_[b] - sum / all[1] : 0;
  }
  std::vector<double>().swap(signal_);
}

template <class Meanwhile>
void OffsetSystem::add_up(TileMaps& values, const Meanwhile& meanwhile) const {
  if (company_ == nullptr) return meanwhile();
  const std::vector<std::span<Stokes>> spans(values.begin(), values.end());
  company_->begin(spans);
  meanwhile();
  company_->end(spans);
}

/// From P^T N^-1 M a of a tile to its parts of the baselines' sums.
void OffsetSystem::apply_tile(std::size_t tile, Stokes* z, double* parts) const {
  const std::vector<Symmetric3>& inverse = inverses_[tile];
  for (std::size_t p = 0; p < inverse.size(); ++p) z[p] = inverse[p] * z[p];
  take_tile(tile, z, parts);
}

void OffsetSystem::apply(std::span<const double> a, std::span<double> out,
                         Executor& executor) const {
  Buffer<double> parts(std::max<std::size_t>(parts_.size(), 1));
  TileMaps away(shared_.size());
  executor.run(away.size(), [&](std::size_t k) {
    away[k].resize(inverses_[shared_[k]].size());
    add_tile(shared_[k], a, 1, away[k].data());
  });
  add_up(away, [&] {
    over_tiles(executor, [&](std::size_t tile, Stokes* scratch) {
      if (is_shared(tile)) return;
      std::fill(scratch, scratch + inverses_[tile].size(), Stokes{});
      add_tile(tile, a, 1, scratch);
      apply_tile(tile, scratch, parts.data());
    });
  });
  executor.run(away.size(),
               [&](std::size_t k) { apply_tile(shared_[k], away[k].data(), parts.data()); });
  run_in_parts(executor, out.size(), kBaselinesOfTask, [&](std::size_t first, std::size_t count) {
    for (std::size_t b = first; b < first + count; ++b) out[b] = diagonal_[b] * a[b];
  });
  collect(parts.data(), out, out, executor);
}

TileMaps OffsetSystem::projected(std::span<const double> a, Executor& executor) const {
  TileMaps out(hit_tiles_.size()), away(shared_.size());
  executor.run(out.size(), [&](std::size_t h) {
    out[h].resize(inverses_[h].size());
    add_tile(h, a, 1, out[h].data());
  });
  for (std::size_t k = 0; k < away.size(); ++k) away[k] = std::move(out[shared_[k]]);
  add_up(away, [] {});
  for (std::size_t k = 0; k < away.size(); ++k) out[shared_[k]] = std::move(away[k]);
  return out;
}

TileMaps OffsetSystem::maps(const std::vector<double>* a, Executor& executor) const {
  const TileMaps offsets = a != nullptr ? projected(*a, executor) : TileMaps();
  TileMaps out(hit_tiles_.size());
  executor.run(out.size(), [&](std::size_t h) {
    const auto pixels = sums_.tile(static_cast<std::size_t>(hit_tiles_[h]));
    out[h].assign(pixels.size(), kCut);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      if (!(inverses_[h][p].ii > 0)) continue;
      out[h][p] =
          inverses_[h][p] * (offsets.empty() ? pixels[p].signal : pixels[p].signal - offsets[h][p]);
    }
  });
  return out;
}

TileMatrices OffsetSystem::part_inverses(const SkySums& part, double least_reciprocal,
                                         Executor& executor) const {
  TileMatrices out(hit_tiles_.size());
  executor.run(out.size(), [&](std::size_t h) {
    const auto tile = static_cast<std::size_t>(hit_tiles_[h]);
    const auto pixels = sums_.tile(tile), own = part.tile(tile);
    out[h].resize(pixels.size());
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      const auto at = part.find(tile, pixels[p].place);
      if (!at || !(inverses_[h][p].ii > 0)) continue;
      out[h][p] = invert(own[*at].weights, least_reciprocal).inverse;
    }
  });
  return out;
}

TileMaps OffsetSystem::part_maps(const SkySums& part, const std::vector<double>* a,
                                 double least_reciprocal, Executor& executor) const {
  const TileMaps offsets = a != nullptr ? projected(*a, executor) : TileMaps();
  const TileMatrices inverses = part_inverses(part, least_reciprocal, executor);
  TileMaps out(hit_tiles_.size());
  executor.run(out.size(), [&](std::size_t h) {
    const auto tile = static_cast<std::size_t>(hit_tiles_[h]);
    const auto pixels = sums_.tile(tile), own = part.tile(tile);
    out[h].assign(pixels.size(), kCut);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      const Symmetric3& inverse = inverses[h][p];
      if (!(inverse.ii > 0)) continue;
      const auto at = part.find(tile, pixels[p].place);
      out[h][p] = inverse * (offsets.empty() ? own[*at].signal : own[*at].signal - offsets[h][p]);
    }
  });
  return out;
}

std::size_t OffsetSystem::bytes() const noexcept {
  std::size_t sum = runs_.size() * sizeof(Run) + parts_.capacity() * sizeof(RunPart) +
                    part_places_.capacity() * sizeof(std::uint32_t) +
                    weights_.size() * (4 * sizeof(double));
  for (const auto& tile : inverses_) sum += tile.capacity() * sizeof(Symmetric3);
  return sum;
}

}  // namespace skyloom
