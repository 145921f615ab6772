// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/view_page.hpp"

#include <algorithm>
#include <cmath>

#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"
#include "tomoloom/recipes/page_texts.hpp"

namespace tomoloom {

void Histogram::add(std::span<const float> values) {
  const double scale = high > low ? kBars / (high - low) : 0;
  for (const float each : values) {
    const auto value = static_cast<double>(each);
    if (!std::isfinite(value)) {
      ++no_number;
      continue;
    }
    ++count;
    sum += value;
    squares += value * value;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    if (value < low || value > high) {
      ++outside;
    } else {
      ++bars[std::min(kBars - 1, static_cast<std::size_t>((value - low) * scale))];
    }
  }
}

Json Histogram::json() const {
  const auto n = static_cast<double>(std::max<std::size_t>(count, 1));
  const double mean = sum / n;
  return {{"low", low},
          {"high", high},
          {"bars", bars},
          {"outside", outside},
          {"count", count},
          {"no_number", no_number},
          {"least", count > 0 ? least : 0},
          {"greatest", count > 0 ? greatest : 0},
          {"mean", mean},
          {"sigma", std::sqrt(std::max(0.0, squares / n - mean * mean))}};
}

std::string page_of(const Json& data, const std::string& title, unsigned renew_s) {
  const std::string json = page::escape_script(data.dump(-1, JsonText::kAscii));
  const std::string css = std::string(page::common_css()) + std::string(texts::view_css());
  const std::string js = std::string(page::common_js()) + std::string(texts::view_js());
  const std::string name = page::escape_html(title);
  std::string renew;
  if (renew_s > 0) {
    renew = "<meta http-equiv=\"refresh\" content=\"" + std::to_string(renew_s) + "\">";
  }
  return page::fill(texts::view_html(),
                    {{"title", name}, {"renew", renew}, {"css", css}, {"js", js}, {"data", json}});
}

}  // namespace tomoloom
