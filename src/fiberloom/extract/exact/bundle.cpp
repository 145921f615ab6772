// SPDX-License-Identifier: BSD-3-Clause
// The steps of a bundle in order; each is a file of its own.
#include "fiberloom/extract/exact/bundle.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/decorrelate_bundle.hpp"
#include "fiberloom/extract/exact/scatter.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact {

namespace {

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
    if (frame_.options.fluxes_only) return solve_roughly(prepare(model));
    solve(kSolveShare * frame_.tuning.tolerance_sigma, SolveFrom::kNothing);
    make_model(frame_.grid.guard, prepare(model));
    BundleReport report = decorrelate_bundle(frame_, geometry_, solved_, work_, result_);
    report.refinements = refined.solved_again;
    report.rejected = work_.refine.rejected.size();
    report.unfit_fibers = refined.unfit_fibers;
    report_fit(report);
    scatter_diagnostics(frame_, geometry_, work_, result_);
    if (frame_.options.fiber_correlation)
      correlate_fibers(frame_, geometry_, report.half_bandwidth, work_, result_);
    return report;
  }

 private:
  BundleReport solve_roughly(Array2D<float>* model) {
    solve(kJudgedSolution, SolveFrom::kNothing);
    if (model != nullptr) make_model(0, model);
    BundleReport report;
    report.first_fiber = geometry_.first_fiber;
    report.nfiber = geometry_.nfiber;
    report.cg_iterations = solved_.iterations;
    report.solve_sigma = solved_.error_sigma;
    scatter_fluxes(frame_, geometry_, work_, result_);
    return report;
  }

  /// N and y for the weights of the strip.
  void assemble_all() {
    stop_if_asked(frame_.observer);
    const Span span(frame_.tracer, "compute/normal equations");
    work_.normal.resize(geometry_, 2 * frame_.grid.guard);
    assemble(frame_.plan, geometry_, frame_.spots.spots, frame_.pixel, work_.strip, work_.spots,
             work_.normal);
    if (refines(frame_.options)) keep_diagonal(work_.normal, work_.refine.diagonal);
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
    set_diagonal(work_.normal, work_.refine.diagonal);
    assemble(frame_.plan, geometry_, frame_.spots.spots, frame_.pixel, work_.strip, work_.spots,
             work_.normal, &touched);
    keep_diagonal(work_.normal, work_.refine.diagonal);
    add_priors();
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
    if (frame_.options.model_variance) judge.weigh_first(frame_.plan);
    assemble_all();
    if (frame_.options.fluxes_only) return report;
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

  /// Of the last model that was made.
  void report_fit(BundleReport& report) const {
    const FitTally& fit = work_.diagnostics.fit;
    std::size_t parameters = 0;
    for (int f = 0; f < geometry_.nfiber; ++f) {
      const std::vector<int>& corner = geometry_.trace[static_cast<std::size_t>(f)].y0;
      for (int j = 0; j < geometry_.nbin; ++j) {
        const int middle = corner[static_cast<std::size_t>(j)] + frame_.plan.ny / 2;
        const bool inside = middle >= fit.first_row && middle < fit.last_row;
        parameters += inside && work_.normal.phi(f)[j] > 0 ? 1 : 0;
      }
    }
    exact::report_fit(fit, parameters, report);
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
