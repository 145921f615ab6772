// SPDX-License-Identifier: BSD-3-Clause
// The steps of a bundle in order; each is a file of its own.
#include "fiberloom/extract/exact/bundle.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/scatter.hpp"
#include "fiberloom/extract/missing.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact {

namespace {

struct Attempt {
  BundleReport report;
  double truncation = 0;
  bool given_up = false;  ///< the band is too narrow; the report is void
};

class BundleExtraction {
 public:
  BundleExtraction(const FrameContext& frame, BundleRange bundle, BundleWorkspace& work,
                   ExtractResult& result)
      : frame_(frame), bundle_(bundle), work_(work), result_(result) {}

  BundleReport run(ModelStrip* model) {
    {
      const Span span(frame_.tracer, "compute/geometry");
      geometry_ =
          bundle_geometry(frame_.plan, bundle_, frame_.spots.spots, frame_.tuning.coupling_floor);
      require_bands(geometry_, frame_.grid.step_aa);
      load_strip(frame_.ccd, geometry_, frame_.pixel, work_.strip);
    }
    RefineReport refined;
    if (refines(frame_.options)) {
      refined = refine();
    } else {
      assemble_all();
    }
    solve(kSolveShare * frame_.tuning.tolerance_sigma, SolveFrom::kNothing);
    make_model(frame_.grid.guard, prepare(model));
    BundleReport report = decorrelate_all();
    report.refinements = refined.solved_again;
    report.rejected = work_.refine.rejected.size();
    report.unfit_fibers = refined.unfit_fibers;
    report_fit(report);
    scatter_diagnostics(frame_, geometry_, work_, result_);
    return report;
  }

 private:
  /// N and y for the weights of the strip.
  void assemble_all() {
    stop_if_asked(frame_.observer);
    const Span span(frame_.tracer, "compute/normal equations");
    work_.normal.resize(geometry_, 2 * frame_.grid.guard);
    assemble(frame_.plan, geometry_, frame_.spots.spots, frame_.pixel, work_.strip, work_.spots,
             work_.normal);
    if (refines(frame_.options)) keep_diagonal();
    add_priors();
  }
  void add_priors() {
    add_prior(work_.normal, frame_.options.regularize * frame_.options.regularize,
              frame_.weak_prior);
  }

  /// The same, after the weights of these pixels have changed.
  void assemble_again(const std::vector<long>& pixels) {
    const TouchedPacks touched(frame_.plan, geometry_, work_.strip.pitch, pixels);
    if (frame_.tuning.solve_again == SolveAgain::kAll || touched.share() > kMostTouched)
      return assemble_all();
    stop_if_asked(frame_.observer);
    const Span span(frame_.tracer, "compute/normal equations");
    restore_diagonal();
    assemble(frame_.plan, geometry_, frame_.spots.spots, frame_.pixel, work_.strip, work_.spots,
             work_.normal, &touched);
    keep_diagonal();
    add_priors();
  }
  /// The diagonal of N without priors.
  void keep_diagonal() {
    const NormalEquations& n = work_.normal;
    work_.refine.diagonal.clear();
    for (int f = 0; f < n.nfiber; ++f)
      work_.refine.diagonal.insert(work_.refine.diagonal.end(), n.own(f, 0), n.own(f, 0) + n.nbin);
  }
  void restore_diagonal() {
    NormalEquations& n = work_.normal;
    for (int f = 0; f < n.nfiber; ++f)
      std::copy_n(work_.refine.diagonal.data() + static_cast<long>(f) * n.nbin, n.nbin,
                  n.own(f, 0));
  }

  /// x for them.
  void solve(double tolerance_sigma, SolveFrom from) {
    stop_if_asked(frame_.observer);
    {
      const Span span(frame_.tracer, "compute/solve");
      solved_ = solve_bundle(work_.normal, frame_.banded, frame_.pixel, tolerance_sigma,
                             frame_.tuning.most_iterations, frame_.observer, work_.solve, from);
      // what follows must not meet its NaNs; settle_unsolved() takes the bundle out of the result
      if (!is_solution(solved_.error_sigma)) {
        std::fill_n(work_.solve.x.data(), work_.normal.nfiber * work_.normal.pitch, 0.0);
      }
    }
    stop_if_asked(frame_.observer);
  }

