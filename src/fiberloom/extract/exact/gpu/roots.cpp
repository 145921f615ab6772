// SPDX-License-Identifier: BSD-3-Clause
// Which bundle is tried with which band; bounds. (Memory and sweeps: root_sweeps.cpp; parts of the
// axis: root_parts.cpp; poles: root_poles.cpp.)
#include "fiberloom/extract/exact/gpu/roots.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact::gpu {

namespace {

int least_band_of(const Problem& p, int bundle) {
  return least_band(p.geometry_of(bundle), p.options, p.tuning);
}

}  // namespace

RootStage::RootStage(DeviceFrame& frame)
    : f_(frame), p_(frame.p_), stream_(*frame.stream_), k_(*frame.k_) {}

void RootStage::Sums::add(const Sums& part) {
  kappa = std::max(kappa, part.kappa);
  truncation = std::max(truncation, part.truncation);
  root_error = std::max(root_error, part.root_error);
  seam = std::max(seam, part.seam);
  poles = std::max(poles, part.poles);
  band = std::max(band, part.band);
}

bool RootStage::alike(const Attempt& a, const Attempt& b) const {
  return a.band == b.band && a.skirt == b.skirt && a.length == b.length &&
         a.is_part() == b.is_part() && p_.half_of(a.bundle) == p_.half_of(b.bundle);
}

std::vector<RootStage::Attempt> RootStage::take_batch(std::vector<Attempt>& pending) const {
  // letters have a number for each window of all fibres of the frame
  const long most = padded(p_.nfiber()) * kLanes;
  long places = 0;
  std::vector<Attempt> taken, rest;
  for (const Attempt& a : pending) {
    const long more = places + p_.fibers_of(a.bundle);
    bool fits =
        taken.empty() || (alike(a, taken.front()) && padded(more) * root_cut(p_, a).count <= most);
    if (fits && !taken.empty()) {
      taken.push_back(a);
      fits = batch_bytes(f_, taken) <= f_.root_scratch_.left();
      taken.pop_back();
    }
    if (fits) places = more;
    (fits ? taken : rest).push_back(a);
  }
  pending = std::move(rest);
  return taken;
}

void RootStage::begin() {
  for (int b = 0; b < p_.nbundle(); ++b) {
    ask({b, least_band_of(p_, b), p_.grid.guard});
    progress_.emplace_back().may_leave = p_.tuning.wide_bands == WideBands::kWhereNeeded;
  }
  if (!pending_.empty()) begun_ = sweep(*f_.side_, take_batch(pending_), f_.root_scratch_);
}

void RootStage::run() {
  if (progress_.empty()) begin();
  for (const BundleOutcome& outcome : f_.outcomes_)
    solve_error_.push_back(outcome.report.bound_sigma);
  for (bool is_first = true; begun_ || !pending_.empty(); is_first = false) {
    if (!begun_) begun_ = sweep(stream_, take_batch(pending_), f_.root_scratch_);
    if (!is_first) stream_.wait_for(*f_.side_);  // the first were waited for with the solution
    Swept swept = std::move(*begun_);
    begun_.reset();
    attempt(swept);
    arrange();
  }
  scatter();
}

/// What is to be tried next in front; parts when no whole axis is left, for few batches. A bundle
/// has the same bytes whoever is in its batch.
void RootStage::arrange() {
  std::erase_if(pending_, [&](const Attempt& a) {
    return !f_.outcomes_[static_cast<std::size_t>(a.bundle)].to_cpu.empty();
  });
  const auto order = [](const Attempt& a) {
    return std::tuple(a.is_part(), a.is_part() && a.length == 0, a.skirt, a.band, a.length);
  };
  std::stable_sort(pending_.begin(), pending_.end(),
                   [&](const Attempt& a, const Attempt& b) { return order(a) < order(b); });
  if (!pending_.empty() && pending_.front().is_part() && pending_.front().length == 0)
    set_lengths(pending_);
}

/// Lower bounds on the spectrum of those that are trying; leaves S^-1 a in root.solution.
std::vector<RootState> RootStage::prove(const RootArgs& root) {
  const int band = band_index(root.band);
  const long lanes = padded(root.count) * root.cut.count;
  if (!is_wide(root.band)) k_.factor[band](stream_, lanes, root);  // the other does both
  k_.alternate[band](stream_, lanes, root);
  k_.guess(stream_, root.count, root);
  std::vector<RootState> states(static_cast<std::size_t>(root.count));
  for (;;) {
    stop_if_asked(f_.observer_);
    k_.trial[band](stream_, lanes, root);
    k_.prove(stream_, root.count, root);
    f_.mail_.receive(root.state, states);
    if (std::none_of(states.begin(), states.end(), [](const RootState& s) { return s.trying; }))
      return states;
  }
}

