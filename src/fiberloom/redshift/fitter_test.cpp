// SPDX-License-Identifier: BSD-3-Clause
// chi2 and coefficients against a dense least-squares fit by Householder reflections, which never
// forms normal equations; every instruction set against the reference.
#include "fiberloom/redshift/fitter.hpp"

#include <gtest/gtest.h>

#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

using test::Target;

struct DenseFit {
  double chi2 = 0;
  std::vector<double> c;
};

/// min |sqrt(w) (f - B c)|^2 by QR.
DenseFit dense_fit(Array2D<double> a, std::vector<double> f) {
  const std::size_t rows = a.rows(), n = a.cols();
  for (std::size_t k = 0; k < n; ++k) {
    double norm = 0;
    for (std::size_t r = k; r < rows; ++r) norm += a(r, k) * a(r, k);
    norm = std::copysign(std::sqrt(norm), a(k, k));
    std::vector<double> v(rows, 0.0);
    for (std::size_t r = k; r < rows; ++r) v[r] = a(r, k);
    v[k] += norm;
    double vv = 0;
    for (const double x : v) vv += x * x;
    const auto reflect = [&](auto&& get) {
      double dot = 0;
      for (std::size_t r = k; r < rows; ++r) dot += v[r] * get(r);
      for (std::size_t r = k; r < rows; ++r) get(r) -= 2 * dot / vv * v[r];
    };
    for (std::size_t c = k; c < n; ++c) {
      reflect([&](std::size_t r) -> double& { return a(r, c); });
    }
    reflect([&](std::size_t r) -> double& { return f[r]; });
  }
  DenseFit out;
  out.c.assign(n, 0.0);
  for (std::size_t k = n; k-- > 0;) {
    out.c[k] = f[k];
    for (std::size_t j = k + 1; j < n; ++j) out.c[k] -= a(k, j) * out.c[j];
    out.c[k] /= a(k, k);
  }
  for (std::size_t r = n; r < rows; ++r) out.chi2 += f[r] * f[r];
  return out;
}

/// sqrt(w) R T and sqrt(w) f of all cameras from the definitions.
DenseFit dense_fit(const Template& t, const Target& target, double z) {
  std::size_t rows = 0, row = 0;
  for (const test::Spectrum& s : target.spectra) rows += s.wave.size();
  Array2D<double> a(rows, t.nbasis(), 0.0);
  std::vector<double> f(rows);
  for (const test::Spectrum& s : target.spectra) {
    const std::size_t n = s.wave.size();
    const std::vector<double> edges = bin_edges(s.wave);
    for (std::size_t i = 0; i < n; ++i, ++row) {
      const double root = std::sqrt(s.ivar[i]);
      f[row] = root * s.flux[i];
      for (std::size_t j = i < 3 ? 0 : i - 3; j < std::min(n, i + 4); ++j) {
        const double r = test::resolution_at(s, static_cast<long>(i), static_cast<long>(j));
        for (std::size_t k = 0; k < t.nbasis(); ++k) {
          a(row, k) += root * r * test::mean_over(t, k, z, edges[j], edges[j + 1]);
        }
      }
    }
  }
  return dense_fit(a, f);
}

Target noisy_target(const Template& t, std::uint64_t seed) {
  std::vector<double> c{2, 1, -0.5, 0.3, 0.2, 0.1, -0.1, 0.2, 0.3, 0.1, 0.2, 0.1};
  c.resize(t.nbasis());
  Target target = test::make_target(t, c, 0.05, 9, seed);
  for (std::size_t i = 40; i < 90; ++i) target.spectra[0].ivar[i] = 0;  // more than whole tiles
  target.spectra[1].ivar[17] = 0;
  return target;
}

/// No pixel lost but those without ivar, so that the dense fit has the same ones.
constexpr PrepareOptions kAllPixels{.least_row_sum = 0, .negative_nsig = 0};

PackFit fit(const TargetSet& set, const Template& t, std::span<const double> z,
            const ScanKernels& kernels, const FitOptions& options = {}) {
  const Fitter fitter(set, t, kernels, options);
  std::vector<double> pack(fitter.sampler().pack_size());
  PackFit out;
  fitter.fit(set.targets[0], z, pack, out);
  return out;
}

