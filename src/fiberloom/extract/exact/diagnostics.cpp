// SPDX-License-Identifier: BSD-3-Clause
// One pass over the bins: the model runs ahead, chi2 of the rows it has left follows, then each
// spot's mean.
#include "fiberloom/extract/exact/diagnostics.hpp"

#include <algorithm>

namespace fiberloom::exact {

namespace {

/// Bins of a call of the spot kernel.
constexpr int kTile = kFloatLanes;

/// CCD rows of the strip that tiles of bins touch.
struct TileRows {
  std::vector<int> first;  ///< of tiles t, t + 1, ... of any fibre; one more: past the last row
  std::vector<int> last;   ///< one past the last of tile t
};

TileRows tile_rows(const BundleGeometry& g, int begin, int end, int ny) {
  const auto count = static_cast<std::size_t>(end);
  TileRows rows{std::vector<int>(count + 1, g.rows), std::vector<int>(count, 0)};
  for (int t = begin; t < end; ++t) {
    for (const FiberTrace& trace : g.trace) {
      for (int j = t * kTile; j < std::min(g.nbin, (t + 1) * kTile); ++j) {
        if (!trace.live[static_cast<std::size_t>(j)]) continue;
        const int row = trace.y0[static_cast<std::size_t>(j)] - g.y0;
        int &first = rows.first[static_cast<std::size_t>(t)],
            &last = rows.last[static_cast<std::size_t>(t)];
        first = std::min(first, row);
        last = std::max(last, row + ny);
      }
    }
  }
  rows.first[count] = count > 0 ? *std::max_element(rows.last.begin(), rows.last.end()) : 0;
  for (std::size_t t = count; t-- > 0;) rows.first[t] = std::min(rows.first[t], rows.first[t + 1]);
  return rows;
}

class Diagnosis {
 public:
  Diagnosis(const SpotPlan& plan, const BundleGeometry& g, FloatSpotKernel spots,
            const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
            const double* x, double psferr, int guard, DiagnosticWork& work, Array2D<float>* image)
      : plan_(plan),
        g_(g),
        shape_{plan.ny, plan.float_stride},
        spots_(spots),
        kernels_(kernels),
        strip_(strip),
        layout_(strip),
        n_(n),
        x_(x),
        psferr_(psferr),
        work_(work),
        image_(image) {
    lit_ = model_bins(g, guard);
    begin_ = lit_.first / kTile;
    end_ = (lit_.last + kTile - 1) / kTile;
    rows_ = tile_rows(g, begin_, end_, plan.ny);
    // A tile's spots are needed again once no later tile touches its rows: keep as many tiles as
    // the longest wait.
    int wait = 1;
    for (int t = begin_, ahead = begin_; t < end_; ++t) {
      while (ahead < end_ && first_row(ahead) < last_row(t)) ++ahead;
      wait = std::max(wait, ahead - t);
    }
    kept_tiles_ = wait + 1;
    tile_size_ = kTile * plan.float_spot_size();
    work.model.resize(static_cast<std::size_t>(strip.rows) *
                      static_cast<std::size_t>(layout_.pitch));
    work.spots.resize(static_cast<std::size_t>(g.nfiber * kept_tiles_) * tile_size_);
    work.fit = FitTally();
    const BinRange rows = fit_rows(g, plan, guard);
    work.fit.first_row = rows.first;
    work.fit.last_row = rows.last;
    work.chi2pix.resize(
        static_cast<std::size_t>(g.nfiber) * static_cast<std::size_t>(g.nbin_padded), 0.0);
  }

  void run() {
    complete_ = cleared_ = first_row(begin_);
    int averaged = begin_;
    for (int t = begin_; t <= end_; ++t) {
      complete_rows(first_row(t));
      for (; averaged < t && last_row(averaged) <= complete_; ++averaged) average(averaged);
      if (t < end_) add(t);
    }
  }

 private:
  [[nodiscard]] int first_row(int t) const { return rows_.first[static_cast<std::size_t>(t)]; }
  [[nodiscard]] int last_row(int t) const { return rows_.last[static_cast<std::size_t>(t)]; }
  [[nodiscard]] float* model_row(int row) { return work_.model.data() + row * layout_.pitch; }
  /// Where the spots of a tile wait for its rows.
  [[nodiscard]] float* kept(int f, int slot) {
    return work_.spots.data() + static_cast<std::size_t>(f * kept_tiles_ + slot) * tile_size_;
  }

