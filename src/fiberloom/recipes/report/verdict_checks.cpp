// SPDX-License-Identifier: BSD-3-Clause
// Long: a list of checks, one beside the other.
// The rules of the verdict: one function a check, all limits at the top (docs/fiberloom/report.md
// lists them).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "fiberloom/recipes/report/gather.hpp"
#include "fiberloom/recipes/report/verdict.hpp"

namespace fiberloom::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Outside [odd_low, odd_high] is odd, outside [bad_low, bad_high] bad.
struct Limits {
  double bad_low, odd_low, odd_high, bad_high;
};
/// "at most": no lower limits.
constexpr Limits at_most(double odd, double bad) { return {-kInfinity, -kInfinity, odd, bad}; }

constexpr Limits kRejected = at_most(0.01, 0.10);        // share of bins without information
constexpr Limits kLowInformation = at_most(0.05, 0.25);  // share of bins
constexpr Limits kDeadShare = at_most(0, 0.05);          // of fibres, beyond those known to be bad
constexpr Limits kWeakShare = at_most(0, 0.05);          // of fibres
constexpr Limits kBadFit = at_most(0.005, 0.05);         // share of bins
constexpr Limits kClusterBins = at_most(30, kInfinity);  // of the largest cluster of BAD2DFIT
constexpr Limits kChi2{0.35, 0.6, 1.25, 2};              // median; below 1: the fit takes some
constexpr Limits kBundleChi2{0.5, 0.75, 1.33, 2};        // of a bundle, relative to the frame
constexpr Limits kNoise{0.4, 0.7, 1.3, 2};               // expected sigma / sigma of ivar
constexpr Limits kWidthSpread = at_most(1.5, 2.5);       // 95th / 5th percentile of fibres
constexpr Limits kWidthOddShare = at_most(0, 0.1);       // of fibres beside their neighbours
constexpr Limits kPixelCore{0.7, 0.9, 1.1, 1.5};
constexpr Limits kTruthCore{0.7, 0.9, 1.1, 1.5};
constexpr Limits kNeighbourCore{0.6, 0.85, 1.2, 2};
constexpr Limits kSkyCore{0.5, 0.85, 1.2, 2};
constexpr Limits kNegativeShare = at_most(0.02, 0.25);  // of fibres
constexpr Limits kWildPixels = at_most(5e-5, 1e-3);     // share of lit pixels
constexpr Limits kBound = at_most(1e-3, 0.1);           // sigma

constexpr double kDeadRejected = 0.9, kDeadLight = 0.1;  // of its bins; of the median fibre's light
constexpr double kWeakLight = 0.5, kStrongLight = 1.6, kLightSigmas = 5;
constexpr double kWidthOff = 0.15;       // beside the median of the neighbours
constexpr std::size_t kNeighbours = 15;  // to either side
constexpr double kNegativeSnr = -0.3;    // median of a fibre's bins
constexpr double kWildest = 100;         // sigma: odd even if it is a single pixel
constexpr std::size_t kLeastInHistogram = 100, kNamed = 6;

