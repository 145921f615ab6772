// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/coadd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "fiberloom/spectrum/same_wave.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {
namespace {

double positive(double ivar) { return ivar > 0 && std::isfinite(ivar) ? ivar : 0; }

std::uint32_t mask_of(const Spectra& s, std::size_t row, std::size_t i) {
  return s.mask.empty() ? 0U : s.mask(row, i);
}

/// One target's exposures.
class TargetSum {
 public:
  TargetSum(const Spectra& spectra, const std::vector<std::size_t>& rows, UsedPixels used)
      : s_(spectra),
        rows_(rows),
        n_(spectra.nwave()),
        flux_(std::move(used.flux)),
        weight_(std::move(used.weight)) {}

  void write(std::size_t t, Spectra& out) {
    for (std::size_t i = 0; i < n_; ++i) {
      double sum = sum_at(i);
      if (sum == 0) {  // masked in all: better than nothing, and the mask says what it is
        for (std::size_t e = 0; e < rows_.size(); ++e) {
          if (std::isfinite(s_.flux(rows_[e], i))) weight_(e, i) = positive(s_.ivar(rows_[e], i));
          out.mask(t, i) |= mask_of(s_, rows_[e], i);
        }
        sum = sum_at(i);
      }
      out.ivar(t, i) = sum;
      for (std::size_t e = 0; e < rows_.size() && sum > 0; ++e) {
        out.flux(t, i) += weight_(e, i) / sum * flux_(e, i);
      }
    }
    if (s_.resolution.empty()) return;
    std::vector<RowWeighted<float>> all;
    for (std::size_t e = 0; e < rows_.size(); ++e) {
      all.push_back({banded(s_.resolution, rows_[e]), weight_.view().row_span(e)});
    }
    const Array2D<double> r = row_weighted_mean(std::span<const RowWeighted<float>>(all));
    for (std::size_t k = 0; k < r.size(); ++k) {
      (&out.resolution(t, 0, 0))[k] = static_cast<float>(r.data()[k]);
    }
  }

 private:
  [[nodiscard]] double sum_at(std::size_t i) const {
    double sum = 0;
    for (std::size_t e = 0; e < rows_.size(); ++e) sum += weight_(e, i);
    return sum;
  }
  const Spectra& s_;
  const std::vector<std::size_t>& rows_;
  std::size_t n_;
  Array2D<double> flux_, weight_;  ///< [exposure][bin]
};

/// The bins of all cameras, and where each begins.
struct JointGrid {
  std::vector<double> wave;
  std::vector<std::size_t> first;
};

JointGrid join(const std::vector<const Spectra*>& cameras) {
  JointGrid out;
  for (const Spectra* c : cameras) {
    for (const double w : c->wave) {
      if (out.wave.empty() || w > out.wave.back() + kSameWaveAa) out.wave.push_back(w);
    }
  }
  for (const Spectra* c : cameras) {
    const auto at =
        std::lower_bound(out.wave.begin(), out.wave.end(), c->wave.front() - kSameWaveAa);
    const auto first = static_cast<std::size_t>(at - out.wave.begin());
    for (std::size_t i = 0; i < c->nwave(); ++i) {
      const bool there = first + i < out.wave.size();
      if (there && same_wave(out.wave[first + i], c->wave[i])) continue;
      throw Error(Status::kWrongShape,
                  print("coadd of cameras: bin %zu at %.4f Angstrom lies between those of another "
                        "camera, expected aligned grids",
                        i, c->wave[i]));
    }
    out.first.push_back(first);
  }
  return out;
}

/// Bins that some camera knows something of, without a bit of its mask.
std::vector<bool> clear_bins(const std::vector<const Spectra*>& cameras, const JointGrid& grid,
                             std::size_t s) {
  std::vector<bool> out(grid.wave.size(), false);
  for (std::size_t c = 0; c < cameras.size(); ++c) {
    for (std::size_t i = 0; i < cameras[c]->nwave(); ++i) {
      const bool good = positive(cameras[c]->ivar(s, i)) > 0 && mask_of(*cameras[c], s, i) == 0;
      if (good) out[grid.first[c] + i] = true;
    }
  }
  return out;
}

/// R of a camera on the joint grid.
void place(Banded<const float> r, std::size_t first, Banded<float> to) {
  const std::size_t more = to.half() - r.half();
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    for (std::size_t j = r.first(k); j < r.last(k); ++j) to(k + more, first + j) = r(k, j);
  }
}

}  // namespace

UsedPixels used_pixels(const Spectra& spectra, std::span<const std::size_t> rows,
                       const CoaddOptions& options) {
  const std::size_t n = spectra.nwave();
  UsedPixels out{Array2D<double>(rows.size(), n, 0.0), Array2D<double>(rows.size(), n, 0.0)};
  for (std::size_t e = 0; e < rows.size(); ++e) {
    for (std::size_t i = 0; i < n; ++i) {
      const double f = spectra.flux(rows[e], i);
      if (!std::isfinite(f)) continue;
      out.flux(e, i) = f;
      if (mask_of(spectra, rows[e], i) == 0) out.weight(e, i) = positive(spectra.ivar(rows[e], i));
    }
  }
  if (!(options.cosmic_nsig > 0)) return out;
  const Array2D<unsigned char> hit =
      cosmic_pixels(spectra.wave, out.flux, out.weight, options.cosmic_nsig);
  for (std::size_t k = 0; k < hit.size(); ++k) {
    if (hit.data()[k] == 0 || out.weight.data()[k] == 0) continue;
    out.weight.data()[k] = 0;
    ++out.cosmics;
  }
  return out;
}

