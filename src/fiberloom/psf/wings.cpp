// SPDX-License-Identifier: BSD-3-Clause
// The tail r2 / (c2 + r2)^(1 + i/2) is (c2 + r2)^-p - c2 (c2 + r2)^(-p - 1) with p = i / 2, and
//   (c2 + r2)^-p = 1 / Gamma(p) integral t^p exp(-t (c2 + r2)) d(ln t):
// a sum of Gaussians exp(-t r2) at equidistant ln t, each the product of one along the rows and one
// along the columns. Light first goes along its fibre's rows, then every row along the columns.
#include "fiberloom/psf/wings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fiberloom/psf/column_turns.hpp"
#include "fiberloom/psf/wings_kernels.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/simd/isa_tables.hpp"

namespace fiberloom {
namespace {

/// Tiles of a grid, over whose bins all that tails consist of is taken as linear.
constexpr std::size_t kTiles = 10;
/// Cores and scales, squared, that tails may have.
constexpr double kMostScale = 1e6;
/// Fibres whose light is gathered before it goes to the image.
constexpr int kWingFibers = 25;
/// The Gaussians' rates reach from kWidest / (largest r2) to kNarrowest / (least r2).
constexpr double kWidest = 0.15, kNarrowest = 9;
/// And are this much apart, ln t, or less: the sum is right to 2e-4 then.
constexpr double kTermStep = 0.95;
/// No input leads to more light, in float32.
constexpr double kMostLight = 1e30;

using Terms = std::array<float, kWingTerms>;

int pixel_of(double x) { return static_cast<int>(std::floor(x + 0.5)); }

/// Rows without a bin of their own lie on the line between those that have one, or as the last.
void fill_gaps(std::vector<double>& column, std::vector<std::size_t>& tile) {
  std::size_t last = column.size();
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (std::isnan(column[row])) continue;
    const std::size_t first = last == column.size() ? 0 : last + 1;
    for (std::size_t r = first; r < row; ++r) {
      const double share = last == column.size()
                               ? 1.0
                               : static_cast<double>(r - last) / static_cast<double>(row - last);
      column[r] = share < 1 ? column[last] + share * (column[row] - column[last]) : column[row];
      tile[r] = tile[row];
    }
    last = row;
  }
  for (std::size_t r = last + 1; r < column.size() && last < column.size(); ++r) {
    column[r] = column[last];
    tile[r] = tile[last];
  }
}

}  // namespace

struct WingModel::Tile {
  Terms first{}, last{};  ///< weights at its first bin, and at that of the next
  Terms rate_x{}, rate_y{};
  std::size_t terms = 0;  ///< that are used; the others are 0
  [[nodiscard]] float weight(std::size_t k, double along) const {
    return first[k] + static_cast<float>(along) * (last[k] - first[k]);
  }
};

/// The light of a group, [column][row], and what it takes to gather it from one fibre.
struct WingModel::Strip {
  Strip(int columns, int rows)
      : pitch((rows + kFloatLanes - 1) / kFloatLanes * kFloatLanes),
        light(static_cast<std::size_t>(columns) * static_cast<std::size_t>(pitch), 0.0F),
        near(static_cast<std::size_t>(pitch) * kWingTerms),
        far(near.size()),
        beside(near.size()),
        column(static_cast<std::size_t>(pitch)),
        tile(column.size()),
        nearest(column.size()),
        other(column.size()) {}
  void clear() {
    for (Buffer<float>* rows : {&near, &far, &beside})
      std::fill_n(rows->data(), rows->size(), 0.0F);
    std::fill(column.begin(), column.end(), std::numeric_limits<double>::quiet_NaN());
  }
  long pitch;
  Buffer<float> light, near, far, beside, scratch;
  std::vector<double> column;  ///< of the trace in each row; NaN: the fibre is not on the CCD
  std::vector<std::size_t> tile;
  std::vector<int> nearest, other;  ///< WingRows
};

