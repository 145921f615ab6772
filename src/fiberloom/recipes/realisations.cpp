// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/realisations.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <variant>

#include "fiberloom/recipes/frame_steps.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/base/rng.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom {
namespace {

/// Sums over draws and bins.
class Tally {
 public:
  Tally(const PreparedFrame& frame, const ExtractResult& noiseless)
      : zero_(noiseless),
        mean_(noiseless.flux.rows(), noiseless.flux.cols(), 0.0),
        pull_(noiseless.flux.rows(), noiseless.flux.cols(), 0.0),
        seen_(noiseless.flux.rows(), noiseless.flux.cols(), 0.0),
        bundles_(wanted_bundles(frame.in.psf->model, frame.options)),
        sums_(bundles_.size()) {
    for (std::size_t s = 0; s < zero_.flux.rows(); ++s) blur(zero_, s, seen_.row(s));
  }

  void add(const ExtractResult& drawn) {
    ++draws_;
    std::vector<double> blurred(pull_.cols());
    for (std::size_t s = 0; s < pull_.rows(); ++s) {
      blur(drawn, s, blurred.data());
      for (std::size_t j = 0; j < pull_.cols(); ++j) {
        const double expected = zero_.flux(s, j) + (blurred[j] - seen_(s, j));
        pull_(s, j) = counts(s, j) && drawn.ivar(s, j) > 0
                          ? (drawn.flux(s, j) - expected) * std::sqrt(drawn.ivar(s, j))
                          : 0.0;
        mean_(s, j) += pull_(s, j);
      }
    }
    for (std::size_t b = 0; b < bundles_.size(); ++b) add_bundle(bundles_[b], sums_[b]);
  }

  [[nodiscard]] RealisationReport report() const {
    RealisationReport out;
    out.draws = draws_;
    double sum = 0, sum2 = 0, n = 0;
    for (std::size_t b = 0; b < sums_.size(); ++b) {
      const Sums& s = sums_[b];
      sum += s.pull;
      sum2 += s.pull2;
      n += s.n;
      const double count = std::max(s.n, 1.0);
      out.bundles.push_back({bundles_[b].first, bundles_[b].last - bundles_[b].first,
                             s.pull / count, std::sqrt(s.pull2 / count)});
    }
    const double count = std::max(n, 1.0);
    out.mean = sum / count;
    out.width = std::sqrt(sum2 / count);
    out.mean_error = out.correlation_error = 1 / std::sqrt(count);
    for (std::size_t lag = 0; lag < kMostLag; ++lag) out.lags[lag] = correlation(lag);
    out.fibers = correlation(kMostLag);
    for (std::size_t s = 0; s < mean_.rows(); ++s) {
      for (std::size_t j = 0; j < mean_.cols(); ++j) {
        if (!counts(s, j)) continue;
        ++out.bins;
        out.most_biased = std::max(out.most_biased, std::abs(mean_(s, j)) / std::sqrt(draws_));
      }
    }
    return out;
  }

 private:
  struct Sums {
    double n = 0, pull = 0, pull2 = 0;
    std::array<double, kMostLag + 1> products{}, pairs{};  // of lags, then of fibres
  };

  /// R x, R being the result's and x the noiseless frame's: weights that follow the noise change R.
  void blur(const ExtractResult& result, std::size_t s, double* to) const {
    multiply(banded(result.resolution, s), {zero_.xflux.row(s), zero_.xflux.cols()},
             {to, zero_.xflux.cols()});
  }
  [[nodiscard]] bool counts(std::size_t s, std::size_t j) const { return zero_.ivar(s, j) > 0; }

  void add_bundle(const BundleRange& bundle, Sums& sums) const {
    const int first = std::max(bundle.first - zero_.spec_min, 0);
    const int last = std::min(bundle.last - zero_.spec_min, static_cast<int>(pull_.rows()));
    for (int f = first; f < last; ++f) {
      const auto s = static_cast<std::size_t>(f);
      for (std::size_t j = 0; j < pull_.cols(); ++j) {
        if (!counts(s, j)) continue;
        const double own = pull_(s, j);
        sums.n += 1;
        sums.pull += own;
        sums.pull2 += own * own;
        const auto pair = [&](std::size_t which, std::size_t other, std::size_t bin) {
          if (!counts(other, bin)) return;
          sums.pairs[which] += 1;
          sums.products[which] += own * pull_(other, bin);
        };
        for (std::size_t lag = 1; lag <= kMostLag && j + lag < pull_.cols(); ++lag)
          pair(lag - 1, s, j + lag);
        if (f + 1 < last) pair(kMostLag, s + 1, j);
      }
    }
  }