RootStage::Batch RootStage::make_batch(std::vector<Attempt> attempts) const {
  Batch batch;
  batch.attempts = std::move(attempts);
  const Attempt& first = batch.attempts.front();
  batch.band = first.band;
  batch.cut = root_cut(p_, first);
  batch.axis = axis_of(f_, first.length);
  int least = kBands.back(), longest = 0;
  for (const Attempt& a : batch.attempts) {
    least = std::min(least, least_band_of(p_, a.bundle));
    batch.fibers.push_back(p_.fibers_of(a.bundle));
    longest = std::max(longest, batch.fibers.back());
  }
  for (int f = 0; f < longest; ++f) {
    for (std::size_t i = 0; i < batch.attempts.size(); ++i) {
      const bool is_there = f < batch.fibers[i];
      batch.place_of.push_back(is_there ? static_cast<int>(batch.places.size()) : -1);
      if (!is_there) continue;
      Place place{};
      const auto bundle = static_cast<std::size_t>(batch.attempts[i].bundle);
      place.fiber = p_.bundle_first[bundle] + f;
      place.attempt = static_cast<int>(i);
      batch.places.push_back(place);
    }
  }
  for (const int band : kBands) {  // of a part, which is small, each band once more takes longer
    if (!first.is_part() && may_do_with(band, least, batch.band)) batch.kept.push_back(band);
  }
  batch.kept.push_back(batch.band);
  return batch;
}

void RootStage::attempt(Swept& swept) {
  auto& [batch, args, scratch] = swept;
  sums_.assign(batch.attempts.size(), {});
  std::vector<int> identity(batch.places.size());
  std::iota(identity.begin(), identity.end(), 0);
  RootArgs root;
  {
    const DeviceStage stage(stream_, "bounds");
    k_.sweep_light(stream_, batch.axis.shape.rows() * padded(args.sweep.places.nplace), args);
    root = root_arrays(f_, batch.axis, static_cast<int>(batch.places.size()), batch.band, batch.cut,
                       scratch);
    root.s = root.wide_s = args.sweep.left;
    f_.mail_.send(root.place, identity);
    bound(batch, root);
    measure(batch, root);
    leave(batch, root, args.sweep.places, scratch);
    judge(batch);
    ask_for_parts(batch);
  }
  arrange();
  sweep_ahead(batch, scratch);
  narrow(batch, root, scratch);
  std::vector<std::size_t> wide(batch.places.size());
  std::iota(wide.begin(), wide.end(), std::size_t{0});
  take_poles(batch, root, wide, scratch);
  finish(batch);
}

/// Bounds of all places.
void RootStage::bound(Batch& batch, const RootArgs& root) {
  k_.rows(stream_, root.chunks * padded(root.count), root);
  k_.high(stream_, root.count, root);
  const std::vector<RootState> states = prove(root);
  for (std::size_t i = 0; i < states.size(); ++i) note_bounds(states[i], batch.places[i]);
}
void RootStage::note_bounds(const RootState& state, Place& place) const {
  place.high = state.high;
  place.low = state.low;
  place.signal = state.signal;
  place.allowed = allowed_sigma(p_.tuning.tolerance_sigma, place.high, place.low);
}

/// What each band would cut off.
void RootStage::measure(Batch& batch, const RootArgs& start) {
  RootArgs root = start;
  root.nkept = static_cast<int>(batch.kept.size());
  std::copy(batch.kept.begin(), batch.kept.end(), root.kept);
  const long lanes = padded(root.count) * root.cut.count;
  k_.weight(stream_, root.cut.rows * lanes, root);
  k_.truncation(stream_, root.nkept * RootTruncationKernel::parts(root.cut) * lanes, root);
  k_.worst(stream_, root.nkept * lanes, root);
  std::vector<double> truncation(static_cast<std::size_t>(root.nkept * lanes));
  f_.mail_.receive(root.truncation, truncation);
  for (std::size_t i = 0; i < batch.places.size(); ++i) {
    Place& place = batch.places[i];
    for (int k = 0; k < root.nkept; ++k) {
      double worst = 0;
      for (int w = 0; w < root.cut.count; ++w) {
        const long lane = k * lanes + root_lane(static_cast<int>(i), w, root.cut);
        worst = std::max(worst, truncation[static_cast<std::size_t>(lane)]);
      }
      place.truncation[k] = place.widest_truncation = worst;
    }
  }
}

