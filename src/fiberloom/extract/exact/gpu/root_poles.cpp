// SPDX-License-Identifier: BSD-3-Clause
// The narrowest band of each fibre, then its poles, in launches as large as the memory allows.
#include <algorithm>

#include "fiberloom/extract/exact/gpu/roots.hpp"
#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact::gpu {

namespace {

PoleArgs pole_work(int band, const Cut& cut, int nd, long tasks, int out_rows, Arena& a) {
  PoleArgs p{};
  p.l = take_packs(a, tasks, cut.rows, is_wide(band) ? wide_row(band) : band);
  if (!is_wide(band)) {
    for (Packs* each : {&p.inv_d, &p.v1, &p.vx}) *each = take_packs(a, tasks, cut.rows, 1);
  }
  p.out = take_packs(a, tasks, out_rows, nd + 3);
  return p;
}

}  // namespace

std::size_t RootStage::pole_bytes(const DeviceFrame& frame, int band, const Cut& cut, long tasks) {
  Arena measure;
  int first = 0;
  const int rows = row_count(cut, &first);
  (void)pole_work(band, cut, frame.p_.options.ndiag / 2, tasks, rows, measure);
  measure.take<long>(static_cast<std::size_t>(tasks) + 2);
  return measure.used() + 4096;
}

