// SPDX-License-Identifier: BSD-3-Clause
// Errors of what rules make, and which rule's are less: the criterion stands in main.cpp.
#pragma once

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

namespace fiberloom::bench {

/// Errors of many values: against a noise that is the same for all rules, and against their own.
struct Tally {
  double count = 0, sum = 0, squares = 0, pulls = 0;
  void add(double relative, double pull) {
    ++count;
    sum += relative;
    squares += relative * relative;
    pulls += pull * pull;
  }
  [[nodiscard]] double mean() const { return sum / count; }
  [[nodiscard]] double rms() const { return std::sqrt(squares / count); }
  [[nodiscard]] double width() const { return std::sqrt(pulls / count); }
};
using Figures = std::map<std::string, Tally>;

inline void print_rows(const char* name, const Figures& figures) {
  for (const auto& [where, t] : figures) {
    std::printf("%-26s %-32s mean %+8.4f  rms %8.4f  width %7.4f\n", name, where.c_str(), t.mean(),
                t.rms(), t.width());
  }
}

inline void print_verdict(const char* name, const Figures& theirs, const Figures& ours) {
  constexpr double kRms = 0.01, kWidth = 0.005;
  std::string better, worse;
  for (const auto& [where, b] : theirs) {
    const Tally& a = ours.at(where);
    const double rms = a.rms() / b.rms() - 1;
    const double width = std::abs(a.width() - 1) - std::abs(b.width() - 1);
    if (rms < -kRms || width < -kWidth) better += " [" + where + "]";
    if (rms > kRms || width > kWidth) worse += " [" + where + "]";
  }
  const bool gain = !better.empty() && worse.empty();
  std::printf("%s: %s; better:%s; worse:%s\n\n", name, gain ? "SHOWN TO BE BETTER" : "not shown",
              better.empty() ? " nowhere" : better.c_str(),
              worse.empty() ? " nowhere" : worse.c_str());
}

}  // namespace fiberloom::bench
