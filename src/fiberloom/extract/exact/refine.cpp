// SPDX-License-Identifier: BSD-3-Clause
// The rules by which weights follow from a model, and which pixels are outliers.
#include "fiberloom/extract/exact/refine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fiberloom::exact {

namespace {

using enum PixelState;

/// Weights that differ by less are the same: fluxes follow by some 1e-3 sigma. So are those of a
/// frame where no more than a few differ: some lie on the edge of being smoothed.
constexpr double kSameWeight = 0.1, kMostThatDiffer = 0.03;
/// And after so many looks weights alone ask for no further solution.
constexpr int kMostWeightLooks = 3;
/// A weight of the model follows where its variance has moved by more since.
constexpr double kSameVariance = 0.05;
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
  work.stale.assign(rows, 1);
  work.variance.resize(rows * pitch, 0.0F);
  work.read.resize(rows * pitch, 0.0F);
  work.state.resize(rows * pitch, kUnused);
  differ_.assign(rows, 0);
  for (std::size_t i = 0; i < rows * pitch; ++i) {
    if (!(strip.weight[i] > 0)) continue;
    work.state[i] = kUnjudged;
    work.read[i] =
        static_cast<float>(ccd.readnoise.variance(i / pitch + static_cast<std::size_t>(strip.y0),
                                                  i % pitch + static_cast<std::size_t>(strip.x0)));
    ++weighed_;
  }
  work.rejected.clear();
  if (options.reject_nsig < 0) return;
  work.pull.resize(rows * pitch, 0.0F);
  work.owner.resize(rows * pitch, 0);
  mark_stamps(plan, guard);
}