bool RootStage::is_too_narrow(const Batch& batch, const Place& place) const {
  return too_narrow(place.widest_truncation, place.allowed, batch.band >= p_.tuning.most_band);
}

/// Who has too narrow a band, and what the bins ask for that were left out.
void RootStage::judge(const Batch& batch) {
  std::vector<double> excess(batch.attempts.size(), 0.0);
  for (const Place& place : batch.places) {
    Sums& sums = sums_[static_cast<std::size_t>(place.attempt)];
    double& most = excess[static_cast<std::size_t>(place.attempt)];
    if (!(place.low > 0)) {
      most = std::numeric_limits<double>::infinity();
      sums.out = true;
      continue;
    }
    most = std::max({most, place.widest_truncation, place.left_truncation});
    sums.left_truncation = std::max(sums.left_truncation, place.left_truncation);
    if (is_too_narrow(batch, place)) sums.out = true;
  }
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (!sums_[i].out) continue;
    const Attempt& a = batch.attempts[i];
    if (batch.band >= p_.tuning.most_band) {
      f_.outcomes_[static_cast<std::size_t>(a.bundle)].to_cpu =
          "the marginal precision of a fibre is not positive definite";
    } else {
      widen(a, excess[i]);
    }
  }
}

/// The same with the band that this excess asks for.
void RootStage::widen(const Attempt& a, double truncation) {
  Attempt next = a;
  next.band = wider_band(a.band, truncation, p_.grid.decay, p_.tuning);
  ask(next);
}

/// To be tried, unless that goes to the CPU.
void RootStage::ask(const Attempt& next) {
  if (has_band(next)) return pending_.push_back(next);
  f_.outcomes_[static_cast<std::size_t>(next.bundle)].to_cpu =
      "a band of " + std::to_string(next.band) + " takes more memory of a block than there is";
}

void RootStage::finish(const Batch& batch) {
  for (const Place& place : batch.places) {
    Sums& sums = sums_[static_cast<std::size_t>(place.attempt)];
    if (sums.out) continue;
    sums.kappa = std::max(sums.kappa, place.high / place.low);
    sums.truncation = std::max(sums.truncation, place.chosen);
  }
  for (std::size_t i = 0; i < batch.attempts.size(); ++i) {
    const Attempt& a = batch.attempts[i];
    Sums& sums = sums_[i];
    if (sums.out) continue;
    sums.band = a.band;
    if (!is_solution(sums.root_error)) {
      f_.outcomes_[static_cast<std::size_t>(a.bundle)].to_cpu =
          "the root of a fibre cannot be resolved";
      continue;
    }
    if (a.is_part()) {
      end_part(a.bundle, sums);
      continue;
    }
    Progress& progress = progress_[static_cast<std::size_t>(a.bundle)];
    progress.whole = a;
    progress.sums = sums;
    if (!sums.left.empty()) {  // its parts have been asked for
      progress.with_parts = sums;
      continue;
    }
    report(a.bundle, sums);
    if (needs_longer_skirts(sums.seam, p_.tuning.tolerance_sigma, sums.kappa, batch.cut.count))
      pending_.push_back({a.bundle, a.band, next_skirt(a.skirt, p_.grid.guard, p_.nbin)});
  }
}

void RootStage::report(int bundle, const Sums& sums) {
  const auto b = static_cast<std::size_t>(bundle);
  BundleReport& r = f_.outcomes_[b].report;
  r.first_fiber = p_.geometry_of(bundle).first_fiber;
  r.nfiber = p_.fibers_of(bundle);
  r.half_bandwidth = sums.band;
  r.windows = root_cut(p_, progress_[b].whole).count;
  r.kappa = sums.kappa;
  r.poles = sums.poles;
  r.seam_sigma = sums.seam;
  r.bound_sigma =
      bound_sigma(sums.truncation, sums.root_error, sums.seam, solve_error_[b], sums.kappa);
}

/// What leaves of all roots.
void RootStage::scatter() {
  const DeviceStage stage(stream_, "roots");
  std::vector<int> done;
  for (const int b : p_.bundle_of)
    done.push_back(f_.outcomes_[static_cast<std::size_t>(b)].to_cpu.empty() ? 1 : 0);
  Arena scratch = f_.root_scratch_;
  int* on_device = scratch.take<int>(done.size());
  f_.mail_.send(on_device, done);
  const ScatterArgs args{p_.nfiber(), p_.margin, p_.options.ndiag / 2, f_.roots_, f_.x_, f_.n_.phi,
                         on_device,   f_.result_};
  k_.scatter(stream_, ScatterKernel::blocks(args), args);
}

}  // namespace fiberloom::exact::gpu
