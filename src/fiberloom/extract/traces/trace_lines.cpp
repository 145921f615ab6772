// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/traces/trace_lines.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "fiberloom/psf/spot_plan.hpp"
#include "loom/simd/isa_tables.hpp"

namespace fiberloom {
namespace {

/// Columns at both sides of a trace.
constexpr int kColumns = 4;
/// Lines nearer than this, in rows, are one on the CCD: by so much its middle may be off for them.
constexpr double kBlendRows = 4, kMostBlend = 0.01;
/// Beyond the window so far away a line's light still reaches it.
constexpr double kReachRows = 4;
/// Of a line's strength: fainter ones beside it do not matter.
constexpr double kFaintBeside = 0.003;
constexpr std::size_t kMostBeside = 6, kMostLines = 60;
/// Of the strongest line: fainter ones tell nothing.
constexpr double kFaintest = 1e-3;

/// Spots of a PSF at given wavelengths, one fibre after the other.
class Spots {
 public:
  Spots(const PsfModel& psf, const std::vector<double>& wave_aa)
      : plan_(make_spot_plan(psf, wave_aa)), kernel_(spot_kernels(active_isa()).spots) {}
  [[nodiscard]] const SpotPlan& plan() const { return plan_; }
  [[nodiscard]] SpotKernel kernel() const { return kernel_; }

 private:
  SpotPlan plan_;
  SpotKernel kernel_;
};

/// Pixels around a line.
struct Box {
  long x0 = 0, y0 = 0;
  std::size_t nx = 0, ny = 0;
  [[nodiscard]] std::size_t size() const { return nx * ny; }
};

/// Those of one fibre; a pack of eight is kept until another is asked for.
class FiberSpots {
 public:
  FiberSpots(const Spots& spots, std::size_t fiber)
      : spots_(spots),
        fiber_(static_cast<int>(fiber)),
        trace_(trace_fiber(spots.plan(), fiber_)),
        pack_(kLanes * spots.plan().spot_size()) {}

  [[nodiscard]] const FiberTrace& trace() const { return trace_; }

  /// out += factor * spot j, of the box's pixels.
  void add(std::size_t j, double factor, const Box& box, std::vector<double>& out) {
    if (!trace_.live[j]) return;
    const SpotPlan& plan = spots_.plan();
    const auto first = j / kLanes * kLanes;
    if (!made_ || *made_ != first)
      make_spots(spots_.kernel(), plan, fiber_, static_cast<int>(first), trace_, pack_.data());
    made_ = first;
    const double* spot = pack_.data() + (j - first) * plan.spot_size();
    const long left = trace_.frame[j];
    for (long r = 0; r < plan.ny; ++r) {
      const long y = trace_.y0[j] + r - box.y0;
      if (y < 0 || y >= static_cast<long>(box.ny)) continue;
      double* row = out.data() + static_cast<std::size_t>(y) * box.nx;
      for (long c = std::max(0L, box.x0 - left);
           c < std::min<long>(plan.stride, box.x0 + static_cast<long>(box.nx) - left); ++c)
        row[left + c - box.x0] += factor * spot[r * plan.stride + c];
    }
  }

 private:
  const Spots& spots_;
  int fiber_;
  FiberTrace trace_;
  Buffer<double> pack_;
  std::optional<std::size_t> made_;
};

std::vector<double> waves_of(std::span<const ReferenceLine> lines) {
  std::vector<double> out;
  for (const ReferenceLine& line : lines) out.push_back(line.wave_aa);
  return out;
}

/// What all fibres share.
struct LineSpots {
  Spots bins, lines;
  std::vector<Spots> higher, lower;  ///< [parameter] with it larger and smaller by a step
  LineSpots(const TraceRoundInput& round, const std::vector<TraceParameter>& parameters,
            const std::vector<double>& wave)
      : bins(round.psf, round.options.wave), lines(round.psf, wave) {
    for (const TraceParameter p : parameters) {
      higher.emplace_back(moved_psf(round.psf, p, kDerivativeStep), wave);
      lower.emplace_back(moved_psf(round.psf, p, -kDerivativeStep), wave);
    }
  }
};

/// The lines of one fibre.
class FiberLines {
 public:
  FiberLines(const TraceRoundInput& round, const LineSpots& spots, std::size_t spec)
      : round_(round),
        spec_(spec),
        fiber_(static_cast<std::size_t>(round.options.spec_min) + spec),
        bins_(spots.bins, fiber_),
        lines_(spots.lines, fiber_),
        width_(widths_of(round.options, static_cast<int>(fiber_))) {
    for (std::size_t p = 0; p < spots.higher.size(); ++p) {
      higher_.emplace_back(spots.higher[p], fiber_);
      lower_.emplace_back(spots.lower[p], fiber_);
    }
  }

