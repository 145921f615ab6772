// SPDX-License-Identifier: BSD-3-Clause
// The pull table of the peers' compare-frame, and what each side masks.
#include "fiberloom/recipes/compare_frames.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "fiberloom/spectrum/same_wave.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

/// Rows of a and b that are the same fibre.
struct RowPair {
  std::size_t a = 0, b = 0;
  std::int64_t fiber = 0;
};

std::string shape(const FrameFile& f) {
  return std::to_string(f.flux.rows()) + " x " + std::to_string(f.flux.cols());
}

/// FIBER of FIBERMAP, where it tells the rows apart.
std::optional<std::vector<std::int64_t>> own_numbers(const FrameFile& f) {
  if (!f.fibermap || f.fibermap->rows != f.flux.rows()) return std::nullopt;
  const auto numbers = f.fibermap->integers("FIBER", -1);
  if (!numbers || std::set(numbers->begin(), numbers->end()).size() < numbers->size())
    return std::nullopt;
  return *numbers;
}

/// Row by row, unless both say which fibres they have and these are others.
bool have_rows_alike(const FrameFile& a, const FrameFile& b) {
  if (a.flux.rows() != b.flux.rows()) return false;
  const auto in_a = own_numbers(a), in_b = own_numbers(b);
  return !in_a || !in_b || *in_a == *in_b;
}

std::vector<RowPair> match_rows(const FrameFile& a, const FrameFile& b) {
  const auto fibers_a = fiber_numbers(a.fibermap, a.header, a.flux.rows());
  std::vector<RowPair> pairs;
  if (have_rows_alike(a, b)) {
    for (std::size_t r = 0; r < fibers_a.size(); ++r) pairs.push_back({r, r, fibers_a[r]});
    return pairs;
  }
  const auto fibers_b = fiber_numbers(b.fibermap, b.header, b.flux.rows());
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t r = 0; r < fibers_b.size(); ++r) row_of.emplace(fibers_b[r], r);
  for (std::size_t r = 0; r < fibers_a.size(); ++r) {
    if (const auto it = row_of.find(fibers_a[r]); it != row_of.end()) {
      pairs.push_back({r, it->second, fibers_a[r]});
    }
  }
  if (pairs.empty()) {
    throw Error(Status::kWrongShape, b.path + ": FLUX is " + shape(b) +
                                         " and shares no fibre with " + a.path + " (" + shape(a) +
                                         ")");
  }
  return pairs;
}

constexpr double kSameFactor = 1e-9;  // 0.3 m/s

void check_grids(const FrameFile& a, const FrameFile& b) {
  if (a.flux.cols() != b.flux.cols()) {
    throw Error(Status::kWrongShape, b.path + ": FLUX is " + shape(b) + ", expected the grid of " +
                                         a.path + ", " + shape(a));
  }
  for (std::size_t j = 0; j < std::min(a.wave.size(), b.wave.size()); ++j) {
    if (!same_wave(a.wave[j], b.wave[j])) {
      throw Error(Status::kWrongShape, b.path + ": WAVELENGTH differs from " + a.path + " at bin " +
                                           std::to_string(j) + ": " + std::to_string(b.wave[j]) +
                                           ", expected " + std::to_string(a.wave[j]));
    }
  }
}

double wave_of(const FrameFile& f, std::size_t row, std::size_t j) {
  return f.fiber_wave.empty() ? f.wave[j] : f.fiber_wave(row, j);
}

/// The same of fibres that have wavelengths of their own.
void check_own_grids(const FrameFile& a, const FrameFile& b, const RowPair& pair) {
  if (a.fiber_wave.empty() && b.fiber_wave.empty()) return;
  for (std::size_t j = 0; j < std::min(a.wave.size(), b.wave.size()); ++j) {
    const double in_a = wave_of(a, pair.a, j), in_b = wave_of(b, pair.b, j);
    if (same_wave(in_a, in_b)) continue;
    throw Error(Status::kWrongShape,
                b.path + ": fibre " + std::to_string(pair.fiber) + " differs from " + a.path +
                    " at bin " + std::to_string(j) + ": " + std::to_string(in_b) +
                    " Angstrom, expected " + std::to_string(in_a) + " (FIBER_WAVELENGTH)");
  }
}

