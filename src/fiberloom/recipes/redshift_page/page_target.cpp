// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift_page/page_target.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fiberloom/recipes/redshift_page/quantise.hpp"
#include "fiberloom/redshift/template.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::redshift_page {
namespace {

double number_at(const Table& table, const char* name, std::size_t row, double otherwise = 0) {
  const Column* const column = table.find(name);
  if (column == nullptr) return otherwise;
  const double value = number_of(*column, row);
  return std::isfinite(value) ? value : otherwise;
}

std::string text_at(const Table& table, const char* name, std::size_t row) {
  const Column* const column = table.find(name);
  if (column == nullptr || column->cell != Cell::kText) return {};
  const auto first = column->data.begin() + static_cast<std::ptrdiff_t>(row * column->width);
  std::string out(first, first + static_cast<std::ptrdiff_t>(column->width));
  out.erase(std::min(out.find('\0'), out.size()));
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

Json finite_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json fit_json(const ShownFit& shown) {
  const redshift::Candidate& c = shown.fit;
  Json out{{"type", c.spectype},
           {"subtype", c.subtype},
           {"z", finite_json(c.z)},
           {"zerr", finite_json(c.zerr)},
           {"chi2", finite_json(c.chi2)},
           {"delta", finite_json(c.delta_chi2)},
           {"zwarn", c.zwarn},
           {"p", nullptr}};
  if (shown.probability) out["p"] = finite_json(*shown.probability);
  return out;
}

/// Appends the arrays of a camera; says what is needed to read them.
Json pack_camera(const CameraSpectrum& camera, Bytes& out) {
  const SigmaCode code = sigma_code(camera.sigma);
  const std::size_t at = out.size();
  encode_sigma(camera.sigma, code, out);
  const std::vector<double> sigma = decode_sigma(std::span(out).subspan(at), code);
  const double step = flux_step(camera.flux, sigma);
  encode_flux(camera.flux, sigma, step, out);
  Json models = Json::array();
  for (const std::vector<double>& model : camera.models) {
    if (model.empty()) {
      models.push_back(nullptr);
      continue;
    }
    const double size = model_step(model, sigma);
    encode_model(model, size, out);
    models.push_back(size);
  }
  return {{"grid", camera.grid},
          {"sigma", {code.low, code.step}},
          {"flux", step},
          {"models", std::move(models)}};
}

}  // namespace

LegendreTerms legendre_terms(const Table& table) {
  const Column* const column = table.find("LEGCOEFF");
  if (column == nullptr || column->cell == Cell::kText) return {};
  const bool each = column->shape.size() == 2;
  const std::size_t terms = each ? column->shape[0] : column->width;
  constexpr std::size_t kMostTerms = 100;  // beyond it is no series of ours or redrock's
  if (terms > kMostTerms) return {};
  return {terms, each ? PerCamera::kYes : PerCamera::kNo};
}

ShownFit fit_of_row(const Table& table, std::size_t row) {
  ShownFit out;
  redshift::Candidate& c = out.fit;
  c.z = number_at(table, "Z", row);
  c.zerr = number_at(table, "ZERR", row);
  c.chi2 = number_at(table, "CHI2", row);
  c.delta_chi2 = number_at(table, "DELTACHI2", row);
  c.zwarn =
      static_cast<std::uint32_t>(std::clamp(number_at(table, "ZWARN", row), 0.0, 4294967295.0));
  c.spectype = text_at(table, "SPECTYPE", row);
  c.subtype = text_at(table, "SUBTYPE", row);
  c.method = text_at(table, "FITMETHOD", row);
  if (const Column* const coefficients = table.find("COEFF")) {
    const double all = number_at(table, "NCOEFF", row, static_cast<double>(coefficients->width));
    const auto n =
        static_cast<std::size_t>(std::clamp(all, 0.0, static_cast<double>(coefficients->width)));
    for (std::size_t i = 0; i < n; ++i) c.coefficients.push_back(number_of(*coefficients, row, i));
  }
  if (const Column* const legendre = table.find("LEGCOEFF")) {
    for (std::size_t i = 0; i < legendre->width; ++i) {
      const double value = number_of(*legendre, row, i);
      c.legendre.push_back(std::isfinite(value) ? value : 0);
    }
  }
  c.template_subtype = text_at(table, "PCA_SUBTYPE", row);
  if (table.find("PROBABILITY") != nullptr) {
    out.probability = number_at(table, "PROBABILITY", row, NAN);
  }
  return out;
}

bool same_fit(const redshift::Candidate& a, const redshift::Candidate& b) {
  constexpr double kSameKms = 100;
  return a.spectype == b.spectype && std::abs(redshift::velocity_kms(a.z, b.z)) < kSameKms;
}

std::vector<ShownFit> ordered_fits(ShownFit best, std::vector<ShownFit> others) {
  const auto same = std::find_if(others.begin(), others.end(),
                                 [&](const ShownFit& o) { return same_fit(o.fit, best.fit); });
  if (same != others.end()) others.erase(same);
  others.insert(others.begin(), std::move(best));
  return others;
}

std::vector<ClassCurve> joined_curves(std::vector<ClassCurve> curves) {
  std::vector<ClassCurve> out;
  const auto type_of = [](const ClassCurve& c) { return c.name.substr(0, c.name.find(":::")); };
  for (ClassCurve& curve : curves) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const ClassCurve& o) {
      return o.grid == curve.grid && type_of(o) == type_of(curve);
    });
    if (same == out.end()) {
      out.push_back(std::move(curve));
      continue;
    }
    same->name = type_of(*same);
    for (std::size_t i = 0; i < same->chi2.size(); ++i) {
      same->chi2[i] = std::fmin(same->chi2[i], curve.chi2[i]);
    }
  }
  return out;
}

std::vector<std::uint8_t> target_bytes(const PageTarget& target, const std::string& facts_json) {
  Bytes arrays;
  Json cameras = Json::array(), fits = Json::array(), curves = Json::array();
  for (const CameraSpectrum& camera : target.cameras)
    cameras.push_back(pack_camera(camera, arrays));
  for (const ShownFit& fit : target.fits) fits.push_back(fit_json(fit));
  double least = redshift::kHugeChi2;
  for (const ClassCurve& curve : target.curves) {
    for (const double v : curve.chi2) least = std::fmin(least, v);
  }
  for (const ClassCurve& curve : target.curves) {
    encode_chi2(curve.chi2, least, arrays);
    curves.push_back({{"name", curve.name}, {"grid", curve.grid}});
  }
  const Json head{{"cameras", std::move(cameras)},
                  {"fits", std::move(fits)},
                  {"least", finite_json(least)},
                  {"curves", std::move(curves)}};
  std::string text = head.dump(-1, JsonText::kAscii);
  text.pop_back();
  text.append(",\"facts\":").append(facts_json).append("}");
  Bytes out(4 + text.size() + arrays.size());
  for (std::size_t k = 0; k < 4; ++k) {
    out[k] = static_cast<std::uint8_t>(text.size() >> (8 * k) & 255U);
  }
  std::copy(text.begin(), text.end(), out.begin() + 4);
  std::copy(arrays.begin(), arrays.end(), out.end() - static_cast<std::ptrdiff_t>(arrays.size()));
  return out;
}

}  // namespace fiberloom::redshift_page
