// SPDX-License-Identifier: BSD-3-Clause
// Which bundle is tried with which band; the sweeps. (Poles: root_poles.cpp.)
#include "fiberloom/extract/exact/gpu/roots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"
#include "loom/linalg/banded_lane.hpp"

namespace fiberloom::exact::gpu {

namespace {

constexpr int kRowChunk = 16;
static_assert(kBands.size() <= kMostKept);

int least_band_of(const Problem& p, int bundle) {
  return least_band(p.geometry_of(bundle), p.options, p.tuning);
}

}  // namespace

RootStage::RootStage(DeviceFrame& frame)
    : f_(frame), p_(frame.p_), stream_(*frame.stream_), k_(*frame.k_) {}

Cut RootStage::root_cut(const Problem& p, int skirt) {
  const Windows w = root_windows(p.nbin, skirt, p.tuning.most_windows);
  return {w.count, w.stride, w.skirt, w.rows};
}

int RootStage::row_count(const Cut& cut, int* first) {
  *first = std::max(0, cut.skirt - 1);
  return std::min(cut.rows, cut.skirt + cut.stride + 1) - *first;
}

SweepArgs RootStage::sweep_arrays(const DeviceFrame& frame, const std::vector<int>& bundles,
                                  int band, Arena& a, Arena* after_s) {
  SweepArgs s{};
  s.shape = frame.shape_;
  s.n = frame.n_;
  s.band = band;
  for (const int b : bundles) s.half = std::max(s.half, frame.p_.half_of(b));  // all have the same
  s.cut = frame.p_.sweep_cut();
  s.tail = frame.p_.sweep_skirt();
  int places = 0;
  for (const int b : bundles) places += frame.p_.fibers_of(b);
  s.places.nbundle = static_cast<int>(bundles.size());
  s.places.nplace = places;
  s.places.bundle_place = a.take<int>(bundles.size() + 1);
  s.places.fiber = a.take<int>(static_cast<std::size_t>(places));
  s.left = take_packs(a, places, frame.shape_.rows(), band + 1);
  *after_s = a;
  s.right = take_packs(a, places, frame.shape_.rows(), band + 1);
  const long loaded = static_cast<long>(kSweepGroup) * s.problems(), rows = frame.shape_.rows();
  s.matrix = take_packs(a, loaded, rows, band + 1);
  s.columns = take_packs(a, loaded, rows, 2 * s.half + 1);
  s.l = take_packs(a, s.problems(), rows, band);
  s.inv_d = take_packs(a, s.problems(), rows, 1);
  s.near = SweepTermKernel<1>::column_bytes(s) <= frame.shared_bytes_;
  const long columns = static_cast<long>(frame.shape_.nbin) * s.problems();
  if (!s.near) s.work = take_packs(a, columns, s.column_rows(), 1);
  return s;
}

RootArgs RootStage::root_arrays(const DeviceFrame& frame, int count, int band, const Cut& cut,
                                Arena& a) {
  RootArgs r{};
  r.shape = frame.shape_;
  r.count = count;
  r.cut = cut;
  r.band = r.wide_band = band;
  r.x = frame.x_;
  r.ones = frame.ones_;
  r.decay = frame.p_.grid.decay;
  const auto n = static_cast<std::size_t>(count);
  const long lanes = padded(count) * cut.count;
  r.fiber = a.take<int>(n);
  r.place = a.take<int>(n);
  r.state = a.take<RootState>(n);
  r.l = take_packs(a, lanes, cut.rows, is_wide(band) ? wide_row(band) : band);
  r.inv_d = take_packs(a, lanes, cut.rows, 1);
  r.solution = take_packs(a, lanes, cut.rows, 1);
  r.weight = take_packs(a, lanes, cut.rows, 1);
  r.pivot = a.take<double>(static_cast<std::size_t>(lanes));
  r.norm = a.take<double>(static_cast<std::size_t>(lanes));
  r.truncation = a.take<double>(static_cast<std::size_t>(lanes * kMostKept));
  r.truncation_part = a.take<double>(
      static_cast<std::size_t>(lanes * kMostKept * RootTruncationKernel::parts(cut)));
  r.chunk_rows = kRowChunk;
  r.chunks = (cut.count * cut.stride + 2 * cut.skirt + kRowChunk - 1) / kRowChunk;
  r.partial = a.take<double>(2 * static_cast<std::size_t>(r.chunks * padded(count)));
  return r;
}

std::size_t RootStage::batch_bytes(const DeviceFrame& frame, const std::vector<int>& bundles,
                                   int band, int skirt) {
  Arena sweep, rest;
  (void)sweep_arrays(frame, bundles, band, sweep, &rest);
  int places = 0;
  for (const int b : bundles) places += frame.p_.fibers_of(b);
  const Cut cut = root_cut(frame.p_, skirt);
  (void)root_arrays(frame, places, band, cut, rest);
  // a narrower copy and its arrays, and the poles of at least one fibre
  (void)root_arrays(frame, places, band, cut, rest);
  (void)take_packs(rest, places, frame.shape_.rows(), band + 1);
  int first = 0;
  const int rows = row_count(cut, &first);
  (void)take_packs(rest, padded(places) * cut.count, rows, frame.p_.options.ndiag / 2 + 3);
  const auto n = static_cast<std::size_t>(places);
  rest.take<int>(n);
  for (const std::size_t each : {n * kMostPoles, n * kMostPoles, n}) rest.take<double>(each);
  const std::size_t poles = rest.used() + pole_bytes(frame, band, cut, kMostPoles * cut.count);
  return std::max(sweep.used(), poles) + 4096;
}

std::size_t RootStage::least_bytes(const DeviceFrame& frame) {
  std::size_t most = 0;
  for (int b = 0; b < frame.p_.nbundle(); ++b) {
    for (const int skirt : {frame.p_.grid.guard, 2 * frame.p_.grid.guard, frame.p_.nbin}) {
      most = std::max(most, batch_bytes(frame, {b}, kWidestBand, skirt));
    }
  }
  return most;
}

std::size_t RootStage::full_bytes(const DeviceFrame& frame) {
  std::vector<int> all(static_cast<std::size_t>(frame.p_.nbundle()));
  std::iota(all.begin(), all.end(), 0);
  if (all.empty()) return 0;
  const int band = least_band_of(frame.p_, 0), skirt = frame.p_.grid.guard;
  const Cut cut = root_cut(frame.p_, skirt);
  // a quarter of the poles at a time fills any card
  constexpr long kPolesAtOnce = 5;
  return batch_bytes(frame, all, band, skirt) +
         pole_bytes(frame, band, cut, frame.p_.nfiber() * cut.count * kPolesAtOnce);
}

std::vector<RootStage::Attempt> RootStage::take_batch(std::vector<Attempt>& pending) const {
  const int band = pending.front().band, skirt = pending.front().skirt;
  const int half = p_.half_of(pending.front().bundle);
  std::vector<Attempt> taken, rest;
  std::vector<int> bundles;
  for (const Attempt& a : pending) {
    bool fits = a.band == band && a.skirt == skirt && p_.half_of(a.bundle) == half;
    if (fits) {
      bundles.push_back(a.bundle);
      fits = taken.empty() || batch_bytes(f_, bundles, band, skirt) <= f_.scratch_.left();
      if (!fits) bundles.pop_back();
    }
    (fits ? taken : rest).push_back(a);
  }
  pending = std::move(rest);
  return taken;
}

void RootStage::run() {
  std::vector<Attempt> pending;
  for (int b = 0; b < p_.nbundle(); ++b) {
    solve_error_.push_back(f_.outcomes_[static_cast<std::size_t>(b)].report.bound_sigma);
    pending.push_back({b, least_band_of(p_, b), p_.grid.guard});
  }
  while (!pending.empty()) {
    std::vector<Attempt> again;
    attempt(take_batch(pending), again);
    pending.insert(pending.end(), again.begin(), again.end());
    std::stable_sort(pending.begin(), pending.end(), [](const Attempt& a, const Attempt& b) {
      return std::pair(a.skirt, a.band) < std::pair(b.skirt, b.band);
    });
  }
}

Packs RootStage::sweep(const Batch& batch, Arena& scratch) {
  const DeviceStage stage(stream_, "sweeps");
  std::vector<int> bundles, bundle_place{0}, fibers;
  int longest = 0;
  for (const Attempt& a : batch.attempts) {
    bundles.push_back(a.bundle);
    longest = std::max(longest, p_.fibers_of(a.bundle));
    bundle_place.push_back(bundle_place.back() + p_.fibers_of(a.bundle));
  }
  for (const Place& place : batch.places) fibers.push_back(place.fiber);
  Arena after_s;
  SweepArgs s = sweep_arrays(f_, bundles, batch.band, scratch, &after_s);
  f_.mail_.send(s.places.bundle_place, bundle_place);
  f_.mail_.send(s.places.fiber, fibers);
  f_.clear(s.left, s.places.nplace);
  f_.clear(s.right, s.places.nplace);
  f_.clear(s.l, s.problems());  // nothing couples outside the grid
  f_.clear(s.inv_d, s.problems());
  const int band = band_index(batch.band);
  const bool left_only = p_.tuning.sweeps == Sweeps::kLeftOnly;
  for (s.step = 0; s.step + 1 < longest && p_.tuning.sweeps != Sweeps::kNone; ++s.step) {
    stop_if_asked(f_.observer_);
    if (s.step % kSweepGroup == 0) {
      k_.sweep_load(stream_, f_.shape_.rows() * s.problems(), s);
    }
    k_.sweep_factor[band](stream_, s.lanes(), s);
    k_.sweep_terms[band](stream_, SweepTermKernel<1>::blocks(s), s);
  }
  if (left_only) f_.clear(s.right, s.places.nplace);
  k_.sweep_merge(stream_, f_.shape_.rows() * padded(s.places.nplace), s);
  scratch = after_s;
  return s.left;
}

/// Lower bounds on the spectrum; leaves S^-1 a in root.solution.
std::vector<RootState> RootStage::prove(const RootArgs& root) {
  const int band = band_index(root.band);
  const long lanes = padded(root.count) * root.cut.count;
  if (!is_wide(root.band)) k_.factor[band](stream_, lanes, root);  // the other does both
  k_.alternate[band](stream_, lanes, root);
  k_.guess(stream_, root.count, root);
  std::vector<RootState> states(static_cast<std::size_t>(root.count));
  for (;;) {
    stop_if_asked(f_.observer_);
    k_.factor[band](stream_, lanes, root);
    k_.prove(stream_, root.count, root);
    f_.mail_.receive(root.state, states);
    if (std::none_of(states.begin(), states.end(), [](const RootState& s) { return s.trying; }))
      return states;
  }
}

void RootStage::attempt(std::vector<Attempt> attempts, std::vector<Attempt>& again) {
  Batch batch;
  batch.attempts = std::move(attempts);
  batch.band = batch.attempts.front().band;
  batch.cut = root_cut(p_, batch.attempts.front().skirt);
  int least = kBands.back();
  for (std::size_t i = 0; i < batch.attempts.size(); ++i) {
    const int b = batch.attempts[i].bundle;
    least = std::min(least, least_band_of(p_, b));
    for (int f = 0; f < p_.fibers_of(b); ++f) {
      Place place{};
      place.fiber = p_.bundle_first[static_cast<std::size_t>(b)] + f;
      place.bundle = static_cast<int>(i);
      batch.places.push_back(place);
    }
  }
  for (const int band : kBands) {
    if (may_do_with(band, least, batch.band)) batch.kept.push_back(band);
  }
  batch.kept.push_back(batch.band);
  sums_.assign(batch.attempts.size(), {});

  Arena scratch = f_.scratch_;
  const Packs s = sweep(batch, scratch);
  RootArgs root =
      root_arrays(f_, static_cast<int>(batch.places.size()), batch.band, batch.cut, scratch);
  root.s = root.wide_s = s;
  std::vector<int> fibers, identity(batch.places.size());
  for (const Place& place : batch.places) fibers.push_back(place.fiber);
  std::iota(identity.begin(), identity.end(), 0);
  {
    const DeviceStage stage(stream_, "bounds");
    f_.mail_.send(root.fiber, fibers);
    f_.mail_.send(root.place, identity);
    k_.rows(stream_, root.chunks * padded(root.count), root);
    k_.high(stream_, root.count, root);
    judge(batch, root, again);
  }
  narrow(batch, s, scratch);
  std::vector<std::size_t> wide(batch.places.size());
  std::iota(wide.begin(), wide.end(), std::size_t{0});
  take_poles(batch, root, wide, scratch);
  finish(batch, again);
}

/// Who has too narrow a band, and with which band each of the others might do.
void RootStage::judge(Batch& batch, const RootArgs& start, std::vector<Attempt>& again) {
  RootArgs root = start;
  const std::vector<RootState> states = prove(root);
  root.nkept = static_cast<int>(batch.kept.size());
  std::copy(batch.kept.begin(), batch.kept.end(), root.kept);
  const long lanes = padded(root.count) * root.cut.count;
  k_.weight(stream_, root.cut.rows * lanes, root);
  k_.truncation(stream_, root.nkept * RootTruncationKernel::parts(root.cut) * lanes, root);
  k_.worst(stream_, root.nkept * lanes, root);
  std::vector<double> truncation(static_cast<std::size_t>(root.nkept * lanes));
  f_.mail_.receive(root.truncation, truncation);
  const bool widest = batch.band >= p_.tuning.most_band;
  std::vector<double> excess(batch.attempts.size(), 0.0);
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    Place& place = batch.places[i];
    const RootState& state = states[i];
    Sums& sums = sums_[static_cast<std::size_t>(place.bundle)];
    place.high = state.high;
    place.low = state.low;
    place.signal = state.signal;
    for (int k = 0; k < root.nkept; ++k) {
      double worst = 0;
      for (int w = 0; w < root.cut.count; ++w) {
        const long lane = k * lanes + root_lane(static_cast<int>(i), w, root.cut);
        worst = std::max(worst, truncation[static_cast<std::size_t>(lane)]);
      }
      place.truncation.push_back(worst);
    }
    double& most = excess[static_cast<std::size_t>(place.bundle)];
    if (!(state.low > 0)) {
      most = std::numeric_limits<double>::infinity();
      sums.out = true;
      continue;
    }
    most = std::max(most, place.truncation.back());
    place.allowed = allowed_sigma(p_.tuning.tolerance_sigma, state.high, state.low);
    if (too_narrow(place.truncation.back(), place.allowed, widest)) sums.out = true;
  }
  for (std::size_t b = 0; b < sums_.size(); ++b) {
    if (!sums_[b].out) continue;
    const Attempt& a = batch.attempts[b];
    if (widest) {
      f_.outcomes_[static_cast<std::size_t>(a.bundle)].to_cpu =
          "the marginal precision of a fibre is not positive definite";
      continue;
    }
    const int band = wider_band(a.band, excess[b], p_.grid.decay, p_.tuning);
    if (band > kWidestBand) {
      f_.outcomes_[static_cast<std::size_t>(a.bundle)].to_cpu =
          "it needs a band of " + std::to_string(band);
    } else {
      again.push_back({a.bundle, band, a.skirt});
    }
  }
}

