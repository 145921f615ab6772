// SPDX-License-Identifier: BSD-3-Clause
// One pass over all bins, then, where that left some, one over each part of them.
#include "fiberloom/extract/exact/decorrelate_bundle.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/scatter.hpp"
#include "fiberloom/extract/missing.hpp"

namespace fiberloom::exact {

namespace {

struct Attempt {
  BundleReport report;
  double truncation = 0;
  double root_error = 0;
  bool given_up = false;         ///< the band is too narrow; the report is void
  std::vector<FiberRoot> roots;  ///< of all fibres, where bins may be left out
  BinRanges left;                ///< these bins
  double left_truncation = 0;
};

class Decorrelation {
 public:
  Decorrelation(const FrameContext& frame, const BundleGeometry& geometry,
                const SolveReport& solved, BundleWorkspace& work, ExtractResult& result)
      : frame_(frame), geometry_(geometry), solved_(solved), work_(work), result_(result) {}

  BundleReport run() {
    const Tuning& tuning = frame_.tuning;
    int band = least_band(geometry_, frame_.options, tuning);
    int skirt = frame_.grid.guard;
    may_leave_ = tuning.wide_bands == WideBands::kWhereNeeded && !frame_.options.decorrelate_fibers;
    for (;;) {
      const Windows windows = root_windows(geometry_.nbin, skirt, tuning.most_windows);
      Attempt attempt = frame_.options.decorrelate_fibers ? decorrelate_fibers(windows, band)
                                                          : decorrelate(windows, band);
      if (attempt.given_up) {
        const double truncation = std::max(attempt.truncation, attempt.left_truncation);
        band = wider_band(band, truncation, frame_.grid.decay, tuning);
        continue;
      }
      if (!do_parts(windows, attempt)) {
        may_leave_ = false;
        band = wider_band(band, attempt.left_truncation, frame_.grid.decay, tuning);
        continue;
      }
      write(attempt);
      const BundleReport& r = attempt.report;
      if (!needs_longer_skirts(r.seam_sigma, tuning.tolerance_sigma, r.kappa, windows.count))
        return r;
      skirt = next_skirt(skirt, frame_.grid.guard, geometry_.nbin);
    }
  }

 private:
  [[nodiscard]] BundleReport begin_report(const Windows& windows, int band) const {
    BundleReport report;
    report.first_fiber = geometry_.first_fiber;
    report.nfiber = geometry_.nfiber;
    report.half_bandwidth = band;
    report.cg_iterations = solved_.iterations;
    report.windows = windows.count;
    report.solve_sigma = solved_.error_sigma;
    return report;
  }

