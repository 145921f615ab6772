// SPDX-License-Identifier: BSD-3-Clause
// The solve of a frame on the device: conjugate gradients over all bundles at once.
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
  const long lanes = padded(p_.nfiber()) * s.cut.count, f = p_.nfiber();
  s.l = take_packs(a, lanes, s.cut.rows, p_.band);
  s.inv_d = take_packs(a, lanes, s.cut.rows, 1);
  s.work = take_packs(a, lanes, s.cut.rows, 1);
  s.x = x_;
  s.r = take_packs(a, f, shape_.rows(), 1);
  s.z = take_packs(a, f, shape_.rows(), 1);
  s.p = take_packs(a, f, shape_.rows(), 1);
  s.q = take_packs(a, f, shape_.rows(), 1);
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

void DeviceFrame::precondition(CgArgs& s, const Packs& from, const Packs& to) {
  s.from = from;
  s.to = to;
  k_->precondition[band_index(p_.band)](*stream_, padded(p_.nfiber()) * s.cut.count, s);
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

void DeviceFrame::solve() {
  const DeviceStage stage(*stream_, "solve");
  const bool beside = kept_.data != nullptr && solve_bytes() <= after_spots_.left();
  if (!beside) kept_ = {};
  Arena scratch = beside ? after_spots_ : scratch_;
  CgArgs s = solve_arrays(scratch);
  const long each = static_cast<long>(p_.nbin) * padded(p_.nfiber()), bundles = p_.nbundle();
  for (const Packs& v : {s.r, s.z, s.p, s.q}) clear(v, p_.nfiber());  // margins are read
  k_->activate(*stream_, bundles, s);
  k_->precondition_factor[band_index(p_.band)](*stream_, padded(p_.nfiber()) * s.cut.count, s);
  const auto apply = [&](const Packs& from, const Packs& to) {
    s.from = from;
    s.to = to;
    k_->apply(*stream_, each, s);
  };
  // x0 = M^-1 y leaves only what the fibres exchange
  precondition(s, n_.rhs, s.x);
  apply(s.x, s.q);
  k_->residual(*stream_, each, s);
  precondition(s, s.r, s.z);
  dot(s, s.r, s.z);
  k_->begin(*stream_, bundles, s);
  k_->direction(*stream_, each, s);  // beta is 0, p was cleared: p = z
  std::vector<CgState> states(static_cast<std::size_t>(bundles));
  while (any_active(s, states)) {
    stop_if_asked(observer_);
    for (int twice = 0; twice < 2; ++twice) {  // bundles that are done stand still
      apply(s.p, s.q);
      dot(s, s.p, s.q);
      k_->step(*stream_, bundles, s);
      k_->update(*stream_, each, s);
      precondition(s, s.r, s.z);
      dot(s, s.r, s.z);
      k_->next(*stream_, bundles, s);
      k_->direction(*stream_, each, s);
    }
  }
  for (std::size_t b = 0; b < states.size(); ++b) {
    outcomes_[b].report.cg_iterations = states[b].progress.iterations;
    const double error = solution_error(states[b].progress.rz);
    outcomes_[b].report.bound_sigma = outcomes_[b].report.solve_sigma = error;  // so far
    if (!(error <= p_.tuning.tolerance_sigma))
      outcomes_[b].to_cpu = "the solution did not converge";
  }
}

}  // namespace fiberloom::exact::gpu
