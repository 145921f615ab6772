// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/resample.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>

#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/linalg/banded_root.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kWidestBand = 128;  ///< of A: bins a tenth of a camera's

/// Where a camera's bins lie on the grid.
struct Placement {
  /// [bin] the light there is (1 - share) of that at grid bin `at` and share of that at the next;
  /// kBeyond: outside of the grid.
  std::vector<std::size_t> at;
  std::vector<double> share;
  static constexpr std::size_t kBeyond = ~std::size_t{0};
};

Placement place(const std::vector<double>& camera, const std::vector<double>& grid) {
  constexpr double kSlack = 1e-6;  // of a bin: a grid made by powers of 10 ends beside its end
  Placement out;
  std::size_t g = 0;
  for (const double w : camera) {
    while (g + 2 < grid.size() && grid[g + 1] < w) ++g;
    const double x = (w - grid[g]) / (grid[g + 1] - grid[g]);
    const bool inside = x >= -kSlack && x <= 1 + kSlack;
    out.at.push_back(inside ? g : Placement::kBeyond);
    out.share.push_back(std::clamp(x, 0.0, 1.0));
  }
  return out;
}

/// Half-band of A that pixels of `ndiag` diagonals ask for.
std::size_t band_of(const Placement& p, std::size_t ndiag) {
  std::size_t band = 0;
  for (std::size_t j = 0; j < p.at.size(); ++j) {
    if (p.at[j] == Placement::kBeyond) continue;
    std::size_t last = std::min(j + 2 * (ndiag / 2), p.at.size() - 1);
    while (p.at[last] == Placement::kBeyond) --last;
    band = std::max(band, p.at[last] + 1 - p.at[j]);
  }
  return band;
}

/// A [band + 1][n] and y of one target.
struct Equations {
  Array2D<double> a;
  std::vector<double> y;
};

/// Adds what one exposure of a camera says; r without data: a camera whose R is not known is sharp.
void add(Equations& e, const Placement& p, Banded<const float> r, const double* flux,
         const double* weight) {
  const std::size_t nwave = p.at.size(), half = r.data != nullptr ? r.half() : 0;
  std::vector<double> row(e.a.rows());
  for (std::size_t i = 0; i < nwave; ++i) {
    if (!(weight[i] > 0)) continue;
    std::size_t first = Placement::kBeyond, end = 0;
    bool inside = true;
    std::fill(row.begin(), row.end(), 0.0);
    const std::size_t last = std::min(i + half, nwave - 1);
    for (std::size_t j = i > half ? i - half : 0; j <= last && inside; ++j) {
      const double v = r.data != nullptr ? static_cast<double>(r(i + half - j, j)) : 1.0;
      if (v == 0) continue;
      inside = p.at[j] != Placement::kBeyond && std::isfinite(v);
      if (!inside) break;
      if (first == Placement::kBeyond) first = p.at[j];
      row[p.at[j] - first] += v * (1 - p.share[j]);
      row[p.at[j] - first + 1] += v * p.share[j];
      end = p.at[j] - first + 2;
    }
    if (!inside) continue;
    for (std::size_t k = 0; k < end; ++k) {
      const double wb = weight[i] * row[k];
      if (wb == 0) continue;
      e.y[first + k] += wb * flux[i];
      for (std::size_t m = k; m < end; ++m) e.a(m - k, first + k) += wb * row[m];
    }
  }
}

/// A^(1/2). A need not be definite: what A knows less well than kLeast of the best is in Q and in
/// Q^-1 y by the same factors, so that flux = R s holds whatever A is; there the flux only has less
/// noise than ivar says.
loom::BandedRoot square_root(const Equations& e, std::size_t half, loom::RootSpace& space) {
  constexpr double kLeast = 1e-12, kTolerance = 1e-6;
  const std::size_t n = e.y.size(), band = e.a.rows() - 1;
  double high = 0;  // the largest |row| of A, by its absolute entries
  std::vector<double> rows(n, 0.0);
  for (std::size_t d = 0; d <= band; ++d) {
    for (std::size_t j = 0; j + d < n; ++j) {
      rows[j] += std::abs(e.a(d, j));
      if (d > 0) rows[j + d] += std::abs(e.a(d, j));
    }
  }
  for (const double r : rows) high = std::max(high, r);
  if (!(high > 0)) {  // no data
    return {Array2D<double>(half + 1, n, 0.0), std::vector<double>(n, 0.0),
            std::vector<double>(n, 0.0)};
  }
  loom::BandedRoot root = loom::banded_root(
      e.a, e.y, half,
      loom::rational_root(kLeast * high, high, loom::pole_count(1 / kLeast, kTolerance)), space);
  if (root.definite) return root;
  throw Error(Status::kNumerical,
              "resampling: the equations are not positive definite, expected weights and "
              "resolutions that are numbers");
}

