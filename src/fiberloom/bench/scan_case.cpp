// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/bench/scan_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/sky_continuum.hpp"
#include "loom/base/print.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

using redshift::Curve;
using redshift::Template;

/// Vectors of waves and lines, from 450 to 11,000 Angstrom at rest.
Template make_template(const std::string& type, const std::string& subtype, std::size_t nbasis,
                       double lowest, double highest, int redshifts, std::uint64_t seed) {
  Template t;
  t.spectype = type;
  t.subtype = subtype;
  t.igm = type == "QSO" ? redshift::Igm::kCalura12 : redshift::Igm::kNone;
  constexpr std::size_t kPoints = 12000;
  const double step = std::log(11000.0 / 450.0) / (kPoints - 1);
  for (std::size_t k = 0; k < kPoints; ++k) {
    t.wave.push_back(450 * std::exp(step * static_cast<double>(k)));
  }
  t.flux = Array2D<double>(nbasis, kPoints);
  const CounterRng rng(seed, 3);
  for (std::size_t a = 0; a < nbasis; ++a) {
    const auto u = rng.uniform2(a);
    for (std::size_t k = 0; k < kPoints; ++k) {
      const double x = static_cast<double>(k) * step;
      t.flux(a, k) = (a == 0 ? 1.5 : 0.0) + std::sin(40 * (1 + u[0]) * x + 6 * u[1]);
    }
    for (std::size_t line = 0; line < 40; ++line) {
      const auto where = rng.uniform2(1000 * (a + 1) + line);
      const auto middle = static_cast<std::size_t>(where[0] * (kPoints - 20)) + 10;
      for (std::size_t k = 0; k < 20; ++k) {
        const double d = (static_cast<double>(k) - 10) / 3;
        t.flux(a, middle - 10 + k) += 2 * where[1] * std::exp(-0.5 * d * d);
      }
    }
  }
  const int count = std::max(redshifts, 2);
  for (int i = 0; i < count; ++i) {
    t.redshifts.push_back(lowest + (highest - lowest) * i / (count - 1));
  }
  return t;
}

redshift::TemplateSet make_templates(int redshifts) {
  const auto share = [&](double part) { return static_cast<int>(std::lround(part * redshifts)); };
  redshift::TemplateSet set;
  set.push_back(make_template("GALAXY", "", 5, -0.005, 1.7, share(0.352), 1));
  set.push_back(make_template("QSO", "HIZ", 10, 1.4, 6, share(0.245), 2));
  set.push_back(make_template("QSO", "LOZ", 5, 0.05, 1.6, share(0.205), 3));
  for (std::uint64_t k = 0; k < 8; ++k) {
    set.push_back(make_template("STAR", print("%d", static_cast<int>(k)), 5, -0.002, 0.002,
                                share(0.0247), 4 + k));
  }
  return set;
}

struct Camera {
  std::vector<double> wave, flux, ivar, resolution;
};

constexpr std::size_t kDiagonals = 11;
constexpr double kSkyLeft = 0.1;  ///< of the sky's continuum, noise of a pixel being 1

Camera make_camera(double first, int pixels, const CounterRng& rng, std::uint64_t number) {
  Camera c;
  const auto n = static_cast<std::size_t>(pixels);
  c.resolution.assign(kDiagonals * n, 0.0);
  const double sigma = 1.3 + 0.3 * rng.uniform(number << 32U);
  double sum = 0, kernel[kDiagonals];
  for (std::size_t k = 0; k < kDiagonals; ++k) {
    const double d = static_cast<double>(k) - 5;
    sum += kernel[k] = std::exp(-0.5 * d * d / sigma / sigma);
  }
  for (std::size_t i = 0; i < n; ++i) {
    c.wave.push_back(first + 0.8 * static_cast<double>(i));
    c.flux.push_back(2 + std::sin(c.wave[i] / (50 + static_cast<double>(number % 97))) +
                     rng.normal((number << 32U) + 10 + i));
    c.ivar.push_back(i % 211 == number % 211 ? 0.0 : 1.0);
    for (std::size_t k = 0; k < kDiagonals; ++k) c.resolution[k * n + i] = kernel[k] / sum;
  }
  return c;
}

}  // namespace

