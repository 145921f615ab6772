// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fiberloom/redshift/line_list.hpp"
#include "fiberloom/redshift/template.hpp"
#include "loom/linalg/bounded.hpp"

namespace fiberloom::redshift {
namespace {

struct Part {
  double wave_aa, share;  ///< vacuum, at rest; shares of a line sum to 1
};
struct Line {
  const char* name;
  std::array<Part, 2> parts;
  std::size_t window;  ///< lines of one window are fitted at once
};
constexpr std::array<Line, 6> kLines{{
    {"OII", {{{line::kOii3727, 0.43}, {line::kOii3730, 0.57}}}, 0},
    {"HBETA", {{{line::kHBeta, 1}, {line::kHBeta, 0}}}, 1},
    {"OIII", {{{line::kOiii4960, 0.2513}, {line::kOiii5008, 0.7487}}}, 2},
    {"HALPHA", {{{line::kHAlpha, 1}, {line::kHAlpha, 0}}}, 3},
    {"NII", {{{line::kNii6550, 0.2469}, {line::kNii6585, 0.7531}}}, 3},
    {"MGII", {{{line::kMgIi2796, 0.55}, {line::kMgIi2803, 0.45}}}, 4},
}};
constexpr double kWindowKms = 2500;
/// Widths, and how likely each is beforehand.
struct Width {
  double kms, weight;
};
constexpr std::array<Width, 4> kWidths{{{40, 0.25}, {80, 0.5}, {160, 0.2}, {320, 0.05}}};
/// Fewer good pixels than this for each unknown say nothing.
constexpr std::size_t kPixelsOfUnknown = 4;

struct Fit {
  std::vector<double> flux, ivar;
  double gain = 0;
};

/// Mean of a Gaussian of unit area over [low, high].
double mean_over(double low, double high, double middle, double sigma) {
  const double k = 1 / (sigma * std::numbers::sqrt2);
  return 0.5 * (std::erf((high - middle) * k) - std::erf((low - middle) * k)) / (high - low);
}

class Window {
 public:
  Window(const PreparedTarget& target, std::span<const WaveGrid> grids, double z, std::size_t which)
      : target_(target), grids_(grids), z_(z) {
    for (std::size_t l = 0; l < kLines.size(); ++l) {
      if (kLines[l].window != which) continue;
      lines_.push_back(l);
      for (const Part& p : kLines[l].parts) {
        low_ = std::min(low_, p.wave_aa);
        high_ = std::max(high_, p.wave_aa);
      }
    }
    low_ *= (1 + z) * (1 - kWindowKms / kLightKms);
    high_ *= (1 + z) * (1 + kWindowKms / kLightKms);
  }
  [[nodiscard]] const std::vector<std::size_t>& lines() const { return lines_; }

  [[nodiscard]] Fit fit(double sigma_kms) const {
    const std::size_t n = lines_.size() + 2;  // and a straight continuum
    Array2D<double> m(n, n, 0.0);
    std::vector<double> y(n, 0.0);
    std::size_t pixels = 0;
    for (const Block& block : target_.blocks) pixels += add(block, sigma_kms, m, y);
    Fit out{std::vector<double>(lines_.size(), 0.0), std::vector<double>(lines_.size(), 0.0), 0};
    if (pixels < kPixelsOfUnknown * n) return out;
    const auto solved = [&](const std::vector<double>& right) {
      const std::vector<double> low(n, -HUGE_VAL), high(n, HUGE_VAL);
      return bounded_least_squares(m.view(), right, low, high);
    };
    const BoundedSolution best = solved(y);
    out.gain = best.gain;
    for (std::size_t l = 0; l < lines_.size(); ++l) {
      std::vector<double> unit(n, 0.0);
      unit[l] = 1;
      const double variance = solved(unit).c[l];
      if (!(variance > 0) || !std::isfinite(variance)) continue;
      out.flux[l] = best.c[l];
      out.ivar[l] = 1 / variance;
    }
    return out;
  }

 private:
  /// A line on the pixels of a grid before R.
  [[nodiscard]] double sharp(const Line& line, const WaveGrid& grid, std::size_t i,
                             double sigma_kms) const {
    double sum = 0;
    for (const Part& p : line.parts) {
      if (p.share == 0) continue;
      const double middle = p.wave_aa * (1 + z_);
      sum += p.share *
             mean_over(grid.edges[i], grid.edges[i + 1], middle, middle * sigma_kms / kLightKms);
    }
    return sum;
  }