  /// Value and error of each parameter; nullopt where the line is not seen.
  [[nodiscard]] std::optional<SmallSolution> measure(const LineGroup& group) {
    if (!lines_.trace().live[group.line] || !set_box(group)) return std::nullopt;
    weigh();
    std::vector<std::size_t> lines{group.line};
    lines.insert(lines.end(), group.beside.begin(), group.beside.end());
    std::vector<std::vector<double>> columns;
    for (const std::size_t l : lines) {
      columns.emplace_back(box_.size(), 0.0);
      lines_.add(l, 1.0, box_, columns.back());
    }
    add_continuum(columns);
    const SmallSolution bright = solve(columns);
    if (!bright.solvable || !(bright.x[0] > 0)) return std::nullopt;
    for (std::size_t p = 0; p < higher_.size(); ++p) {
      columns.emplace_back(box_.size(), 0.0);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        higher_[p].add(lines[i], 0.5 / kDerivativeStep * bright.x[i], box_, columns.back());
        lower_[p].add(lines[i], -0.5 / kDerivativeStep * bright.x[i], box_, columns.back());
      }
    }
    SmallSolution all = solve(columns);
    if (!all.solvable) return std::nullopt;
    return all;
  }

 private:
  /// The window around the line, and the bins whose light reaches it.
  [[nodiscard]] bool set_box(const LineGroup& group) {
    const FiberTrace& trace = lines_.trace();
    const long half = round_.psf.stamp_ny() / 2;
    const auto x = std::lround(trace.x[group.line]), y = std::lround(trace.y[group.line]);
    const RowRange rows = whole_rows(round_.psf, round_.options, fiber_);
    if (y - half < rows.first || y + half >= rows.last || x - kColumns < 0 ||
        x + kColumns >= static_cast<long>(round_.result.model.cols()))
      return false;
    box_ = {x - kColumns, y - half, 2 * kColumns + 1, static_cast<std::size_t>(2 * half + 1)};
    middle_ = trace.y[group.line];
    const std::vector<double>& at = bins_.trace().y;
    const double reach = static_cast<double>(half) + 0.5 * round_.psf.stamp_ny() + 1;
    const auto n = static_cast<std::ptrdiff_t>(round_.options.wave.size());
    const auto inside = [&](double y_bin) { return std::abs(y_bin - middle_) <= reach; };
    const auto first = std::find_if(at.begin(), at.begin() + n, inside);
    const auto last = std::find_if_not(first, at.begin() + n, inside);
    first_bin_ = static_cast<std::size_t>(first - at.begin());
    last_bin_ = static_cast<std::size_t>(last - at.begin());
    return first_bin_ < last_bin_;
  }

  /// The frame without other fibres: what is left over, and the fibre's own model.
  void weigh() {
    data_.assign(box_.size(), 0.0);
    for (std::size_t j = first_bin_; j < last_bin_; ++j)
      bins_.add(j, round_.result.xflux(spec_, j) * width_[j], box_, data_);
    weight_.assign(box_.size(), 0.0);
    const double psferr = round_.options.psferr < 0 ? round_.psf.psferr : round_.options.psferr;
    for (std::size_t i = 0; i < box_.size(); ++i) {
      const auto y = static_cast<std::size_t>(box_.y0) + i / box_.nx,
                 x = static_cast<std::size_t>(box_.x0) + i % box_.nx;
      const double w = round_.ccd.ivar.at(y, x);
      if (!(w > 0)) continue;
      data_[i] += round_.ccd.image.at(y, x) - static_cast<double>(round_.result.model(y, x));
      const double shape = psferr * std::max(data_[i], 0.0);
      weight_[i] = 1 / (1 / w + shape * shape);
    }
  }

  /// Light of equal and of rising height in all bins.
  void add_continuum(std::vector<std::vector<double>>& columns) {
    std::vector<double> flat(box_.size(), 0.0);
    for (std::size_t j = first_bin_; j < last_bin_; ++j) bins_.add(j, width_[j], box_, flat);
    std::vector<double> rising = flat;
    for (std::size_t i = 0; i < rising.size(); ++i)
      rising[i] *= static_cast<double>(box_.y0) + static_cast<double>(i / box_.nx) - middle_;
    columns.push_back(std::move(flat));
    columns.push_back(std::move(rising));
  }