class Comparer {
 public:
  Comparer(const FrameFile& a, const FrameFile& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options), use_mask_(!a.mask.empty() && !b.mask.empty()) {}

  FrameComparison run() {
    check_grids(a_, b_);
    const auto pairs = match_rows(a_, b_);
    out_.nspec = pairs.size();
    out_.nwave = a_.flux.cols();
    if (!a_.resolution.empty() && !b_.resolution.empty()) out_.max_resolution = 0;
    for (const RowPair& pair : pairs) {
      check_own_grids(a_, b_, pair);
      compare_row(pair);
      if (out_.max_resolution) compare_resolution(pair);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool good(const FrameFile& f, std::size_t row, std::size_t j) const {
    return f.ivar(row, j) > 0 && !(use_mask_ && (f.mask(row, j) & options_.mask_bits) != 0);
  }

  [[nodiscard]] BinName name(const RowPair& pair, std::size_t j) const {
    const auto& wave = a_.wave.empty() ? b_.wave : a_.wave;
    return {pair.fiber, wave.empty() ? static_cast<double>(j) : wave[j]};
  }

  void note_masks(const RowPair& pair, std::size_t j, bool good_a, bool good_b) {
    out_.masked_a += !good_a;
    out_.masked_b += !good_b;
    if (good_a == good_b) return;
    ++(good_a ? out_.only_b : out_.only_a);
    auto& names = good_a ? out_.list_only_b : out_.list_only_a;
    if (names.size() < options_.list) names.push_back(name(pair, j));
  }

  void note_far(double pull, std::size_t j) {
    constexpr std::size_t kPatch = FrameComparison::kPatchBins, kSeam = FrameComparison::kSeamBins;
    if (!(pull > options_.far_pull)) return;
    ++out_.far;
    const bool inner = j >= kSeam && j + kSeam < out_.nwave;  // the ends of the grid are no seams
    out_.far_at_seams += inner && (j % kPatch < kSeam || j % kPatch >= kPatch - kSeam);
  }

  void compare_row(const RowPair& pair) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < out_.nwave; ++j) {
      const bool good_a = good(a_, pair.a, j), good_b = good(b_, pair.b, j);
      note_masks(pair, j, good_a, good_b);
      if (!good_a || !good_b) continue;
      ++out_.good;
      const double wa = a_.ivar(pair.a, j), wb = b_.ivar(pair.b, j);
      double pull = std::abs(a_.flux(pair.a, j) - b_.flux(pair.b, j)) / std::sqrt(1 / wa + 1 / wb);
      double ivar = std::abs(wa - wb) / std::max(wa, wb);
      if (!std::isfinite(pull)) pull = kInfinity;
      if (!std::isfinite(ivar)) ivar = kInfinity;
      for (std::size_t t = 0; t < FrameComparison::kThresholds.size(); ++t) {
        out_.pulls_below[t] += pull < FrameComparison::kThresholds[t];
      }
      note_far(pull, j);
      if (pull > out_.max_pull) out_.max_pull = pull, out_.max_pull_at = name(pair, j);
      if (ivar > out_.max_ivar) out_.max_ivar = ivar, out_.max_ivar_at = name(pair, j);
    }
  }

