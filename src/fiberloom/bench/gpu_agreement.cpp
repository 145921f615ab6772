// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/bench/gpu_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

/// Differences of one array against their limits.
class Gaps {
 public:
  void see(double gap, double limit) {
    if (!(gap <= limit)) ++bad_;  // true of a NaN, which std::max would not see
    const double share = gap / limit;
    if (std::isnan(share_) || share <= share_) return;
    share_ = share;
    gap_ = gap;
    limit_ = limit;
  }
  [[nodiscard]] std::size_t bad() const { return bad_; }
  /// The one that is closest to its limit, or farthest beyond.
  [[nodiscard]] std::string text(const char* name) const {
    std::string t = print("%s %.1e of %.1e", name, gap_, limit_);
    if (bad_ > 0) t += print(" (%zu BAD)", bad_);
    return t;
  }

 private:
  double share_ = -1, gap_ = 0, limit_ = 0;
  std::size_t bad_ = 0;
};

struct AllGaps {
  Gaps flux, ivar, xflux, chi2, lost, resolution;
  std::size_t unconstrained = 0;  ///< information on one side only
};

/// Row `row` of the results, of a bundle of condition number `kappa`.
void compare_row(const ExtractResult& cpu, const ExtractResult& gpu, std::size_t row, double kappa,
                 AllGaps& all) {
  const double allowed = 1e-9 + 10 * std::numeric_limits<double>::epsilon() * kappa;
  for (std::size_t j = 0; j < cpu.flux.cols(); ++j) {
    const double ivar = cpu.ivar(row, j), gpu_ivar = gpu.ivar(row, j), s = std::sqrt(ivar);
    if (ivar > 0) {
      all.flux.see(std::abs(cpu.flux(row, j) - gpu.flux(row, j)) * s, allowed);
      all.ivar.see(std::abs(gpu_ivar / ivar - 1), 2 * allowed);
      // deconvolved: what the flux smooths out shows
      all.xflux.see(std::abs(cpu.xflux(row, j) - gpu.xflux(row, j)) * s, 10 * allowed);
    } else if (!(gpu_ivar == 0 && gpu.flux(row, j) == cpu.flux(row, j) &&
                 std::isfinite(gpu.xflux(row, j)))) {
      ++all.unconstrained;
    }
    // the CPU's diagnostics rest on float32 spots
    const double chi2 = cpu.chi2pix(row, j);
    all.chi2.see(std::abs(chi2 - gpu.chi2pix(row, j)), 1e-4 * (1 + chi2));
    all.lost.see(std::abs(cpu.pixmask_fraction(row, j) - gpu.pixmask_fraction(row, j)),
                 1e-12);  // shares of spots, whose sums a card fuses: 1.4e-13 seen on a camera
  }
}

template <class Array>
bool same(const Array& a, const Array& b) {
  return a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0);
}

bool same_shapes(const ExtractResult& a, const ExtractResult& b) {
  const auto alike = [&](const auto& x, const auto& y) {
    return x.rows() == y.rows() && x.cols() == y.cols();
  };
  return alike(a.flux, b.flux) && alike(a.ivar, b.ivar) && alike(a.xflux, b.xflux) &&
         alike(a.chi2pix, b.chi2pix) && alike(a.pixmask_fraction, b.pixmask_fraction) &&
         alike(a.mask, b.mask) && a.resolution.size() == b.resolution.size();
}

}  // namespace

GpuAgreement compare_with_cpu(const ExtractResult& cpu, const ExtractResult& gpu) {
  if (!same_shapes(cpu, gpu)) return {false, "arrays of another shape"};
  AllGaps all;
  std::size_t rows = 0, masks = 0;
  int band = 0;
  for (const BundleReport& b : cpu.bundles) {
    band = std::max(band, b.half_bandwidth);
    for (int f = b.first_fiber; f < b.first_fiber + b.nfiber; ++f) {
      const int row = f - cpu.spec_min;
      if (row < 0 || row >= static_cast<int>(cpu.flux.rows())) continue;
      compare_row(cpu, gpu, static_cast<std::size_t>(row), b.kappa, all);
      ++rows;
    }
  }
  for (std::size_t i = 0; i < cpu.resolution.size(); ++i) {  // two roundings to float32 of up to 1
    all.resolution.see(
        std::abs(static_cast<double>(cpu.resolution.data()[i]) - gpu.resolution.data()[i]), 1.2e-7);
  }
  for (std::size_t i = 0; i < cpu.mask.size(); ++i)
    masks += cpu.mask.data()[i] != gpu.mask.data()[i];
  const std::size_t bad = all.flux.bad() + all.ivar.bad() + all.xflux.bad() + all.chi2.bad() +
                          all.lost.bad() + all.resolution.bad() + all.unconstrained;
  // BAD2DFIT rests on chi2pix
  const bool passed = bad == 0 && rows == cpu.flux.rows() && masks <= cpu.mask.size() / 100000;
  return {passed, all.flux.text("sigma") + ", " + all.ivar.text("ivar") + ", " +
                      all.xflux.text("xflux") + ", " + all.resolution.text("R") + ", " +
                      all.chi2.text("chi2") + ", " + all.lost.text("lost") +
                      print(", %zu bins with information on one side only, %zu masks, band %d",
                            all.unconstrained, masks, band)};
}

bool same_bytes(const ExtractResult& a, const ExtractResult& b) {
  return same(a.wave, b.wave) && same(a.flux, b.flux) && same(a.ivar, b.ivar) &&
         same(a.xflux, b.xflux) && same(a.chi2pix, b.chi2pix) &&
         same(a.pixmask_fraction, b.pixmask_fraction) && same(a.resolution, b.resolution) &&
         same(a.mask, b.mask) && same(a.model, b.model);
}

}  // namespace fiberloom