  [[nodiscard]] SmallSolution solve(const std::vector<std::vector<double>>& columns) const {
    const std::size_t n = columns.size();
    Array2D<double> normal(n, n, 0.0);
    std::vector<double> right(n, 0.0);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t i = 0; i < data_.size(); ++i)
        right[a] += weight_[i] * columns[a][i] * data_[i];
      for (std::size_t b = 0; b <= a; ++b) {
        for (std::size_t i = 0; i < data_.size(); ++i)
          normal(a, b) += weight_[i] * columns[a][i] * columns[b][i];
        normal(b, a) = normal(a, b);
      }
    }
    return solve_small(normal, right);
  }

  const TraceRoundInput& round_;
  std::size_t spec_, fiber_;
  FiberSpots bins_, lines_;
  std::vector<FiberSpots> higher_, lower_;
  std::vector<double> width_, data_, weight_;
  Box box_;
  double middle_ = 0;
  std::size_t first_bin_ = 0, last_bin_ = 0;
};

/// By how many rows the middle of a line is off for the lines that are one with it, and which
/// others its window sees; nullopt: too much, or too many.
std::optional<LineGroup> group_of(std::span<const ReferenceLine> lines, std::size_t line,
                                  double rows_per_angstrom, double window_rows) {
  LineGroup group{line, {}};
  double blend = 0;
  for (std::size_t other = 0; other < lines.size(); ++other) {
    const double rows = std::abs(lines[other].wave_aa - lines[line].wave_aa) * rows_per_angstrom;
    if (other == line || rows > window_rows + kReachRows) continue;
    const double ratio = lines[other].strength / lines[line].strength;
    if (rows < kBlendRows) {
      blend += ratio * rows;
    } else if (ratio > kFaintBeside) {
      group.beside.push_back(other);
    }
  }
  if (blend > kMostBlend || group.beside.size() > kMostBeside) return std::nullopt;
  // two of them that are one on the CCD are one
  std::vector<std::size_t> apart;
  for (const std::size_t other : group.beside) {
    const bool joined =
        !apart.empty() &&
        (lines[other].wave_aa - lines[apart.back()].wave_aa) * rows_per_angstrom < 0.5 * kBlendRows;
    if (!joined) {
      apart.push_back(other);
    } else if (lines[other].strength > lines[apart.back()].strength) {
      apart.back() = other;
    }
  }
  group.beside = std::move(apart);
  return group;
}

}  // namespace

std::vector<LineGroup> lonely_lines(std::span<const ReferenceLine> lines, const PsfModel& psf,
                                    const ExtractOptions& options) {
  const auto middle = static_cast<std::size_t>(options.spec_min) +
                      static_cast<std::size_t>(fiber_count(options, psf.nfiber())) / 2;
  const double first = options.wave.front(), last = options.wave.back();
  double strongest = 0;
  for (const ReferenceLine& line : lines) {
    if (line.wave_aa > first && line.wave_aa < last) strongest = std::max(strongest, line.strength);
  }
  std::vector<LineGroup> groups;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const double wave = lines[l].wave_aa;
    if (wave <= first || wave >= last || lines[l].strength < kFaintest * strongest) continue;
    const double dispersion = rows_per_aa(psf, middle, wave);
    if (!(dispersion > 0)) continue;
    if (const auto group = group_of(lines, l, dispersion, 0.5 * psf.stamp_ny()))
      groups.push_back(*group);
  }
  if (groups.size() <= kMostLines) return groups;
  std::stable_sort(groups.begin(), groups.end(), [&](const LineGroup& a, const LineGroup& b) {
    return lines[a.line].strength > lines[b.line].strength;
  });
  groups.resize(kMostLines);
  return groups;
}

std::vector<std::vector<TraceWindow>> windows_of_lines(
    const TraceRoundInput& round, const std::vector<TraceParameter>& parameters,
    std::span<const ReferenceLine> lines) {
  const std::vector<LineGroup> groups = lonely_lines(lines, round.psf, round.options);
  std::vector<std::vector<TraceWindow>> out(parameters.size());
  if (groups.empty()) return out;
  const std::vector<double> wave = waves_of(lines);
  const LineSpots spots(round, parameters, wave);
  const std::size_t nspec = round.result.xflux.rows();
  std::vector<std::vector<std::optional<SmallSolution>>> seen(nspec);
  round.executor.run(nspec, [&](std::size_t s) {
    FiberLines fiber(round, spots, s);
    for (const LineGroup& group : groups) seen[s].push_back(fiber.measure(group));
  });
  for (std::size_t s = 0; s < nspec; ++s) {
    const double u = fiber_place(round.domain, round.first_psf,
                                 static_cast<std::size_t>(round.options.spec_min) + s);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::optional<SmallSolution>& solved = seen[s][g];
      if (!solved) continue;
      const double v = wave_place(round.domain, wave[groups[g].line]);
      for (std::size_t p = 0; p < out.size(); ++p) {
        const std::size_t at = solved->x.size() - out.size() + p;
        out[p].push_back({u, v, solved->x[at], std::sqrt(solved->covariance(at, at))});
      }
    }
  }
  return out;
}

}  // namespace fiberloom