/// Walks the ladder of bands for the fibres that may have a narrower one, all that try the same
/// band at once.
void RootStage::narrow(Batch& batch, const Packs& s, Arena scratch) {
  for (Place& place : batch.places) {
    if (sums_[static_cast<std::size_t>(place.bundle)].out) continue;
    place.root_band = batch.band;
    place.chosen = place.truncation.back();
  }
  std::vector<char> settled(batch.places.size(), 0);
  for (std::size_t k = 0; k + 1 < batch.kept.size(); ++k) {
    const int band = batch.kept[k];
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
      const Place& place = batch.places[i];
      if (place.root_band == 0 || settled[i] != 0) continue;
      const int bundle = batch.attempts[static_cast<std::size_t>(place.bundle)].bundle;
      const int least = least_band(p_.geometry_of(bundle), p_.options, p_.tuning);
      if (may_do_with(band, least, batch.band) && !(place.truncation[k] > place.allowed))
        who.push_back(i);
    }
    if (who.empty()) continue;
    Arena memory = scratch;
    const int count = static_cast<int>(who.size());
    RootArgs root = root_arrays(f_, count, band, batch.cut, memory);
    root.s = take_packs(memory, count, f_.shape_.rows(), band + 1);
    root.wide_s = s;
    root.wide_band = batch.band;
    std::vector<int> fibers, places;
    std::vector<RootState> start;
    for (const std::size_t i : who) {
      const Place& place = batch.places[i];
      fibers.push_back(place.fiber);
      places.push_back(static_cast<int>(i));
      start.push_back({place.high, 0.0, place.signal, 0.0, 1, 0});
    }
    std::vector<RootState> states;
    {
      const DeviceStage stage(stream_, "bounds");
      f_.mail_.send(root.fiber, fibers);
      f_.mail_.send(root.place, places);
      f_.mail_.send(root.state, start);
      k_.narrow(stream_, f_.shape_.rows() * padded(count), root);
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

/// Poles of each place of a batch, those of place i from i x kMostPoles on.
struct RootStage::Poles {
  explicit Poles(std::size_t places)
      : count(places, 0), t(places * kMostPoles, 0.0), c(t), error(places, 0.0) {}
  [[nodiscard]] bool none() const {
    return std::all_of(count.begin(), count.end(), [](int k) { return k == 0; });
  }
  std::vector<int> count;
  std::vector<double> t, c, error;
};

/// Of those places whose band is `band`; their bundles remember the most of them.
RootStage::Poles RootStage::choose_poles(const Batch& batch, int band,
                                         const std::vector<std::size_t>& place_of) {
  Poles poles(place_of.size());
  f_.executor_->run(place_of.size(), [&](std::size_t i) {  // the device waits for these
    const Place& place = batch.places[place_of[i]];
    if (place.root_band != band) return;
    const RationalRoot rational = exact::choose_poles(place.low, place.high, place.signal,
                                                      kRootShare * p_.tuning.tolerance_sigma);
    poles.count[i] = static_cast<int>(rational.t.size());
    const auto at = static_cast<long>(i * kMostPoles);
    std::copy(rational.t.begin(), rational.t.end(), poles.t.begin() + at);
    std::copy(rational.c.begin(), rational.c.end(), poles.c.begin() + at);
    poles.error[i] = root_sigma(rational.error, place.signal);
  });
  for (std::size_t i = 0; i < place_of.size(); ++i) {
    Sums& sums = sums_[static_cast<std::size_t>(batch.places[place_of[i]].bundle)];
    sums.poles = std::max(sums.poles, poles.count[i]);
    sums.root_error = std::max(sums.root_error, poles.error[i]);
  }
  return poles;
}

/// Roots of those places whose band is the batch array's.
void RootStage::take_poles(Batch& batch, const RootArgs& root,
                           const std::vector<std::size_t>& place_of, Arena scratch) {
  const DeviceStage stage(stream_, "roots");
  const std::size_t n = place_of.size();
  const Poles poles = choose_poles(batch, root.band, place_of);
  if (poles.none()) return;
  PoleArgs fixed{};
  fixed.root = root;
  fixed.nd = p_.options.ndiag / 2;
  fixed.out_rows = row_count(root.cut, &fixed.out_first);
  const long lanes = padded(root.count) * root.cut.count;
  fixed.sums = take_packs(scratch, lanes, fixed.out_rows, fixed.nd + 3);
  fixed.poles = scratch.take<int>(n);
  fixed.t = scratch.take<double>(poles.t.size());
  fixed.c = scratch.take<double>(poles.c.size());
  double* seam = scratch.take<double>(n);
  f_.mail_.send(fixed.poles, poles.count);
  f_.mail_.send(fixed.t, poles.t);
  f_.mail_.send(fixed.c, poles.c);
  for (std::size_t first = 0; first < n;) {
    stop_if_asked(f_.observer_);
    std::vector<long> task{0};
    std::size_t last = first;
    while (last < n) {
      const long more = task.back() + static_cast<long>(poles.count[last]) * root.cut.count;
      if (last > first && pole_bytes(f_, root.band, root.cut, more) > scratch.left()) break;
      task.push_back(more);
      ++last;
    }
    if (task.back() > 0) {
      Arena memory = scratch;
      PoleArgs args = pole_work(root.band, root.cut, fixed.nd, task.back(), fixed.out_rows, memory);
      args.root = fixed.root;
      args.nd = fixed.nd;
      args.out_first = fixed.out_first;
      args.out_rows = fixed.out_rows;
      args.sums = fixed.sums;
      args.poles = fixed.poles;
      args.t = fixed.t;
      args.c = fixed.c;
      args.first = static_cast<int>(first);
      args.last = static_cast<int>(last);
      args.task = memory.take<long>(task.size());
      f_.mail_.send(args.task, task);
      k_.pole[band_index(root.band)](stream_, task.back(), args);
      k_.pole_sum(stream_, PoleSumKernel::blocks(args), args);
    }
    first = last;
  }
  const ScatterArgs scatter{fixed, f_.result_, f_.n_.phi, seam};
  k_.scatter(stream_, ScatterKernel::blocks(scatter), scatter);
  k_.seam(stream_, root.count, scatter);
  std::vector<double> seams(n);
  f_.mail_.receive(seam, seams);
  for (std::size_t i = 0; i < n; ++i) {
    if (poles.count[i] == 0) continue;
    Sums& sums = sums_[static_cast<std::size_t>(batch.places[place_of[i]].bundle)];
    sums.seam = std::max(sums.seam, seams[i]);
  }
}

}  // namespace fiberloom::exact::gpu
