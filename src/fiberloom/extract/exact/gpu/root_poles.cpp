// SPDX-License-Identifier: BSD-3-Clause
// The narrowest band of each fibre, then its poles, in launches as large as the memory allows.
#include <algorithm>

#include "fiberloom/extract/exact/gpu/roots.hpp"
#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact::gpu {

namespace {

/// `lanes`: tasks of a wide band, threads of PoleKernel of a narrow one.
PoleArgs pole_work(int band, const Cut& cut, int nd, long lanes, int out_rows, Arena& a) {
  PoleArgs p{};
  p.l = take_packs(a, lanes, cut.rows, is_wide(band) ? wide_row(band) : pole_row(band));
  if (is_wide(band)) p.out = take_packs(a, lanes, out_rows, nd + 3);
  return p;
}

/// The poles of which positions go through one launch, and who has which part of it.
class PoleLaunch {
 public:
  PoleLaunch(int band, int windows) : wide_(is_wide(band)), windows_(windows) {}
  /// Lanes with another position of so many poles, at most.
  [[nodiscard]] long lanes_with(int poles) const {
    return wide_ ? task_.back() + static_cast<long>(poles) * windows_
                 : (blocks() + windows_) * kPoleThreads;
  }
  void add(int poles) {
    task_.push_back(task_.back() + static_cast<long>(poles) * windows_);
    for (int w = 0; w < windows_; ++w, ++items_) {
      if (used_ + poles > kPoleThreads) {  // whole windows
        item_.push_back(items_);
        used_ = 0;
      }
      used_ += poles;
    }
  }
  [[nodiscard]] bool is_empty() const { return task_.back() == 0; }
  [[nodiscard]] long lanes() const { return wide_ ? task_.back() : blocks() * kPoleThreads; }
  [[nodiscard]] long blocks() const { return wide_ ? task_.back() : std::ssize(item_); }
  /// What the kernel finds them by.
  [[nodiscard]] std::vector<long> table() const {
    std::vector<long> table = wide_ ? task_ : item_;
    if (!wide_) table.push_back(items_);
    return table;
  }

 private:
  bool wide_;
  int windows_, used_ = 0;
  long items_ = 0;
  std::vector<long> task_{0}, item_{0};
};

}  // namespace

std::size_t RootStage::pole_bytes(const DeviceFrame& frame, int band, const Cut& cut, long lanes) {
  Arena measure;
  int first = 0;
  const int rows = row_count(cut, &first);
  (void)pole_work(band, cut, frame.p_.options.ndiag / 2, lanes, rows, measure);
  measure.take<long>(static_cast<std::size_t>(lanes) + 2);
  return measure.used() + 4096;
}

/// Walks the ladder of bands for the fibres that may have a narrower one, all that try the same
/// band at once.
void RootStage::narrow(Batch& batch, const RootArgs& wide, Arena scratch) {
  for (Place& place : batch.places) {
    if (sums_[static_cast<std::size_t>(place.attempt)].out) continue;
    place.root_band = batch.band;
    place.chosen = place.widest_truncation;
  }
  std::vector<char> settled(batch.places.size(), 0);
  for (std::size_t k = 0; k + 1 < batch.kept.size(); ++k) {
    const int band = batch.kept[k];
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
      const Place& place = batch.places[i];
      if (place.root_band == 0 || settled[i] != 0) continue;
      const int bundle = batch.attempts[static_cast<std::size_t>(place.attempt)].bundle;
      const int least = least_band(p_.geometry_of(bundle), p_.options, p_.tuning);
      if (may_do_with(band, least, batch.band) && !(place.truncation[k] > place.allowed))
        who.push_back(i);
    }
    if (who.empty()) continue;
    Arena memory = scratch;
    const int count = static_cast<int>(who.size());
    RootArgs root = root_arrays(f_, batch.axis, count, band, batch.cut, memory);
    root.s = take_packs(memory, count, batch.axis.shape.rows(), band + 1);
    root.wide_s = wide.s;
    root.wide_band = batch.band;
    std::vector<int> places;
    std::vector<RootState> start;
    for (const std::size_t i : who) {
      const Place& place = batch.places[i];
      places.push_back(static_cast<int>(i));
      start.push_back({place.high, 0.0, place.signal, 0.0, 1, 0});
    }
    std::vector<RootState> states;
    {
      const DeviceStage stage(stream_, "bounds");
      f_.mail_.send(root.place, places);
      f_.mail_.send(root.state, start);
      k_.narrow(stream_, batch.axis.shape.rows() * padded(count), root);
      states = prove(root);
    }
    for (std::size_t i = 0; i < who.size(); ++i) {
      if (!(states[i].low > 0)) continue;
      Place& place = batch.places[who[i]];
      settled[who[i]] = 1;
      place.low = states[i].low;
      place.root_band = band;
      place.chosen = place.truncation[k];
    }
    take_poles(batch, root, who, memory);
  }
}