  void compare_resolution(const RowPair& pair) {
    const Array3D<float>&ra = a_.resolution, &rb = b_.resolution;
    const auto half_a = static_cast<std::ptrdiff_t>(ra.rows() / 2);
    const auto half_b = static_cast<std::ptrdiff_t>(rb.rows() / 2);
    const std::ptrdiff_t half = std::min(half_a, half_b);
    const auto n = static_cast<std::ptrdiff_t>(out_.nwave);
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      for (std::ptrdiff_t d = -half; d <= half; ++d) {
        const std::ptrdiff_t row = j + d;  // the entry is R[row, j]
        if (row < 0 || row >= n || !both_good(pair, row) || !both_good(pair, j)) continue;
        const auto column = static_cast<std::size_t>(j);
        const double in_a = ra(pair.a, static_cast<std::size_t>(half_a + d), column);
        const double in_b = rb(pair.b, static_cast<std::size_t>(half_b + d), column);
        double difference = std::abs(in_a - in_b);
        if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
        if (difference > *out_.max_resolution) out_.max_resolution = difference;
      }
    }
  }

  [[nodiscard]] bool both_good(const RowPair& pair, std::ptrdiff_t j) const {
    const auto bin = static_cast<std::size_t>(j);
    return good(a_, pair.a, bin) && good(b_, pair.b, bin);
  }

  const FrameFile& a_;
  const FrameFile& b_;
  const CompareOptions& options_;
  bool use_mask_;
  FrameComparison out_;
};

}  // namespace

double FrameComparison::mask_difference() const noexcept {
  const std::size_t all = nspec * nwave;
  return all == 0 ? 0.0 : static_cast<double>(only_a + only_b) / static_cast<double>(all);
}

std::string seam_hint(const FrameFile& a, const FrameFile& b, const FrameComparison& comparison) {
  const auto method = [](const FrameFile& f) { return f.header.text("EXMETHOD").value_or(""); };
  if (comparison.far == 0 || (method(a) == "exact" && method(b) == "exact")) return {};
  const bool a_patch = method(a) == "patch", b_patch = method(b) == "patch";
  const bool at_seams = 2 * comparison.far_at_seams >= comparison.far;
  if (!a_patch && !b_patch && !at_seams) return {};
  std::string line = "hint: " + std::to_string(comparison.far_at_seams) + " of the " +
                     std::to_string(comparison.far) + " bins beyond the limit lie within " +
                     std::to_string(FrameComparison::kSeamBins) + " bins of a multiple of " +
                     std::to_string(FrameComparison::kPatchBins);
  if (a_patch || b_patch)
    line += std::string("; ") + (a_patch ? "A" : "B") + " was made in patches";
  return line + ": seams between patches may look like this (docs/fiberloom/migration.md)";
}

std::vector<std::string> unlike_hints(const FrameFile& a, const FrameFile& b) {
  std::vector<std::string> lines;
  const double in_a = a.header.number("HELIOCOR").value_or(1),
               in_b = b.header.number("HELIOCOR").value_or(1);
  if (std::abs(in_a - in_b) > kSameFactor) {
    lines.push_back("hint: HELIOCOR is " + print("%.9f", in_a) + " in A, " + print("%.9f", in_b) +
                    " in B: bins of one wavelength hold other light");
  }
  const auto unit_a = a.header.text("BUNIT"), unit_b = b.header.text("BUNIT");
  if (unit_a && unit_b && *unit_a != *unit_b)
    lines.push_back("hint: BUNIT is '" + *unit_a + "' in A, '" + *unit_b + "' in B");
  return lines;
}

std::vector<std::int64_t> fiber_numbers(const std::optional<Table>& fibermap,
                                        const HeaderCards& header, std::size_t rows) {
  std::vector<std::int64_t> numbers(rows);
  if (fibermap && fibermap->rows == rows) {
    if (const auto column = fibermap->integers("FIBER", -1)) return *column;
  }
  const auto first = static_cast<std::int64_t>(header.number("FIBERMIN").value_or(0));
  for (std::size_t r = 0; r < rows; ++r) numbers[r] = first + static_cast<std::int64_t>(r);
  return numbers;
}

FrameComparison compare_frames(const FrameFile& a, const FrameFile& b,
                               const CompareOptions& options) {
  return Comparer(a, b, options).run();
}

}  // namespace fiberloom
