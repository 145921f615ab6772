// SPDX-License-Identifier: BSD-3-Clause
// With Q = S^(1/2) of two neighbours and C what couples them, X = Q_1^-1 C Q_2^-1 is the coupling
// in units in which each fibre's errors are white; the correlation follows from X alone.
#include "fiberloom/extract/exact/fiber_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fiberloom/extract/exact/band_products.hpp"
#include "fiberloom/extract/exact/bundle.hpp"
#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"
#include "loom/linalg/banded_lane.hpp"

namespace fiberloom::exact {

namespace {

/// Of S^(-1/2), relative: correlations are small, and so is what this leaves of them.
constexpr double kRootError = 1e-7, kCutOff = 1e-7;
/// Diagonals of the correlation, on each side, that take part in its own equation.
constexpr int kLeastWidth = 32;
/// Of the correlation, where its equation counts as solved.
constexpr double kSolved = 1e-11;
constexpr int kMostSteps = 400;

class Correlation {
 public:
  Correlation(const FrameContext& frame, const BundleGeometry& geometry, int band,
              BundleWorkspace& work, ExtractResult& result)
      : frame_(frame),
        n_(work.normal),
        windows_(cut_windows(geometry.nbin, frame.grid.guard)),
        band_(band),
        width_(inverse_root_width(band, frame.grid.decay)),
        kept_(correlation_width(frame.options.ndiag)),
        first_fiber_(geometry.first_fiber),
        products_(band_products(frame.isa)),
        work_(work),
        own_(work.fiber_correlation),
        result_(result) {
    task_.band = band;
    task_.decay = frame.grid.decay;
    task_.widest = true;  // whatever the band cuts off: the result's own report tells of that
    task_.observer = frame.observer;
    inverse_root_step_ = lane::inverse_row<ScalarLane>(width_);
  }

  void run(int sweep_reach, int nfiber) {
    const float unknown = std::numeric_limits<float>::quiet_NaN();  // until it is written
    for (int f = 0; f + 1 < nfiber; ++f) {
      if (row_of(f) < 0 || row_of(f + 1) < 0) continue;
      Array3D<float>& out = result_.fiber_correlation;
      std::fill_n(&out(static_cast<std::size_t>(row_of(f)), 0, 0), out.rows() * out.cols(),
                  unknown);
    }
    bool next = false;  // whether the next fibre has a root
    bool here = false;  // and this one
    const auto use = [&](int f, const double* s) {
      next = std::exchange(here, false);
      if (row_of(f) < 0) return;
      const Span span(frame_.tracer, "compute/fibre correlation");
      std::swap(own_.inverse_root, own_.next_root);
      here = take_inverse_root(f, s);
      if (sweep_reach == 1 && next && here) correlate(f, next_neighbours(f));
    };
    Pairs pairs;
    const auto sweep = [&] {
      marginal_precisions(n_, sweep_reach, windows_, band_, frame_.banded, frame_.pixel,
                          frame_.tuning.sweeps, frame_.observer, work_.marginal, use, pairs);
    };
    if (sweep_reach == 1) return sweep();
    // a pair's coupling comes with it, and every fibre but the ends is in two
    pairs.use = [&](int f, Band<const double> coupling) {
      if (next && here) correlate(f, coupling);
    };
    for (pairs.first = 0; pairs.first >= -1; --pairs.first) {
      here = false;
      sweep();
    }
  }

 private:
  /// Row of the result, negative where the fibre was not asked for.
  [[nodiscard]] int row_of(int f) const {
    const int row = first_fiber_ + f - frame_.options.spec_min;
    return row < static_cast<int>(result_.flux.rows()) ? row : -1;
  }

  [[nodiscard]] std::size_t lanes(int per_row) const {
    return static_cast<std::size_t>(windows_.rows) * static_cast<std::size_t>(per_row) * kLanes;
  }

  Band<double> band_of(GrowBuffer<double>& buffer, int width) const {
    return {buffer.resize(lanes(2 * width + 1)), width, 2 * width + 1};
  }
  static Band<const double> fixed(const Band<double>& b) { return {b.data, b.width, b.step}; }

  [[nodiscard]] Band<const double> root_band(const GrowBuffer<double>& buffer) const {
    return {buffer.data(), width_, inverse_root_step_};
  }