std::unique_ptr<ScanCase> make_scan_case(const ScanCaseOptions& o) {
  constexpr double kFirst[] = {3600, 5760, 7520};
  constexpr double kShare[] = {2751.0 / 7958, 2326.0 / 7958, 2881.0 / 7958};
  const CounterRng rng(9, 9);
  std::vector<std::vector<Camera>> cameras;
  std::vector<redshift::TargetView> views;
  for (int t = 0; t < o.targets; ++t) {
    cameras.emplace_back();
    for (std::size_t c = 0; c < 3; ++c) {
      const int pixels = std::max(static_cast<int>(std::lround(kShare[c] * o.pixels)), 20);
      cameras.back().push_back(
          make_camera(kFirst[c], pixels, rng, 3 * static_cast<std::uint64_t>(t) + c));
    }
  }
  for (std::size_t t = 0; t < cameras.size(); ++t) {
    redshift::TargetView view{static_cast<std::int64_t>(t), {}};
    for (const Camera& c : cameras[t]) {
      view.spectra.push_back(
          {c.wave, std::span(c.flux), std::span(c.ivar), {}, std::span(c.resolution), kDiagonals});
    }
    views.push_back(std::move(view));
  }
  SerialExecutor serial;
  auto out = std::make_unique<ScanCase>();
  out->templates = make_templates(o.redshifts);
  out->set = redshift::prepare(views, {}, serial);
  std::vector<redshift::SkyWidth> sky;
  for (const redshift::WaveGrid& grid : out->set.grids) sky.push_back({grid.wave, kSkyLeft});
  redshift::add_sky_continuum(out->set, sky);
  out->options.fit.evidence = redshift::WithEvidence::kYes;
  out->options.keep_coefficients = true;
  return out;
}

ScanAgreement compare_scans(const redshift::TargetSet& set, const std::vector<Curve>& cpu,
                            const std::vector<Curve>& card) {
  constexpr double kMost = 1e-6;  // of sums in floats
  ScanAgreement out;
  bool same_place = cpu.size() == card.size(), finite = true;
  for (std::size_t t = 0; t < set.targets.size() && same_place; ++t) {
    for (std::size_t k = 0; k < cpu.size(); ++k) {
      const std::size_t n = cpu[k].z.size();
      if (n == 0) continue;
      const double *a = cpu[k].chi2.row(t), *b = card[k].chi2.row(t);
      for (std::size_t i = 0; i < n; ++i) {
        finite = finite && std::isfinite(b[i]);
        out.difference =
            std::max(out.difference, std::abs(b[i] - a[i]) / set.targets[t].weight_flux2);
      }
      same_place = same_place && std::min_element(a, a + n) - a == std::min_element(b, b + n) - b;
    }
  }
  out.passed = same_place && finite && out.difference <= kMost;
  out.detail = print("chi2 %.2g of that of no model (at most %g)%s%s", out.difference, kMost,
                     same_place ? "" : ", a least chi2 elsewhere",
                     finite ? "" : ", a chi2 that is no number");
  return out;
}

bool same_scan(const std::vector<Curve>& a, const std::vector<Curve>& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           std::memcmp(x.data(), y.data(), x.size() * sizeof(*x.data())) == 0;
  };
  for (std::size_t k = 0; k < a.size() && k < b.size(); ++k) {
    if (!same(a[k].chi2, b[k].chi2) || !same(a[k].penalty, b[k].penalty) ||
        !same(a[k].evidence, b[k].evidence) || !same(a[k].coefficients, b[k].coefficients)) {
      return false;
    }
  }
  return a.size() == b.size();
}

}  // namespace fiberloom