  /// The model of rows up to `end` is known: keeps it for the image, then puts chi2 in its place.
  void complete_rows(int end) {
    if (end <= complete_) return;
    for (int row = complete_; row < end; ++row) {
      const long at = row * strip_.pitch;
      float* model = model_row(row) + (strip_.x0 - layout_.x0);
      if (image_ != nullptr) std::copy_n(model, strip_.pitch, image_->data() + at);
      if (row + g_.y0 >= work_.fit.first_row && row + g_.y0 < work_.fit.last_row)
        tally_fit(strip_.weight.data() + at, strip_.pixel.data() + at, model);
      kernels_.chi2(strip_.weight.data() + at, strip_.pixel.data() + at, psferr_, strip_.pitch,
                    model);
    }
    complete_ = end;
  }

  /// Goodness of fit of a row; bright pixels one by one.
  void tally_fit(const double* weight, const double* pixel, const float* model) {
    double* sums = work_.fit.sums;
    const double before = sums[2];
    kernels_.fit(weight, pixel, model, strip_.pitch, sums);
    if (sums[2] == before) return;
    for (long i = 0; i < strip_.pitch; ++i) {
      const auto m = static_cast<double>(model[i]);
      if (is_bright(weight[i], m))
        work_.fit.add_bright((pixel[i] - m) / m, bright_noise2(weight[i], m));
    }
  }

  /// chi2pix of a tile.
  void average(int t) {
    const int slot = t % kept_tiles_;
    for (int f = 0; f < g_.nfiber; ++f) {
      const FiberTrace& trace = g_.trace[static_cast<std::size_t>(f)];
      const float* spot = kept(f, slot);
      double* out = work_.chi2pix.data() + static_cast<long>(f) * g_.nbin_padded;
      for (int j = t * kTile; j < std::min(g_.nbin, (t + 1) * kTile); ++j) {
        const double phi = n_.phi(f)[j];
        if (phi > 0) {
          out[j] = static_cast<double>(kernels_.gather(shape_, spot, work_.model.data(),
                                                       layout_.pitch, layout_.row_of(trace, j),
                                                       layout_.column_of(trace, j))) /
                   phi;
        }
        spot += plan_.float_spot_size();
      }
    }
  }

  /// Adds the light of a tile to the model.
  void add(int t) {
    if (last_row(t) > cleared_) {  // just before they are used, so that they are at hand
      std::fill(model_row(cleared_), model_row(last_row(t)), 0.0F);
      cleared_ = last_row(t);
    }
    const int slot = t % kept_tiles_;
    for (int f = 0; f < g_.nfiber; ++f) {
      const FiberTrace& trace = g_.trace[static_cast<std::size_t>(f)];
      const double* flux = x_ + f * n_.pitch + n_.margin;
      float* spot = kept(f, slot);
      prefetch(f + 1 < g_.nfiber ? f + 1 : 0, f + 1 < g_.nfiber ? t : t + 1);
      spots_(plan_, g_.first_fiber + f, t * kTile, trace, spot);
      for (int j = t * kTile; j < std::min(g_.nbin, (t + 1) * kTile); ++j) {
        const double phi = n_.phi(f)[j];
        const bool lit = j >= lit_.first && j < lit_.last && phi > 0;
        if (lit && trace.live[static_cast<std::size_t>(j)]) {
          const auto light = static_cast<float>(light_of(flux[j]));
          const int row = layout_.row_of(trace, j), column = layout_.column_of(trace, j);
          if (phi >= kUnconstrainedBelow) {
            kernels_.add_model(shape_, spot, light, work_.model.data(), layout_.pitch, row, column);
          } else {
            add_to_good_pixels(spot, light, row, column);
          }
        }
        spot += plan_.float_spot_size();
      }
    }
  }