void RootStage::finish(Batch& batch, std::vector<Attempt>& again) {
  for (const Place& place : batch.places) {
    Sums& sums = sums_[static_cast<std::size_t>(place.bundle)];
    if (sums.out) continue;
    sums.kappa = std::max(sums.kappa, place.high / place.low);
    sums.truncation = std::max(sums.truncation, place.chosen);
  }
  for (std::size_t i = 0; i < batch.attempts.size(); ++i) {
    const Attempt& a = batch.attempts[i];
    const Sums& sums = sums_[i];
    if (sums.out) continue;
    BundleReport& r = f_.outcomes_[static_cast<std::size_t>(a.bundle)].report;
    r.first_fiber = p_.geometry_of(a.bundle).first_fiber;
    r.nfiber = p_.fibers_of(a.bundle);
    r.half_bandwidth = a.band;
    r.windows = batch.cut.count;
    r.kappa = sums.kappa;
    r.poles = sums.poles;
    r.seam_sigma = sums.seam;
    r.bound_sigma = bound_sigma(sums.truncation, sums.root_error, sums.seam,
                                solve_error_[static_cast<std::size_t>(a.bundle)], sums.kappa);
    if (!is_solution(sums.root_error)) {
      f_.outcomes_[static_cast<std::size_t>(a.bundle)].to_cpu =
          "the root of a fibre cannot be resolved";
      continue;
    }
    if (needs_longer_skirts(sums.seam, p_.tuning.tolerance_sigma, sums.kappa, batch.cut.count))
      again.push_back({a.bundle, a.band, next_skirt(a.skirt, p_.grid.guard, p_.nbin)});
  }
}

}  // namespace fiberloom::exact::gpu