WingModel::WingModel(const PsfModel& psf, std::vector<std::vector<double>> grids, int reach)
    : psf_(psf),
      grids_(std::move(grids)),
      reach_(reach),
      tile_bins_((nwave() + kTiles - 1) / kTiles) {
  if (!psf.has_tails) {
    throw Error(Status::kUsage,
                "wings are what the PSF's tails have beyond the stamps: expected a PSF of kind "
                "GAUSS-HERMITE with rows TAIL..., and tails switched on (--psf-tails)");
  }
  if (reach <= std::max(psf.hsize_x, psf.hsize_y)) {
    throw Error(Status::kUsage, print("wings of %d pixels end within the stamp of %d x %d", reach,
                                      psf.stamp_nx(), psf.stamp_ny()));
  }
  if (grids_.size() == 1) plan_ = make_spot_plan(psf, grids_.front());
  for (int f = 0; f < psf.nfiber(); f += kWingFibers) {
    Group group{f, std::min(f + kWingFibers, psf.nfiber()), psf.npix_x, 0};
    for (int i = group.first; i < group.last; ++i) {
      const FiberTrace t = trace(i);
      for (std::size_t j = 0; j < nwave(); ++j) {
        if (!t.live[j]) continue;
        group.low = std::min(group.low, pixel_of(t.x[j]) - reach);
        group.high = std::max(group.high, pixel_of(t.x[j]) + reach + 1);
      }
    }
    group.low = std::max(group.low, 0);
    group.high = std::min(group.high, psf.npix_x);
    if (group.low < group.high) groups_.push_back(group);
  }
}

FiberTrace WingModel::trace(int fiber) const {
  if (grids_.size() == 1) return trace_fiber(plan_, fiber);
  return trace_fiber(make_spot_plan(psf_, {grid(fiber)}, fiber), fiber);
}

/// The tails of a fibre at a wavelength.
struct WingModel::Tails {
  double strength, p, c2, x2, y2;
};

WingModel::Tails WingModel::tails_at(int fiber, double wave_aa) const {
  const auto f = static_cast<std::size_t>(fiber);
  const PsfTails& tails = psf_.tails;
  const double amplitude = tails.amp(f, wave_aa), light = stamp_light(psf_, f, wave_aa);
  if (amplitude == 0 || light == 0) return {0, 1, 1, 1, 1};
  const Tails t{amplitude / light, 0.5 * tails.index(f, wave_aa),
                std::pow(tails.core(f, wave_aa), 2), std::pow(tails.xscale(f, wave_aa), 2),
                std::pow(tails.yscale(f, wave_aa), 2)};
  const bool fall = std::isfinite(t.strength) && t.p > 0 && t.p < 50 && t.c2 < kMostScale &&
                    t.x2 > 1 / kMostScale && t.x2 < kMostScale && t.y2 > 1 / kMostScale &&
                    t.y2 < kMostScale;
  if (fall) return t;
  throw Error(Status::kUsage,
              print("wings: tails of fibre %d do not fall at %.2f Angstrom (TAILINDE %g, TAILCORE "
                    "%g, TAILXSCA %g, TAILYSCA %g): expected an index from 0 to 100, scales above "
                    "0",
                    fiber, wave_aa, 2 * t.p, std::sqrt(t.c2), std::sqrt(t.x2), std::sqrt(t.y2)));
}

std::vector<WingModel::Tile> WingModel::tiles_of(int fiber) const {
  const std::vector<double>& wave = grid(fiber);
  const std::size_t n = (wave.size() + tile_bins_ - 1) / tile_bins_;
  std::vector<Tails> knots;  // at the first bin of each tile, and beyond the last
  double least = std::numeric_limits<double>::max(), most = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    const Tails t = tails_at(fiber, wave[std::min(i * tile_bins_, wave.size() - 1)]);
    least = std::min({least, t.c2 + std::pow(psf_.hsize_x + 0.5, 2) * t.x2,
                      t.c2 + std::pow(psf_.hsize_y + 0.5, 2) * t.y2});
    most = std::max(most, t.c2 + static_cast<double>(reach_) * reach_ * (t.x2 + t.y2));
    knots.push_back(t);
  }
  const double narrowest = kNarrowest / least, range = std::log(narrowest * most / kWidest);
  const std::size_t terms = std::min<std::size_t>(
      kWingTerms, 2 + static_cast<std::size_t>(std::max(range, 0.0) / kTermStep));
  const double h = range / static_cast<double>(terms - 1);
  const auto rate = [&](std::size_t k, double p) {
    const double t = narrowest * std::exp(-h * static_cast<double>(k));
    // the last stands for all wider ones, of the same sum and mean rate
    return k + 1 < terms ? t : t * std::expm1(-p * h) / std::expm1(-(p + 1) * h);
  };
  std::vector<Tile> tiles(n);
  for (std::size_t i = 0; i <= n; ++i) {
    if (i < n) tiles[i].terms = terms;
    const Tails& t = knots[i];
    for (std::size_t k = 0; k < terms; ++k) {
      const double at = rate(k, t.p);
      double part =
          h * std::pow(narrowest * std::exp(-h * static_cast<double>(k)), t.p) / std::tgamma(t.p);
      if (k + 1 == terms) part /= -std::expm1(-t.p * h);
      const auto weight =
          static_cast<float>(t.strength * part * (1 - t.c2 * at / t.p) * std::exp(-at * t.c2));
      if (i < n) tiles[i].first[k] = weight;
      if (i > 0) tiles[i - 1].last[k] = weight;
      if (i == n) continue;
      const Tails& next = knots[i + 1];
      const double middle = rate(k, 0.5 * (t.p + next.p));
      tiles[i].rate_x[k] = static_cast<float>(middle * 0.5 * (t.x2 + next.x2));
      tiles[i].rate_y[k] = static_cast<float>(middle * 0.5 * (t.y2 + next.y2));
    }
  }
  return tiles;
}

