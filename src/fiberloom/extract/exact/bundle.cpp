// SPDX-License-Identifier: BSD-3-Clause
// The steps of a bundle in order; each is a file of its own.
#include "fiberloom/extract/exact/bundle.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/scatter.hpp"

namespace fiberloom::exact {

namespace {

/// Error of a bin, in sigma, from entries of S that the band cuts off. They fall by `decay` from one diagonal to the
/// next, so their row sum is at most 2 edge decay / (1 - decay); |d S^(1/2)| <= |dS| / (2 sqrt(low)), which acts on x
/// and on 1.
double truncation_error(double edge, double decay, double largest_flux, double low) {
  const double row_sum = 2.0 * edge * decay / (1.0 - decay);
  return row_sum / (2.0 * std::sqrt(low)) * 2.0 * largest_flux;
}

struct Attempt {
  BundleReport report;
  double truncation = 0;
};

class BundleExtraction {
 public:
  BundleExtraction(const FrameContext& frame, BundleRange bundle, BundleWorkspace& work,
                   ExtractResult& result)
      : frame_(frame), bundle_(bundle), work_(work), result_(result) {}

  BundleReport run(ModelStrip* model) {
    {
      const Span span(frame_.tracer, "compute/geometry");
      geometry_ = bundle_geometry(frame_.plan, bundle_, frame_.spots, frame_.tuning.coupling_floor);
      load_strip(frame_.ccd, geometry_, work_.strip);
    }
    {
      const Span span(frame_.tracer, "compute/normal equations");
      work_.normal.resize(geometry_, 2 * frame_.grid.guard);
      assemble(frame_.plan, geometry_, frame_.spots, frame_.pixel, work_.strip, work_.ring, work_.normal);
      add_prior(work_.normal, frame_.options.regularize * frame_.options.regularize, frame_.weak_prior);
    }
    {
      const Span span(frame_.tracer, "compute/solve");
      solved_ = solve_bundle(work_.normal, frame_.banded, frame_.pixel,
                             0.1 * frame_.tuning.tolerance_sigma, work_.solve);
    }
    {
      const Span span(frame_.tracer, "compute/diagnostics");
      diagnose(frame_.plan, geometry_, frame_.spots, frame_.pixel, work_.strip, work_.normal,
               work_.solve.x.data(), frame_.psferr, work_.diagnostics);
    }
    if (model != nullptr) keep_model(*model);
    BundleReport report = decorrelate_all();
    scatter_diagnostics(frame_, geometry_, work_, result_);
    return report;
  }

 private:
  void keep_model(ModelStrip& model) const {
    const Strip& s = work_.strip;
    model.x0 = s.x0;
    model.y0 = s.y0;
    model.value = Array2D<float>(static_cast<std::size_t>(s.rows), static_cast<std::size_t>(s.pitch));
    const double* m = work_.diagnostics.model.data();
    for (std::size_t i = 0; i < model.value.size(); ++i) model.value.data()[i] = static_cast<float>(m[i]);
  }

  /// Widens band and skirts along fixed ladders until neither can be seen any more.
  BundleReport decorrelate_all() {
    const int nd = frame_.options.ndiag / 2;
    int band = round_up_band(std::max({geometry_.band, nd, frame_.tuning.least_band}));
    int skirt = frame_.grid.guard;
    for (;;) {
      Windows windows = cut_windows(geometry_.nbin, skirt);
      if (frame_.tuning.most_windows < windows.count) windows = cut_windows(geometry_.nbin, geometry_.nbin);
      const Attempt attempt = decorrelate(windows, band);
      const BundleReport& r = attempt.report;
      const double allowed = frame_.tuning.tolerance_sigma + 10 * 2.2e-16 * r.kappa;
      const bool wider = attempt.truncation > allowed && band < frame_.tuning.most_band;
      const bool longer = r.seam_sigma > allowed && windows.count > 1;
      if (!wider && !longer) return r;
      if (wider) band = round_up_band(band + 1);
      if (longer) skirt = skirt == frame_.grid.guard ? 2 * skirt : geometry_.nbin;
    }
  }

  Attempt decorrelate(const Windows& windows, int band) {
    Attempt attempt;
    BundleReport& report = attempt.report;
    report.first_fiber = bundle_.first;
    report.nfiber = geometry_.nfiber;
    report.half_bandwidth = band;
    report.cg_iterations = solved_.iterations;
    report.windows = windows.count;
    double largest = 0, low = 1e300, root_error = 0;
    const int nd = frame_.options.ndiag / 2;
    const auto use = [&](int f, const double* s) {
      const int row = geometry_.first_fiber + f - frame_.options.spec_min;
      if (row < 0 || row >= static_cast<int>(result_.flux.rows())) return;
      const Span span(frame_.tracer, "compute/root");
      const double* x = work_.solve.solution(f, work_.normal);
      const RootReport root = square_root(windows, band, s, x, nd, 0.1 * frame_.tuning.tolerance_sigma,
                                          frame_.banded, work_.root);
      report.kappa = std::max(report.kappa, root.high / root.low);
      report.poles = std::max(report.poles, root.poles);
      root_error = std::max(root_error, root.error * (1 + root.signal));
      low = std::min(low, root.low);
      for (int j = 0; j < geometry_.nbin; ++j) largest = std::max(largest, std::abs(x[j]));
      report.seam_sigma = std::max(report.seam_sigma, seam_difference(windows, nd, work_.root));
      report.unconstrained += scatter_fiber(frame_, windows, work_, f, static_cast<std::size_t>(row), result_);
    };
    const Span span(frame_.tracer, "compute/sweeps and roots");
    const MarginalReport marginal = marginal_precisions(work_.normal, windows, band, frame_.banded, frame_.pixel,
                                                        frame_.tuning.sweeps, work_.marginal, use);
    attempt.truncation = truncation_error(marginal.edge, frame_.grid.decay, largest, low);
    report.bound_sigma = attempt.truncation + root_error + report.seam_sigma + solved_.error_sigma +
                         10 * 2.2e-16 * report.kappa;
    return attempt;
  }

  const FrameContext& frame_;
  BundleRange bundle_;
  BundleWorkspace& work_;
  ExtractResult& result_;
  BundleGeometry geometry_;
  SolveReport solved_;
};

}  // namespace

BundleReport extract_bundle(const FrameContext& frame, BundleRange bundle, BundleWorkspace& work,
                            ExtractResult& result, ModelStrip* model) {
  return BundleExtraction(frame, bundle, work, result).run(model);
}

}  // namespace fiberloom::exact