TEST(Fitter, IsTheDenseLeastSquaresFit) {
  for (const std::size_t nbasis : {1, 2, 3, 4, 5, 7, 10, 12}) {
    const Template t = test::line_template(nbasis);
    const Target target = noisy_target(t, 3);
    const TargetSet set = test::prepared({&target, 1}, kAllPixels);
    const std::vector<double> z{0.05, 0.0501, 0.06, 0.1};
    const PackFit found = fit(set, t, z, scan_kernels(active_isa()));
    for (std::size_t i = 0; i < z.size(); ++i) {
      const DenseFit expected = dense_fit(t, target, z[i]);
      EXPECT_NEAR(found.chi2[i], expected.chi2, 1e-9 * set.targets[0].weight_flux2) << nbasis;
      for (std::size_t a = 0; a < nbasis; ++a) {
        EXPECT_NEAR(found.coefficient(a, i), expected.c[a], 1e-8) << nbasis << " " << a;
      }
    }
    EXPECT_EQ(found.chi2[7], found.chi2[3]);  // the pack is filled up with the last redshift
  }
}

TEST(Fitter, ModelHasTheChi2OfTheFit) {
  const Template t = test::line_template(4);
  const Target target = noisy_target(t, 5);
  const TargetSet set = test::prepared({&target, 1});
  const double z = 0.0503;
  const Fitter fitter(set, t, scan_kernels(active_isa()));
  const PackFit found = fit(set, t, {&z, 1}, scan_kernels(active_isa()));
  std::vector<double> c;
  for (std::size_t a = 0; a < 4; ++a) c.push_back(found.coefficient(a, 0));
  double chi2 = 0;
  for (const Block& b : set.targets[0].blocks) {
    const std::vector<double> model = fitter.model(b, z, c);
    for (std::size_t i = 0; i < b.pixels; ++i) {
      chi2 += b.weight[i] * (b.flux[i] - model[i]) * (b.flux[i] - model[i]);
    }
  }
  EXPECT_NEAR(found.chi2[0], chi2, 1e-10 * set.targets[0].weight_flux2);
}

TEST(Fitter, EveryInstructionSetAgreesWithTheReference) {
  for (const std::size_t nbasis : {3, 6, 10}) {
    const Template t = test::line_template(nbasis);
    const Target target = noisy_target(t, 8);
    const TargetSet set = test::prepared({&target, 1});
    const std::vector<double> z{0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07};
    const PackFit expected = fit(set, t, z, scan_kernels_reference());
    for (const Isa isa : available_isas()) {
      const PackFit found = fit(set, t, z, scan_kernels(isa));
      for (std::size_t i = 0; i < kLanes; ++i) {
        EXPECT_NEAR(found.chi2[i], expected.chi2[i], 1e-11 * set.targets[0].weight_flux2)
            << isa_name(isa) << " " << nbasis;
      }
    }
  }
}

TEST(Fitter, VectorsThatSayNothingNewGetNothing) {
  Template t = test::line_template(4);
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    t.flux(2, k) = 3 * t.flux(1, k);  // again
    t.flux(3, k) = 0;                 // nothing
  }
  Template two = test::line_template(2);
  two.flux = Array2D<double>(2, t.wave.size());
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    for (std::size_t a = 0; a < 2; ++a) two.flux(a, k) = t.flux(a, k);
  }
  const Target target = noisy_target(two, 8);
  const TargetSet set = test::prepared({&target, 1});
  const double z = 0.05;
  const PackFit found = fit(set, t, {&z, 1}, scan_kernels(active_isa()));
  const PackFit expected = fit(set, two, {&z, 1}, scan_kernels(active_isa()));
  EXPECT_NEAR(found.chi2[0], expected.chi2[0], 1e-9 * set.targets[0].weight_flux2);
  EXPECT_EQ(found.coefficient(2, 0), 0);
  EXPECT_EQ(found.coefficient(3, 0), 0);
}

