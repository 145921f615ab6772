// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/details_table.hpp"

#include <array>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/hdf5/hdf5.hpp"

namespace fiberloom {
namespace {

struct DetailsNumber {
  const char* name;
  bool integer;
  std::vector<double> values{};
};

}  // namespace

bool can_read_details() noexcept { return hdf5::available(); }

Table details_table(const std::string& path, std::span<const std::int64_t> ids) {
  const hdf5::Reader file(path);
  std::vector<std::int64_t> targets;
  std::array<DetailsNumber, 6> numbers{{{"z", false},
                                        {"zerr", false},
                                        {"zwarn", true},
                                        {"chi2", false},
                                        {"deltachi2", false},
                                        {"npixels", true}}};
  std::vector<std::int64_t> places;
  std::array<std::vector<std::string>, 2> texts;
  constexpr std::array<const char*, 2> kTexts{"spectype", "subtype"};
  for (const std::int64_t id : ids) {
    const std::string name = "zfit/" + std::to_string(id) + "/zfit";
    if (!file.has(name)) continue;
    const std::size_t n = file.read_field(name, "z").size();
    for (DetailsNumber& number : numbers) {
      std::vector<double> values = file.read_field(name, number.name);
      values.resize(n);
      number.values.insert(number.values.end(), values.begin(), values.end());
    }
    for (std::size_t k = 0; k < texts.size(); ++k) {
      std::vector<std::string> values = file.read_text_field(name, kTexts[k]);
      values.resize(n);
      texts[k].insert(texts[k].end(), values.begin(), values.end());
    }
    for (std::size_t i = 0; i < n; ++i) {
      targets.push_back(id);
      places.push_back(static_cast<std::int64_t>(i));
    }
  }
  Table out;
  out.add("TARGETID", std::span<const std::int64_t>(targets));
  out.add("ZNUM", std::span<const std::int64_t>(places));
  for (const DetailsNumber& number : numbers) {
    if (!number.integer) {
      out.add(loom::in_capitals(number.name), std::span<const double>(number.values));
      continue;
    }
    std::vector<std::int64_t> values;
    for (const double value : number.values) values.push_back(static_cast<std::int64_t>(value));
    out.add(loom::in_capitals(number.name), std::span<const std::int64_t>(values));
  }
  for (std::size_t k = 0; k < texts.size(); ++k) {
    out.add(loom::in_capitals(kTexts[k]), std::span<const std::string>(texts[k]), 20);
  }
  return out;
}

}  // namespace fiberloom