  /// S^(-1/2) = sum_k c_k (S + t_k)^-1, the poles being those of the square root: S^-1 S^(1/2).
  bool take_inverse_root(int f, const double* s) {
    const RootReport bounds =
        root_bounds(windows_, task_, s, work_.solve.solution(f, n_), frame_.banded, work_.root);
    if (bounds.lost || !(bounds.low > 0)) return false;
    const double high = bounds.high + bounds.shift;
    const RationalRoot root = choose_poles(bounds.low, high, 0, kRootError);
    const std::size_t size = lanes(inverse_root_step_);
    double* sum = own_.inverse_root.resize(size, 0.0);
    own_.inverse.resize(size + static_cast<std::size_t>(width_ * inverse_root_step_) * kLanes, 0.0);
    double shift[kLanes], pivot[kLanes];
    for (std::size_t k = 0; k < root.t.size(); ++k) {
      stop_if_asked(frame_.observer);
      std::fill(shift, shift + kLanes, root.t[k] + bounds.shift);
      frame_.banded.factor(band_, windows_.rows, s, shift, work_.root.l.data(),
                           work_.root.inv_d.data(), pivot);
      frame_.banded.selected_inverse(band_, windows_.rows, work_.root.l.data(),
                                     work_.root.inv_d.data(), width_, own_.inverse.data());
      products_.add_scaled(static_cast<long>(size), root.c[k], own_.inverse.data(), sum);
    }
    return true;
  }

  /// Their block of N, which is all that couples two neighbours where second ones do not matter.
  Band<const double> next_neighbours(int f) {
    const Band<double> coupling = band_of(own_.coupling, n_.cross_band);
    for (int a = -n_.cross_band; a <= n_.cross_band; ++a) {
      const double* in[kLanes];
      for (int i = 0; i < kLanes; ++i) in[i] = n_.cross(1, f, a) + windows_.bin(i, 0);
      frame_.pixel.interleave(in, windows_.rows, coupling.at(0, a),
                              static_cast<long>(coupling.step) * kLanes);
    }
    clear_outside(coupling);
    return fixed(coupling);
  }

  void correlate(int f, Band<const double> coupling) {
    const Span span(frame_.tracer, "compute/fibre correlation");
    stop_if_asked(frame_.observer);
    whiten(coupling);
    solve_for_correlation();
    write(f);
  }

  /// X of two fibres.
  void whiten(Band<const double> coupling) {
    const Band<double> half_way = band_of(own_.half_way, width_ + coupling.width);
    products_.product(windows_.rows, coupling, root_band(own_.next_root), half_way);
    products_.product(windows_.rows, root_band(own_.inverse_root), fixed(half_way),
                      band_of(own_.whitened, kept_));
  }

  /// Rows of a window know of bins beyond it, which its matrix does not have.
  void clear_outside(const Band<double>& m) const {
    for (int e = 1; e <= m.width && e <= windows_.rows; ++e) {
      for (int j = 0; j < e; ++j) {
        std::fill_n(m.at(j, -e), kLanes, 0.0);
        std::fill_n(m.at(windows_.rows - 1 - j, e), kLanes, 0.0);
      }
    }
  }

  /// The correlation K of two fibres and their coupling, both in white units, obey X = -K (1 - K^T
  /// K)^-1. So K = -X G with an even function G of X, the root of G = 1 - Y G G, Y = X^T X, which
  /// commutes with Y. Steps get shorter where plain ones do not come closer. Leaves K in product;
  /// it is no number where there is none.
  void solve_for_correlation() {
    const Band<double> x{own_.whitened.data(), kept_, 2 * kept_ + 1};
    const Band<double> y = band_of(own_.transposed, kept_), g = band_of(own_.even, kept_);
    const Band<double> g2 = band_of(own_.even2, kept_), out = band_of(own_.product, kept_);
    transpose(x, g);
    products_.product(windows_.rows, fixed(g), fixed(x), y);
    const std::size_t size = lanes(g.step);
    std::fill_n(g.data, size, 0.0);
    for (int j = 0; j < windows_.rows; ++j) std::fill_n(g.at(j, 0), kLanes, 1.0);
    double share = 1, before = std::numeric_limits<double>::infinity();
    bool solved = false;
    for (int step = 0; step < kMostSteps && !solved; ++step) {
      products_.product(windows_.rows, fixed(g), fixed(g), g2);
      products_.product(windows_.rows, fixed(y), fixed(g2), out);
      double change = 0;
      for (int j = 0; j < windows_.rows; ++j) {
        for (int d = -kept_; d <= kept_; ++d) {
          double *entry = g.at(j, d), *square = out.at(j, d);
          for (int i = 0; i < kLanes; ++i) {
            const double to = (d == 0 ? 1.0 : 0.0) - square[i] - entry[i];
            change = std::max(change, std::abs(to));
            entry[i] += share * to;
          }
        }
      }
      if (change > 0.5 * before) share = std::max(0.5 * share, 1.0 / 16);
      before = change;
      solved = change < kSolved;
    }
    products_.product(windows_.rows, fixed(x), fixed(g), out);
    const double sign = solved ? -1 : std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = 0; i < size; ++i) out.data[i] *= sign;
  }

