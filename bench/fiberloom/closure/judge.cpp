// SPDX-License-Identifier: BSD-3-Clause
#include "bench/fiberloom/closure/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "loom/base/print.hpp"

namespace fiberloom::bench {
namespace {

constexpr std::array kTypes{"GALAXY", "QSO", "STAR"};

double percent(double part, double all) { return all > 0 ? 100 * part / all : 0; }

double at_share(std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

bool is_right(const truth::TrueTarget& truth, const redshift::Candidate& c) {
  const double limit = truth.spectype == "QSO" ? 3000 : 1000;
  return c.spectype == truth.spectype && std::abs(redshift::velocity_kms(c.z, truth.z)) < limit;
}

std::string line_of(const truth::TrueTarget& truth, const std::vector<redshift::Candidate>& found) {
  std::string line =
      print("%lld %s %s %.8f %.3f", static_cast<long long>(truth.id), truth.spectype.c_str(),
            truth.subtype.empty() ? "-" : truth.subtype.c_str(), truth.z, truth.snr);
  for (std::size_t k = 0; k < 3 && k < found.size(); ++k) {
    const redshift::Candidate& c = found[k];
    line += print(" | %s %s %.8f %.3e %u %.3f %.3f %.4f %.2f", c.spectype.c_str(),
                  c.subtype.empty() ? "-" : c.subtype.c_str(), c.z, c.zerr, c.zwarn, c.chi2,
                  c.delta_chi2, c.probability, c.evidence);
  }
  return line + "\n";
}

void Judge::add(const truth::TrueTarget& truth, const redshift::Candidate& best) {
  answers_.push_back({truth.spectype, is_right(truth, best), truth.snr,
                      best.zerr > 0 ? (best.z - truth.z) / best.zerr : 0,
                      redshift::velocity_kms(best.z, truth.z), best.delta_chi2, best.probability,
                      best.zwarn, best.spectype});
}

void Judge::report_types() const {
  std::printf("%-7s %7s %7s | %8s %7s | %8s %7s\n", "truth", "targets", "right", "ZWARN 0", "right",
              "p > 0.95", "right");
  for (const char* type : kTypes) {
    double all = 0, right = 0, sure = 0, sure_right = 0, likely = 0, likely_right = 0;
    for (const Answer& a : answers_) {
      if (a.type != type) continue;
      all += 1;
      right += a.right;
      sure += a.zwarn == 0;
      sure_right += a.zwarn == 0 && a.right;
      likely += a.probability > 0.95;
      likely_right += a.probability > 0.95 && a.right;
    }
    if (all == 0) continue;
    std::printf("%-7s %7.0f %6.1f%% | %7.1f%% %6.2f%% | %7.1f%% %6.2f%%\n", type, all,
                percent(right, all), percent(sure, all), percent(sure_right, sure),
                percent(likely, all), percent(likely_right, likely));
  }
  double sky = 0, warned = 0, likely = 0;
  for (const Answer& a : answers_) {
    if (a.type != "SKY") continue;
    sky += 1;
    warned += a.zwarn != 0;
    likely += a.probability > 0.95;
  }
  if (sky > 0) {
    std::printf("SKY     %7.0f taken for an object: ZWARN 0 %.1f%%, p > 0.95 %.1f%%\n", sky,
                percent(sky - warned, sky), percent(likely, sky));
  }
}

void Judge::report_thresholds() const {
  const auto row = [&](const char* what, double limit, auto&& value) {
    double all = 0, taken = 0, right = 0;
    for (const Answer& a : answers_) {
      if (a.type == "SKY") continue;
      all += 1;
      if (!(value(a) > limit)) continue;
      taken += 1;
      right += a.right;
    }
    std::printf("%-10s > %-6g completeness %6.2f%%, purity %6.2f%% (%.0f wrong)\n", what, limit,
                percent(right, all), percent(right, taken), taken - right);
  };
  for (const double limit : {0.0, 4.0, 9.0, 16.0, 25.0, 40.0}) {
    row("DELTACHI2", limit, [](const Answer& a) { return a.delta_chi2; });
  }
  for (const double limit : {0.5, 0.8, 0.9, 0.95, 0.99, 0.999}) {
    row("p", limit, [](const Answer& a) { return a.probability; });
  }
}

void Judge::report_pulls() const {
  std::printf("pulls of z      number    mean    rms  16-84%%   |pull| > 4   |dv| median\n");
  const auto row = [&](const char* type, const char* name, auto&& taken) {
    std::vector<double> pulls, speeds;
    double sum = 0, sum2 = 0, wild = 0;
    for (const Answer& a : answers_) {
      if (a.type != type || !a.right || !taken(a)) continue;
      pulls.push_back(a.pull);
      speeds.push_back(std::abs(a.kms));
      sum += a.pull;
      sum2 += a.pull * a.pull;
      wild += std::abs(a.pull) > 4;
    }
    if (pulls.empty()) return;
    const auto n = static_cast<double>(pulls.size());
    std::sort(pulls.begin(), pulls.end());
    std::sort(speeds.begin(), speeds.end());
    std::printf("%-6s %-9s %5.0f  %+6.3f %6.3f  %6.3f   %10.0f   %8.2f\n", type, name, n, sum / n,
                std::sqrt(sum2 / n), 0.5 * (at_share(pulls, 0.84) - at_share(pulls, 0.16)), wild,
                at_share(speeds, 0.5));
  };
  for (const char* type : kTypes) {
    row(type, "ZWARN 0", [](const Answer& a) { return a.zwarn == 0; });
    row(type, "p > 0.95", [](const Answer& a) { return a.probability > 0.95; });
    row(type, "p > 0.999", [](const Answer& a) { return a.probability > 0.999; });
  }
}

void Judge::report_calibration() const {
  constexpr std::array kEdges{0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.94, 0.96, 0.99, 0.999, 0.9999, 1.1};
  std::printf("said p                number  mean p   right\n");
  for (std::size_t b = 0; b + 1 < kEdges.size(); ++b) {
    double n = 0, sum = 0, right = 0;
    for (const Answer& a : answers_) {
      if (a.type == "SKY" || a.probability < kEdges[b] || a.probability >= kEdges[b + 1]) continue;
      n += 1;
      sum += a.probability;
      right += a.right;
    }
    if (n == 0) continue;
    const double p = sum / n;
    std::printf("%.4f to %.4f  %10.0f  %6.4f  %6.4f  (+- %.4f)\n", kEdges[b],
                std::min(kEdges[b + 1], 1.0), n, p, right / n, std::sqrt(p * (1 - p) / n));
  }
}

void Judge::report() const {
  report_types();
  report_thresholds();
  report_pulls();
  report_calibration();
}

}  // namespace fiberloom::bench