Level level_of(double value, const Limits& limits) {
  if (std::isnan(value)) return Level::kUnknown;
  if (value < limits.bad_low || value > limits.bad_high) return Level::kBad;
  return value < limits.odd_low || value > limits.odd_high ? Level::kOdd : Level::kGood;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string percent(double part) { return number(100 * part) + " %"; }

std::string counted(std::size_t n, const std::string& one, const std::string& many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

/// "0.8 to 1.25 is usual", "at most 1.2 is usual".
std::string usual(const Limits& limits) {
  if (std::isinf(limits.odd_low)) return "at most " + number(limits.odd_high) + " is usual";
  return number(limits.odd_low) + " to " + number(limits.odd_high) + " is usual";
}

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

std::string fiber_names(const FrameReport& r, const std::vector<std::size_t>& rows) {
  std::string out = rows.size() == 1 ? "fibre" : "fibres";
  for (std::size_t k = 0; k < std::min(rows.size(), kNamed); ++k) {
    out += (k == 0 ? " " : ", ") + std::to_string(r.fibers[rows[k]]);
  }
  return rows.size() > kNamed ? out + " ..." : out;
}

std::string place_name(const FrameReport& r, const BinBox& box) {
  const bool one = box.row == box.last_row;
  std::string out = (one ? "fibre " : "fibres ") + std::to_string(r.fibers[box.row]);
  if (!one) out += " to " + std::to_string(r.fibers[box.last_row]);
  char range[64];
  std::snprintf(range, sizeof range, ", %.0f to %.0f Angstrom", r.frame.wave[box.first],
                r.frame.wave[box.last]);
  return out + range;
}

std::optional<BinBox> whole_fiber(const FrameReport& r, const std::vector<std::size_t>& rows) {
  if (rows.empty()) return std::nullopt;
  return BinBox{rows.front(), rows.front(), 0, r.frame.wave.size() - 1};
}

bool is_dead(const FrameReport& r, std::size_t row) {
  const FiberStatistics& f = r.fiber_table[row];
  const bool empty = share(f.rejected, r.flags.cols()) >= kDeadRejected;
  return empty || f.light + kLightSigmas * f.light_error < kDeadLight;
}

bool is_off(const FiberStatistics& f) {
  const double reach = kLightSigmas * f.light_error;
  return f.light + reach < kWeakLight || f.light - reach > kStrongLight;
}

Finding check_rejected(const FrameReport& r) {
  std::size_t rejected = 0;
  for (const FiberStatistics& f : r.fiber_table) rejected += f.rejected;
  const double part = share(rejected, r.flags.size());
  Finding out{level_of(part, kRejected), "rejected bins", "", {}};
  out.text = percent(part) + " of the bins have no information (at most " +
             percent(kRejected.odd_high) + " is usual)";
  if (out.level == Level::kGood || rejected == 0) return out;
  const Cluster worst = clusters(r.flags, kUnusable).front();
  out.place = worst.box;
  out.text += "; " + std::to_string(worst.bins) + " of them together: " + place_name(r, worst.box);
  return out;
}

Finding check_low(const FrameReport& r) {
  if (r.frame.mask.empty())
    return {Level::kUnknown, "low information", "the frame has no MASK", {}};
  std::size_t low = 0;
  for (const FiberStatistics& f : r.fiber_table) low += f.low;
  const double part = share(low, r.flags.size());
  return {level_of(part, kLowInformation),
          "low information",
          percent(part) +
              " of the bins lost more than half of their light to bad pixels (at most " +
              percent(kLowInformation.odd_high) + " is usual)",
          {}};
}

Finding check_dead(const FrameReport& r) {
  std::vector<std::size_t> dead;
  std::size_t known = 0, broken = 0;
  for (std::size_t s = 0; s < r.fibers.size(); ++s) {
    known += r.targets.is_known_bad(s);
    if (!is_dead(r, s)) continue;
    if (r.targets.is_known_bad(s)) {
      ++broken;
    } else {
      dead.push_back(s);
    }
  }
  Finding out{level_of(share(dead.size(), r.fibers.size()), kDeadShare), "dead fibres", "",
              whole_fiber(r, dead)};
  out.text = dead.empty()
                 ? "every fibre has light"
                 : counted(dead.size(), "fibre has", "fibres have") +
                       " no light though FIBERSTATUS does not say so: " + fiber_names(r, dead);
  if (known > 0) {
    out.text += "; " + counted(known, "fibre is", "fibres are") +
                " known to be bad (FIBERSTATUS), " + std::to_string(broken) + " of them dark";
  }
  return out;
}

Finding check_light(const FrameReport& r) {
  std::vector<std::size_t> off;
  std::size_t known = 0;
  for (std::size_t s = 0; s < r.fibers.size(); ++s) {
    known += std::isfinite(r.fiber_table[s].light);
    const bool counts = !is_dead(r, s) && !r.targets.is_known_bad(s);
    if (counts && is_off(r.fiber_table[s])) off.push_back(s);
  }
  if (known == 0) {
    return {Level::kUnknown,
            "throughput",
            "no lines that are bright enough to compare the light of the fibres",
            {}};
  }
  const std::string range = number(kWeakLight) + " to " + number(kStrongLight);
  Finding out{level_of(share(off.size(), r.fibers.size()), kWeakShare), "throughput", "",
              whole_fiber(r, off)};
  out.text = off.empty()
                 ? "the lines are equally bright in all fibres, within " + range + " of the median"
                 : counted(off.size(), "fibre gets", "fibres get") +
                       " another share of the lines' light than " + range +
                       " of the median: " + fiber_names(r, off);
  return out;
}

Finding check_bad_fit(const FrameReport& r) {
  if (r.frame.mask.empty()) return {Level::kUnknown, "bad fits", "the frame has no MASK", {}};
  std::size_t bad = 0;
  for (const FiberStatistics& f : r.fiber_table) bad += f.bad_fit;
  const double part = share(bad, r.flags.size());
  Finding out{level_of(part, kBadFit),
              "bad fits",
              percent(part) + " of the bins are flagged BAD2DFIT (at most " +
                  percent(kBadFit.odd_high) + " is usual)",
              {}};
  if (bad == 0) return out;
  const Cluster worst = clusters(r.flags, kFlagBadFit).front();
  out.level = std::max(out.level, level_of(static_cast<double>(worst.bins), kClusterBins));
  if (out.level == Level::kGood) return out;
  out.place = worst.box;
  out.text +=
      "; the largest cluster has " + std::to_string(worst.bins) + ": " + place_name(r, worst.box);
  return out;
}

Finding check_chi2(const FrameReport& r) {
  if (r.frame.chi2pix.empty()) return {Level::kUnknown, "chi2", "the frame has no CHI2PIX", {}};
  std::vector<float> values;
  for (const BundleStatistics& b : r.bundles) {
    if (b.median_chi2 > 0) values.push_back(static_cast<float>(b.median_chi2));
  }
  if (values.empty()) return {Level::kUnknown, "chi2", "no bin with a chi2", {}};
  const double middle = median(values);
  Finding out{level_of(middle, kChi2),
              "chi2",
              "chi2 of pixels is " + number(middle) + " in the median (" + usual(kChi2) + ")",
              {}};
  for (const BundleStatistics& b : r.bundles) {
    if (!(b.median_chi2 > 0)) continue;
    const Level level = level_of(b.median_chi2 / middle, kBundleChi2);
    if (level <= Level::kUnknown || level <= out.level) continue;
    out.level = level;
    out.place = BinBox{b.first_row, b.first_row + b.rows - 1, 0, r.frame.wave.size() - 1};
    out.text += "; " + number(b.median_chi2) + " in fibres " +
                std::to_string(r.fibers[b.first_row]) + " to " +
                std::to_string(r.fibers[b.first_row + b.rows - 1]);
  }
  return out;
}

Finding check_noise(const FrameReport& r) {
  if (!r.noise || std::isnan(*r.noise)) {
    return {Level::kUnknown,
            "signal to noise",
            "what photons and read noise allow is not known (RDNOISE, BUNIT in electrons)",
            {}};
  }
  Finding out{level_of(*r.noise, kNoise), "signal to noise", "", {}};
  out.text = "signal to noise is " + number(*r.noise) + " of what photons and read noise allow (" +
             usual(kNoise) + ")";
  if (*r.noise > kNoise.odd_high) out.text += ": ivar claims too much";
  return out;
}

/// Rows whose width is off that of their neighbours.
std::vector<std::size_t> odd_widths(const FrameReport& r) {
  std::vector<std::size_t> out;
  std::vector<float> near;
  for (std::size_t s = 0; s < r.fiber_table.size(); ++s) {
    const double own = r.fiber_table[s].width;
    if (!std::isfinite(own)) continue;
    near.clear();
    const std::size_t last = std::min(r.fiber_table.size() - 1, s + kNeighbours);
    for (std::size_t k = s - std::min(s, kNeighbours); k <= last; ++k) {
      if (std::isfinite(r.fiber_table[k].width)) {
        near.push_back(static_cast<float>(r.fiber_table[k].width));
      }
    }
    const double usual_width = median(near);
    if (std::abs(own - usual_width) > kWidthOff * usual_width) out.push_back(s);
  }
  return out;
}

Finding check_resolution(const FrameReport& r) {
  std::vector<double> widths;
  for (const FiberStatistics& f : r.fiber_table) {
    if (std::isfinite(f.width)) widths.push_back(f.width);
  }
  if (widths.empty()) return {Level::kUnknown, "resolution", "no resolution widths", {}};
  std::sort(widths.begin(), widths.end());
  const auto at = [&](double part) {
    return widths[static_cast<std::size_t>(part * static_cast<double>(widths.size() - 1))];
  };
  const double spread = at(0.95) / at(0.05);
  const std::vector<std::size_t> odd = odd_widths(r);
  const Level by_share = level_of(share(odd.size(), widths.size()), kWidthOddShare);
  Finding out{std::max(level_of(spread, kWidthSpread), by_share),
              "resolution",
              "the resolution's width changes by a factor of " + number(spread) +
                  " from fibre to fibre (" + usual(kWidthSpread) + ")",
              {}};
  if (odd.empty()) return out;
  out.place = whole_fiber(r, odd);
  out.text += "; " + counted(odd.size(), "fibre is", "fibres are") +
              " off the neighbours by over " + percent(kWidthOff) + ": " + fiber_names(r, odd);
  return out;
}

Finding check_pulls(const FrameReport& r, PullKind kind, const char* check, const char* what,
                    const Limits& limits) {
  for (const Pulls& p : r.pulls) {
    if (p.kind != kind || p.histogram.size() < kLeastInHistogram) continue;
    const double core = p.histogram.core_width();
    return {
        level_of(core, limits),
        check,
        std::string(what) + " have a core of width " + number(core) + " (" + usual(limits) + ")",
        {}};
  }
  return {Level::kUnknown, check, std::string(what) + " are not there", {}};
}

Finding check_truth(const FrameReport& r) {
  if (!r.truth_core) return {Level::kUnknown, "truth pulls", "no truth was given", {}};
  return {level_of(*r.truth_core, kTruthCore),
          "truth pulls",
          "pulls against the truth, away from bright lines, have a core of width " +
              number(*r.truth_core) + " (" + usual(kTruthCore) + ")",
          {}};
}

Finding check_negative(const FrameReport& r) {
  std::vector<std::size_t> negative;
  for (std::size_t s = 0; s < r.fiber_table.size(); ++s) {
    if (r.fiber_table[s].snr < kNegativeSnr) negative.push_back(s);
  }
  Finding out{level_of(share(negative.size(), r.fibers.size()), kNegativeShare), "negative flux",
              negative.empty()
                  ? "no fibre is negative all along"
                  : counted(negative.size(), "fibre is", "fibres are") +
                        " negative all along (bias, background): " + fiber_names(r, negative),
              whole_fiber(r, negative)};
  return out;
}

/// The fibre and bin whose trace passes a pixel nearest.
std::optional<BinBox> bin_at(const FrameReport& r, const WildPixel& pixel) {
  if (!r.traces || r.traces->x.empty()) return std::nullopt;
  const Traces& t = *r.traces;
  double best = kInfinity, wave = 0;
  std::size_t row = 0;
  for (std::size_t s = 0; s < t.x.rows(); ++s) {
    for (std::size_t k = 0; k + 1 < t.wave.size(); ++k) {
      const double y0 = t.y(s, k), y1 = t.y(s, k + 1);
      const double part = (static_cast<double>(pixel.row) - y0) / (y1 - y0);
      if (!(part >= 0 && part <= 1)) continue;
      const double x = t.x(s, k) + part * (t.x(s, k + 1) - t.x(s, k));
      const double off = std::abs(x - static_cast<double>(pixel.col));
      if (off >= best) continue;
      best = off, row = s, wave = t.wave[k] + part * (t.wave[k + 1] - t.wave[k]);
    }
  }
  if (std::isinf(best)) return std::nullopt;
  const auto found = std::lower_bound(r.frame.wave.begin(), r.frame.wave.end(), wave);
  const auto bin =
      std::min(static_cast<std::size_t>(found - r.frame.wave.begin()), r.frame.wave.size() - 1);
  return BinBox{row, row, bin, bin};
}

std::string pixel_name(const WildPixel& pixel) {
  return "column " + std::to_string(pixel.col) + ", row " + std::to_string(pixel.row);
}

Finding check_wild(const FrameReport& r) {
  if (!r.wild) {
    return {Level::kUnknown, "wild pixels", "image and model are not there", {}};
  }
  const WildPixels& w = *r.wild;
  Finding out{level_of(share(w.wild, w.lit), kWildPixels),
              "wild pixels",
              "no pixel that was used is 10 sigma above the model",
              {}};
  if (w.wild > 0) {
    out.text =
        counted(w.wild, "used pixel is", "used pixels are") +
        " more than 10 sigma above the model (a cosmic ray that is not masked?), the worst by " +
        number(w.worst.front().pull) + " at " + pixel_name(w.worst.front());
    if (w.worst.front().pull > kWildest) out.level = std::max(out.level, Level::kOdd);
    if (out.level != Level::kGood) out.place = bin_at(r, w.worst.front());
  }
  if (w.heavy > 0) {
    out.level = Level::kBad;  // a single one rules the bins around it
    out.text += "; " + counted(w.heavy, "pixel has", "pixels have") +
                " a weight over 100 times the usual, the first at " +
                pixel_name(w.heaviest.front());
    out.place = bin_at(r, w.heaviest.front());
  }
  return out;
}

Finding check_bound(const FrameReport& r) {
  if (!r.largest_bound) {
    return {Level::kUnknown, "numerical error", "no summary with error bounds", {}};
  }
  return {
      level_of(*r.largest_bound, kBound),
      "numerical error",
      "the error bound is at most " + number(*r.largest_bound) + " sigma (" + usual(kBound) + ")",
      {}};
}

}  // namespace

std::vector<Finding> run_checks(const FrameReport& r) {
  std::vector<Finding> out{check_rejected(r), check_dead(r),    check_light(r), check_chi2(r),
                           check_bad_fit(r),  check_wild(r),    check_noise(r), check_resolution(r),
                           check_low(r),      check_negative(r)};
  out.push_back(check_pulls(r, PullKind::kPixels, "pixel pulls", "pulls of pixels", kPixelCore));
  out.push_back(check_pulls(r, PullKind::kNeighbours, "neighbour pulls",
                            "pulls of neighbouring bins", kNeighbourCore));
  out.push_back(check_pulls(r, PullKind::kSky, "sky pulls", "pulls of sky fibres", kSkyCore));
  out.push_back(check_truth(r));
  out.push_back(check_bound(r));
  return out;
}

}  // namespace fiberloom::report
