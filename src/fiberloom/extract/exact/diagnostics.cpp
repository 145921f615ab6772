// SPDX-License-Identifier: BSD-3-Clause
// One pass over the bins: the model runs ahead, chi2 of the rows it has left follows, then each
// spot's mean.
#include "fiberloom/extract/exact/diagnostics.hpp"

#include <algorithm>

namespace fiberloom::exact {

namespace {

/// CCD rows of the strip that tiles of kLanes bins touch.
struct TileRows {
  std::vector<int> first;  ///< of tiles t, t + 1, ... of any fibre; one more: past the last row
  std::vector<int> last;   ///< one past the last of tile t
};

TileRows tile_rows(const BundleGeometry& g, int begin, int end, int ny) {
  const auto count = static_cast<std::size_t>(end);
  TileRows rows{std::vector<int>(count + 1, g.rows), std::vector<int>(count, 0)};
  for (int t = begin; t < end; ++t) {
    for (const FiberTrace& trace : g.trace) {
      for (int j = t * kLanes; j < std::min(g.nbin, (t + 1) * kLanes); ++j) {
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

/// The flux of an unconstrained bin is whatever its prior says: it counts where it was fitted,
/// nowhere else.
void add_to_good_pixels(const StampShape& shape, const double* spot, double flux,
                        const Strip& strip, double* model, int row, int column) {
  for (int r = 0; r < shape.ny; ++r) {
    const long first = (row + r) * strip.pitch + column;
    for (int c = 0; c < shape.stride; ++c) {
      if (strip.weight[static_cast<std::size_t>(first + c)] > 0)
        model[first + c] += flux * spot[r * shape.stride + c];
    }
  }
}

class Diagnosis {
 public:
  Diagnosis(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
            const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
            const double* x, double psferr, int guard, DiagnosticWork& work, Array2D<float>* image)
      : plan_(plan),
        g_(g),
        shape_{plan.ny, plan.stride},
        spots_(spots),
        kernels_(kernels),
        strip_(strip),
        n_(n),
        x_(x),
        psferr_(psferr),
        work_(work),
        image_(image) {
    // Guard bins count as far as they share rows with requested ones; beyond there is no model.
    const int margin = std::max(guard - std::max(g.band, g.cross_band), 0);
    begin_ = margin / kLanes;
    end_ = (g.nbin - margin + kLanes - 1) / kLanes;
    rows_ = tile_rows(g, begin_, end_, plan.ny);
    // A tile's spots are needed again once no later tile touches its rows: keep as many tiles as
    // the longest wait.
    int wait = 1;
    for (int t = begin_, ahead = begin_; t < end_; ++t) {
      while (ahead < end_ && first_row(ahead) < last_row(t)) ++ahead;
      wait = std::max(wait, ahead - t);
    }
    kept_tiles_ = wait + 1;
    tile_size_ = kLanes * plan.spot_size();
    work.model.resize(static_cast<std::size_t>(strip.rows) * static_cast<std::size_t>(strip.pitch));
    work.spots.resize(static_cast<std::size_t>(g.nfiber * kept_tiles_) * tile_size_);
    work.tile.resize(tile_size_);
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
  [[nodiscard]] double* model_row(int row) { return work_.model.data() + row * strip_.pitch; }
  /// Where the spots of a tile wait for its rows.
  [[nodiscard]] float* kept(int f, int slot) {
    return work_.spots.data() + static_cast<std::size_t>(f * kept_tiles_ + slot) * tile_size_;
  }

  /// The model of rows up to `end` is known: keeps it for the image, then puts chi2 in its place.
  void complete_rows(int end) {
    if (end <= complete_) return;
    const long first = complete_ * strip_.pitch, count = (end - complete_) * strip_.pitch;
    double* model = model_row(complete_);
    if (image_ != nullptr) {
      float* out = image_->data() + first;
      for (long i = 0; i < count; ++i) out[i] = static_cast<float>(model[i]);
    }
    kernels_.chi2(strip_.weight.data() + first, strip_.pixel.data() + first, model, psferr_, count,
                  model);
    complete_ = end;
  }

  /// chi2pix of a tile.
  void average(int t) {
    const int slot = t % kept_tiles_;
    for (int f = 0; f < g_.nfiber; ++f) {
      const FiberTrace& trace = g_.trace[static_cast<std::size_t>(f)];
      const float* spot = kept(f, slot);
      double* out = work_.chi2pix.data() + static_cast<long>(f) * g_.nbin_padded;
      for (int j = t * kLanes; j < std::min(g_.nbin, (t + 1) * kLanes); ++j) {
        const double phi = n_.phi(f)[j];
        if (phi > 0) {
          out[j] = kernels_.gather(shape_, spot, work_.model.data(), strip_.pitch,
                                   trace.y0[static_cast<std::size_t>(j)] - g_.y0,
                                   trace.frame[static_cast<std::size_t>(j)] - g_.x0) /
                   phi;
        }
        spot += plan_.spot_size();
      }
    }
  }

  /// Adds the light of a tile to the model.
  void add(int t) {
    if (last_row(t) > cleared_) {  // just before they are used, so that they are at hand
      std::fill(model_row(cleared_), model_row(last_row(t)), 0.0);
      cleared_ = last_row(t);
    }
    const int slot = t % kept_tiles_;
    for (int f = 0; f < g_.nfiber; ++f) {
      const FiberTrace& trace = g_.trace[static_cast<std::size_t>(f)];
      make_spots(spots_, plan_, g_.first_fiber + f, t * kLanes, trace, work_.tile.data());
      const double* flux = x_ + f * n_.pitch + n_.margin;
      const double* spot = work_.tile.data();
      float* narrowed = kept(f, slot);
      for (int j = t * kLanes; j < std::min(g_.nbin, (t + 1) * kLanes); ++j) {
        const double phi = n_.phi(f)[j];
        if (trace.live[static_cast<std::size_t>(j)] && phi > 0) {
          const int row = trace.y0[static_cast<std::size_t>(j)] - g_.y0;
          const int column = trace.frame[static_cast<std::size_t>(j)] - g_.x0;
          const bool constrained = phi >= kUnconstrainedBelow;
          kernels_.add_model(shape_, spot, constrained ? flux[j] : 0.0, work_.model.data(),
                             strip_.pitch, row, column, narrowed);
          if (!constrained) {
            add_to_good_pixels(shape_, spot, flux[j], strip_, work_.model.data(), row, column);
          }
        }
        spot += plan_.spot_size();
        narrowed += plan_.spot_size();
      }
    }
  }

  const SpotPlan& plan_;
  const BundleGeometry& g_;
  StampShape shape_;
  SpotKernel spots_;
  const PixelKernels& kernels_;
  const Strip& strip_;
  const NormalEquations& n_;
  const double* x_;
  double psferr_;
  DiagnosticWork& work_;
  Array2D<float>* image_;
  int begin_ = 0, end_ = 0;         // tiles
  int complete_ = 0, cleared_ = 0;  // rows before these are chi2; zero or model
  int kept_tiles_ = 0;
  std::size_t tile_size_ = 0;
  TileRows rows_;
};

}  // namespace

void diagnose(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
              const double* x, double psferr, int guard, DiagnosticWork& work,
              Array2D<float>* image) {
  Diagnosis(plan, g, spots, kernels, strip, n, x, psferr, guard, work, image).run();
}

}  // namespace fiberloom::exact