void WingModel::project_fiber(int fiber, const double* electrons, const Group& group,
                              Strip& strip) const {
  const SpreadAlongRows spread = wing_kernels(active_isa()).rows;
  const FiberTrace t = trace(fiber);
  strip.clear();
  for (std::size_t j = 0; j < nwave(); ++j) {
    if (!t.live[j]) continue;
    const int row = pixel_of(t.y[j]);
    if (row < 0 || row >= psf_.npix_y) continue;
    strip.column[static_cast<std::size_t>(row)] = t.x[j];
    strip.tile[static_cast<std::size_t>(row)] = j / tile_bins_;
  }
  fill_gaps(strip.column, strip.tile);
  if (std::isnan(strip.column.front())) return;
  const std::vector<Tile> tiles = tiles_of(fiber);
  std::transform(strip.column.begin(), strip.column.end(), strip.nearest.begin(), pixel_of);
  strip.other = strip.nearest;
  const WingRows to{strip.near.data(),  strip.far.data(), strip.beside.data(), strip.nearest.data(),
                    strip.other.data(), psf_.npix_y,      psf_.hsize_y,        reach_};
  for (std::size_t j = 0; j < nwave(); ++j) {
    if (!t.live[j] || electrons[j] == 0) continue;
    const Tile& tile = tiles[j / tile_bins_];
    const auto light = static_cast<float>(std::clamp(electrons[j], -kMostLight, kMostLight));
    const double along = static_cast<double>(j % tile_bins_) / static_cast<double>(tile_bins_);
    Terms each;
    for (std::size_t k = 0; k < kWingTerms; ++k) each[k] = light * tile.weight(k, along);
    const int row = pixel_of(t.y[j]);
    spread(to, {row, pixel_of(t.x[j]), static_cast<float>(row - t.y[j]), each.data(),
                tile.rate_y.data()});
  }
  for (std::size_t row = 0; row < strip.column.size(); row += kFloatLanes)
    spread_rows(row, tiles[strip.tile[row]], group, strip);
}

void WingModel::spread_rows(std::size_t first, const Tile& tile, const Group& group,
                            Strip& strip) const {
  const int middle = strip.nearest[first + kFloatLanes / 2];
  std::array<float, kFloatLanes> offset, nearest, other;
  int low = middle, high = middle, slant = 0;
  for (std::size_t i = 0; i < kFloatLanes; ++i) {
    const int own = strip.nearest[first + i];
    offset[i] = static_cast<float>(middle - strip.column[first + i]);
    nearest[i] = static_cast<float>(own - middle);
    other[i] = static_cast<float>(strip.other[first + i] - middle);
    low = std::min(low, own);
    high = std::max(high, own);
    slant = std::max({slant, std::abs(own - middle), std::abs(strip.other[first + i] - middle)});
  }
  low = std::max(low - reach_, group.low);
  high = std::min(high + reach_ + 1, group.high);
  if (low >= high) return;
  using Lanes = std::array<float, kWingTerms * kFloatLanes>;
  bool lit = false;
  const auto by_term = [&](const Buffer<float>& rows) {
    Lanes lanes;
    for (std::size_t k = 0; k < kWingTerms; ++k) {
      for (std::size_t i = 0; i < kFloatLanes; ++i) {
        const float light = rows[(first + i) * kWingTerms + k];
        lanes[k * kFloatLanes + i] = light;
        lit = lit || light != 0;
      }
    }
    return lanes;
  };
  const Lanes near = by_term(strip.near), far = by_term(strip.far), beside = by_term(strip.beside);
  if (!lit) return;
  const auto scratch = static_cast<std::size_t>(high - low) * 4 * kFloatLanes;
  if (strip.scratch.size() < scratch) strip.scratch = Buffer<float>(2 * scratch);
  const WingColumns to{.to = strip.light.data() + first,
                       .pitch = strip.pitch,
                       .low = low - group.low,
                       .high = high - group.low,
                       .middle = middle - group.low,
                       .slant = slant,
                       .half = psf_.hsize_x,
                       .reach = reach_,
                       .offset = offset.data(),
                       .nearest = nearest.data(),
                       .other = other.data(),
                       .near = near.data(),
                       .far = far.data(),
                       .beside = beside.data(),
                       .rate = tile.rate_x.data(),
                       .terms = static_cast<int>(tile.terms)};
  wing_kernels(active_isa()).columns(to, strip.scratch.data());
}

