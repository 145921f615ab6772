// SPDX-License-Identifier: BSD-3-Clause
// Memory of sweeps and roots; the sweeps.
#include <algorithm>
#include <numeric>
#include <utility>

#include "fiberloom/extract/exact/gpu/roots.hpp"
#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"
#include "loom/linalg/banded_lane.hpp"

namespace fiberloom::exact::gpu {

namespace {

constexpr int kRowChunk = 16, kWideRowChunk = 4;
static_assert(kBands.size() <= kMostKept);

/// SweepTermKernel<band>: how many problems a block treats, and the blocks of a step.
struct TermBlocks {
  int abreast = 0;  ///< 0: a block's memory is too small
  long count = 0;
};
template <int... I>
TermBlocks term_blocks(SweepArgs s, std::size_t shared_bytes, std::integer_sequence<int, I...>) {
  TermBlocks found;
  const auto look = [&]<int B>() {
    if (s.band != B) return;
    found.abreast = s.abreast = SweepTermKernel<B>::abreast(s, shared_bytes);
    if (s.abreast > 0) found.count = SweepTermKernel<B>::blocks(s);
  };
  (look.template operator()<kDeviceBands[I]>(), ...);
  return found;
}
TermBlocks term_blocks(const SweepArgs& s, std::size_t shared_bytes) {
  return term_blocks(s, shared_bytes, std::make_integer_sequence<int, kBandCount>());
}

}  // namespace

/// Whether the sweeps' kernels have that band: they need a block's memory.
bool RootStage::has_band(const Attempt& a) const {
  SweepArgs s{};
  s.shape = f_.shape_;
  s.band = a.band;
  s.half = p_.half_of(a.bundle);
  s.tail = p_.sweep_skirt();
  s.places.nbundle = 1;
  return term_blocks(s, f_.shared_bytes_).abreast > 0;
}

/// A part is one window.
Cut RootStage::root_cut(const Problem& p, const Attempt& a) {
  const int bins = a.is_part() ? a.length : p.nbin;
  const Windows w = root_windows(bins, a.is_part() ? bins : a.skirt, p.tuning.most_windows);
  return {w.count, w.stride, w.skirt, w.rows};
}

int RootStage::row_count(const Cut& cut, int* first) {
  *first = std::max(0, cut.skirt - 1);
  return std::min(cut.rows, cut.skirt + cut.stride + 1) - *first;
}

/// Of the frame, or of parts of that length.
RootStage::Axis RootStage::axis_of(const DeviceFrame& f, int length) {
  if (length == 0) return {f.shape_, f.p_.sweep_cut(f.p_.nbin), {}, {}};
  Axis part{f.shape_, f.p_.sweep_cut(length, kPartSweepCore), {}, {}};
  part.shape.nbin = length;
  part.shape.margin = f.p_.sweep_margin(length);
  return part;
}

SweepBeginArgs RootStage::sweep_arrays(const DeviceFrame& frame, const Axis& axis,
                                       const std::vector<Attempt>& attempts, Arena& a,
                                       Arena* after_s) {
  SweepBeginArgs begin{};
  SweepArgs& s = begin.sweep;
  s.shape = axis.shape;
  s.band = attempts.front().band;
  s.half = frame.p_.half_of(attempts.front().bundle);  // all have the same
  s.cut = axis.sweep;
  s.tail = frame.p_.sweep_skirt();
  int places = 0, longest = 0;
  for (const Attempt& each : attempts) {
    const int fibers = frame.p_.fibers_of(each.bundle);
    places += fibers;
    longest = std::max(longest, fibers);
  }
  const auto n = static_cast<std::size_t>(places);
  s.places.nbundle = static_cast<int>(attempts.size());
  s.places.nplace = places;
  s.places.fibers = a.take<int>(attempts.size());
  s.places.place_of = a.take<int>(attempts.size() * static_cast<std::size_t>(longest));
  const long rows = s.shape.rows();
  for (Packs* each : {&begin.to_x, &begin.to_ones}) *each = take_packs(a, places, rows, 1);
  s.left = take_packs(a, places, rows, s.band + 1);
  *after_s = a;
  s.right = take_packs(a, places, rows, s.band + 1);
  s.own = take_packs(a, places, rows, s.band + 1);
  s.cross = take_packs(a, places, rows, 2 * s.half + 1);
  s.l = take_packs(a, s.problems(), rows, s.band);
  s.inv_d = take_packs(a, s.problems(), rows, 1);
  begin.frame = frame.shape_;
  begin.n = frame.n_;
  begin.x = frame.x_;
  begin.whole = attempts.front().is_part() ? 0 : 1;
  begin.fiber = a.take<int>(n);
  begin.origin = a.take<int>(n);
  begin.length = a.take<int>(n);
  return begin;
}

RootArgs RootStage::root_arrays(const DeviceFrame& frame, const Axis& axis, int count, int band,
                                const Cut& cut, Arena& a) {
  RootArgs r{};
  r.shape = axis.shape;
  r.count = count;
  r.cut = cut;
  r.band = r.wide_band = band;
  r.x = axis.x;
  r.ones = axis.ones;
  r.decay = frame.p_.grid.decay;
  const auto n = static_cast<std::size_t>(count);
  const long lanes = padded(count) * cut.count;
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
  r.chunk_rows = is_wide(band) ? kWideRowChunk : kRowChunk;
  r.chunks = (cut.count * cut.stride + 2 * cut.skirt + r.chunk_rows - 1) / r.chunk_rows;
  r.partial = a.take<double>(2 * static_cast<std::size_t>(r.chunks * padded(count)));
  return r;
}

TakeArgs RootStage::take_arrays(const DeviceFrame& frame, std::size_t count, Arena& a) {
  TakeArgs t{};
  t.roots = frame.roots_;
  t.fiber = a.take<int>(count);
  t.origin = a.take<int>(count);
  t.first = a.take<int>(count);
  t.last = a.take<int>(count);
  t.seam = a.take<double>(count);
  return t;
}

std::size_t RootStage::sweep_bytes(const DeviceFrame& frame, const std::vector<Attempt>& attempts,
                                   Arena* rest) {
  Arena sweep, after_s;
  const SweepBeginArgs args =
      sweep_arrays(frame, axis_of(frame, attempts.front().length), attempts, sweep, &after_s);
  for (int i = 0; i < 2; ++i)  // what counts at the end
    sweep.take<int>(static_cast<std::size_t>(args.sweep.places.nplace));
  if (rest != nullptr) *rest = after_s;
  return sweep.used() + 256;
}

std::size_t RootStage::batch_bytes(const DeviceFrame& frame, const std::vector<Attempt>& attempts) {
  const int band = attempts.front().band;
  int places = 0;
  for (const Attempt& a : attempts) places += frame.p_.fibers_of(a.bundle);
  const auto n = static_cast<std::size_t>(places);
  Arena rest;
  const std::size_t sweep = sweep_bytes(frame, attempts, &rest);
  const Axis axis = axis_of(frame, attempts.front().length);
  const Cut cut = root_cut(frame.p_, attempts.front());
  (void)root_arrays(frame, axis, places, band, cut, rest);
  const long rows = axis.shape.rows();
  // where bins are left out
  rest.take<unsigned char>(static_cast<std::size_t>(rows * padded(places)));
  for (int i = 0; i < 2; ++i) rest.take<double>(n);
  rest.take<unsigned char>(attempts.size() * static_cast<std::size_t>(axis.shape.nbin));
  // a narrower copy and its arrays, and the poles of at least one fibre
  (void)root_arrays(frame, axis, places, band, cut, rest);
  (void)take_packs(rest, places, rows, band + 1);
  int first = 0;
  const int out_rows = row_count(cut, &first);
  (void)take_packs(rest, padded(places) * cut.count, out_rows, frame.p_.options.ndiag / 2 + 3);
  for (int i = 0; i < 3; ++i) rest.take<int>(n);
  rest.take<ChosenPoles>(n);
  for (const std::size_t each : {n * kMostPoles, n * kMostPoles}) rest.take<double>(each);
  (void)take_arrays(frame, n, rest);
  const std::size_t poles = rest.used() + pole_bytes(frame, band, cut, kPoleThreads * cut.count);
  return std::max(sweep, poles) + 8192;
}

std::size_t RootStage::least_bytes(const DeviceFrame& frame) {
  std::size_t most = 0;
  const int guard = frame.p_.grid.guard, nbin = frame.p_.nbin;
  for (int b = 0; b < frame.p_.nbundle(); ++b) {
    for (const int skirt : {guard, 2 * guard, nbin})
      most = std::max(most, batch_bytes(frame, {{b, kWidestBand, skirt}}));
    const int skirt = part_skirt(kPartTries - 1, guard);
    const Attempt longest{b, kWidestBand, skirt, {0, nbin}, part_length(nbin + 2 * skirt)};
    most = std::max(most, batch_bytes(frame, {longest}));
  }
  return most;
}

std::size_t RootStage::full_bytes(const DeviceFrame& frame, int poles) {
  std::vector<Attempt> all;
  for (int b = 0; b < frame.p_.nbundle(); ++b)
    all.push_back({b, least_band(frame.p_.geometry_of(0), frame.p_.options, frame.p_.tuning),
                   frame.p_.grid.guard});
  if (all.empty()) return 0;
  const Cut cut = root_cut(frame.p_, all.front());
  const long lanes = static_cast<long>(frame.p_.nfiber()) * cut.count * poles;
  return batch_bytes(frame, all) + pole_bytes(frame, all.front().band, cut, lanes);
}

/// What the batch is.
void RootStage::send_sweep(const Batch& batch, const SweepBeginArgs& args) {
  std::vector<int> fiber, origin, length;
  for (const Place& place : batch.places) {
    const Attempt& a = batch.attempts[static_cast<std::size_t>(place.attempt)];
    fiber.push_back(place.fiber);
    origin.push_back(a.origin());
    length.push_back(a.is_part() ? a.own_length() : p_.nbin);
  }
  f_.mail_.send(args.sweep.places.fibers, batch.fibers);
  f_.mail_.send(args.sweep.places.place_of, batch.place_of);
  f_.mail_.send(args.fiber, fiber);
  f_.mail_.send(args.origin, origin);
  f_.mail_.send(args.length, length);
}

/// What counts in the end.
SweepMergeArgs RootStage::send_merge(const Batch& batch, const SweepArgs& s, Arena& scratch) {
  std::vector<int> left, right;
  for (const Place& place : batch.places) {
    const auto attempt = static_cast<std::size_t>(place.attempt);
    const int first = p_.bundle_first[static_cast<std::size_t>(batch.attempts[attempt].bundle)];
    const int f = place.fiber - first;
    const Sweeps sweeps = p_.tuning.sweeps;
    left.push_back(sweeps != Sweeps::kNone && f > 0);
    right.push_back(sweeps == Sweeps::kBoth && f + 1 < batch.fibers[attempt]);
  }
  int *from_left = scratch.take<int>(left.size()), *from_right = scratch.take<int>(right.size());
  f_.mail_.send(from_left, left);
  f_.mail_.send(from_right, right);
  return {s, from_left, from_right};
}

/// S of the batch in `left`; ones of its axis. What is sent goes by the frame's own stream, as all
/// mail does.
RootStage::Swept RootStage::sweep(Stream& on, std::vector<Attempt> attempts, Arena scratch) {
  Swept swept{make_batch(std::move(attempts)), {}, {}};
  Batch& batch = swept.batch;
  swept.args = sweep_arrays(f_, batch.axis, batch.attempts, scratch, &swept.scratch);
  SweepArgs& s = swept.args.sweep;
  const TermBlocks terms = term_blocks(s, f_.shared_bytes_);
  s.abreast = terms.abreast;
  batch.axis.x = swept.args.to_x;
  batch.axis.ones = swept.args.to_ones;
  send_sweep(batch, swept.args);
  const SweepMergeArgs merge = send_merge(batch, s, scratch);
  on.wait_for(stream_);
  const DeviceStage stage(on, "sweeps");
  const long elements = s.shape.rows() * padded(s.places.nplace);
  k_.sweep_begin(on, elements, swept.args);
  f_.clear(on, s.l, s.problems());  // nothing couples outside the grid
  f_.clear(on, s.inv_d, s.problems());
  const int band = band_index(batch.band);
  const int longest = *std::max_element(batch.fibers.begin(), batch.fibers.end());
  SweepArgs step = s;
  for (; step.step + 1 < longest && p_.tuning.sweeps != Sweeps::kNone; ++step.step) {
    stop_if_asked(f_.observer_);
    k_.sweep_factor[band](on, step.lanes(), step);
    k_.sweep_terms[band](on, terms.count, step);
  }
  k_.sweep_merge(on, elements, merge);
  return swept;
}

}  // namespace fiberloom::exact::gpu