  void transpose(const Band<double>& from, const Band<double>& to) const {
    for (int j = 0; j < windows_.rows; ++j) {
      for (int d = -kept_; d <= kept_; ++d) {
        const bool inside = j + d >= 0 && j + d < windows_.rows;
        if (inside) std::copy_n(from.at(j + d, -d), kLanes, to.at(j, d));
        if (!inside) std::fill_n(to.at(j, d), kLanes, 0.0);
      }
    }
  }

  void write(int f) {
    Array3D<float>& out = result_.fiber_correlation;
    const auto spec = static_cast<std::size_t>(row_of(f)), nwave = out.cols();
    const int half = static_cast<int>(out.rows() / 2);
    const Band<const double> k{own_.product.data(), kept_, 2 * kept_ + 1};
    for (std::size_t j = 0; j < nwave; ++j) {
      const int bin = static_cast<int>(j) + frame_.grid.guard, lane = windows_.window_of(bin);
      const int row = bin - windows_.bin(lane, 0);
      for (int d = -half; d <= half; ++d) {
        const long other = static_cast<long>(j) + d;
        if (other < 0 || other >= static_cast<long>(nwave)) continue;
        out(spec, static_cast<std::size_t>(half + d), j) = static_cast<float>(k.at(row, d)[lane]);
      }
    }
  }

  const FrameContext& frame_;
  const NormalEquations& n_;
  Windows windows_;
  int band_, width_, kept_, first_fiber_;
  int inverse_root_step_ = 0;
  const BandProducts& products_;
  BundleWorkspace& work_;
  FiberCorrelationWork& own_;
  ExtractResult& result_;
  RootTask task_;
};

}  // namespace

int inverse_root_width(int band, double decay) {
  const double bins = std::log(kCutOff) / std::log(std::clamp(decay, 1e-3, 0.95));
  return std::max(band, static_cast<int>(std::ceil(bins / kLanes)) * kLanes);
}

int correlation_width(int ndiag) { return std::max(kLeastWidth, ndiag / 2); }

void correlate_fibers(const FrameContext& frame, const BundleGeometry& geometry, int band,
                      BundleWorkspace& work, ExtractResult& result) {
  if (geometry.nfiber < 2) return;
  Correlation(frame, geometry, band, work, result).run(geometry.sweep_reach, geometry.nfiber);
}

std::size_t clear_lost_correlations(ExtractResult& result) {
  Array3D<float>& c = result.fiber_correlation;
  std::size_t lost = 0;
  if (c.empty()) return lost;
  const std::size_t ndiag = c.rows(), half = ndiag / 2, nwave = c.cols();
  for (std::size_t s = 0; s < c.planes(); ++s) {
    for (std::size_t k = 0; k < ndiag; ++k) {
      for (std::size_t j = 0; j < nwave; ++j) {
        const std::size_t other = j + k - half;  // wraps below 0
        const bool known = s + 1 < c.planes() && other < nwave && result.ivar(s, j) > 0 &&
                           result.ivar(s + 1, other) > 0;
        if (known && std::isfinite(c(s, k, j))) continue;
        lost += known;
        c(s, k, j) = 0;
      }
    }
  }
  return lost;
}

}  // namespace fiberloom::exact