  std::size_t add(const Block& block, double sigma_kms, Array2D<double>& m,
                  std::vector<double>& y) const {
    const WaveGrid& grid = grids_[block.grid];
    const auto first = static_cast<std::size_t>(
        std::lower_bound(grid.wave.begin(), grid.wave.end(), low_) - grid.wave.begin());
    const auto last = static_cast<std::size_t>(
        std::upper_bound(grid.wave.begin(), grid.wave.end(), high_) - grid.wave.begin());
    const std::size_t half = block.ndiag / 2, n = y.size();
    const std::size_t from = first > half ? first - half : 0;
    const std::size_t to = std::min(last + half, block.pixels);
    Array2D<double> profile(lines_.size(), to > from ? to - from : 0, 0.0);
    for (std::size_t l = 0; l < lines_.size(); ++l) {
      for (std::size_t i = from; i < to; ++i) {
        profile(l, i - from) = sharp(kLines[lines_[l]], grid, i, sigma_kms);
      }
    }
    std::vector<double> row(n);
    std::size_t pixels = 0;
    for (std::size_t i = first; i < last; ++i) {
      const double w = block.weight[i];
      if (!(w > 0)) continue;
      ++pixels;
      std::fill(row.begin(), row.end(), 0.0);
      for (std::size_t k = 0; k < block.ndiag; ++k) {
        if (i + k < half + from || i + k - half >= to) continue;
        for (std::size_t l = 0; l < lines_.size(); ++l) {
          row[l] += block.rows[i * block.ndiag + k] * profile(l, i + k - half - from);
        }
      }
      row[n - 2] = 1;
      row[n - 1] = (grid.wave[i] - low_) / (high_ - low_) - 0.5;
      for (std::size_t a = 0; a < n; ++a) {
        y[a] += w * row[a] * block.flux[i];
        for (std::size_t b = 0; b < n; ++b) m(a, b) += w * row[a] * row[b];
      }
    }
    return pixels;
  }

  const PreparedTarget& target_;
  std::span<const WaveGrid> grids_;
  double z_, low_ = HUGE_VAL, high_ = 0;
  std::vector<std::size_t> lines_;
};

}  // namespace

std::vector<std::string> line_names() {
  std::vector<std::string> names;
  for (const Line& line : kLines) names.emplace_back(line.name);
  return names;
}

std::vector<LineFlux> line_fluxes(const PreparedTarget& target, std::span<const WaveGrid> grids,
                                  double z) {
  std::vector<LineFlux> out;
  for (const Line& line : kLines) out.push_back({line.name, 0, 0, 0});
  for (std::size_t which = 0; which <= kLines.back().window; ++which) {
    const Window window(target, grids, z, which);
    std::vector<Fit> fits;
    std::vector<double> weights;
    double most = 0, total = 0;
    for (const Width& width : kWidths) {
      fits.push_back(window.fit(width.kms));
      most = std::max(most, fits.back().gain);
    }
    for (std::size_t w = 0; w < fits.size(); ++w) {
      weights.push_back(kWidths[w].weight * std::exp(0.5 * (fits[w].gain - most)));
      total += weights.back();
    }
    const auto best = static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) -
                                               weights.begin());
    for (std::size_t l = 0; l < window.lines().size(); ++l) {
      LineFlux& line = out[window.lines()[l]];
      line.sigma_kms = kWidths[best].kms;
      if (!(fits[best].ivar[l] > 0)) continue;
      double variance = 0;
      for (std::size_t w = 0; w < fits.size(); ++w) {
        line.flux += weights[w] / total * fits[w].flux[l];
      }
      for (std::size_t w = 0; w < fits.size(); ++w) {
        if (!(fits[w].ivar[l] > 0)) continue;
        const double off = fits[w].flux[l] - line.flux;
        variance += weights[w] / total * (1 / fits[w].ivar[l] + off * off);
      }
      line.ivar = 1 / variance;
    }
  }
  return out;
}

}  // namespace fiberloom::redshift
