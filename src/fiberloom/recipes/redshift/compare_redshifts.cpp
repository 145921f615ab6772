// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/compare_redshifts.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "fiberloom/formats/tables.hpp"
#include "fiberloom/recipes/redshift/redshift_inputs.hpp"
#include "fiberloom/redshift/probability.hpp"
#include "fiberloom/spectrum/whole_ids.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom {
namespace {

const fits::Hdu* table_of(const fits::FitsReader& file) {
  const fits::Hdu* hdu = file.find("REDSHIFTS");
  return hdu != nullptr ? hdu : file.find("TRUTH");
}

}  // namespace

bool has_redshifts(const std::string& path) {
  return table_of(fits::FitsReader::open(path, Verify::kNo)) != nullptr;
}

RedshiftAnswers read_answers(const std::string& path, Verify verify) {
  const fits::FitsReader file = fits::FitsReader::open(path, verify);
  const fits::Hdu* hdu = table_of(file);
  if (hdu == nullptr) {
    throw Error(Status::kMissingHdu, path + ": neither HDU REDSHIFTS nor TRUTH");
  }
  const RawTable table = file.read_table(*hdu);
  if (const auto digits = lost_digits(to_table(table), "TARGETID")) {
    throw file.error(Status::kCorrupt, *hdu, lost_digits_text(*digits));
  }
  const auto id = table.integers("TARGETID", kNoTarget);
  const auto spectype = table.text_column("SPECTYPE");
  const auto z = table.column("Z");
  if (!id || !spectype || !z) {
    throw file.error(Status::kMissingKeyword, *hdu, "expected columns TARGETID, SPECTYPE and Z");
  }
  RedshiftAnswers out{path, file.find("REDSHIFTS") == nullptr, *id, {}, *spectype, *z, {}};
  out.zwarn = table.integers("ZWARN", 0).value_or(std::vector<std::int64_t>(table.rows, 0));
  out.zerr = table.column("ZERR").value_or(std::vector<double>{});
  return out;
}

double RedshiftComparison::difference() const noexcept {
  return sure == 0 ? 0.0 : static_cast<double>(sure - sure_agree) / static_cast<double>(sure);
}

RedshiftComparison compare_redshifts(const RedshiftAnswers& a, const RedshiftAnswers& b,
                                     std::size_t most_listed) {
  std::unordered_map<std::int64_t, std::size_t> of_a, of_b;
  for (std::size_t i = 0; i < a.id.size(); ++i) of_a.emplace(a.id[i], i);
  for (std::size_t i = 0; i < b.id.size(); ++i) of_b.emplace(b.id[i], i);
  RedshiftComparison c;
  c.repeated_a = a.id.size() - of_a.size();
  c.repeated_b = b.id.size() - of_b.size();
  for (const auto& [id, row] : of_b) c.only_b += !of_a.contains(id);
  const redshift::ProbabilityOptions windows;
  for (std::size_t i = 0; i < a.id.size(); ++i) {
    if (of_a.at(a.id[i]) != i) continue;
    const auto found = of_b.find(a.id[i]);
    if (found == of_b.end()) {
      ++c.only_a;
      continue;
    }
    const std::size_t j = found->second;
    ++c.both;
    const bool same = a.spectype[i] == b.spectype[j];
    const double kms = std::abs(redshift::velocity_kms(a.z[i], b.z[j]));
    c.same_type += same;
    for (std::size_t t = 0; t < c.nearer.size(); ++t) {
      c.nearer[t] += same && kms < RedshiftComparison::kThresholds[t];
    }
    const bool agree = same && kms < windows.window_of(b.spectype[j]);
    const bool sure = a.zwarn[i] == 0 && b.zwarn[j] == 0;
    c.sure_a += a.zwarn[i] == 0;
    c.sure_b += b.zwarn[j] == 0;
    c.agree += agree;
    c.sure += sure;
    c.sure_agree += sure && agree;
    if (sure && !agree && c.list.size() < most_listed) {
      c.list.push_back({a.id[i], a.spectype[i], b.spectype[j], a.z[i], b.z[j]});
    }
  }
  return c;
}

}  // namespace fiberloom
