// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/traces/trace_shifts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "loom/base/error.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom {
namespace {

constexpr int kMostRounds = 5;
/// A step is small where it is below this share of its error, or this many pixels.
constexpr double kSmallStep = 0.2, kTinyStep = 1e-4;
/// A fit that is worse by no more than this is not: shifts along the wavelengths move light between
/// the centres of bins, which chi2 sees by a part in a thousand, for better or worse.
constexpr double kWorse = 1.02;

TraceDomain domain_of(const PsfModel& psf, const ExtractOptions& options) {
  TraceDomain domain;
  domain.wave_first_aa = options.wave.front();
  domain.wave_last_aa = options.wave.back();
  domain.x_first = std::numeric_limits<double>::max();
  domain.x_last = -domain.x_first;
  const double middle = 0.5 * (domain.wave_first_aa + domain.wave_last_aa);
  const int last = options.spec_min + fiber_count(options, psf.nfiber());
  for (int f = options.spec_min; f < last; ++f) {
    const double x = psf.x(static_cast<std::size_t>(f), middle);
    if (!std::isfinite(x)) continue;
    domain.x_first = std::min(domain.x_first, x);
    domain.x_last = std::max(domain.x_last, x);
  }
  return domain;
}

void add_fit(const TraceFit& found, TraceFit& total) {
  std::vector<double> sum = found.coef;
  for (std::size_t i = 0; i < std::min(sum.size(), total.coef.size()); ++i) sum[i] += total.coef[i];
  total = found;
  total.coef = std::move(sum);
}

TraceRound round_of(const ExtractResult& result) {
  TraceRound round;
  for (const BundleReport& b : result.bundles) {
    round.chi2 += b.chi2;
    round.pixels += b.pixels;
    round.parameters += b.parameters;
  }
  return round;
}

double chi2_a_degree(const TraceRound& round) {
  return round.chi2 /
         std::max(1.0, static_cast<double>(round.pixels) - static_cast<double>(round.parameters));
}

class Rounds {
 public:
  Rounds(const TraceRequest& request, TraceReport& report) : request_(request), report_(report) {}

  /// True: another round is worth it.
  [[nodiscard]] bool take(const TraceRoundInput& input, const ExtractImage& extract) {
    TraceRound round = round_of(input.result);
    std::vector<TraceParameter> across{TraceParameter::kX}, along{TraceParameter::kY};
    if (request_.widths) {
      across.push_back(TraceParameter::kSigmaX);
      along.push_back(TraceParameter::kSigmaY);
    }
    bool small = true, seen = false;
    const auto use = [&](const std::vector<TraceParameter>& parameters,
                         const std::vector<std::vector<TraceWindow>>& windows) {
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        const TraceFit fit = fit_windows(windows[p], request_.degree);
        TraceFit& total = report_.parameters[static_cast<std::size_t>(parameters[p])];
        if (!fit.measured()) continue;
        seen = true;
        small = is_small(fit, round.largest_step) && small;
        add_fit(fit, total);
      }
    };
    use(across, windows_of_residuals(input, across, extract));
    use(along, windows_of_lines(input, along, request_.lines));
    report_.rounds.push_back(round);
    report_.settled = seen && small;
    return seen && !small;
  }

 private:
  [[nodiscard]] bool is_small(const TraceFit& fit, double& largest) const {
    bool small = true;
    for (const double u : {-1.0, 0.0, 1.0}) {
      for (const double v : {-1.0, 0.0, 1.0}) {
        const double step = std::abs(fit.value(request_.degree, u, v));
        largest = std::max(largest, step);
        small &= step <= std::max(kSmallStep * fit.error(request_.degree, u, v), kTinyStep);
      }
    }
    return small;
  }

  const TraceRequest& request_;
  TraceReport& report_;
};

}  // namespace

ExtractOptions plain_options(ExtractOptions options) {
  options.model_variance = options.decorrelate_fibers = options.fiber_correlation = false;
  options.reject_nsig = -1;
  options.oversample = 1;
  options.want_model = true;
  return options;
}

TraceReport measure_trace_shifts(const CcdFrame& ccd, const PsfModel& psf,
                                 const ExtractOptions& options, const TraceRequest& request,
                                 const ExtractImage& extract, Executor& executor,
                                 const Observer& observer) {
  if (!options.fiber_wave.empty()) {
    throw Error(Status::kUsage,
                "trace shifts: fibres with grids of their own; expected one grid for all");
  }
  if (request.widths && psf.shape)
    (void)changed_psf(psf, {{}, 0, {{{}, {}, {0.0}, {}}}});  // throws
  TraceReport report;
  report.degree = request.degree;
  report.domain = domain_of(psf, options);
  Rounds rounds(request, report);
  for (int r = 0; r < kMostRounds; ++r) {
    stop_if_asked(observer);
    const PsfModel moved = changed_psf(psf, report.change());
    const ExtractResult result = extract(ccd, moved);
    if (!rounds.take({ccd, moved, psf, options, report.domain, result, executor, observer},
                     extract))
      break;
  }
  if (chi2_a_degree(report.rounds.back()) > kWorse * chi2_a_degree(report.rounds.front())) {
    report.parameters = {};
    report.settled = false;
  }
  return report;
}

}  // namespace fiberloom
