// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/traces/trace_residuals.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/psf/forward_model.hpp"

namespace fiberloom {
namespace {

/// Columns at both sides of a trace that count for its fibre: half the way to the next one.
constexpr long kOwnColumns = 3;
/// A fibre's wavelengths are cut into so many windows, of so many rows at least.
constexpr int kMostBlocks = 16, kLeastRows = 40;

/// Light a bin of what was extracted, electrons.
Array2D<double> electrons_of(const TraceRoundInput& round) {
  const Array2D<double>& xflux = round.result.xflux;
  Array2D<double> electrons(xflux.rows(), xflux.cols());
  const std::vector<double> width = widths_of(round.options, round.options.spec_min);
  for (std::size_t s = 0; s < xflux.rows(); ++s) {
    for (std::size_t j = 0; j < xflux.cols(); ++j) electrons(s, j) = xflux(s, j) * width[j];
  }
  return electrons;
}

Array2D<double> derivative_image(const TraceRoundInput& round, TraceParameter parameter,
                                 const Array2D<double>& electrons) {
  const auto image = [&](double step) {
    const PsfModel psf = moved_psf(round.psf, parameter, step);
    return ForwardModel(psf, round.options.wave, round.options.spec_min,
                        static_cast<int>(electrons.rows()))
        .project(electrons.view(), round.executor, round.observer);
  };
  Array2D<double> out = image(kDerivativeStep);
  const Array2D<double> low = image(-kDerivativeStep);
  for (std::size_t i = 0; i < out.size(); ++i)
    out.data()[i] = (out.data()[i] - low.data()[i]) / (2 * kDerivativeStep);
  return out;
}

/// What fluxes cannot imitate of it: it is extracted as if it were a frame, and its model taken
/// off.
Array2D<float> beyond_fluxes(const TraceRoundInput& round, Array2D<double> derivative,
                             const ExtractImage& extract) {
  Array2D<float> rest(derivative.rows(), derivative.cols());
  CcdFrame ccd{PixelArray(std::move(derivative)), round.ccd.ivar};
  const ExtractResult imitated = extract(ccd, round.psf);
  const Array2D<double>& pixels = std::get<Array2D<double>>(ccd.image.data());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    rest.data()[i] =
        static_cast<float>(pixels.data()[i] - static_cast<double>(imitated.model.data()[i]));
  }
  return rest;
}

/// Normal equations of a window.
struct Sums {
  Array2D<double> normal;
  std::vector<double> right;
  double weight = 0, place = 0;
  explicit Sums(std::size_t n) : normal(n, n, 0.0), right(n, 0.0) {}
};

class ResidualWindows {
 public:
  ResidualWindows(const TraceRoundInput& round, std::vector<Array2D<float>> derivatives)
      : round_(round), derivatives_(std::move(derivatives)) {}

  /// Of a fibre of the result.
  [[nodiscard]] std::vector<Sums> sums_of(std::size_t fiber) const {
    const RowRange rows = whole_rows(round_.psf, round_.options, fiber);
    std::vector<Sums> out;
    const int blocks =
        static_cast<int>(std::clamp((rows.last - rows.first) / kLeastRows, 1L, long{kMostBlocks}));
    const double first = round_.options.wave.front(), last = round_.options.wave.back();
    for (int b = 0; b < blocks; ++b) {
      Sums sums(derivatives_.size());
      const double low = first + (last - first) * b / blocks,
                   high = first + (last - first) * (b + 1) / blocks;
      const double y_low = round_.psf.y(fiber, low), y_high = round_.psf.y(fiber, high);
      const auto begin = static_cast<long>(std::ceil(std::min(y_low, y_high))),
                 end = static_cast<long>(std::ceil(std::max(y_low, y_high)));
      for (long r = std::max(begin, rows.first); r < std::min(end, rows.last); ++r) {
        const double part = (static_cast<double>(r) - y_low) / (y_high - y_low);
        add_row(fiber, r, low + part * (high - low), sums);
      }
      out.push_back(std::move(sums));
    }
    return out;
  }

 private:
  void add_row(std::size_t fiber, long row, double wave_aa, Sums& sums) const {
    const auto y = static_cast<std::size_t>(row);
    const auto center = std::lround(round_.psf.x(fiber, wave_aa));
    const long most = static_cast<long>(round_.result.model.cols());
    for (long c = std::max(center - kOwnColumns, 0L); c < std::min(center + kOwnColumns + 1, most);
         ++c) {
      const auto x = static_cast<std::size_t>(c);
      const double w = round_.ccd.ivar.at(y, x);
      if (!(w > 0)) continue;
      const double off = round_.ccd.image.at(y, x) - static_cast<double>(round_.result.model(y, x));
      for (std::size_t i = 0; i < derivatives_.size(); ++i) {
        const auto di = static_cast<double>(derivatives_[i](y, x));
        sums.right[i] += w * di * off;
        for (std::size_t k = 0; k < derivatives_.size(); ++k)
          sums.normal(i, k) += w * di * static_cast<double>(derivatives_[k](y, x));
      }
      const double weight = w * static_cast<double>(derivatives_[0](y, x)) *
                            static_cast<double>(derivatives_[0](y, x));
      sums.weight += weight;
      sums.place += weight * wave_aa;
    }
  }

  const TraceRoundInput& round_;
  std::vector<Array2D<float>> derivatives_;
};

}  // namespace

PsfModel moved_psf(const PsfModel& psf, TraceParameter parameter, double step) {
  PsfModel out = psf;
  Array2D<double>& coef = series_of(out, parameter).coef;
  for (std::size_t f = 0; f < coef.rows(); ++f) coef(f, 0) += step;
  return out;
}

RowRange whole_rows(const PsfModel& psf, const ExtractOptions& options, std::size_t fiber) {
  const double a = psf.y(fiber, options.wave.front()), b = psf.y(fiber, options.wave.back());
  const double low = std::max(std::min(a, b) + psf.stamp_ny(), 0.0),
               high = std::min(std::max(a, b) - psf.stamp_ny() + 1, double(psf.npix_y));
  if (!(high > low)) return {};  // NaN too
  return {static_cast<long>(std::ceil(low)), static_cast<long>(high)};
}

std::vector<std::vector<TraceWindow>> windows_of_residuals(
    const TraceRoundInput& round, const std::vector<TraceParameter>& parameters,
    const ExtractImage& extract) {
  const Array2D<double> electrons = electrons_of(round);
  std::vector<Array2D<float>> derivatives;
  for (const TraceParameter p : parameters)
    derivatives.push_back(beyond_fluxes(round, derivative_image(round, p, electrons), extract));
  const ResidualWindows windows(round, std::move(derivatives));
  std::vector<std::vector<Sums>> sums(electrons.rows());
  round.executor.run(sums.size(), [&](std::size_t s) {
    sums[s] = windows.sums_of(static_cast<std::size_t>(round.options.spec_min) + s);
  });
  std::vector<std::vector<TraceWindow>> out(parameters.size());
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const auto fiber = static_cast<std::size_t>(round.options.spec_min) + s;
    const double u = fiber_place(round.domain, round.first_psf, fiber);
    for (const Sums& of : sums[s]) {
      if (!(of.weight > 0)) continue;
      const SmallSolution solved = solve_small(of.normal, of.right);
      if (!solved.solvable) continue;
      const double v = wave_place(round.domain, of.place / of.weight);
      for (std::size_t p = 0; p < out.size(); ++p)
        out[p].push_back({u, v, solved.x[p], std::sqrt(solved.covariance(p, p))});
    }
  }
  return out;
}

}  // namespace fiberloom