  /// Asks for what add() will read of a fibre's tile.
  void prefetch(int f, int t) const {
    const int j = t * kTile;
    if (j >= g_.nbin) return;
    const FiberTrace& trace = g_.trace[static_cast<std::size_t>(f)];
    __builtin_prefetch(trace.float_edge_x.data() + j);
    __builtin_prefetch(trace.float_edge_y.data() + j);
    __builtin_prefetch(trace.lit.data() + j);
    __builtin_prefetch(trace.x0.data() + j);
    __builtin_prefetch(trace.y0.data() + j);
    __builtin_prefetch(trace.live.data() + j);
    for (int i = j; i < j + kTile; i += kLanes) {
      __builtin_prefetch(n_.phi(f) + i);
      __builtin_prefetch(x_ + f * n_.pitch + n_.margin + i);
    }
  }

  /// The flux of an unconstrained bin is whatever its prior says: it counts where it was fitted,
  /// nowhere else.
  void add_to_good_pixels(const float* spot, float light, int row, int column) {
    for (int r = 0; r < shape_.ny; ++r) {
      float* model = model_row(row + r);
      const double* weight = strip_.weight.data() + (row + r) * strip_.pitch;
      for (int c = 0; c < shape_.stride; ++c) {
        const long in_strip = column + c - (strip_.x0 - layout_.x0);
        if (in_strip >= 0 && in_strip < strip_.pitch && weight[in_strip] > 0)
          model[column + c] += light * spot[r * shape_.stride + c];
      }
    }
  }

  const SpotPlan& plan_;
  const BundleGeometry& g_;
  StampShape shape_;
  FloatSpotKernel spots_;
  const PixelKernels& kernels_;
  const Strip& strip_;
  FloatStrip layout_;  // of the model
  const NormalEquations& n_;
  const double* x_;
  double psferr_;
  DiagnosticWork& work_;
  Array2D<float>* image_;
  BinRange lit_{};                  // bins
  int begin_ = 0, end_ = 0;         // tiles
  int complete_ = 0, cleared_ = 0;  // rows before these are chi2; zero or model
  int kept_tiles_ = 0;
  std::size_t tile_size_ = 0;
  TileRows rows_;
};

}  // namespace

void FitTally::add_bright(double off, double noise2) {
  ++histogram_[fit_bin(off)];
  noise2_ += noise2;
  ++count_;
}
void FitTally::add_bright(const unsigned* counts, double noise2) {
  for (int i = 0; i < kFitBins; ++i) {
    histogram_[i] += counts[i];
    count_ += counts[i];
  }
  noise2_ += noise2;
}

BinRange fit_rows(const BundleGeometry& g, const SpotPlan& plan, int guard) {
  const auto first = static_cast<std::size_t>(guard),
             last = static_cast<std::size_t>(g.nbin - guard - 1);
  BinRange rows{0, plan.npix_y};
  for (const FiberTrace& t : g.trace) {
    rows.first = std::max(rows.first, std::min(t.y0[first], t.y0[last]));
    rows.last = std::min(rows.last, std::max(t.y0[first], t.y0[last]) + plan.ny);
  }
  return rows;
}

void report_fit(const FitTally& fit, std::size_t parameters, BundleReport& report) {
  report.chi2 = fit.sums[0];
  report.pixels = static_cast<std::size_t>(fit.sums[1]);
  report.bright_pixels = static_cast<std::size_t>(fit.sums[2]);
  report.seen_psferr = fit.psferr();
  report.parameters = parameters;
}

double FitTally::psferr() const {
  constexpr std::size_t kFewest = 100;
  constexpr double kMedianOfNormal = 0.6745;  // of |x|, in sigma
  if (count_ < kFewest) return -1;
  std::size_t below = 0;
  int at = 0;
  while (2 * (below + histogram_[at]) < count_) below += histogram_[at++];
  const double part = (static_cast<double>(count_) / 2 - static_cast<double>(below)) /
                      std::max(1.0, static_cast<double>(histogram_[at]));
  const double median = std::exp2((at + part) / kFitSteps - kFitOctaves);
  const double all = median / kMedianOfNormal, noise2 = noise2_ / static_cast<double>(count_);
  return std::sqrt(std::max(all * all - noise2, 0.0));
}

void diagnose(const SpotPlan& plan, const BundleGeometry& g, FloatSpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
              const double* x, double psferr, int guard, DiagnosticWork& work,
              Array2D<float>* image) {
  Diagnosis(plan, g, spots, kernels, strip, n, x, psferr, guard, work, image).run();
}

}  // namespace fiberloom::exact