  /// m = A x and chi2pix; `guard`: as diagnose() has it.
  void make_model(int guard, Array2D<float>* image) {
    const Span span(frame_.tracer, "compute/diagnostics");
    diagnose(frame_.plan, geometry_, frame_.spots.float_spots, frame_.pixel, work_.strip,
             work_.normal, work_.solve.x.data(), frame_.psferr, guard, work_.diagnostics, image);
  }

  /// Weights that follow from the model, and outliers dropped, until both stand still.
  RefineReport refine() {
    RefineReport report;
    PixelJudge judge(frame_.ccd, frame_.options, frame_.psferr, geometry_, frame_.plan,
                     frame_.grid.guard, work_.strip, work_.refine);
    if (frame_.options.model_variance) judge.weigh_by_pixels();
    assemble_all();
    const NormalEquations& n = work_.normal;
    std::copy_n(n.phi_.data(), n.phi_.size(), work_.refine.first_phi.resize(n.phi_.size()));
    LiveModel model(frame_.plan, geometry_, frame_.spots.float_spots, frame_.pixel, work_.strip, n,
                    work_.refine);
    solve(kJudgedSolution, SolveFrom::kNothing);
    while (report.solved_again < kMostRefinements && is_solution(solved_.error_sigma)) {
      update(model);
      const bool changed = [&] {
        const Span span(frame_.tracer, "compute/refine");
        return judge.look();
      }();
      if (!changed) break;
      ++report.solved_again;
      assemble_again(judge.changed());
      solve(kJudgedSolution, SolveFrom::kLast);
    }
    judge.finish();
    report.unfit_fibers = judge.unfit_fibers();
    return report;
  }

  /// The model of all bins, guards too: their pixels get weights.
  void update(LiveModel& model) {
    const Span span(frame_.tracer, "compute/refine");
    if (frame_.tuning.solve_again == SolveAgain::kTouched && model.follow(work_.solve.x.data()))
      return;
    work_.refine.stale.assign(work_.refine.stale.size(), 1);
    std::fill_n(work_.refine.model.data(), work_.refine.model.size(), 0.0F);
    make_model(0, &work_.refine.model);
  }

  /// A model as large as the strip.
  Array2D<float>* prepare(ModelStrip* model) const {
    if (model == nullptr) return nullptr;
    const Strip& s = work_.strip;
    model->x0 = s.x0;
    model->y0 = s.y0;
    model->value =
        Array2D<float>(static_cast<std::size_t>(s.rows), static_cast<std::size_t>(s.pitch), 0.0F);
    return &model->value;
  }

  /// Widens band and skirts along fixed ladders until neither can be seen any more.
  BundleReport decorrelate_all() {
    const Tuning& tuning = frame_.tuning;
    int band = least_band(geometry_, frame_.options, tuning);
    int skirt = frame_.grid.guard;
    for (;;) {
      Windows windows = cut_windows(geometry_.nbin, skirt);
      if (tuning.most_windows < windows.count)
        windows = cut_windows(geometry_.nbin, geometry_.nbin);
      const Attempt attempt = frame_.options.decorrelate_fibers ? decorrelate_fibers(windows, band)
                                                                : decorrelate(windows, band);
      if (attempt.given_up) {
        band = wider_band(band, attempt.truncation, frame_.grid.decay, tuning);
        continue;
      }
      const BundleReport& r = attempt.report;
      if (r.seam_sigma <= tuning.tolerance_sigma + 10 * 2.2e-16 * r.kappa || windows.count == 1)
        return r;
      skirt = skirt == frame_.grid.guard ? 2 * skirt : geometry_.nbin;
    }
  }

  [[nodiscard]] BundleReport begin_report(const Windows& windows, int band) const {
    BundleReport report;
    report.first_fiber = bundle_.first;
    report.nfiber = geometry_.nfiber;
    report.half_bandwidth = band;
    report.cg_iterations = solved_.iterations;
    report.windows = windows.count;
    report.solve_sigma = solved_.error_sigma;
    return report;
  }