/// Space for each task that runs: as many as there are threads, never more.
class Spaces {
 public:
  std::unique_ptr<loom::RootSpace> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<loom::RootSpace>();
    auto space = std::move(free_.back());
    free_.pop_back();
    return space;
  }
  void give(std::unique_ptr<loom::RootSpace> space) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(space));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<loom::RootSpace>> free_;
};

/// Which bins something is known of: what neighbours' wings alone say, with weights that cancel, is
/// nothing, and neither is a part in 1e8 of what is known of others.
std::vector<bool> seen_bins(const Equations& e, const loom::BandedRoot& root) {
  constexpr double kLeastShare = 1e-8, kLeastSum = 0.1;
  std::vector<double> ivar;
  for (const double q : root.sums) {
    if (q > 0) ivar.push_back(q * q);
  }
  std::vector<bool> out(root.sums.size(), false);
  if (ivar.empty()) return out;
  const double least = kLeastShare * loom::median_of(ivar);
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double q = root.sums[j];
    out[j] = q > kLeastSum * std::sqrt(e.a(0, j)) && q * q > least && std::isfinite(root.along[j]);
  }
  return out;
}

class Resampling {
 public:
  Resampling(std::span<const ResampledCamera> cameras, const std::vector<double>& wave,
             const CoaddOptions& options)
      : cameras_(cameras), wave_(wave), options_(options) {
    double widest = 0;  // half of R, in Angstrom
    for (const ResampledCamera& c : cameras) {
      const Spectra& s = *c.spectra;
      out_of_use_.push_back(forbidden(s, Purpose::kFlux, c.band));
      places_.push_back(place(s.wave, wave));
      const std::size_t ndiag = std::max<std::size_t>(1, s.resolution.rows());
      band_ = std::max(band_, band_of(places_.back(), ndiag));
      half_ = std::max(half_, ndiag / 2);
      has_resolution_ = has_resolution_ && !s.resolution.empty();
      const double span = s.nwave() > 1 ? s.wave.back() - s.wave.front() : 0;
      const double step = s.nwave() > 1 ? span / static_cast<double>(s.nwave() - 1) : 0;
      widest = std::max(widest, step * static_cast<double>(ndiag / 2));
    }
    if (band_ == 0) {
      throw Error(Status::kUsage,
                  print("wavelength grid from %.10g to %.10g Angstrom: expected one that data "
                        "lie in",
                        wave.front(), wave.back()));
    }
    if (band_ > kWidestBand) {
      throw Error(Status::kUsage,
                  print("wavelength grid: a pixel's resolution reaches over %zu bins, expected at "
                        "most %zu: wider steps",
                        band_, kWidestBand));
    }
    // no fewer diagonals than the cameras have, and as many Angstrom
    const double finest = wave[1] - wave[0];
    half_ = std::max(half_, static_cast<std::size_t>(std::ceil(widest / finest - 1e-6)));
    half_ = std::min(half_, wave.size() - 1);
  }

  [[nodiscard]] Coadd empty(std::size_t ntarget) const {
    const std::size_t n = wave_.size();
    Coadd out;
    out.wave = wave_;
    out.flux = out.ivar = Array2D<double>(ntarget, n, 0.0);
    out.mask = Array2D<std::uint32_t>(ntarget, n, 0U);
    out.exposures.assign(ntarget, 0);
    if (has_resolution_) out.resolution = Array3D<float>(ntarget, 2 * half_ + 1, n, 0.0F);
    return out;
  }

