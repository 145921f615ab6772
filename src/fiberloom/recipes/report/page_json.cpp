// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/report/page_json.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace fiberloom::report {

double brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

Json wave_json(const std::vector<double>& wave) {
  const std::size_t n = wave.size();
  const double step = n < 2 ? 1.0 : (wave[n - 1] - wave[0]) / static_cast<double>(n - 1);
  for (std::size_t j = 0; j < n; ++j) {
    if (std::abs(wave[j] - wave[0] - step * static_cast<double>(j)) > 1e-4 * std::abs(step)) {
      return wave;
    }
  }
  return {{"first", wave[0]}, {"step", step}};
}

std::string data_html(const std::string& id, const std::string& packed) {
  return "<script type=\"text/plain\" id=\"" + id + "\">" + packed + "</script>\n";
}

}  // namespace fiberloom::report