  [[nodiscard]] RootTask root_task(int band) const {
    RootTask task;
    task.band = band;
    task.least_band = least_band(geometry_, frame_.options, frame_.tuning);
    task.decay = frame_.grid.decay;
    task.nd = frame_.options.ndiag / 2;
    task.root_tolerance = kRootShare * frame_.tuning.tolerance_sigma;
    task.tolerance = frame_.tuning.tolerance_sigma;
    task.widest = band >= frame_.tuning.most_band;
    task.observer = frame_.observer;
    return task;
  }

  Attempt decorrelate(const Windows& windows, int band) {
    Attempt attempt;
    BundleReport& report = attempt.report;
    report = begin_report(windows, band);
    double root_error = 0;
    RootTask task = root_task(band);
    // Every fibre counts, asked for or not: what is decided here must not depend on the range.
    const auto use = [&](int f, const double* s) {
      const Span span(frame_.tracer, "compute/root");
      if (attempt.given_up) task.tolerance = -1;  // only the largest truncation is wanted now
      const RootReport root = square_root(windows, task, s, work_.solve.solution(f, work_.normal),
                                          frame_.banded, work_.root);
      const int row = geometry_.first_fiber + f - frame_.options.spec_min;
      const bool asked = row >= 0 && row < static_cast<int>(result_.flux.rows());
      if (root.lost) {  // its bins leave without a result; the others do not depend on its root
        if (!asked) return;
        blank_fiber(result_, static_cast<std::size_t>(row));
        report.unconstrained += result_.flux.cols();
        return;
      }
      attempt.truncation = std::max(attempt.truncation, root.truncation);
      if (root.poles == 0) {
        attempt.given_up = true;
        return;
      }
      report.kappa = std::max(report.kappa, root.high / root.low);
      report.poles = std::max(report.poles, root.poles);
      root_error = std::max(root_error, root.root_error());
      report.seam_sigma =
          std::max(report.seam_sigma, seam_difference(windows, task.nd, work_.root));
      if (asked) {
        report.unconstrained +=
            scatter_fiber(frame_, windows, work_, f, static_cast<std::size_t>(row), result_);
      }
    };
    const Span span(frame_.tracer, "compute/sweeps and roots");
    marginal_precisions(work_.normal, geometry_.sweep_reach, windows, band, frame_.banded,
                        frame_.pixel, frame_.tuning.sweeps, frame_.observer, work_.marginal, use);
    report.bound_sigma = attempt.truncation + root_error + report.seam_sigma + solved_.error_sigma +
                         10 * 2.2e-16 * report.kappa;
    return attempt;
  }

  /// Of the last model that was made.
  void report_fit(BundleReport& report) const {
    const FitTally& fit = work_.diagnostics.fit;
    report.chi2 = fit.sums[0];
    report.pixels = static_cast<std::size_t>(fit.sums[1]);
    report.bright_pixels = static_cast<std::size_t>(fit.sums[2]);
    report.seen_psferr = fit.psferr();
    for (int f = 0; f < geometry_.nfiber; ++f) {
      const std::vector<int>& corner = geometry_.trace[static_cast<std::size_t>(f)].y0;
      for (int j = 0; j < geometry_.nbin; ++j) {
        const int middle = corner[static_cast<std::size_t>(j)] + frame_.plan.ny / 2;
        const bool inside = middle >= fit.first_row && middle < fit.last_row;
        report.parameters += inside && work_.normal.phi(f)[j] > 0 ? 1 : 0;
      }
    }
  }

  /// Row of the result; -1: not asked for.
  [[nodiscard]] int row_of(int fiber) const {
    const int row = geometry_.first_fiber + fiber - frame_.options.spec_min;
    return row >= 0 && row < static_cast<int>(result_.flux.rows()) ? row : -1;
  }

