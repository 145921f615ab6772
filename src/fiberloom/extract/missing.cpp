// SPDX-License-Identifier: BSD-3-Clause
// Looks at fibres without a good bin only, so that a good frame pays for one pass over ivar.
#include "fiberloom/extract/missing.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fiberloom/extract/storable.hpp"
#include "fiberloom/psf/psf_model.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

namespace {

/// A bound on the numerical error, in sigma, from which on a user must know of it; and that of its
/// term 10 eps kappa alone, which is far too large.
constexpr double kBoundThatSaysLittle = 0.1, kRoundingThatSaysLittle = 10;
constexpr std::size_t kMostRanges = 6;

enum class Why { kNotFinite, kNotFit, kOffCcd, kNarrow, kNoPixel, kNotComputed };
constexpr std::array<const char*, 6> kReason{
    "PSF not finite",       "no fit (STATUS of the PSF)",
    "traces leave the CCD", "PSF width not above 0.05 pixels",
    "no good pixel",        "no solution"};

/// The PSF at one bin, by the rules of trace_fiber().
Why psf_trouble(const PsfModel& psf, std::size_t fiber, double wave) {
  const double x = psf.x(fiber, wave), y = psf.y(fiber, wave);
  if (!(std::abs(x) < 1e6 && std::abs(y) < 1e6)) return Why::kOffCcd;
  const int x0 = psf.corner_x(x), y0 = psf.corner_y(y);
  const bool on_ccd =
      x0 > -psf.stamp_nx() && x0 < psf.npix_x && y0 > -psf.stamp_ny() && y0 < psf.npix_y;
  if (!on_ccd) return Why::kOffCcd;
  const bool wide =
      psf.sigma_x(fiber, wave) > kLeastSigma && psf.sigma_y(fiber, wave) > kLeastSigma;
  return wide ? Why::kNoPixel : Why::kNarrow;
}

/// Why no bin of a fibre is good: what the bin that came farthest lacks.
Why why_empty(const PsfModel& psf, const ExtractResult& result, std::size_t s) {
  const auto fiber = static_cast<std::size_t>(result.spec_min) + s;
  if (!psf.status.empty() && psf.status[fiber] == kStatusNan) return Why::kNotFinite;
  const bool left_out = psf.sigma_x.coef.cols() > 0 && psf.sigma_x.coef(fiber, 0) == 0;
  if (!psf.status.empty() && psf.status[fiber] != 0 && left_out) return Why::kNotFit;
  Why why = Why::kOffCcd;
  for (std::size_t j = 0; j < result.wave.size(); ++j) {
    if (result.pixmask_fraction(s, j) <= 1 - kUnconstrainedBelow) return Why::kNotComputed;
    why = std::max(why, psf_trouble(psf, fiber, result.wave[j]));
  }
  return why;
}

bool is_empty(const ExtractResult& r, std::size_t s) {
  const double* ivar = r.ivar.row(s);
  return std::all_of(ivar, ivar + r.ivar.cols(), [](double w) { return w == 0; });
}

/// Bins without light where the trace is on the CCD and the PSF too narrow, of fibres that are not
/// empty: the middle bin of each piece without a result tells whether the piece is worth a look.
std::size_t count_narrow(const PsfModel& psf, const ExtractResult& r, std::size_t s) {
  const std::size_t n = r.wave.size();
  const auto fiber = static_cast<std::size_t>(r.spec_min) + s;
  const auto narrow = [&](std::size_t j) {
    return r.pixmask_fraction(s, j) == 1 && psf_trouble(psf, fiber, r.wave[j]) == Why::kNarrow;
  };
  std::size_t count = 0;
  const double* ivar = r.ivar.row(s);
  for (std::size_t j = 0; j < n; ++j) {
    if (ivar[j] != 0) continue;
    std::size_t end = j;
    while (end < n && ivar[end] == 0) ++end;
    if (narrow(j) || narrow((j + end) / 2) || narrow(end - 1)) {
      for (std::size_t k = j; k < end; ++k) count += narrow(k);
    }
    j = end;
  }
  return count;
}

using FibersByReason = std::array<std::vector<int>, kReason.size()>;

FibersByReason empty_fibers(const PsfModel& psf, const ExtractResult& result) {
  FibersByReason fibers;
  for (std::size_t s = 0; s < result.flux.rows(); ++s) {
    if (!is_empty(result, s)) continue;
    fibers[static_cast<std::size_t>(why_empty(psf, result, s))].push_back(result.spec_min +
                                                                          static_cast<int>(s));
  }
  return fibers;
}

std::string fibers_in_words(const std::vector<int>& fibers) {
  return (fibers.size() > 1 ? "fibres " : "fibre ") + number_ranges(fibers);
}

std::string in_words(const FibersByReason& fibers) {
  std::string text;
  for (std::size_t why = 0; why < kReason.size(); ++why) {
    if (fibers[why].empty()) continue;
    text += (text.empty() ? "" : "; ") + fibers_in_words(fibers[why]) + ": " + kReason[why];
  }
  return text;
}

void tell_of_empty_fibers(const PsfModel& psf, const Observer& observer,
                          const ExtractResult& result) {
  FibersByReason fibers = empty_fibers(psf, result);
  fibers[static_cast<std::size_t>(Why::kNotComputed)].clear();  // told of already
  const std::string empty = in_words(fibers);
  if (!empty.empty()) observer.warn("without a single good bin: " + empty);
}

void tell_of_narrow_bins(const PsfModel& psf, const Observer& observer,
                         const ExtractResult& result) {
  std::vector<int> fibers;
  std::size_t bins = 0;
  for (std::size_t s = 0; s < result.flux.rows(); ++s) {
    const std::size_t narrow = is_empty(result, s) ? 0 : count_narrow(psf, result, s);
    bins += narrow;
    if (narrow > 0) fibers.push_back(result.spec_min + static_cast<int>(s));
  }
  if (bins == 0) return;
  observer.warn(print("%zu bins of %s have no light: PSF width not above %g pixels", bins,
                      fibers_in_words(fibers).c_str(), kLeastSigma));
}

/// Blanks them as a whole, and tells of them.
void settle_not_computed(const Observer& observer, ExtractResult& result) {
  const std::vector<ResultBin> lost = not_computed_bins(result);
  if (lost.empty()) return;
  std::vector<int> fibers;
  for (const ResultBin& bin : lost) {
    blank_bin(result, bin.s, bin.j);
    const int fiber = result.spec_min + static_cast<int>(bin.s);
    if (fibers.empty() || fibers.back() != fiber) fibers.push_back(fiber);
  }
  observer.warn(
      print("%zu bins of %s have good pixels and no result: their error cannot be "
            "bounded, or their numbers leave the range of float32; they get flux = ivar "
            "= 0, ALLBADPIX",
            lost.size(), fibers_in_words(fibers).c_str()));
}

void tell_of_bounds(const ExtractOptions& options, const Observer& observer,
                    const std::vector<BundleReport>& bundles) {
  const BundleReport* worst = nullptr;
  std::size_t count = 0;
  for (const BundleReport& b : bundles) {
    const double rounding = 10 * 2.2e-16 * b.kappa;
    const bool says_enough =
        rounding <= kRoundingThatSaysLittle &&
        b.bound_sigma - rounding <= std::max(kBoundThatSaysLittle, options.tolerance);
    if (says_enough || !is_solution(b.solve_sigma)) continue;
    ++count;
    if (worst == nullptr || b.bound_sigma > worst->bound_sigma) worst = &b;
  }
  if (worst == nullptr) return;
  observer.warn(
      print("%zu bundle%s with a numerical error that is only known to be below %.2g "
            "sigma (fibres %d-%d; --tolerance %.2g): the condition number is %.2g",
            count, count == 1 ? "" : "s", worst->bound_sigma, worst->first_fiber,
            worst->first_fiber + worst->nfiber - 1, options.tolerance, worst->kappa));
}

}  // namespace

