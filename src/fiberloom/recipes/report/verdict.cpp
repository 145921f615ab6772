// SPDX-License-Identifier: BSD-3-Clause
// Findings put together: the worst of them, and one line of words.
#include "fiberloom/recipes/report/verdict.hpp"

#include <algorithm>

#include "fiberloom/recipes/report/gather.hpp"

namespace fiberloom::report {
namespace {

std::string names_of(const std::vector<Finding>& findings, Level level) {
  std::string out;
  for (const Finding& f : findings) {
    if (f.level == level) out += (out.empty() ? "" : ", ") + f.check;
  }
  return out;
}

}  // namespace

const char* level_name(Level level) noexcept {
  switch (level) {
    case Level::kGood:
      return "good";
    case Level::kOdd:
      return "odd";
    case Level::kBad:
      return "bad";
    case Level::kUnknown:
      break;
  }
  return "unknown";
}

Verdict judge(const FrameReport& report) {
  Verdict out;
  const bool anything = std::any_of(report.flags.data(), report.flags.data() + report.flags.size(),
                                    [](std::uint8_t f) { return (f & kUnusable) == 0; });
  if (!anything) {
    out.level = Level::kBad;
    out.words = "Nothing here: no bin of this frame has information";
    out.findings.push_back({Level::kBad, "rejected bins", "every bin is rejected", {}});
    return out;
  }
  out.findings = run_checks(report);
  std::size_t known = 0;
  for (const Finding& f : out.findings) {
    known += f.level != Level::kUnknown;
    if (f.level != Level::kUnknown) out.level = std::max(out.level, f.level);
  }
  if (out.level == Level::kUnknown && known > 0) out.level = Level::kGood;
  const std::string bad = names_of(out.findings, Level::kBad);
  const std::string odd = names_of(out.findings, Level::kOdd);
  const std::string of = " of " + std::to_string(known) + " checks";
  if (!bad.empty()) {
    out.words = "Do not trust before looking: " + bad + (odd.empty() ? "" : "; also odd: " + odd);
  } else if (!odd.empty()) {
    out.words = "Usable, with something odd: " + odd;
  } else {
    out.words = "Good: nothing odd in " + std::to_string(known) + " checks";
    const std::size_t left = out.findings.size() - known;
    if (left > 0) out.words += ", " + std::to_string(left) + " could not be made";
  }
  const auto count = std::count_if(out.findings.begin(), out.findings.end(), [](const Finding& f) {
    return f.level == Level::kOdd || f.level == Level::kBad;
  });
  if (count > 0) out.words += " (" + std::to_string(count) + of + ")";
  std::stable_sort(
      out.findings.begin(), out.findings.end(), [](const Finding& a, const Finding& b) {
        const auto rank = [](Level l) { return l == Level::kUnknown ? -1 : static_cast<int>(l); };
        return rank(a.level) > rank(b.level);
      });
  return out;
}

}  // namespace fiberloom::report