  [[nodiscard]] RootTask task_of(int band) const {
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

  [[nodiscard]] RootReport take_root(const Windows& windows, const RootTask& task, int f,
                                     const double* s) {
    const Span span(frame_.tracer, "compute/root");
    return square_root(windows, task, s, work_.solve.solution(f, work_.normal), frame_.banded,
                       work_.root);
  }

  void sweep(const Windows& windows, int band, const std::function<void(int, const double*)>& use) {
    const Span span(frame_.tracer, "compute/sweeps and roots");
    marginal_precisions(work_.normal, geometry_.sweep_reach, windows, band, frame_.banded,
                        frame_.pixel, frame_.tuning.sweeps, frame_.observer, work_.marginal, use);
  }

  /// Row of the result, negative where the fibre was not asked for.
  [[nodiscard]] int row_of(int f) const {
    const int row = geometry_.first_fiber + f - frame_.options.spec_min;
    return row < static_cast<int>(result_.flux.rows()) ? row : -1;
  }

  /// What the root of a fibre, or of a part of it, adds to the report.
  void note(const RootReport& root, double seam, Attempt& attempt) const {
    BundleReport& report = attempt.report;
    report.kappa = std::max(report.kappa, root.high / root.low);
    report.poles = std::max(report.poles, root.poles);
    attempt.root_error = std::max(attempt.root_error, root.root_error());
    report.seam_sigma = std::max(report.seam_sigma, seam);
  }

  /// A lost fibre leaves without a result; the others do not depend on its root.
  void lose(int f, BundleReport& report) {
    if (row_of(f) < 0) return;
    blank_fiber(result_, static_cast<std::size_t>(row_of(f)));
    report.unconstrained += result_.flux.cols();
  }

  void set_bound(Attempt& attempt) const {
    BundleReport& report = attempt.report;
    report.bound_sigma = bound_sigma(attempt.truncation, attempt.root_error, report.seam_sigma,
                                     solved_.error_sigma, report.kappa);
  }

  Attempt decorrelate(const Windows& windows, int band) {
    Attempt attempt;
    BundleReport& report = attempt.report;
    report = begin_report(windows, band);
    RootTask task = task_of(band);
    task.may_leave = may_leave_;
    if (may_leave_)
      attempt.roots.assign(static_cast<std::size_t>(geometry_.nfiber), FiberRoot(task.nd));
    // Every fibre counts, asked for or not: what is decided here must not depend on the range.
    sweep(windows, band, [&](int f, const double* s) {
      if (attempt.given_up) {  // only the largest truncation is wanted now
        task.tolerance = -1;
        task.may_leave = false;
      }
      const RootReport root = take_root(windows, task, f, s);
      if (root.lost) return lose(f, report);
      attempt.truncation = std::max(attempt.truncation, root.truncation);
      if (root.poles == 0) {
        attempt.given_up = true;
        return;
      }
      note(root, seam_difference(windows, task.nd, work_.root), attempt);
      attempt.left_truncation = std::max(attempt.left_truncation, root.left_truncation);
      attempt.left.insert(attempt.left.end(), root.left.begin(), root.left.end());
      if (may_leave_) {
        attempt.roots[static_cast<std::size_t>(f)].take(windows, work_.root, {0, geometry_.nbin});
      } else if (row_of(f) >= 0) {
        report.unconstrained +=
            scatter_fiber(frame_, windows, work_, f, static_cast<std::size_t>(row_of(f)), result_);
      }
    });
    set_bound(attempt);
    return attempt;
  }

  /// Rows of the result from roots that were gathered.
  void write(Attempt& attempt) {
    for (int f = 0; f < static_cast<int>(attempt.roots.size()); ++f) {
      const FiberRoot& root = attempt.roots[static_cast<std::size_t>(f)];
      if (root.empty() || row_of(f) < 0) continue;
      attempt.report.unconstrained +=
          scatter_fiber(frame_, root, work_, f, static_cast<std::size_t>(row_of(f)), result_);
    }
  }

  /// Looks at the bins that were left out by themselves. False: that costs too much, or does not
  /// agree with the bins around them.
  bool do_parts(const Windows& whole, Attempt& attempt) {
    if (attempt.left.empty()) return true;
    for (int i = 0; i < kPartTries; ++i) {
      Attempt trial = attempt;
      if (!do_parts(whole, part_skirt(i, frame_.grid.guard), trial)) continue;
      attempt = std::move(trial);
      return true;
    }
    return false;
  }

  bool do_parts(const Windows& whole, int skirt, Attempt& attempt) {
    const BinRanges parts = parts_of(attempt.left, skirt, geometry_.nbin);
    if (!worth_parts(parts, skirt, whole)) return false;
    const int narrow = attempt.report.half_bandwidth;
    for (const BinRange& part : parts) {
      const Windows windows =
          cut_part(geometry_.nbin, part, skirt, frame_.tuning.device_parts ? 1 : kLanes);
      PartPass pass{narrow, attempt.left_truncation};
      while (pass.too_narrow > 0) {
        pass.band = wider_band(pass.band, pass.too_narrow, frame_.grid.decay, frame_.tuning);
        pass = do_part(windows, part, pass.band, attempt);
      }
      if (pass.lost) return false;
    }
    set_bound(attempt);
    const BundleReport& r = attempt.report;
    return r.seam_sigma <= allowed_sigma(frame_.tuning.tolerance_sigma, r.kappa);
  }

  /// What came of a pass over a part of the bins.
  struct PartPass {
    int band;
    double too_narrow = 0;  ///< what the band cuts off, if that is too much: nothing was done
    bool lost = false;      ///< no root could be had
  };

  /// Takes the part's roots of all fibres again, also of those that would do without: beside a
  /// defect their equations were made of the neighbour's.
  PartPass do_part(const Windows& windows, BinRange part, int band, Attempt& attempt) {
    RootTask task = task_of(band);
    if (frame_.tuning.device_parts) task.least_band = band;
    PartPass pass{band};
    Attempt found;
    std::vector<FiberRoot> roots = attempt.roots;
    sweep(windows, band, [&](int f, const double* s) {
      FiberRoot& fiber = roots[static_cast<std::size_t>(f)];
      if (fiber.empty() || pass.lost) return;
      if (pass.too_narrow > 0) task.tolerance = -1;
      const RootReport root = take_root(windows, task, f, s);
      pass.lost = root.lost;
      if (root.lost) return;
      if (root.poles == 0) {
        pass.too_narrow = std::max(pass.too_narrow, root.truncation);
        return;
      }
      found.truncation = std::max(found.truncation, root.truncation);
      double seam = seam_difference(windows, task.nd, work_.root);
      for (const int j : {part.first - 1, part.last}) {  // just outside
        if (j >= 0 && j < geometry_.nbin)
          seam = std::max(seam, fiber.difference(windows, work_.root, j));
      }
      note(root, seam, found);
      fiber.take(windows, work_.root, part);
    });
    if (pass.too_narrow > 0 || pass.lost) return pass;
    attempt.roots = std::move(roots);
    BundleReport& report = attempt.report;
    report.kappa = std::max(report.kappa, found.report.kappa);
    report.poles = std::max(report.poles, found.report.poles);
    report.seam_sigma = std::max(report.seam_sigma, found.report.seam_sigma);
    report.half_bandwidth = std::max(report.half_bandwidth, band);
    attempt.truncation = std::max(attempt.truncation, found.truncation);
    attempt.root_error = std::max(attempt.root_error, found.root_error);
    return pass;
  }

  /// The same with the errors of all fibres uncorrelated: bounds fibre by fibre, then one root of
  /// the whole bundle. The largest eigenvalue of N^-1 is at most the sum of those of its diagonal
  /// blocks.
  Attempt decorrelate_fibers(const Windows& windows, int band) {
    Attempt attempt;
    attempt.report = begin_report(windows, band);
    const RootTask task = task_of(band);
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
    sweep(windows, band, look);
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
      lost = !is_solution(root_sigma(root.error, whole.signal) + root.solve_sigma);
    }
    for (int f = 0; f < geometry_.nfiber; ++f) {
      if (lost) lose(f, report);
      if (lost || row_of(f) < 0) continue;
      const auto row = static_cast<std::size_t>(row_of(f));
      load_root(windows, whole, f, work_.normal, work_.bundle_root, work_.root);
      report.unconstrained += scatter_fiber(frame_, windows, work_, f, row, result_);
    }
    report.bound_sigma = bound_sigma(attempt.truncation, root_sigma(root.error, whole.signal),
                                     root.solve_sigma, solved_.error_sigma, report.kappa);
  }

  const FrameContext& frame_;
  const BundleGeometry& geometry_;
  const SolveReport& solved_;
  BundleWorkspace& work_;
  ExtractResult& result_;
  bool may_leave_ = false;
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

BundleReport decorrelate_bundle(const FrameContext& frame, const BundleGeometry& geometry,
                                const SolveReport& solved, BundleWorkspace& work,
                                ExtractResult& result) {
  return Decorrelation(frame, geometry, solved, work, result).run();
}

}  // namespace fiberloom::exact