void blank_fiber(ExtractResult& r, std::size_t s) {
  const std::size_t nwave = r.flux.cols(), middle = r.resolution.rows() / 2;
  for (auto* rows : {&r.flux, &r.ivar, &r.xflux, &r.chi2pix}) {
    std::fill_n(rows->row(s), nwave, 0.0);
  }
  for (std::size_t k = 0; k < r.resolution.rows(); ++k) {
    std::fill_n(&r.resolution(s, k, 0), nwave, k == middle ? 1.0F : 0.0F);
  }
}

void blank_bin(ExtractResult& r, std::size_t s, std::size_t j) {
  const std::size_t ndiag = r.resolution.rows(), middle = ndiag / 2, nwave = r.flux.cols();
  r.flux(s, j) = r.ivar(s, j) = r.xflux(s, j) = 0;
  for (std::size_t k = 0; k < ndiag; ++k) {  // R[j, i] is stored at (j - i + middle, i)
    const std::size_t i = j + middle - k;    // wraps below 0
    if (i < nwave) r.resolution(s, k, i) = k == middle ? 1.0F : 0.0F;
  }
}

std::string number_ranges(const std::vector<int>& numbers) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (ranges++ == kMostRanges) return text + print(" and %zu more", numbers.size() - i);
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
    if (end > i + 1) text += print("-%d", numbers[end - 1]);
    i = end;
  }
  return text;
}

std::vector<ResultBin> not_computed_bins(const ExtractResult& r) {
  std::vector<ResultBin> bins;
  for (const BundleReport& b : r.bundles) {
    if (!is_solution(b.solve_sigma)) continue;
    const int first = std::max(b.first_fiber - r.spec_min, 0);
    const int last =
        std::min(b.first_fiber + b.nfiber - r.spec_min, static_cast<int>(r.flux.rows()));
    for (int row = first; row < last; ++row) {
      const auto s = static_cast<std::size_t>(row);
      const double* ivar = r.ivar.row(s);
      const double* end = ivar + r.ivar.cols();
      for (const double* w = std::find(ivar, end, 0.0); w != end; w = std::find(w + 1, end, 0.0)) {
        const auto j = static_cast<std::size_t>(w - ivar);
        if (r.pixmask_fraction(s, j) <= 1 - kUnconstrainedBelow) bins.push_back({s, j});
      }
    }
  }
  return bins;
}

std::string empty_fibers_text(const PsfModel& psf, const ExtractResult& result) {
  return in_words(empty_fibers(psf, result));
}

void settle_missing(const PsfModel& psf, const ExtractOptions& options, const Observer& observer,
                    ExtractResult& result) {
  tell_of_bounds(options, observer, result.bundles);
  settle_not_computed(observer, result);
  tell_of_empty_fibers(psf, observer, result);
  tell_of_narrow_bins(psf, observer, result);
}

}  // namespace fiberloom