void PixelJudge::mark_stamps(const SpotPlan& plan, int guard) {
  const auto each_row = [&](int f, auto&& use) {
    const FiberTrace& trace = geometry_.trace[static_cast<std::size_t>(f)];
    int done_column = 0, done_row = 0, done_end = 0;  // what the last stamp covered
    for (int j = guard; j < geometry_.nbin - guard; ++j) {
      const auto bin = static_cast<std::size_t>(j);
      if (!trace.live[bin]) continue;
      const int column = trace.x0[bin] - strip_.x0, row = trace.y0[bin] - strip_.y0;
      const bool goes_on = column == done_column && row >= done_row;
      for (int r = goes_on ? std::max(row, done_end) : row; r < row + plan.ny; ++r)
        use(r * strip_.pitch + column);
      done_column = column;
      done_row = row;
      done_end = row + plan.ny;
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

/// Of the model's light and the read noise; `sum`: of the model over so many rows around.
void PixelJudge::weigh_row(long row, const double* sum, double rows) {
  const auto pitch = static_cast<std::size_t>(strip_.pitch);
  const std::size_t begin = static_cast<std::size_t>(row) * pitch;
  const float *model = work_.model.data() + begin, *read_noise = work_.read.data() + begin;
  float* variance = work_.variance.data() + begin;
  const double scale = 1 / rows;
  for (std::size_t c = 0; c < pitch; ++c) {
    const double mean = sum[c] * scale, own = model[c], read = read_noise[c];
    const double noise = read + std::max(mean, 0.0), off = own - mean;
    const bool smooth = off * off <= kSmoothWithin * kSmoothWithin * noise;
    variance[c] = static_cast<float>(smooth ? noise : read + std::max(own, 0.0));
  }
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

void PixelJudge::judge_row(long row) {
  if (options_.reject_nsig < 0) return;
  const auto least = static_cast<float>(kBesideShare * options_.reject_nsig);
  for (long i = row * strip_.pitch; i < (row + 1) * strip_.pitch; ++i) {
    if (is(i, kUnused) || is(i, kUnjudged)) continue;
    const auto at = static_cast<std::size_t>(i);
    const double off = residual(i), v = work_.variance[at];
    float pull = 0;                       // as good as
    if (off * off > least * least * v) {  // few
      const double shape = shape_error(i);
      pull = static_cast<float>(off / std::sqrt(v + shape * shape));
    }
    work_.pull[at] = pull;
    if (is(i, kGood) && std::abs(pull) > least) suspects_.push_back(i);
  }
}

void PixelJudge::weigh_rows(long first, long end, const WeighedRow& use) {
  const auto pitch = static_cast<std::size_t>(strip_.pitch);
  std::vector<double> sum(pitch, 0.0);
  std::vector<float> before(pitch);
  const auto add = [&](long row, double sign) {
    const float* m = work_.model.row(static_cast<std::size_t>(row));
    for (std::size_t c = 0; c < pitch; ++c) sum[c] += sign * static_cast<double>(m[c]);
  };
  long low = std::max(0L, first - kSmoothRows), high = low;  // rows [low, high) are in the sums
  for (long r = first; r < end; ++r) {
    for (; high < std::min<long>(strip_.rows, r + kSmoothRows + 1); ++high) add(high, 1);
    for (; low + kSmoothRows < r; ++low) add(low, -1);
    const auto begin = static_cast<std::size_t>(r) * pitch;
    std::copy_n(work_.variance.data() + begin, pitch, before.begin());
    weigh_row(r, sum.data(), static_cast<double>(high - low));
    use(r, before.data());
  }
}

void PixelJudge::compare_rows(long first, long end) {
  const auto pitch = static_cast<std::size_t>(strip_.pitch);
  weigh_rows(first, end, [&](long r, const float* before) {
    if (!options_.model_variance) return;
    const auto begin = static_cast<std::size_t>(r) * pitch;
    differ_[static_cast<std::size_t>(r)] = 0;
    for (std::size_t c = 0; c < pitch; ++c) {
      const auto at = static_cast<long>(begin + c);
      if (is(at, kUnused) || is(at, kRejected)) continue;
      const double v = work_.variance[begin + c];
      if (std::abs(strip_.weight[begin + c] * v - 1) <= kSameWeight) continue;
      ++differ_[static_cast<std::size_t>(r)];
      if (std::abs(before[c] - v) > kSameVariance * v) moved_.push_back(at);
    }
  });
}

void PixelJudge::compare() {
  moved_.clear();
  // a row's variance knows the model of those around it
  std::vector<std::uint8_t> stale(work_.stale.size(), 0);
  for (std::size_t r = 0; r < stale.size(); ++r) {
    if (work_.stale[r] == 0) continue;
    const std::size_t first = r - std::min<std::size_t>(r, kSmoothRows);
    std::fill_n(stale.begin() + static_cast<std::ptrdiff_t>(first),
                std::min(stale.size(), r + kSmoothRows + 1) - first, std::uint8_t{1});
  }
  const auto is_stale = [&](long at) {
    return stale[static_cast<std::size_t>(at / strip_.pitch)] != 0;
  };
  std::erase_if(suspects_, is_stale);
  const auto kept = static_cast<std::ptrdiff_t>(suspects_.size());
  for (long r = 0; r < strip_.rows; ++r) {
    const long first = r;
    while (r < strip_.rows && stale[static_cast<std::size_t>(r)] != 0) ++r;
    if (r == first) continue;
    compare_rows(first, r);
    for (long row = first; row < r; ++row) judge_row(row);
  }
  std::inplace_merge(suspects_.begin(), suspects_.begin() + kept, suspects_.end());
}

bool PixelJudge::weights_differ() const {
  const std::size_t differ = std::accumulate(differ_.begin(), differ_.end(), std::size_t{0});
  return static_cast<double>(differ) >
         kMostThatDiffer * static_cast<double>(weighed_ - rejected_.size());
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
    if (!is(at, kGood)) continue;
    if (unfit_[work_.owner[static_cast<std::size_t>(at)]]) continue;
    const bool far = std::abs(pull) > options_.reject_nsig;
    if (!far && !(pull > 0 && beside_rejected(at))) continue;
    if (stands_out(at)) dropped.push_back(at);
  }
}

void PixelJudge::pardon_where_fitted(std::vector<long>& pardoned) const {
  const auto fits = static_cast<float>(kBesideShare * options_.reject_nsig);
  for (const long at : rejected_) {
    if (std::abs(work_.pull[static_cast<std::size_t>(at)]) < fits) pardoned.push_back(at);
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
  for (const long at : rejected_) {
    if (unfit_[work_.owner[static_cast<std::size_t>(at)]]) pardoned.push_back(at);
  }
}

double PixelJudge::weight_of(long at) const {
  if (is(at, kRejected)) return 0;
  if (options_.model_variance) return 1 / static_cast<double>(work_.variance.data()[at]);
  return ccd_.ivar.at(static_cast<std::size_t>(at / strip_.pitch + strip_.y0),
                      static_cast<std::size_t>(at % strip_.pitch + strip_.x0));
}

/// `pixels`: in order; some may be there twice.
void PixelJudge::set_weights(std::vector<long> pixels) {
  pixels.erase(std::unique(pixels.begin(), pixels.end()), pixels.end());
  for (const long at : pixels) strip_.weight[static_cast<std::size_t>(at)] = weight_of(at);
  changed_ = std::move(pixels);
}

void PixelJudge::turn(const std::vector<long>& pixels, PixelState state) {
  for (const long at : pixels) {
    if (is(at, state)) continue;
    work_.state[static_cast<std::size_t>(at)] = state;
    std::size_t& count = dropped_[work_.owner[static_cast<std::size_t>(at)]];
    state == kRejected ? ++count : --count;
  }
  if (state == kRejected) {
    rejected_.insert(rejected_.end(), pixels.begin(), pixels.end());
    std::sort(rejected_.begin(), rejected_.end());
  } else {
    std::erase_if(rejected_, [&](long at) { return is(at, state); });
  }
}

/// Whether one of the pixels, in order, may have dragged this one's model.
bool PixelJudge::near(long at, std::span<const long> pixels) const {
  const long row = at / strip_.pitch, column = at % strip_.pitch;
  const auto from =
      std::lower_bound(pixels.begin(), pixels.end(), (row - kDraggedRows) * strip_.pitch);
  return std::any_of(
      from, std::lower_bound(from, pixels.end(), (row + kDraggedRows + 1) * strip_.pitch),
      [&](long other) { return std::abs(other % strip_.pitch - column) <= kDraggedColumns; });
}

bool PixelJudge::look() {
  compare();
  const bool differ = options_.model_variance && looks_++ < kMostWeightLooks && weights_differ();
  std::vector<long> dropped, pardoned, unfit;
  if (options_.reject_nsig >= 0) {
    accuse(dropped);
    pardon_where_fitted(pardoned);
  }
  turn(dropped, kRejected);
  turn(pardoned, kPardoned);
  pardon_unfit_fibers(unfit);
  turn(unfit, kPardoned);
  if (dropped.empty() && pardoned.empty() && !differ) return false;
  std::vector<long> pixels;
  if (differ && !weighed_by_model_) {  // the first weights know their own noise
    weighed_by_model_ = true;
    for (long i = 0; i < strip_.rows * strip_.pitch; ++i) {
      if (!is(i, kUnused)) pixels.push_back(i);
    }
  } else {
    for (const auto& more : {dropped, pardoned, unfit})
      pixels.insert(pixels.end(), more.begin(), more.end());
    std::sort(pixels.begin(), pixels.end());
    if (!differ) std::erase_if(moved_, [&](long at) { return !near(at, pixels); });
    // of a frame's pixels many: not to be sorted again
    const auto few = static_cast<std::ptrdiff_t>(pixels.size());
    pixels.insert(pixels.end(), moved_.begin(), moved_.end());
    std::inplace_merge(pixels.begin(), pixels.begin() + few, pixels.end());
  }
  set_weights(std::move(pixels));
  return true;
}

void PixelJudge::finish() {
  for (const long at : rejected_) {
    work_.rejected.push_back({static_cast<int>(at % strip_.pitch) + strip_.x0,
                              static_cast<int>(at / strip_.pitch) + strip_.y0});
  }
}

int PixelJudge::unfit_fibers() const {
  return static_cast<int>(std::count(unfit_.begin(), unfit_.end(), true));
}

}  // namespace fiberloom::exact