  /// Returns how many pixels were left out for cosmic rays.
  std::size_t resample(std::size_t t, std::span<const std::size_t> rows, Coadd& out) const {
    Equations e{Array2D<double>(band_ + 1, wave_.size(), 0.0),
                std::vector<double>(wave_.size(), 0.0)};
    std::vector<std::uint32_t> bits(wave_.size(), 0U);
    std::size_t cosmics = 0;
    for (std::size_t c = 0; c < cameras_.size(); ++c) {
      const Spectra& s = *cameras_[c].spectra;
      const std::vector<std::size_t> used = rows_in_use(s, rows, out_of_use_[c]);
      out.exposures[t] = std::max(out.exposures[t], used.size());
      const UsedPixels pixels = used_pixels(s, used, options_);
      cosmics += pixels.cosmics;
      for (std::size_t x = 0; x < used.size(); ++x) {
        const Banded<const float> r =
            s.resolution.empty() ? Banded<const float>{} : banded(s.resolution, used[x]);
        add(e, places_[c], r, pixels.flux.row(x), pixels.weight.row(x));
        join_masks(places_[c], s, used[x], bits);
      }
    }
    auto space = spaces_.take();
    const loom::BandedRoot root = square_root(e, half_, *space);
    spaces_.give(std::move(space));
    write(t, e, root, bits, out);
    return cosmics;
  }

 private:
  /// Bits of the pixels on either side of a bin.
  static void join_masks(const Placement& p, const Spectra& s, std::size_t row,
                         std::vector<std::uint32_t>& bits) {
    for (std::size_t i = 0; i < s.nwave() && !s.mask.empty(); ++i) {
      if (p.at[i] == Placement::kBeyond) continue;
      if (p.share[i] < 1) bits[p.at[i]] |= s.mask(row, i);
      if (p.share[i] > 0) bits[p.at[i] + 1] |= s.mask(row, i);
    }
  }

  void write(std::size_t t, const Equations& e, const loom::BandedRoot& root,
             const std::vector<std::uint32_t>& bits, Coadd& out) const {
    const std::size_t n = wave_.size();
    const std::vector<bool> seen = seen_bins(e, root);
    for (std::size_t i = 0; i < n; ++i) {
      if (!seen[i]) {
        out.mask(t, i) = bits[i] | kAllBadPix;
        continue;
      }
      const double q = root.sums[i];
      out.flux(t, i) = root.along[i] / q;
      out.ivar(t, i) = q * q;
      for (std::size_t k = 0; has_resolution_ && k <= 2 * half_; ++k) {
        if (i + half_ < k || i + half_ - k >= n) continue;
        const std::size_t j = i + half_ - k;
        const double v = i > j ? root.q(i - j, j) : root.q(j - i, i);
        out.resolution(t, k, j) = static_cast<float>(v / q);
      }
    }
  }

  std::span<const ResampledCamera> cameras_;
  const std::vector<double>& wave_;
  const CoaddOptions& options_;
  std::vector<std::vector<bool>> out_of_use_;
  std::vector<Placement> places_;
  std::size_t band_ = 0, half_ = 0;
  bool has_resolution_ = true;
  mutable Spaces spaces_;
};

}  // namespace

Coadd resample_exposures(std::span<const ResampledCamera> cameras,
                         std::span<const std::vector<std::size_t>> targets,
                         const std::vector<double>& wave, const CoaddOptions& options,
                         Executor& executor) {
  if (cameras.empty() || wave.size() < 2) {
    throw Error(Status::kInternal, "resampling: no camera, or a grid of less than two bins");
  }
  const Resampling all(cameras, wave, options);
  Coadd out = all.empty(targets.size());
  std::vector<std::size_t> cosmics(targets.size(), 0);
  executor.run(targets.size(),
               [&](std::size_t t) { cosmics[t] = all.resample(t, targets[t], out); });
  out.cosmics = std::accumulate(cosmics.begin(), cosmics.end(), std::size_t{0});
  return out;
}

}  // namespace fiberloom::calibrate
