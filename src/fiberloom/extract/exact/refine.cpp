// SPDX-License-Identifier: BSD-3-Clause
// The rules by which weights follow from a model, and which pixels are outliers.
#include "fiberloom/extract/exact/refine.hpp"

#include <algorithm>
#include <cmath>

namespace fiberloom::exact {

namespace {

/// What is known of a pixel.
enum State : std::uint8_t {
  kUnused,    ///< without weight, or off the CCD
  kUnjudged,  ///< weighed; no requested bin's spot reaches it
  kGood,
  kRejected,
  kPardoned,  ///< was dropped, fits a later model, and is not dropped again: so it comes to an end
};

/// Weights that differ by less are the same: fluxes follow by some 1e-3 sigma. So are those of a
/// frame where no more than a few differ: some lie on the edge of being smoothed.
constexpr double kSameWeight = 0.1, kMostThatDiffer = 1e-3;
/// And after so many looks weights alone ask for no further solution.
constexpr int kMostWeightLooks = 3;
/// The model is averaged over so many rows at both sides for the variance, where it does not differ
/// by more sigma of a pixel from that mean: a weight then hardly knows the noise of its own pixel,
/// and lines keep theirs.
constexpr int kSmoothRows = 5;
constexpr double kSmoothWithin = 3;
/// What the sampling of light between the centres of bins may miss, beside psferr: a share of the
/// brightest pixel next to one.
constexpr double kSampling = 0.03;
/// Beside a dropped pixel, as a share of the threshold: the edges of a track.
constexpr double kBesideShare = 0.5;
/// An outlier drags the model with it: its neighbours are then off by a third as many electrons on
/// the other side, those two rows on by a tenth on its own. These are not dropped before it has
/// gone.
constexpr double kLeastOfPeak = 0.3;
/// How far that reaches; along a trace bins hand it on.
constexpr int kDraggedColumns = 6, kDraggedRows = 12;
/// Columns at both sides of a trace that are the fibre's.
constexpr int kOwnColumns = 3;

}  // namespace

PixelJudge::PixelJudge(const CcdFrame& ccd, const ExtractOptions& options, double psferr,
                       const BundleGeometry& geometry, const SpotPlan& plan, int guard,
                       Strip& strip, RefineWork& work)
    : ccd_(ccd),
      options_(options),
      psferr_(psferr),
      geometry_(geometry),
      strip_(strip),
      work_(work),
      judged_(static_cast<std::size_t>(geometry.nfiber), 0),
      dropped_(judged_),
      unfit_(judged_.size(), false) {
  const auto rows = static_cast<std::size_t>(strip.rows);
  const auto pitch = static_cast<std::size_t>(strip.pitch);
  if (work.model.rows() != rows || work.model.cols() != pitch)
    work.model = Array2D<float>(rows, pitch, 0.0F);
  std::fill_n(work.model.data(), work.model.size(), 0.0F);
  work.state.resize(rows * pitch);
  for (std::size_t i = 0; i < rows * pitch; ++i)
    work.state[i] = strip.weight[i] > 0 ? kUnjudged : kUnused;
  work.rejected.clear();
  if (options.reject_nsig < 0) return;
  work.pull.resize(rows * pitch, 0.0F);
  work.owner.resize(rows * pitch, 0);
  mark_stamps(plan, guard);
}

void PixelJudge::mark_stamps(const SpotPlan& plan, int guard) {
  const auto each_row = [&](int f, auto&& use) {
    const FiberTrace& trace = geometry_.trace[static_cast<std::size_t>(f)];
    for (int j = guard; j < geometry_.nbin - guard; ++j) {
      const auto bin = static_cast<std::size_t>(j);
      if (!trace.live[bin]) continue;
      const int column = trace.x0[bin] - strip_.x0;
      for (int r = 0; r < plan.ny; ++r)
        use((trace.y0[bin] - strip_.y0 + r) * strip_.pitch + column);
    }
  };
  for (int f = 0; f < geometry_.nfiber; ++f) {
    each_row(f, [&](long at) {
      for (long i = at; i < at + plan.nx; ++i) {
        if (is(i, kUnjudged)) work_.state[static_cast<std::size_t>(i)] = kGood;
        work_.owner[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(f);
      }
    });
  }
  for (int f = 0; f < geometry_.nfiber; ++f) {
    each_row(f, [&](long at) {
      const long middle = at + plan.nx / 2;
      for (long i = middle - std::min(kOwnColumns, (plan.nx - 1) / 2);
           i <= middle + std::min(kOwnColumns, (plan.nx - 1) / 2); ++i)
        work_.owner[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(f);
    });
  }
  const long pixels = strip_.rows * strip_.pitch;
  for (long i = 0; i < pixels; ++i) {
    if (is(i, kGood)) ++judged_[work_.owner[static_cast<std::size_t>(i)]];
  }
}

/// Sums over the rows around each, row by row.
void PixelJudge::smooth_model() {
  const auto rows = static_cast<std::size_t>(strip_.rows);
  const auto pitch = static_cast<std::size_t>(strip_.pitch);
  const Array2D<float>& m = work_.model;
  work_.smooth.resize(rows * pitch);
  std::vector<double> sum(pitch, 0.0);
  const auto add = [&](std::size_t row, double sign) {
    for (std::size_t c = 0; c < pitch; ++c) sum[c] += sign * static_cast<double>(m(row, c));
  };
  std::size_t first = 0, last = 0;  // rows [first, last) are in the sums
  for (std::size_t r = 0; r < rows; ++r) {
    for (; last < std::min(rows, r + kSmoothRows + 1); ++last) add(last, 1);
    for (; first + kSmoothRows < r; ++first) add(first, -1);
    const double n = static_cast<double>(last - first);
    for (std::size_t c = 0; c < pitch; ++c)
      work_.smooth[r * pitch + c] = static_cast<float>(sum[c] / n);
  }
}

/// Of the model's light and the read noise.
double PixelJudge::variance(long at) const {
  const long row = at / strip_.pitch, column = at % strip_.pitch;
  const double read = ccd_.readnoise.variance(static_cast<std::size_t>(row + strip_.y0),
                                              static_cast<std::size_t>(column + strip_.x0));
  const double own = work_.model.data()[at];
  const double mean = work_.smooth[static_cast<std::size_t>(at)];
  const double noise = read + std::max(mean, 0.0);
  if ((own - mean) * (own - mean) <= kSmoothWithin * kSmoothWithin * noise) return noise;
  return read + std::max(own, 0.0);
}

/// What the model may miss of a pixel beside noise: of it psferr, of the brightest one near it what
/// sampling does.
double PixelJudge::shape_error(long at) const {
  const long row = at / strip_.pitch, column = at % strip_.pitch;
  double brightest = 0;
  for (long r = std::max(row - 1, 0L); r <= std::min(row + 1, strip_.rows - 1L); ++r) {
    for (long c = std::max(column - 1, 0L); c <= std::min(column + 1, strip_.pitch - 1); ++c)
      brightest =
          std::max(brightest, static_cast<double>(work_.model.data()[r * strip_.pitch + c]));
  }
  return std::hypot(psferr_ * work_.model.data()[at], kSampling * brightest);
}

double PixelJudge::compare() {
  suspects_.clear();
  smooth_model();
  const bool judges = options_.reject_nsig >= 0;
  const auto least = static_cast<float>(kBesideShare * options_.reject_nsig);
  const long pixels = strip_.rows * strip_.pitch;
  std::size_t weighed = 0, differ = 0;
  for (long i = 0; i < pixels; ++i) {
    if (is(i, kUnused)) continue;
    const auto at = static_cast<std::size_t>(i);
    const double v = variance(i);
    if (options_.model_variance && !is(i, kRejected)) {
      ++weighed;
      if (!(std::abs(strip_.weight[at] * v - 1) <= kSameWeight)) ++differ;
    }
    if (!judges || is(i, kUnjudged)) continue;
    auto pull = static_cast<float>(residual(i) / std::sqrt(v));
    if (std::abs(pull) > least) {  // few
      const double shape = shape_error(i);
      pull = static_cast<float>(residual(i) / std::sqrt(v + shape * shape));
    }
    work_.pull[at] = pull;
    if (is(i, kGood) && std::abs(pull) > least) suspects_.push_back(i);
  }
  return weighed == 0 ? 0.0 : static_cast<double>(differ) / static_cast<double>(weighed);
}

bool PixelJudge::beside_rejected(long at) const {
  const long row = at / strip_.pitch, column = at % strip_.pitch;
  for (long r = std::max(row - 1, 0L); r <= std::min(row + 1, strip_.rows - 1L); ++r) {
    for (long c = std::max(column - 1, 0L); c <= std::min(column + 1, strip_.pitch - 1); ++c) {
      if (is(r * strip_.pitch + c, kRejected)) return true;
    }
  }
  return false;
}

/// Not merely dragged by a neighbour that is off by more electrons.
bool PixelJudge::stands_out(long at) const {
  const long row = at / strip_.pitch, column = at % strip_.pitch;
  const long top = std::min(row + kDraggedRows, strip_.rows - 1L);
  const long right = std::min(column + kDraggedColumns, strip_.pitch - 1);
  const auto suspect = static_cast<float>(kBesideShare * options_.reject_nsig);
  const double own = residual(at);
  for (long r = std::max(row - kDraggedRows, 0L); r <= top; ++r) {
    for (long c = std::max(column - kDraggedColumns, 0L); c <= right; ++c) {
      const long i = r * strip_.pitch + c;
      if (!is(i, kGood) || std::abs(work_.pull[static_cast<std::size_t>(i)]) < suspect) continue;
      const double other = residual(i);
      const double share = own > 0 && other > 0 ? kLeastOfPeak : 1.0;
      if (std::abs(own) < share * std::abs(other)) return false;
    }
  }
  return true;
}

void PixelJudge::accuse(std::vector<long>& dropped) const {
  for (const long at : suspects_) {
    const double pull = work_.pull[static_cast<std::size_t>(at)];
    if (unfit_[work_.owner[static_cast<std::size_t>(at)]]) continue;
    const bool far = std::abs(pull) > options_.reject_nsig;
    if (!far && !(pull > 0 && beside_rejected(at))) continue;
    if (stands_out(at)) dropped.push_back(at);
  }
}

void PixelJudge::pardon_where_fitted(std::vector<long>& pardoned) const {
  const auto fits = static_cast<float>(kBesideShare * options_.reject_nsig);
  const long pixels = strip_.rows * strip_.pitch;
  for (long i = 0; i < pixels; ++i) {
    if (is(i, kRejected) && std::abs(work_.pull[static_cast<std::size_t>(i)]) < fits)
      pardoned.push_back(i);
  }
}

void PixelJudge::pardon_unfit_fibers(std::vector<long>& pardoned) {
  bool any = false;
  for (std::size_t f = 0; f < unfit_.size(); ++f) {
    if (unfit_[f] ||
        static_cast<double>(dropped_[f]) <= kMostRejectedShare * static_cast<double>(judged_[f]))
      continue;
    unfit_[f] = any = true;
  }
  if (!any) return;
  const long pixels = strip_.rows * strip_.pitch;
  for (long i = 0; i < pixels; ++i) {
    if (is(i, kRejected) && unfit_[work_.owner[static_cast<std::size_t>(i)]]) pardoned.push_back(i);
  }
}

/// All of them of the model, or those that have just been dropped or taken back.
void PixelJudge::set_weights() {
  const long pixels = strip_.rows * strip_.pitch;
  for (long i = 0; i < pixels; ++i) {
    if (is(i, kUnused)) continue;
    double& weight = strip_.weight[static_cast<std::size_t>(i)];
    if (is(i, kRejected)) {
      weight = 0;
    } else if (options_.model_variance) {
      weight = 1 / variance(i);
    } else if (is(i, kPardoned)) {
      weight = ccd_.ivar.at(static_cast<std::size_t>(i / strip_.pitch + strip_.y0),
                            static_cast<std::size_t>(i % strip_.pitch + strip_.x0));
    }
  }
}

bool PixelJudge::look() {
  const bool differ = compare() > kMostThatDiffer && looks_++ < kMostWeightLooks;
  std::vector<long> dropped, pardoned;
  if (options_.reject_nsig >= 0) {
    accuse(dropped);
    pardon_where_fitted(pardoned);
  }
  const auto turn = [&](const std::vector<long>& pixels, State state) {
    for (const long at : pixels) {
      if (is(at, state)) continue;
      work_.state[static_cast<std::size_t>(at)] = state;
      std::size_t& count = dropped_[work_.owner[static_cast<std::size_t>(at)]];
      state == kRejected ? ++count : --count;
    }
  };
  turn(dropped, kRejected);
  turn(pardoned, kPardoned);
  std::vector<long> unfit;
  pardon_unfit_fibers(unfit);
  turn(unfit, kPardoned);
  if (dropped.empty() && pardoned.empty() && !differ) return false;
  set_weights();
  return true;
}

void PixelJudge::finish() {
  const long pixels = strip_.rows * strip_.pitch;
  for (long i = 0; i < pixels; ++i) {
    if (!is(i, kRejected)) continue;
    work_.rejected.push_back({static_cast<int>(i % strip_.pitch) + strip_.x0,
                              static_cast<int>(i / strip_.pitch) + strip_.y0});
  }
}

int PixelJudge::unfit_fibers() const {
  return static_cast<int>(std::count(unfit_.begin(), unfit_.end(), true));
}

}  // namespace fiberloom::exact