/// Poles of those places whose band is `root`'s; how many of each. Their bundles remember the most
/// of them.
std::vector<int> RootStage::choose_poles(const Batch& batch, const RootArgs& root,
                                         const std::vector<std::size_t>& place_of, PoleArgs& poles,
                                         Arena& scratch) {
  const std::size_t n = place_of.size();
  std::vector<int> wanted, count;
  for (const std::size_t i : place_of) wanted.push_back(batch.places[i].root_band == root.band);
  if (std::find(wanted.begin(), wanted.end(), 1) == wanted.end()) return {};
  RootPolesArgs args{};
  args.root = root;
  args.tolerance = kRootShare * p_.tuning.tolerance_sigma;
  int* on_device = scratch.take<int>(n);
  args.wanted = on_device;
  args.poles = scratch.take<int>(n);
  args.t = scratch.take<double>(n * kMostPoles);
  args.c = scratch.take<double>(n * kMostPoles);
  args.chosen = scratch.take<ChosenPoles>(n);
  f_.mail_.send(on_device, wanted);
  k_.poles(stream_, static_cast<long>(n) * kMostPoles, args);
  std::vector<ChosenPoles> chosen(n);
  f_.mail_.receive(args.chosen, chosen);
  poles.poles = args.poles;
  poles.t = args.t;
  poles.c = args.c;
  for (std::size_t i = 0; i < n; ++i) {
    count.push_back(chosen[i].count);
    if (chosen[i].count == 0) continue;
    const Place& place = batch.places[place_of[i]];
    Sums& sums = sums_[static_cast<std::size_t>(place.attempt)];
    sums.poles = std::max(sums.poles, chosen[i].count);
    sums.root_error = std::max(sums.root_error, root_sigma(chosen[i].error, place.signal));
  }
  return count;
}

/// Parts are as long as they are, and what is read of them begins behind their skirt.
void RootStage::send_lengths(const Batch& batch, PoleArgs& poles, Arena& scratch) {
  poles.out_first = std::max(0, batch.attempts.front().skirt - 1);
  poles.out_rows -= poles.out_first;
  std::vector<int> rows;
  for (const Place& place : batch.places)
    rows.push_back(batch.attempts[static_cast<std::size_t>(place.attempt)].own_length());
  int* on_device = scratch.take<int>(rows.size());
  f_.mail_.send(on_device, rows);
  poles.rows = on_device;
}

/// Where they belong in the frame.
void RootStage::send_places(const Batch& batch, const std::vector<std::size_t>& place_of,
                            const TakeArgs& take) {
  std::vector<int> fiber, origin, first, last;
  for (const std::size_t i : place_of) {
    const Place& place = batch.places[i];
    const Attempt& a = batch.attempts[static_cast<std::size_t>(place.attempt)];
    fiber.push_back(place.fiber);
    origin.push_back(a.origin());
    first.push_back(a.is_part() ? a.part.first : 0);
    last.push_back(a.is_part() ? a.part.last : p_.nbin);
  }
  f_.mail_.send(take.fiber, fiber);
  f_.mail_.send(take.origin, origin);
  f_.mail_.send(take.first, first);
  f_.mail_.send(take.last, last);
}

/// Roots of those places whose band is the batch array's.
void RootStage::take_poles(Batch& batch, const RootArgs& root,
                           const std::vector<std::size_t>& place_of, Arena scratch) {
  const DeviceStage stage(stream_, "roots");
  const std::size_t n = place_of.size();
  PoleArgs fixed{};
  const std::vector<int> poles = choose_poles(batch, root, place_of, fixed, scratch);
  if (poles.empty()) return;
  fixed.root = root;
  fixed.nd = p_.options.ndiag / 2;
  fixed.out_rows = row_count(root.cut, &fixed.out_first);
  if (batch.attempts.front().is_part()) send_lengths(batch, fixed, scratch);
  const long lanes = padded(root.count) * root.cut.count;
  fixed.sums = take_packs(scratch, lanes, fixed.out_rows, fixed.nd + 3);
  TakeArgs take = take_arrays(f_, n, scratch);
  for (std::size_t first = 0, last = 0; first < n; first = last) {
    stop_if_asked(f_.observer_);
    PoleLaunch launch(root.band, root.cut.count);
    while (last < n &&
           (last == first ||
            pole_bytes(f_, root.band, root.cut, launch.lanes_with(poles[last])) <= scratch.left()))
      launch.add(poles[last++]);
    if (launch.is_empty()) continue;
    Arena memory = scratch;
    PoleArgs args = fixed;
    const PoleArgs work =
        pole_work(root.band, root.cut, fixed.nd, launch.lanes(), fixed.out_rows, memory);
    args.l = work.l;
    args.out = work.out;
    args.first = static_cast<int>(first);
    args.last = static_cast<int>(last);
    const std::vector<long> table = launch.table();
    args.task = args.block_item = memory.take<long>(table.size());
    f_.mail_.send(args.task, table);
    k_.pole[band_index(root.band)](stream_, launch.blocks(), args);
    if (is_wide(root.band)) k_.pole_sum(stream_, PoleSumKernel::blocks(args), args);
  }
  take.pole = fixed;
  send_places(batch, place_of, take);
  k_.seam(stream_, root.count, take);
  k_.take(stream_, batch.axis.shape.nbin * padded(root.count), take);
  std::vector<double> seams(n);
  f_.mail_.receive(take.seam, seams);
  for (std::size_t i = 0; i < n; ++i) {
    if (poles[i] == 0) continue;
    Sums& sums = sums_[static_cast<std::size_t>(batch.places[place_of[i]].attempt)];
    sums.seam = std::max(sums.seam, seams[i]);
  }
}

}  // namespace fiberloom::exact::gpu