  /// The same with the errors of all fibres uncorrelated: bounds fibre by fibre, then one root of
  /// the whole bundle. The largest eigenvalue of N^-1 is at most the sum of those of its diagonal
  /// blocks.
  Attempt decorrelate_fibers(const Windows& windows, int band) {
    Attempt attempt;
    attempt.report = begin_report(windows, band);
    const RootTask task = root_task(band);
    NormalEquations& n = work_.normal;
    BundleRootTask whole;
    double inverse_low = 0;
    bool lost = false;
    auto& marginal = work_.bundle_root.marginal;
    marginal.assign(static_cast<std::size_t>(n.nfiber) * static_cast<std::size_t>(n.pitch), 0.0);
    const auto look = [&](int f, const double* s) {
      const RootReport root =
          root_bounds(windows, task, s, work_.solve.solution(f, n), frame_.banded, work_.root);
      attempt.truncation = std::max(attempt.truncation, root.truncation);
      attempt.given_up = attempt.given_up || (root.band == 0 && !root.lost);
      lost = lost || root.lost;
      inverse_low += 1 / root.low;
      whole.signal = std::max(whole.signal, root.signal);
      whole.shift = std::max(whole.shift, root.shift);
      double* diagonal = marginal.data() + f * n.pitch + n.margin;
      for (int j = 0; j < n.nbin; ++j) {
        const int lane = windows.window_of(j), row = j - windows.bin(lane, 0);
        diagonal[j] = s[row * (band + 1L) * kLanes + lane];
      }
    };
    {
      const Span span(frame_.tracer, "compute/sweeps and roots");
      marginal_precisions(n, geometry_.sweep_reach, windows, band, frame_.banded, frame_.pixel,
                          frame_.tuning.sweeps, frame_.observer, work_.marginal, look);
    }
    if (attempt.given_up) return attempt;
    whole.band = band;
    whole.sweep_reach = geometry_.sweep_reach;
    whole.nd = task.nd;
    whole.low = 1 / inverse_low;
    whole.root_tolerance = whole.solve_tolerance = task.root_tolerance;
    whole.most_iterations = frame_.tuning.most_iterations;
    whole.sweeps = frame_.tuning.sweeps;
    whole.observer = frame_.observer;
    take_bundle_root(windows, whole, lost, attempt);
    return attempt;
  }

  void take_bundle_root(const Windows& windows, const BundleRootTask& whole, bool lost,
                        Attempt& attempt) {
    const Span span(frame_.tracer, "compute/root");
    BundleReport& report = attempt.report;
    BundleRootReport root;
    if (!lost) {
      root = bundle_root(whole, windows, work_.solve.x.data(), frame_.banded, frame_.pixel,
                         work_.normal, work_.marginal, work_.root, work_.bundle_root);
      report.kappa = root.high / whole.low;
      report.poles = root.poles;
      lost = !is_solution(root.error * (1 + whole.signal) + root.solve_sigma);
    }
    for (int f = 0; f < geometry_.nfiber; ++f) {
      if (row_of(f) < 0) continue;
      const auto row = static_cast<std::size_t>(row_of(f));
      if (lost) {
        blank_fiber(result_, row);
        report.unconstrained += result_.flux.cols();
        continue;
      }
      load_root(windows, whole, f, work_.normal, work_.bundle_root, work_.root);
      report.unconstrained += scatter_fiber(frame_, windows, work_, f, row, result_);
    }
    report.bound_sigma = attempt.truncation + root.error * (1 + whole.signal) + root.solve_sigma +
                         solved_.error_sigma + 10 * 2.2e-16 * report.kappa;
  }

  const FrameContext& frame_;
  BundleRange bundle_;
  BundleWorkspace& work_;
  ExtractResult& result_;
  BundleGeometry geometry_;
  SolveReport solved_;
};

}  // namespace

int least_band(const BundleGeometry& geometry, const ExtractOptions& options,
               const Tuning& tuning) {
  return round_up_band(std::max({geometry.band + 1, options.ndiag / 2, tuning.least_band}));
}

int wider_band(int band, double truncation, double decay, const Tuning& tuning) {
  const double excess = std::min(truncation / tuning.tolerance_sigma, 1e9);
  const int step = std::max(1, static_cast<int>(0.6 * std::log(excess) / -std::log(decay)));
  return round_up_band(std::min(tuning.most_band, band + step));
}

BundleReport extract_bundle(const FrameContext& frame, BundleRange bundle, BundleWorkspace& work,
                            ExtractResult& result, ModelStrip* model) {
  return BundleExtraction(frame, bundle, work, result).run(model);
}

}  // namespace fiberloom::exact
