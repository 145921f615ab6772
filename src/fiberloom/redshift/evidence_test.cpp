// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/evidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/redshift/fitter.hpp"
#include "fiberloom/redshift/test_spectra.hpp"

namespace fiberloom::redshift {
namespace {

/// A template of `nb` vectors with `rows` training spectra around two shapes.
Template trained(std::size_t nb, std::size_t rows) {
  Template t = test::line_template(nb);
  const CounterRng rng(9, 1);
  t.training = Array2D<double>(rows, nb, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    const double bright = std::exp(rng.normal(1000 * i));
    t.training(i, 0) = bright;
    for (std::size_t a = 1; a < nb; ++a) {
      t.training(i, a) = bright * ((i % 2 == 0 ? 1.5 : -0.5) + 0.2 * rng.normal(1000 * i + a));
    }
  }
  return t;
}

TEST(CoefficientShapes, FollowTheTraining) {
  const Template t = trained(3, 200);
  const std::vector<ShapeComponent> shapes = coefficient_shapes(t);
  ASSERT_EQ(shapes.size(), kMostShapes);
  double weight = 0;
  for (const ShapeComponent& s : shapes) {
    weight += s.weight;
    EXPECT_GT(s.mean[0], 0);
  }
  EXPECT_NEAR(weight, 1, 1e-12);
  Template bare = t;
  bare.training = {};
  const std::vector<ShapeComponent> untrained = coefficient_shapes(bare);
  ASSERT_GT(untrained.size(), 1U);
  weight = 0;
  for (std::size_t k = 0; k < untrained.size(); ++k) {
    weight += untrained[k].weight;
    EXPECT_EQ(untrained[k].mean[1], 0);
    EXPECT_GT(untrained[k].precision(1, 1), k == 0 ? 0 : untrained[k - 1].precision(1, 1));
  }
  EXPECT_NEAR(weight, 1, 1e-12);
}

/// log of the integral for one brightness from its definition, with dense algebra: M, y in the
/// layout of the kernels.
double dense(const ShapeComponent& s, const std::vector<double>& normal, std::size_t nb, double a) {
  Array2D<double> m(nb, nb), p(nb, nb);
  std::vector<double> b(nb, 0.0);
  double square = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < nb; ++i) {
    for (std::size_t j = i; j < nb; ++j) m(i, j) = m(j, i) = normal[at++];
  }
  for (std::size_t i = 0; i < nb; ++i) {
    b[i] = normal[at + i];
    for (std::size_t j = 0; j < nb; ++j) {
      p(i, j) = s.precision(i, j) / (a * a);
      m(i, j) += p(i, j);
      b[i] += p(i, j) * a * s.mean[j];
      square += p(i, j) * a * a * s.mean[i] * s.mean[j];
    }
  }
  // Gauss: determinant and solution
  const auto log_det = [nb](Array2D<double> x) {
    double sum = 0;
    for (std::size_t i = 0; i < nb; ++i) {
      sum += std::log(x(i, i));
      for (std::size_t r = i + 1; r < nb; ++r) {
        const double f = x(r, i) / x(i, i);
        for (std::size_t c = i; c < nb; ++c) x(r, c) -= f * x(i, c);
      }
    }
    return sum;
  };
  Array2D<double> x = m;
  std::vector<double> rhs = b;
  for (std::size_t i = 0; i < nb; ++i) {
    for (std::size_t r = i + 1; r < nb; ++r) {
      const double f = x(r, i) / x(i, i);
      for (std::size_t c = i; c < nb; ++c) x(r, c) -= f * x(i, c);
      rhs[r] -= f * rhs[i];
    }
  }
  double gain = 0;
  for (std::size_t i = nb; i-- > 0;) {
    for (std::size_t c = i + 1; c < nb; ++c) rhs[i] -= x(i, c) * rhs[c];
    rhs[i] /= x(i, i);
    gain += rhs[i] * b[i];
  }
  return std::log(s.weight) + 0.5 * (gain - square) - 0.5 * log_det(m) + 0.5 * log_det(p);
}

TEST(Evidence, IsTheIntegralOverCoefficients) {
  for (const std::size_t nb : {1UL, 3UL, 5UL}) {
    const Template t = trained(nb, 120);
    const std::vector<ShapeComponent> shapes = coefficient_shapes(t);
    const EvidenceTable table = evidence_table(shapes);
    const CounterRng rng(4, nb);
    // normal equations of some data, one lane other than the next
    const std::size_t size = static_cast<std::size_t>(normal_size(static_cast<int>(nb)));
    std::vector<double> normal(size * kLanes, 0.0);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double light = std::pow(10.0, static_cast<double>(lane) - 2);
      for (std::size_t i = 0; i < 50; ++i) {
        std::vector<double> v(nb + 1);
        for (std::size_t a = 0; a < nb; ++a) v[a] = (a == 0 ? 1 : 0.3) + rng.normal(100 * i + a);
        v[nb] = light * (v[0] + (nb > 1 ? 1.4 * v[1] : 0)) + rng.normal(100 * i + 90);
        std::size_t at = 0;
        for (std::size_t a = 0; a < nb; ++a) {
          for (std::size_t b = a; b < nb; ++b) normal[kLanes * at++ + lane] += v[a] * v[b];
        }
        for (std::size_t a = 0; a < nb; ++a) normal[kLanes * at++ + lane] += v[a] * v[nb];
      }
    }
    const auto count = static_cast<std::size_t>(table.components * kBrightnesses);
    std::vector<double> parts(3 * kLanes * count), reference(parts.size());
    std::vector<double> found(kLanes);
    for (const Isa isa : available_isas()) {
      scan_kernels(isa).evidence(static_cast<int>(nb), normal.data(), table.components,
                                 table.numbers.data(), parts.data());
      finish_evidence(table, parts.data(), found.data());
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        std::vector<double> mine(size);
        for (std::size_t i = 0; i < size; ++i) mine[i] = normal[kLanes * i + lane];
        double sum = 0, most = -HUGE_VAL;
        std::vector<double> terms;
        for (const ShapeComponent& s : shapes) {
          double power = 0, signal = 0;
          std::size_t at = 0;
          for (std::size_t a = 0; a < nb; ++a) {
            for (std::size_t b = a; b < nb; ++b) {
              power += (a == b ? 1 : 2) * s.mean[a] * s.mean[b] * mine[at++];
            }
          }
          for (std::size_t a = 0; a < nb; ++a) signal += s.mean[a] * mine[at++];
          const double middle = std::max(signal / power, 1 / std::sqrt(power));
          for (int n = -kBrightnesses / 2; n <= kBrightnesses / 2; ++n) {
            terms.push_back(dense(s, mine, nb, middle * std::exp(0.4 * n)));
            most = std::max(most, terms.back());
          }
        }
        for (const double x : terms) sum += std::exp(x - most);
        const double expected = most + std::log(sum);
        EXPECT_NEAR(found[lane], expected, 1e-9 * std::max(1.0, std::abs(expected)))
            << nb << " vectors, lane " << lane;
      }
    }
  }
}

TEST(Evidence, PrefersTheShapeOfTheTrainingAtEqualChi2) {
  Template usual = trained(3, 200), strange = usual;
  for (std::size_t i = 0; i < strange.training.rows(); ++i) strange.training(i, 1) *= -3;
  const std::vector<double> c{1, 1.5, 1.5};
  const std::vector<test::Target> targets{test::make_target(usual, c, 0.08, 4.0, 5)};
  const TargetSet set = test::prepared(targets);
  const FitOptions options{.evidence = WithEvidence::kYes};
  const Fitter a(set, usual, scan_kernels(active_isa()), options);
  const Fitter b(set, strange, scan_kernels(active_isa()), options);
  std::vector<double> pack(a.sampler().pack_size());
  PackFit fit_a, fit_b;
  const double z = 0.08;
  a.fit(set.targets[0], {&z, 1}, pack, fit_a);
  b.fit(set.targets[0], {&z, 1}, pack, fit_b);
  EXPECT_EQ(fit_a.chi2[0], fit_b.chi2[0]);
  EXPECT_GT(fit_a.evidence[0], fit_b.evidence[0] + 5);
}

}  // namespace
}  // namespace fiberloom::redshift
