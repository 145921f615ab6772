// SPDX-License-Identifier: BSD-3-Clause
// Parts of the axis: which bins are left out of the whole, and what their own look gives.
#include <algorithm>
#include <numeric>

#include "fiberloom/extract/exact/gpu/roots.hpp"
#include "fiberloom/extract/exact/recipe.hpp"

namespace fiberloom::exact::gpu {

/// Places whose band is too narrow, and that may leave bins out.
std::vector<char> RootStage::may_leave(const Batch& batch) const {
  std::vector<char> open(batch.places.size(), 0);
  if (batch.attempts.front().is_part()) return open;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Place& place = batch.places[i];
    const Attempt& a = batch.attempts[static_cast<std::size_t>(place.attempt)];
    if (progress_[static_cast<std::size_t>(a.bundle)].may_leave && place.low > 0 &&
        is_too_narrow(batch, place))
      open[i] = 1;
  }
  return open;
}

/// As leave_bins() does of one fibre: of all places whose band is too narrow, and that may. The
/// upper bound stays: without some of its bins S has no larger eigenvalue.
void RootStage::leave(Batch& batch, const RootArgs& root, const PlaceView& places, Arena scratch) {
  std::vector<char> open = may_leave(batch);
  const auto any = [&] { return std::find(open.begin(), open.end(), 1) != open.end(); };
  if (!any()) return;
  const std::size_t n = batch.places.size();
  const long rows = batch.axis.shape.rows();
  LeaveArgs args{};
  args.root = root;
  args.places = places;
  double *allowed = scratch.take<double>(n), *diagonal = scratch.take<double>(n);
  args.beyond = scratch.take<unsigned char>(static_cast<std::size_t>(rows * padded(root.count)));
  args.allowed = allowed;
  args.diagonal = diagonal;
  const std::vector<Place> before = batch.places;
  std::vector<double> limit(n, -1.0), high(n, 0.0), success(n, -1.0);
  for (std::size_t i = 0; i < n; ++i) {
    high[i] = before[i].high;
    if (open[i] != 0) limit[i] = before[i].allowed;
  }
  f_.mail_.send(diagonal, high);
  for (int i = 0; i < kMostLeavings && any(); ++i) {
    f_.mail_.send(allowed, limit);
    k_.leave_beyond(stream_, rows * padded(root.count), args);
    k_.leave_mark(stream_, batch.axis.shape.nbin * padded(root.count), args);
    k_.leave_out(stream_, rows * padded(root.count), args);
    bound_again(batch, root, open);
    measure(batch, root);
    for (std::size_t k = 0; k < n; ++k) {
      if (open[k] == 0) continue;
      limit[k] = batch.places[k].allowed;
      if (!(batch.places[k].low > 0) || is_too_narrow(batch, batch.places[k])) continue;
      batch.places[k].left_truncation = before[k].widest_truncation;
      open[k] = 0;
      limit[k] = -1.0;
      success[k] = 1.0;
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (open[k] != 0) batch.places[k] = before[k];
  }
  f_.mail_.send(allowed, success);
  note_left(batch, args, scratch);
}

/// Lower bounds of those places.
void RootStage::bound_again(Batch& batch, const RootArgs& root, const std::vector<char>& who) {
  std::vector<RootState> states;
  for (std::size_t i = 0; i < who.size(); ++i) {
    const Place& place = batch.places[i];
    states.push_back({place.high, place.low, place.signal, 0.0, who[i], 0});
  }
  f_.mail_.send(root.state, states);
  states = prove(root);
  for (std::size_t i = 0; i < who.size(); ++i) note_bounds(states[i], batch.places[i]);
}

/// The ranges that were left out, of any fibre of a bundle.
void RootStage::note_left(const Batch& batch, const LeaveArgs& start, Arena scratch) {
  LeaveArgs args = start;
  const auto nbin = static_cast<std::size_t>(batch.axis.shape.nbin);
  std::vector<unsigned char> left(batch.attempts.size() * nbin);
  args.left = scratch.take<unsigned char>(left.size());
  k_.leave_union(stream_, static_cast<long>(left.size()), args);
  f_.mail_.receive(args.left, left);
  for (std::size_t i = 0; i < batch.attempts.size(); ++i) {
    BinRanges& bins = sums_[i].left;
    for (std::size_t j = 0; j < nbin; ++j) {
      if (left[i * nbin + j] == 0) continue;
      const int bin = static_cast<int>(j);
      if (bins.empty() || bins.back().last < bin) bins.push_back({bin, bin});
      bins.back().last = bin + 1;
    }
  }
}

/// Parts of the bundles of a batch that left bins out, whatever their roots are.
void RootStage::ask_for_parts(const Batch& batch) {
  for (std::size_t i = 0; i < batch.attempts.size(); ++i) {
    const Attempt& a = batch.attempts[i];
    if (sums_[i].out || sums_[i].left.empty()) continue;
    Progress& progress = progress_[static_cast<std::size_t>(a.bundle)];
    progress.whole = a;
    progress.sums = sums_[i];
    begin_parts(a.bundle, 0);
  }
}

/// Sweeps of parts, on the side while the roots of `now` are found, where half of the memory is
/// enough and leaves what these may need. What the parts need later has what is free then, before
/// it or behind it.
void RootStage::sweep_ahead(const Batch& now, Arena& scratch) {
  if (f_.side_ == &stream_ || pending_.empty() || !pending_.front().is_part()) return;
  std::vector<Attempt> next = take_batch(pending_);
  const std::size_t bytes = sweep_bytes(f_, next, nullptr);
  if (bytes <= scratch.left() / 2) {
    Arena behind = scratch;
    auto* const memory = behind.take<std::byte>(bytes);
    const Arena before = f_.root_scratch_.before(memory);
    const Arena& later = before.left() > behind.left() ? before : behind;
    const bool leaves_enough = batch_bytes(f_, now.attempts) <= scratch.used() + behind.left();
    if (leaves_enough && batch_bytes(f_, next) <= later.left()) {
      begun_ = sweep(*f_.side_, std::move(next), Arena(memory, bytes, &stream_));
      begun_->scratch = later;
      scratch = behind;
      return;
    }
  }
  pending_.insert(pending_.begin(), next.begin(), next.end());
}

/// The parts of a bundle, with skirts of that attempt or longer; a wider band from end to end where
/// they would cost too much.
void RootStage::begin_parts(int bundle, int attempt) {
  Progress& progress = progress_[static_cast<std::size_t>(bundle)];
  const Sums& sums = progress.sums;
  const Attempt& whole = progress.whole;
  const Windows windows = root_windows(p_.nbin, whole.skirt, p_.tuning.most_windows);
  for (; attempt < kPartTries; ++attempt) {
    const int skirt = part_skirt(attempt, p_.grid.guard);
    const BinRanges parts = parts_of(sums.left, skirt, p_.nbin);
    if (!worth_parts(parts, skirt, windows)) continue;
    progress.part_try = attempt;
    progress.parts_open = static_cast<int>(parts.size());
    progress.with_parts = sums;
    for (const BinRange& part : parts)
      widen({bundle, whole.band, skirt, part}, sums.left_truncation);
    return;
  }
  progress.may_leave = false;
  widen({bundle, whole.band, whole.skirt}, sums.left_truncation);
}

void RootStage::end_part(int bundle, const Sums& sums) {
  Progress& progress = progress_[static_cast<std::size_t>(bundle)];
  progress.with_parts.add(sums);
  if (--progress.parts_open > 0) return;
  const Sums& all = progress.with_parts;
  if (all.seam <= allowed_sigma(p_.tuning.tolerance_sigma, all.kappa)) {
    report(bundle, all);
  } else {
    begin_parts(bundle, progress.part_try + 1);
  }
}

/// In steps of the sweeps' windows.
int RootStage::part_length(int bins) {
  return (std::max(bins, 2 * kSweepCore) + kSweepCore - 1) / kSweepCore * kSweepCore;
}

/// Axes of parts have lengths of a few classes, by octaves from 128 on: those of one class are done
/// together, in arrays as long as the longest of them needs.
void RootStage::set_lengths(std::vector<Attempt>& pending) {
  int longest[32] = {};
  const auto longest_of = [&](const Attempt& a) -> int& {
    int octave = 0;
    while ((128 << octave) < a.own_length()) ++octave;
    return longest[octave];
  };
  for (int pass = 0; pass < 2; ++pass) {
    for (Attempt& a : pending) {
      if (!a.is_part() || a.length != 0) continue;
      int& most = longest_of(a);
      if (pass == 0) most = std::max(most, a.own_length());
      if (pass == 1) a.length = part_length(most);
    }
  }
}

}  // namespace fiberloom::exact::gpu