std::vector<std::size_t> rows_in_use(const Spectra& spectra, std::span<const std::size_t> rows,
                                     const std::vector<bool>& out_of_use) {
  std::vector<std::size_t> out;
  for (const std::size_t s : rows) {
    if (s >= spectra.nspec()) {
      throw Error(Status::kWrongShape, "coadd: row " + std::to_string(s) + ", expected one of " +
                                           std::to_string(spectra.nspec()) + " spectra");
    }
    if (!out_of_use[s]) out.push_back(s);
  }
  return out;
}

Coadd coadd_exposures(const Spectra& spectra, std::span<const std::vector<std::size_t>> targets,
                      char band, const CoaddOptions& options, Executor& executor) {
  const std::size_t n = spectra.nwave();
  const std::vector<bool> out_of_use = forbidden(spectra, Purpose::kFlux, band);
  Coadd out;
  out.wave = spectra.wave;
  out.flux = out.ivar = Array2D<double>(targets.size(), n, 0.0);
  out.mask = Array2D<std::uint32_t>(targets.size(), n, 0U);
  out.exposures.assign(targets.size(), 0);
  if (!spectra.resolution.empty()) {
    out.resolution = Array3D<float>(targets.size(), spectra.resolution.rows(), n, 0.0F);
  }
  std::vector<std::size_t> cosmics(targets.size(), 0);
  executor.run(targets.size(), [&](std::size_t t) {
    const std::vector<std::size_t> rows = rows_in_use(spectra, targets[t], out_of_use);
    out.exposures[t] = rows.size();
    if (rows.empty()) return;
    UsedPixels used = used_pixels(spectra, rows, options);
    cosmics[t] = used.cosmics;
    TargetSum sum(spectra, rows, std::move(used));
    sum.write(t, out);
  });
  out.cosmics = std::accumulate(cosmics.begin(), cosmics.end(), std::size_t{0});
  return out;
}

namespace {

/// Cameras from blue to red, and what they have in common.
struct Cameras {
  std::vector<const Spectra*> sorted;
  std::size_t ndiag = 0;
  bool has_resolution = true;
};

Cameras sort_cameras(std::span<const Spectra> cameras) {
  if (cameras.empty()) throw Error(Status::kWrongShape, "coadd of cameras: none given");
  Cameras out;
  for (const Spectra& c : cameras) {
    if (c.nspec() != cameras[0].nspec() || c.nwave() == 0) {
      throw Error(
          Status::kWrongShape,
          print("coadd of cameras: %zu spectra of %zu bins, expected %zu of one bin at least",
                c.nspec(), c.nwave(), cameras[0].nspec()));
    }
    out.sorted.push_back(&c);
    out.has_resolution = out.has_resolution && !c.resolution.empty();
    out.ndiag = std::max(out.ndiag, c.resolution.rows());
  }
  std::stable_sort(out.sorted.begin(), out.sorted.end(), [](const Spectra* a, const Spectra* b) {
    return a->wave.front() + a->wave.back() < b->wave.front() + b->wave.back();
  });
  return out;
}

}  // namespace

Spectra coadd_cameras(std::span<const Spectra> cameras) {
  const auto [sorted, ndiag, has_resolution] = sort_cameras(cameras);
  const JointGrid grid = join(sorted);
  const std::size_t n = grid.wave.size(), nspec = cameras[0].nspec();
  Spectra out;
  out.wave = grid.wave;
  out.flux = out.ivar = Array2D<double>(nspec, n, 0.0);
  out.mask = Array2D<std::uint32_t>(nspec, n, 0U);
  out.fibermap = cameras[0].fibermap;
  out.scores = cameras[0].scores;
  if (has_resolution) out.resolution = Array3D<float>(nspec, ndiag, n, 0.0F);
  std::vector<double> seen(n, 0.0);  // by how many cameras
  for (std::size_t c = 0; c < sorted.size(); ++c) {
    for (std::size_t i = 0; i < sorted[c]->nwave(); ++i) ++seen[grid.first[c] + i];
  }
  for (std::size_t s = 0; s < nspec; ++s) {
    // Of a bin that one camera alone sees, that camera's row as it is, known or not; what is masked
    // counts only where no other camera knows better, and then the mask stays.
    const std::vector<bool> clear = clear_bins(sorted, grid, s);
    Array2D<double> weight(sorted.size(), n, 0.0);
    std::vector<Array2D<float>> placed;
    std::vector<RowWeighted<float>> all;
    for (std::size_t c = 0; c < sorted.size(); ++c) {
      const Spectra& camera = *sorted[c];
      for (std::size_t i = 0; i < camera.nwave(); ++i) {
        const std::size_t at = grid.first[c] + i;
        const std::uint32_t bits = mask_of(camera, s, i);
        const double v = clear[at] && bits != 0 ? 0 : positive(camera.ivar(s, i));
        weight(c, at) = seen[at] > 1 ? v : 1;
        out.ivar(s, at) += v;
        out.flux(s, at) += weight(c, at) * camera.flux(s, i);
        if (!clear[at]) out.mask(s, at) |= bits;
      }
      if (!has_resolution) continue;
      placed.emplace_back(ndiag, n, 0.0F);
      place(banded(camera.resolution, s), grid.first[c], banded(placed.back()));
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (seen[i] > 1 && out.ivar(s, i) > 0) out.flux(s, i) /= out.ivar(s, i);
    }
    if (!has_resolution) continue;
    for (std::size_t c = 0; c < sorted.size(); ++c) {
      all.push_back({banded(std::as_const(placed[c])), weight.view().row_span(c)});
    }
    const Array2D<double> r = row_weighted_mean(std::span<const RowWeighted<float>>(all));
    for (std::size_t k = 0; k < r.size(); ++k) {
      (&out.resolution(s, 0, 0))[k] = static_cast<float>(r.data()[k]);
    }
  }
  return out;
}

}  // namespace fiberloom::calibrate