  [[nodiscard]] double correlation(std::size_t which) const {
    double products = 0, pairs = 0;
    for (const Sums& s : sums_) {
      products += s.products[which];
      pairs += s.pairs[which];
    }
    return pairs > 0 ? products / pairs : 0.0;
  }

  const ExtractResult& zero_;
  Array2D<double> mean_, pull_;
  Array2D<double> seen_;  ///< R x of the noiseless frame, with the diagonals that are kept
  std::vector<BundleRange> bundles_;
  std::vector<Sums> sums_;
  int draws_ = 0;
};

/// The model, and with draw > 0 noise on it, as the frame's image. Its variance is what the errors
/// claim to be made of: 1 / IVAR, or that of the model's light and the read noise.
void draw_image(const Array2D<float>& model, bool model_variance, int draw, CcdFrame& ccd) {
  const CounterRng rng(1, static_cast<std::uint64_t>(draw));
  Array2D<double> image(model.rows(), model.cols());
  std::visit(
      [&](const auto& ivar) {
        for (std::size_t i = 0; i < image.size(); ++i) {
          const auto w = static_cast<double>(ivar.data()[i]);
          const auto light = static_cast<double>(model.data()[i]);
          image.data()[i] = light;
          if (draw == 0 || !(w > 0)) continue;
          const double variance = model_variance
                                      ? ccd.readnoise.variance(i / model.cols(), i % model.cols()) +
                                            std::max(light, 0.0)
                                      : 1 / w;
          image.data()[i] += rng.normal(i) * std::sqrt(variance);
        }
      },
      ccd.ivar.data());
  ccd.image = PixelArray(std::move(image));
}

/// R x of the noiseless frame against its flux.
void judge_resolution(const ExtractResult& zero, RealisationReport& report) {
  std::vector<double> expected(zero.flux.cols());
  double sum = 0, n = 0;
  for (std::size_t s = 0; s < zero.flux.rows(); ++s) {
    multiply(banded(zero.resolution, s), {zero.xflux.row(s), zero.xflux.cols()}, expected);
    const std::size_t edge = zero.resolution.rows();  // light beyond the grid is in no column
    for (std::size_t j = edge; j + edge < expected.size(); ++j) {
      if (!(zero.ivar(s, j) > 0)) continue;
      const double off = (expected[j] - zero.flux(s, j)) * std::sqrt(zero.ivar(s, j));
      sum += off * off;
      n += 1;
      report.resolution_most = std::max(report.resolution_most, std::abs(off));
    }
  }
  report.resolution_rms = n > 0 ? std::sqrt(sum / n) : 0.0;
}

}  // namespace

RealisationReport realise(const ExtractJob& job, const PreparedFrame& frame,
                          const ExtractResult& result, const Engine& engine, Executor& executor,
                          const Observer& observer) {
  PreparedFrame drawn = frame;
  drawn.options.want_model = drawn.options.fiber_correlation = false;
  if (result.traces.degree >= 0) {  // the PSF that the frame was extracted with, once and for all
    PsfFile moved = *frame.in.psf;
    moved.model = changed_psf(moved.model, result.traces.change());
    drawn.in.psf = std::make_shared<const PsfFile>(std::move(moved));
  }
  Observer quiet = observer;  // what the frame itself has been warned of need not be said again
  quiet.message = {};
  quiet.progress = {};
  ExtractJob settled = job;
  settled.trace_shifts = -1;
  ExtractJob flux_alone = settled;  // whose RESOLUTION nobody looks at
  flux_alone.max_leak = -1;
  const auto extract = [&](int draw) {
    draw_image(result.model, frame.options.model_variance, draw, drawn.in.preproc.ccd);
    return compute_frame(draw == 0 ? settled : flux_alone, drawn, engine, executor, quiet, nullptr);
  };
  const ExtractResult noiseless = extract(0);
  Tally tally(frame, noiseless);
  for (int draw = 1; draw <= job.realisations; ++draw) {
    stop_if_asked(observer);
    ExtractResult result_of_draw = extract(draw);
    keep_diagonals(result_of_draw.resolution, static_cast<int>(noiseless.resolution.rows()));
    tally.add(result_of_draw);
    if (observer.progress) {
      observer.progress("realisations", static_cast<std::size_t>(draw),
                        static_cast<std::size_t>(job.realisations));
    }
  }
  RealisationReport report = tally.report();
  judge_resolution(noiseless, report);
  return report;
}

}  // namespace fiberloom