void WingModel::project_group(const Group& group, View2D<const double> electrons,
                              Array2D<float>& image) const {
  Strip strip(group.high - group.low, psf_.npix_y);
  for (int f = group.first; f < group.last; ++f)
    project_fiber(f, electrons.row(static_cast<std::size_t>(f)), group, strip);
  constexpr int kBlock = 16;  // of rows, so that both sides stay in the cache
  for (int row = 0; row < psf_.npix_y; row += kBlock) {
    const int end = std::min(row + kBlock, psf_.npix_y);
    for (int c = group.low; c < group.high; ++c) {
      const float* light = strip.light.data() + (c - group.low) * strip.pitch;
      for (int r = row; r < end; ++r)
        image(static_cast<std::size_t>(r), static_cast<std::size_t>(c)) += light[r];
    }
  }
}

Array2D<float> WingModel::project(View2D<const double> electrons, Executor& executor,
                                  const Observer& observer) const {
  if (electrons.rows != static_cast<std::size_t>(psf_.nfiber()) || electrons.cols != nwave()) {
    throw Error(kSizeMismatch, print("wings: light of %zu fibres x %zu bins, expected %d x %zu",
                                     electrons.rows, electrons.cols, psf_.nfiber(), nwave()));
  }
  Array2D<float> image(static_cast<std::size_t>(psf_.npix_y), static_cast<std::size_t>(psf_.npix_x),
                       0.0F);
  std::vector<ColumnRange> columns;
  for (const Group& g : groups_) columns.push_back({g.low, g.high});
  for (const std::vector<std::size_t>& turn : column_turns(columns)) {
    executor.run(turn.size(), [&](std::size_t i) {
      stop_if_asked(observer);
      project_group(groups_[turn[i]], electrons, image);
    });
  }
  return image;
}

namespace {

/// Sum of exp(-rate d^2) over |d| <= n.
double sum_of(double rate, int n) {
  double sum = 0;
  for (int d = 1; d <= n; ++d) {
    const double value = std::exp(-rate * d * d);
    sum += value;
    if (value < 1e-12) break;
  }
  return 1 + 2 * sum;
}

}  // namespace

Array2D<double> WingModel::shares(Executor& executor) const {
  Array2D<double> shares(static_cast<std::size_t>(psf_.nfiber()), nwave(), 0.0);
  executor.run(shares.rows(), [&](std::size_t f) {
    const FiberTrace t = trace(static_cast<int>(f));
    if (std::none_of(t.live.begin(), t.live.end(), [](auto live) { return live != 0; })) return;
    const std::vector<Tile> tiles = tiles_of(static_cast<int>(f));
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const Tile& tile = tiles[i];
      double first = 0, last = 0;
      for (std::size_t k = 0; k < kWingTerms; ++k) {
        const auto x = static_cast<double>(tile.rate_x[k]), y = static_cast<double>(tile.rate_y[k]);
        const double light = sum_of(x, reach_) * sum_of(y, reach_) -
                             sum_of(x, psf_.hsize_x) * sum_of(y, psf_.hsize_y);
        first += light * static_cast<double>(tile.first[k]);
        last += light * static_cast<double>(tile.last[k]);
      }
      for (std::size_t j = i * tile_bins_; j < std::min((i + 1) * tile_bins_, nwave()); ++j) {
        const double along = static_cast<double>(j % tile_bins_) / static_cast<double>(tile_bins_);
        if (t.live[j]) shares(f, j) = first + along * (last - first);
      }
    }
  });
  return shares;
}

LOOM_ISA_TABLES(WingKernels, kWings, wing_kernels)

}  // namespace fiberloom
