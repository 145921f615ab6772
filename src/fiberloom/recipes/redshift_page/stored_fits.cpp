// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift_page/stored_fits.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::redshift_page {

StoredCandidates::StoredCandidates(const Table& table) : table_(table) {
  const auto ids = table.integers("TARGETID", -1);
  for (std::size_t r = 0; ids && r < ids->size(); ++r) rows_[(*ids)[r]].push_back(r);
}

std::vector<ShownFit> StoredCandidates::of(std::int64_t id) const {
  std::vector<ShownFit> out;
  const auto found = rows_.find(id);
  if (found == rows_.end()) return out;
  for (const std::size_t r : found->second) out.push_back(fit_of_row(table_, r));
  return out;
}

StoredDetails::StoredDetails(const std::string& path) : file_(path) {
  const std::vector<std::int64_t> ids = file_.read_integers("targetids");
  for (std::size_t r = 0; r < ids.size(); ++r) rows_.emplace(ids[r], r);
  for (const std::string& type : file_.children("zscan")) {
    scans_.emplace_back(type, file_.read("zscan/" + type + "/redshifts"));
    const std::vector<std::size_t> expected{ids.size(), scans_.back().second.size()};
    if (file_.shape("zscan/" + type + "/zchi2") == expected) continue;
    throw Error(Status::kWrongShape, path + ": zscan/" + type +
                                         print("/zchi2: expected %zu targets x %zu redshifts",
                                               expected[0], expected[1]));
  }
}

std::vector<StoredCurve> StoredDetails::curves(std::int64_t id) const {
  std::vector<StoredCurve> out;
  for (const auto& [type, z] : scans_) {
    StoredCurve curve{type, z, file_.read_row("zscan/" + type + "/zchi2", rows_.at(id))};
    const std::string penalty = "zscan/" + type + "/penalty";
    if (file_.has(penalty) && file_.shape(penalty) == file_.shape("zscan/" + type + "/zchi2")) {
      const std::vector<double> more = file_.read_row(penalty, rows_.at(id));
      for (std::size_t i = 0; i < curve.chi2.size(); ++i) curve.chi2[i] += more[i];
    }
    out.push_back(std::move(curve));
  }
  return out;
}

std::vector<ShownFit> StoredDetails::fits(std::int64_t id) const {
  const std::string name = "zfit/" + std::to_string(id) + "/zfit";
  if (!file_.has(name)) return {};
  const std::vector<double> z = file_.read_field(name, "z");
  const auto column = [&](const char* field) {
    std::vector<double> values = file_.read_field(name, field);
    values.resize(z.size(), 0.0);
    for (double& v : values) v = std::isfinite(v) ? v : 0.0;
    return values;
  };
  const auto words = [&](const char* field) {
    std::vector<std::string> values = file_.read_text_field(name, field);
    values.resize(z.size());
    return values;
  };
  const auto zerr = column("zerr"), chi2 = column("chi2"), delta = column("deltachi2"),
             zwarn = column("zwarn"), znum = column("znum"), used = column("ncoeff");
  const auto type = words("spectype"), subtype = words("subtype"), method = words("fitmethod");
  const auto template_subtype = words("pca_subtype");
  const std::vector<double> legendre = file_.read_field(name, "legcoeff");
  const std::size_t terms = z.empty() ? 0 : legendre.size() / z.size();
  const std::vector<double> all = file_.read_field(name, "coeff");
  const std::size_t width = z.empty() ? 0 : all.size() / z.size();
  std::vector<std::size_t> order(z.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return znum[a] < znum[b]; });
  std::vector<ShownFit> out;
  for (const std::size_t r : order) {
    redshift::Candidate c;
    c.z = z[r];
    c.zerr = zerr[r];
    c.chi2 = chi2[r];
    c.delta_chi2 = delta[r];
    c.zwarn = static_cast<std::uint32_t>(std::clamp(zwarn[r], 0.0, 4294967295.0));
    c.spectype = type[r];
    c.subtype = subtype[r];
    c.method = method[r];
    c.template_subtype = template_subtype[r];
    c.legendre.assign(legendre.begin() + static_cast<std::ptrdiff_t>(r * terms),
                      legendre.begin() + static_cast<std::ptrdiff_t>((r + 1) * terms));
    const double n = used[r] > 0 ? used[r] : static_cast<double>(width);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(r * width);
    c.coefficients.assign(
        first, first + static_cast<std::ptrdiff_t>(std::min(n, static_cast<double>(width))));
    out.push_back({std::move(c), std::nullopt});
  }
  return out;
}

}  // namespace fiberloom::redshift_page
