// SPDX-License-Identifier: BSD-3-Clause
// The solve of a frame on the device: conjugate gradients over all bundles at once, step by step as
// in the CPU's solve.cpp.
#include <algorithm>

#include "fiberloom/extract/exact/gpu/frame.hpp"
#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact::gpu {

CgArgs DeviceFrame::solve_arrays(Arena& a) const {
  CgArgs s{};
  s.shape = shape_;
  s.n = n_;
  s.cut = p_.solve_cut;
  s.fiber = solve_fiber_;
  s.step = solve_step_;
  const long lanes = static_cast<long>(p_.solve_fiber.size()) * s.cut.count, f = p_.nfiber();
  const auto slots = static_cast<long>(p_.solve_fiber.size());
  s.l = take_packs(a, slots, shape_.rows(), p_.band);
  s.inv_d = take_packs(a, slots, shape_.rows(), 1);
  s.work = take_packs(a, lanes, s.cut.rows, 1);
  s.x = x_;
  for (Packs* each : {&s.r, &s.z, &s.p, &s.q, &s.own_p}) *each = take_packs(a, f, shape_.rows(), 1);
  s.state = a.take<CgState>(static_cast<std::size_t>(p_.nbundle()));
  s.partial =
      a.take<double>(static_cast<std::size_t>(p_.nbundle()) * static_cast<std::size_t>(p_.nbin));
  s.tolerance = kSolveShare * p_.tuning.tolerance_sigma;
  s.most_iterations = p_.tuning.most_iterations;
  return s;
}

std::size_t DeviceFrame::solve_bytes() const {
  Arena measure;
  (void)solve_arrays(measure);
  return measure.used() + 256;
}

void DeviceFrame::solve_own(CgArgs& s, const Slots& fibers, const Packs& from, const Packs& to) {
  s.slots = fibers;
  s.from = from;
  s.to = to;
  k_->own_solve[band_index(p_.band)](*stream_, static_cast<long>(fibers.count) * s.cut.count, s);
}

void DeviceFrame::dot(CgArgs& s, const Packs& a, const Packs& b) {
  s.from = a;
  s.to = b;
  k_->dot(*stream_, static_cast<long>(p_.nbundle()) * p_.nbin, s);
}

bool DeviceFrame::any_active(const CgArgs& s, std::vector<CgState>& states) {
  mail_.receive(s.state, states);
  return std::any_of(states.begin(), states.end(), [](const CgState& c) { return c.active != 0; });
}

void DeviceFrame::conjugate_gradients() {
  const DeviceStage stage(*stream_, "solve");
  const bool beside = kept_.scale != nullptr && solve_bytes() <= after_spots_.left();
  if (!beside) kept_ = {};
  Arena scratch = beside ? after_spots_ : scratch_;
  CgArgs s = solve_arrays(scratch);
  const long bundles = p_.nbundle();
  const Slots iterated{0, p_.iterated_slots},
      eliminated{iterated.count, static_cast<int>(p_.solve_fiber.size()) - iterated.count},
      all{0, iterated.count + eliminated.count};
  for (const Packs& v : {s.r, s.z, s.p, s.q, s.own_p})
    clear(*stream_, v, p_.nfiber());  // margins are read
  k_->activate(*stream_, bundles, s);
  s.slots = all;
  k_->own_factor[band_index(p_.band)](*stream_, static_cast<long>(all.count) * s.cut.count, s);
  const auto each = [&](Launch<CgArgs> kernel, const Slots& fibers) {
    s.slots = fibers;
    kernel(*stream_, static_cast<long>(p_.nbin) * fibers.count, s);
  };
  const auto multiply = [&](Product product, const Slots& fibers, const Packs& from,
                            const Packs& to) {
    s.product = product;
    s.from = from;
    s.to = to;
    each(k_->apply, fibers);
  };
  solve_own(s, iterated, n_.rhs, s.x);
  multiply(Product::kRestOfY, eliminated, s.x, s.q);
  solve_own(s, eliminated, s.q, s.x);
  multiply(Product::kResidual, iterated, s.x, s.r);
  solve_own(s, iterated, s.r, s.z);
  dot(s, s.r, s.z);
  k_->begin(*stream_, bundles, s);
  std::vector<CgState> states(static_cast<std::size_t>(bundles));
  while (any_active(s, states)) {
    stop_if_asked(observer_);
    each(k_->direction, iterated);
    multiply(Product::kFollow, eliminated, s.p, s.q);
    solve_own(s, eliminated, s.q, s.p);
    multiply(Product::kWithOwnDirection, iterated, s.p, s.q);
    dot(s, s.p, s.q);
    k_->step(*stream_, bundles, s);
    each(k_->move, all);
    each(k_->residual, iterated);
    solve_own(s, iterated, s.r, s.z);
    dot(s, s.r, s.z);
    k_->next(*stream_, bundles, s);
  }
  for (std::size_t b = 0; b < states.size(); ++b) {
    outcomes_[b].report.cg_iterations = states[b].progress.iterations;
    const double error = solution_error(states[b].progress.rz);
    outcomes_[b].report.bound_sigma = outcomes_[b].report.solve_sigma = error;  // so far
    if (!(error <= p_.tuning.tolerance_sigma))
      outcomes_[b].to_cpu = "the solution did not converge";
  }
}

void DeviceFrame::solve() {
  conjugate_gradients();
  stream_->wait_for(*side_);  // the first sweeps: roots need both
}

}  // namespace fiberloom::exact::gpu
