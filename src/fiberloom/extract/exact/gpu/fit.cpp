// SPDX-License-Identifier: BSD-3-Clause
// Goodness of fit of a frame's bundles on the device, and into their reports.
#include <algorithm>

#include "fiberloom/extract/exact/diagnostics.hpp"
#include "fiberloom/extract/exact/gpu/frame.hpp"

namespace fiberloom::exact::gpu {
namespace {

int column_slabs(const Problem& p) {
  return (p.strip_pitch + FitKernel::kSlab - 1) / FitKernel::kSlab;
}
int parts_of(const Problem& p) { return (p.rows + kWarp - 1) / kWarp * column_slabs(p); }

}  // namespace

void DeviceFrame::lay_out_fits(Arena& a) {
  const auto bundles = static_cast<std::size_t>(p_.nbundle());
  fit_first_ = a.take<int>(std::max<std::size_t>(bundles, 1));
  fit_last_ = a.take<int>(std::max<std::size_t>(bundles, 1));
  fit_counts_ = a.take<unsigned>(bundles * kFitBins);
  fit_sums_ = a.take<double>(bundles * kFitSums);
}

std::size_t DeviceFrame::fit_parts(int bundles) const {
  return static_cast<std::size_t>(bundles * parts_of(p_));
}

FitArgs DeviceFrame::fit_arrays(const DiagnoseArgs& d, Arena& scratch) const {
  FitArgs fit{};
  fit.d = d;
  fit.first_row = fit_first_;
  fit.last_row = fit_last_;
  fit.parts = parts_of(p_);
  fit.slabs = column_slabs(p_);
  const std::size_t parts = fit_parts(d.bundles);
  fit.part_counts = scratch.take<unsigned>(parts * kFitBins);
  fit.part_sums = scratch.take<double>(parts * kFitSums);
  fit.counts = fit_counts_;
  fit.sums = fit_sums_;
  return fit;
}

void DeviceFrame::report_fits() {
  std::vector<unsigned> counts(outcomes_.size() * kFitBins);
  std::vector<double> sums(outcomes_.size() * kFitSums);
  mail_.receive(fit_counts_, counts);
  mail_.receive(fit_sums_, sums);
  for (std::size_t b = 0; b < outcomes_.size(); ++b) {
    const double* sum = sums.data() + b * kFitSums;
    FitTally fit;
    std::copy_n(sum, 3, fit.sums);
    fit.add_bright(counts.data() + b * kFitBins, sum[3]);
    report_fit(fit, static_cast<std::size_t>(sum[4]), outcomes_[b].report);
  }
}

}  // namespace fiberloom::exact::gpu