TEST(Fitter, NonNegativeFitsMinimiseChi2AndThePeersDoNot) {
  Template t = test::line_template(5);
  t.method = Method::kNmf;
  for (std::size_t k = 0; k < t.wave.size(); ++k) t.flux(4, k) = 0.9 * t.flux(0, k) + t.flux(3, k);
  const std::vector<double> c{2, 1, -0.5, 0.3, -0.4};
  const Target target = test::make_target(t, c, 0.05, 9, 1);
  const TargetSet set = test::prepared({&target, 1});
  const double z = 0.05;
  const PackFit best = fit(set, t, {&z, 1}, scan_kernels(active_isa()));
  const PackFit peer = fit(set, t, {&z, 1}, scan_kernels(active_isa()),
                           {.constrained = Constrained::kNormalEquations});
  EXPECT_LT(best.chi2[0], peer.chi2[0] - 1e-3);
  // no step that is allowed lowers chi2: it is convex, so one along each axis is enough
  const Fitter fitter(set, t, scan_kernels(active_isa()));
  const auto chi2 = [&](std::span<const double> coefficients) {
    double sum = 0;
    for (const Block& b : set.targets[0].blocks) {
      const std::vector<double> model = fitter.model(b, z, coefficients);
      for (std::size_t i = 0; i < b.pixels; ++i) {
        sum += b.weight[i] * (b.flux[i] - model[i]) * (b.flux[i] - model[i]);
      }
    }
    return sum;
  };
  std::vector<double> at(5);
  for (std::size_t a = 0; a < 5; ++a) {
    at[a] = best.coefficient(a, 0);
    EXPECT_GE(at[a], 0);
    EXPECT_GE(peer.coefficient(a, 0), 0);
  }
  EXPECT_NEAR(chi2(at), best.chi2[0], 1e-9 * set.targets[0].weight_flux2);
  for (std::size_t a = 0; a < 5; ++a) {
    for (const double step : {-1e-3, 1e-3}) {
      std::vector<double> other = at;
      other[a] = std::max(0.0, at[a] + step);
      EXPECT_GE(chi2(other), best.chi2[0] - 1e-7) << a << " " << step;
    }
  }
}

TEST(Fitter, PenalisesNegativeOxygenInGalaxiesAlone) {
  Template t = test::line_template(2);
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    t.flux(1, k) = std::exp(-0.5 * std::pow((t.wave[k] - 3728.5) / 2, 2));
  }
  double z = 0.1;
  const auto penalty = [&](double line, const FitOptions& options) {
    const Target target = test::make_target(t, std::vector<double>{5, line}, z, 1e4, 1);
    const TargetSet set = test::prepared({&target, 1}, {.negative_nsig = 0});
    return fit(set, t, {&z, 1}, scan_kernels(active_isa()), options).penalty[0];
  };
  double sum0 = 0, sum1 = 0;
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    if (t.wave[k] < 3724 || t.wave[k] > 3733) continue;
    sum0 += t.flux(0, k), sum1 += t.flux(1, k);
  }
  EXPECT_EQ(penalty(3, {}), 0);
  EXPECT_NEAR(penalty(-20, {}), 20 * sum1 - 5 * sum0, 1);
  EXPECT_EQ(penalty(-20, {.oii_penalty = OiiPenalty::kNo}), 0);
  EXPECT_EQ(penalty(-20, {.oii_penalty = OiiPenalty::kYes}), penalty(-20, {}));
  t.spectype = "QSO";
  EXPECT_EQ(penalty(-20, {}), 0);
}

TEST(Fitter, DoesNotPenaliseOxygenBluewardsOfAllCameras) {
  Template t = test::line_template(2);
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    t.flux(1, k) =
        std::exp(-0.5 * std::pow((t.wave[k] - 3728.5) / 2, 2)) + 1e-4 * (t.wave[k] - 3900);
  }
  const auto penalty = [&](double z, OiiPenalty oii) {
    const Target target = test::make_target(t, std::vector<double>{5, -20}, z, 1e4, 1);
    const TargetSet set = test::prepared({&target, 1}, {.negative_nsig = 0});
    return fit(set, t, {&z, 1}, scan_kernels(active_isa()), {.oii_penalty = oii}).penalty[0];
  };
  // at 3803 Angstrom; spectra have 4000 to 4553
  EXPECT_GT(penalty(0.02, OiiPenalty::kYes), 10);
  EXPECT_EQ(penalty(0.02, OiiPenalty::kUnlessBluer), 0);
  for (const double z : {0.1, 0.3}) {
    EXPECT_GT(penalty(z, OiiPenalty::kYes), 10);
    EXPECT_EQ(penalty(z, OiiPenalty::kUnlessBluer), penalty(z, OiiPenalty::kYes));
  }
}

}  // namespace
}  // namespace fiberloom::redshift
