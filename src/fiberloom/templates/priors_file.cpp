// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/templates/priors_file.hpp"

#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::templates {

Priors parse_priors(const fits::FitsReader& file) {
  const fits::Hdu& hdu = file.require("PRIORS");
  const RawTable table = file.read_table(hdu);
  const auto missing = [&](const char* name) {
    return file.error(Status::kMissingKeyword, hdu, std::string("no column ") + name);
  };
  const auto ids = table.integers("TARGETID", -1);
  const auto z = table.column("Z"), sigma = table.column("SIGMA");
  const auto function = table.text_column("FUNCTION");
  if (!ids) throw missing("TARGETID");
  if (!z) throw missing("Z");
  if (!sigma) throw missing("SIGMA");
  if (!function) throw missing("FUNCTION");
  const bool whole = fits::find_column(table, "TARGETID")->type != 'D';
  for (const std::int64_t id : *ids) {
    if (whole || std::abs(id) < std::int64_t{1} << 53) continue;
    throw file.error(Status::kCorrupt, hdu,
                     print("TARGETID has floating-point numbers, which lost digits of %lld: "
                           "expected integers",
                           static_cast<long long>(id)));
  }
  Priors out;
  if (ids->empty()) return out;
  using Shape = redshift::Prior::Shape;
  const std::string& name = function->front();
  const Shape shape = name == "gaussian"     ? Shape::kGaussian
                      : name == "lorentzien" ? Shape::kLorentzian
                      : name == "tophat"     ? Shape::kTopHat
                                             : Shape::kNone;
  if (shape == Shape::kNone) {
    throw file.error(Status::kCorrupt, hdu,
                     "FUNCTION is '" + name + "', expected gaussian, lorentzien or tophat");
  }
  for (std::size_t r = 0; r < ids->size(); ++r) {
    if (!std::isfinite((*z)[r]) || !((*sigma)[r] > 0) || !std::isfinite((*sigma)[r])) {
      throw file.error(Status::kCorrupt, hdu,
                       print("row %zu: Z %g, SIGMA %g, expected numbers, SIGMA above 0", r, (*z)[r],
                             (*sigma)[r]));
    }
    out[(*ids)[r]] = {shape, (*z)[r], (*sigma)[r]};
  }
  return out;
}

Priors read_priors(const std::string& path) { return parse_priors(fits::FitsReader::open(path)); }

}  // namespace fiberloom::templates
