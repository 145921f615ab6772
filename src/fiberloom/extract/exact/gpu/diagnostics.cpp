// SPDX-License-Identifier: BSD-3-Clause
// Light of rows, chi2 and what spots lost, on the device: beside the roots where the memory holds
// both. (Goodness of fit: fit.cpp.)
#include "fiberloom/extract/exact/gpu/frame.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact::gpu {

DiagnoseArgs DeviceFrame::diagnose_arrays(int first, int last, const SpotStore& store,
                                          Arena& scratch) const {
  DiagnoseArgs d{};
  d.store = store;
  d.shape = shape_;
  d.trace = trace_;
  d.ccd = ccd_;
  d.n = n_;
  d.x = x_;
  d.psferr = p_.psferr;
  d.row_first = p_.row_first;
  d.rows = p_.rows;
  d.columns = p_.light_columns;
  d.live_first = live_first_;
  d.live_last = live_last_;
  d.direction = direction_;
  d.row_pitch = padded(p_.rows);
  const auto rows = static_cast<std::size_t>(d.row_pitch * d.store.count);
  d.light = scratch.take<double>(rows * static_cast<std::size_t>(p_.light_columns));
  d.light_x = scratch.take<int>(rows);
  d.bundle_first = first;
  d.bundles = last - first;
  d.strip_x = strip_x_;
  d.strip_pitch = p_.strip_pitch;
  d.chi2 = scratch.take<float>(chi2_values() * static_cast<std::size_t>(d.bundles));
  d.model_columns = scratch.take<float>(chi2_values() * static_cast<std::size_t>(d.bundles));
  d.model = want_model_ ? model_ + strip_values() * static_cast<std::size_t>(first) : nullptr;
  d.result = result_;
  return d;
}

void DeviceFrame::diagnose() {
  Stream& on = *side_;
  for (int first = 0; first < p_.nbundle();) {
    stop_if_asked(observer_);
    const bool whole = kept_.scale != nullptr;
    const int last = whole ? p_.nbundle() : group_end(first);
    Arena scratch = whole ? after_spots_ : scratch_;
    const SpotStore store = whole ? kept_ : store_of(first, last, scratch);
    const DiagnoseArgs d = diagnose_arrays(first, last, store, scratch);
    const FitArgs fit = fit_arrays(d, scratch);
    on.wait_for(*stream_);  // the solution
    if (!whole) {
      const DeviceStage stage(on, "spots");
      make_spots(on, store);
    }
    const DeviceStage stage(on, "diagnostics");
    k_->light(on, d.row_pitch * d.store.count, d);
    k_->chi2(on, Chi2Kernel::threads(d), d);
    k_->gather(on, d.store.step(), d);
    k_->fit(on, static_cast<long>(fit_parts(d.bundles)), fit);
    k_->fit_sum(on, static_cast<long>(d.bundles) * (kFitBins + kFitSums), fit);
    first = last;
  }
  kept_ = {};
}

}  // namespace fiberloom::exact::gpu
