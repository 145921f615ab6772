// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/wings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>

#include "loom/base/stop.hpp"

namespace fiberloom {
namespace {

/// Wings stand still where no pixel's change by so many of its sigma.
constexpr double kStill = 0.02;
/// Each round leaves a few per cent of the last one's change.
constexpr int kMostWingRounds = 6;

/// So many bins more at both ends, in the first and last step.
std::vector<double> longer_grid(const std::vector<double>& wave, int before, int behind) {
  if (wave.size() < 2) return wave;
  const double first = wave[1] - wave[0], last = wave.back() - wave[wave.size() - 2];
  std::vector<double> longer;
  for (int j = before; j > 0; --j) longer.push_back(wave.front() - j * first);
  longer.insert(longer.end(), wave.begin(), wave.end());
  for (int j = 1; j <= behind; ++j) longer.push_back(wave.back() + j * last);
  return longer;
}

/// How many bins of `width` the PSF has within `aa` of a grid's end, and within the reach of wings.
int bins_beyond(const PsfModel& psf, double aa, double at_aa, double width, int reach) {
  const double rows = rows_per_aa(psf, psf.x.coef.rows() / 2, at_aa);
  const double reach_aa = rows > 0 ? reach / rows : 0.0;
  return static_cast<int>(std::clamp(std::min(aa, reach_aa) / width, 0.0, 1e4));
}

/// The solution that wings are made of: all fibres, plain, and beyond the grid as far as wings
/// reach and the PSF goes. Its bins are those of the spots: on wider ones (1.5 sigma) the edges of
/// stamps fell elsewhere, and fluxes beside a bright fibre were off by 1e-3 of its.
ExtractOptions light_options(const PsfModel& psf, const ExtractOptions& options, int reach) {
  ExtractOptions light = options;
  light.decorrelate_fibers = light.fiber_correlation = false;
  light.want_model = light.model_variance;  // the extraction's first weights
  light.reject_nsig = -1;
  light.fluxes_only = true;
  light.oversample = 1;
  light.spec_min = 0;
  light.nspec = -1;
  if (options.wave.size() < 2) return light;
  const WaveRange range = wave_range_of(psf);
  const std::size_t n = options.fiber_wave.rows();
  int before = 1 << 20, behind = before;
  for (std::size_t f = 0; f < std::max<std::size_t>(n, 1); ++f) {
    const std::vector<double> wave = grid_of(options, static_cast<int>(f));
    before = std::min(before, bins_beyond(psf, wave.front() - range.first_aa, wave.front(),
                                          wave[1] - wave[0], reach));
    behind = std::min(behind, bins_beyond(psf, range.last_aa - wave.back(), wave.back(),
                                          wave.back() - wave[wave.size() - 2], reach));
  }
  light.wave = longer_grid(options.wave, before, behind);
  if (n == 0) return light;
  light.fiber_wave = Array2D<double>(n, light.wave.size());
  for (std::size_t f = 0; f < n; ++f) {
    const std::vector<double> own =
        longer_grid(grid_of(options, static_cast<int>(f)), before, behind);
    std::copy(own.begin(), own.end(), light.fiber_wave.row(f));
  }
  return light;
}

std::vector<std::vector<double>> grids_of(const PsfModel& psf, const ExtractOptions& options) {
  if (options.fiber_wave.empty()) return {options.wave};
  std::vector<std::vector<double>> grids;
  for (int f = 0; f < psf.nfiber(); ++f) grids.push_back(grid_of(options, f));
  return grids;
}

/// What wings under a fibre's spots were to its fluxes: light that is even over a spot, b a pixel,
/// is 2 sqrt(pi) sigma_x b a row to a fit with a Gaussian profile. `electrons`: the fluxes; bins
/// without one stay so.
Array2D<double> minus_wings(const PsfModel& psf, const ExtractOptions& light,
                            const WingModel& model, const Array2D<float>& wings,
                            const Array2D<double>& electrons, Executor& executor) {
  Array2D<double> change(electrons.rows(), electrons.cols(), 0.0);
  executor.run(electrons.rows(), [&](std::size_t f) {
    const FiberTrace trace = model.trace(static_cast<int>(f));
    const std::vector<double> wave = grid_of(light, static_cast<int>(f));
    const std::vector<double> width = widths_of(light, static_cast<int>(f));
    for (std::size_t j = 0; j < wave.size(); ++j) {
      if (!trace.live[j] || electrons(f, j) == 0) continue;
      const double x = std::floor(trace.x[j] + 0.5), y = std::floor(trace.y[j] + 0.5);
      if (!(x >= 0 && x < psf.npix_x && y >= 0 && y < psf.npix_y)) continue;
      const double b = wings(static_cast<std::size_t>(y), static_cast<std::size_t>(x));
      change(f, j) = -b * width[j] * rows_per_aa(psf, f, wave[j]) * 2 *
                     std::sqrt(std::numbers::pi) * psf.sigma_x(f, wave[j]);
    }
  });
  return change;
}

/// Columns at both sides of a trace that its profile is fitted to.
constexpr int kProfileColumns = 4;
/// Wings of a smaller share of the read noise's variance change no weight by 1 %.
constexpr double kFaintWings = 0.02;

/// Wings as a fit of a Gaussian profile takes them for light of a fibre, in one row of the CCD.
struct Lent {
  float height, x, sigma;  ///< 0, 0, 0: none to speak of
};

double profile(double dx, double sigma) { return std::exp(-0.5 * dx * dx / (sigma * sigma)); }

/// use(column) for the columns of the CCD that a profile around x has.
template <class Use>
void each_column(double x, std::size_t columns, const Use& use) {
  const long middle = std::lround(x);
  const long end = std::min<long>(middle + kProfileColumns + 1, static_cast<long>(columns));
  for (long c = std::max(middle - kProfileColumns, 0L); c < end; ++c)
    use(static_cast<std::size_t>(c));
}

/// [nfiber][npix_y]
Array2D<Lent> lent_by_wings(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& light,
                            const WingModel& model, const Array2D<float>& wings,
                            Executor& executor) {
  const auto nfiber = static_cast<std::size_t>(psf.nfiber());
  Array2D<Lent> lent(nfiber, wings.rows(), Lent{0, 0, 0});
  executor.run(nfiber, [&](std::size_t f) {
    const FiberTrace trace = model.trace(static_cast<int>(f));
    const std::vector<double> wave = grid_of(light, static_cast<int>(f));
    for (std::size_t j = 0; j + 1 < wave.size(); ++j) {
      const double x = trace.x[j];
      if (!trace.live[j] || !trace.live[j + 1] || !(x > 0 && x < psf.npix_x - 1)) continue;
      const auto middle = static_cast<std::size_t>(std::lround(x));
      const long end = std::min<long>(std::lround(trace.y[j + 1]), psf.npix_y);
      for (long y = std::max(std::lround(trace.y[j]), 0L); y < end; ++y) {
        const auto row = static_cast<std::size_t>(y);
        if (static_cast<double>(wings(row, middle)) <
            kFaintWings * ccd.readnoise.variance(row, middle))
          continue;
        const double sigma = psf.sigma_x(f, wave[j]);
        double up = 0, down = 0;
        each_column(x, wings.cols(), [&](std::size_t c) {
          const double g = profile(static_cast<double>(c) - x, sigma);
          up += g * static_cast<double>(wings(row, c));
          down += g * g;
        });
        lent(f, row) = {static_cast<float>(up / down), static_cast<float>(x),
                        static_cast<float>(sigma)};
      }
    }
  });
  return lent;
}

void take_lent(const Array2D<Lent>& lent, Executor& executor, Array2D<float>& light) {
  executor.run(light.rows(), [&](std::size_t row) {
    for (std::size_t f = 0; f < lent.rows(); ++f) {
      if (lent(f, row).height == 0) continue;
      const double height = lent(f, row).height, x = lent(f, row).x, sigma = lent(f, row).sigma;
      each_column(x, light.cols(), [&](std::size_t c) {
        light(row, c) -= static_cast<float>(height * profile(static_cast<double>(c) - x, sigma));
      });
    }
  });
}

/// Largest change, in sigma of a pixel that has weight.
double largest_change(const CcdFrame& ccd, const Array2D<float>& wings) {
  return std::visit(
      [&](const auto& ivar) {
        double most = 0;
        for (std::size_t i = 0; i < wings.size(); ++i) {
          const double w = static_cast<double>(wings.data()[i]);
          most = std::max(most, w * w * static_cast<double>(ivar.data()[i]));
        }
        return std::sqrt(most);
      },
      ccd.ivar.data());
}

/// Pixels less their wings; the variance that the model's light and the read noise give a pixel has
/// the wings' light in it.
CcdFrame without(const CcdFrame& ccd, const Array2D<float>& wings) {
  CcdFrame bare = ccd;
  std::visit(
      [&](auto& image) {
        using Real = std::decay_t<decltype(*image.data())>;
        for (std::size_t i = 0; i < wings.size(); ++i)
          image.data()[i] -= static_cast<Real>(wings.data()[i]);
      },
      bare.image.data());
  if (!ccd.readnoise.known()) return bare;
  Array2D<float>& noise = bare.readnoise.by_pixel;
  if (noise.empty()) noise = Array2D<float>(wings.rows(), wings.cols());
  for (std::size_t r = 0; r < wings.rows(); ++r) {
    for (std::size_t c = 0; c < wings.cols(); ++c) {
      const double light = std::max(static_cast<double>(wings(r, c)), 0.0);
      noise(r, c) = static_cast<float>(std::sqrt(ccd.readnoise.variance(r, c) + light));
    }
  }
  return bare;
}

}  // namespace

WinglessFrame take_wings_off(const CcdFrame& ccd, const PsfModel& psf,
                             const ExtractOptions& options, int reach, const ExtractLight& extract,
                             Executor& executor, const Observer& observer) {
  validate(ccd, psf, options);
  WinglessFrame frame;
  frame.report.reach = reach;
  const ExtractOptions light = light_options(psf, options, reach);
  const WingModel model(psf, grids_of(psf, light), reach);
  ExtractResult solved = extract(ccd, light);
  const auto nfiber = static_cast<std::size_t>(psf.nfiber());
  Array2D<double> electrons(nfiber, light.wave.size());
  for (std::size_t f = 0; f < nfiber; ++f) {
    const std::vector<double> width = widths_of(light, static_cast<int>(f));
    for (std::size_t j = 0; j < light.wave.size(); ++j)
      electrons(f, j) = solved.xflux(f, j) * width[j];
  }
  Array2D<double> bare = electrons;  // light whose wings are still to be made
  do {  // everything is linear: what wings do to fluxes has wings again
    stop_if_asked(observer);
    Array2D<float> more = model.project(bare.view(), executor, observer);
    frame.report.last_sigma = largest_change(ccd, more);
    if (frame.report.last_sigma > kStill)
      bare = minus_wings(psf, light, model, more, electrons, executor);
    if (frame.wings.empty()) {
      frame.wings = std::move(more);
    } else {
      for (std::size_t i = 0; i < more.size(); ++i) frame.wings.data()[i] += more.data()[i];
    }
  } while (++frame.report.rounds < kMostWingRounds && frame.report.last_sigma > kStill);
  frame.ccd = without(ccd, frame.wings);
  if (options.model_variance) {
    take_lent(lent_by_wings(ccd, psf, light, model, frame.wings, executor), executor, solved.model);
    frame.ccd.light = std::move(solved.model);
  }
  frame.report.most_e =
      *std::max_element(frame.wings.data(), frame.wings.data() + frame.wings.size());
  frame.shares = WingModel(psf, grids_of(psf, options), reach).shares(executor);
  double n = 0;
  for (std::size_t i = 0; i < frame.shares.size(); ++i) {
    frame.report.share += frame.shares.data()[i];
    n += frame.shares.data()[i] > 0 ? 1 : 0;
  }
  frame.report.share /= std::max(n, 1.0);
  return frame;
}

void count_wings(const WinglessFrame& frame, const ExtractOptions& options, ExtractResult& result) {
  result.wings = frame.report;
  const std::size_t n = result.flux.cols(), ndiag = result.resolution.rows(), half = ndiag / 2;
  for (std::size_t s = 0; s < result.flux.rows(); ++s) {
    const double* share = frame.shares.row(s + static_cast<std::size_t>(options.spec_min));
    for (std::size_t j = 0; j < n; ++j) {
      const double all = 1 + share[j];
      result.flux(s, j) *= all;
      result.xflux(s, j) *= all;
      result.ivar(s, j) /= all * all;
      for (std::size_t k = 0; k < ndiag; ++k) {  // row j - half + k
        if (j + k < half || j + k - half >= n) continue;
        float& entry = result.resolution(s, k, j);
        entry = static_cast<float>(static_cast<double>(entry) * (1 + share[j + k - half]) / all);
      }
    }
  }
  for (std::size_t i = 0; i < result.model.size(); ++i)
    result.model.data()[i] += frame.wings.data()[i];
}

}  // namespace fiberloom
