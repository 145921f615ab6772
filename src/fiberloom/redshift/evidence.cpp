// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fiberloom/redshift/evidence_lane.hpp"
#include "loom/linalg/symmetric_eigen.hpp"

namespace fiberloom::redshift {
namespace {

/// Training rows that are looked at: more tell nothing new.
constexpr std::size_t kMostRows = 2000;
/// A Gaussian wants so many rows.
constexpr std::size_t kLeastRows = 25;
/// Widths added to what the training has: along the mean, so that steps in brightness of exp(0.4)
/// are close enough; and everywhere, since no training is complete.
constexpr double kRadialWidth = 0.25, kWidth = 0.02;
/// Ratio of the brightness of vector a to the first's is 0 +- one of these / sqrt(a) where nothing
/// is known: the widest is that of quasars' archetypes in quasars' templates, but archetypes are
/// chosen to differ, and most quasars are more alike. One width alone favours other types, or this
/// one, by the ratio of the volumes.
constexpr std::array kUntrainedWidths{0.35, 0.175, 0.0875};

using Rows = std::vector<std::vector<double>>;

std::vector<double> rms_of(const Template& t) {
  std::vector<double> rms;
  for (std::size_t a = 0; a < t.nbasis(); ++a) {
    double sum = 0;
    for (std::size_t k = 0; k < t.wave.size(); ++k) sum += t.flux(a, k) * t.flux(a, k);
    rms.push_back(std::max(std::sqrt(sum / static_cast<double>(t.wave.size())), 1e-300));
  }
  return rms;
}

/// Training rows in units of rms, of length 1.
Rows directions(const Template& t, const std::vector<double>& rms) {
  Rows rows;
  const std::size_t n = std::min(t.training.rows(), kMostRows);
  for (std::size_t i = 0; i < n; ++i) {
    const double* c = t.training.row(i * t.training.rows() / n);
    std::vector<double> u(rms.size());
    double norm = 0;
    for (std::size_t a = 0; a < u.size(); ++a) {
      u[a] = c[a] * rms[a];
      norm += u[a] * u[a];
    }
    if (!(norm > 0) || !std::isfinite(norm)) continue;
    for (double& x : u) x /= std::sqrt(norm);
    rows.push_back(std::move(u));
  }
  return rows;
}

double distance2(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

/// Which of `count` groups each row belongs to: k-means from rows far from each other.
std::vector<std::size_t> groups_of(const Rows& rows, std::size_t count) {
  Rows centres{rows.front()};
  std::vector<std::size_t> group(rows.size(), 0);
  while (centres.size() < count) {
    std::size_t farthest = 0;
    double most = -1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double least = HUGE_VAL;
      for (const auto& c : centres) least = std::min(least, distance2(rows[i], c));
      if (least > most) most = least, farthest = i;
    }
    centres.push_back(rows[farthest]);
  }
  for (int step = 0; step < 20; ++step) {
    Rows sums(count, std::vector<double>(rows[0].size(), 0.0));
    std::vector<double> number(count, 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < count; ++k) {
        if (distance2(rows[i], centres[k]) < distance2(rows[i], centres[group[i]])) group[i] = k;
      }
      number[group[i]] += 1;
      for (std::size_t a = 0; a < rows[i].size(); ++a) sums[group[i]][a] += rows[i][a];
    }
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t a = 0; a < centres[k].size() && number[k] > 0; ++a) {
        centres[k][a] = sums[k][a] / number[k];
      }
    }
  }
  return group;
}

/// The inverse of a covariance.
Array2D<double> inverted(const Array2D<double>& covariance) {
  const loom::SymmetricEigen e = loom::symmetric_eigen(covariance);
  const std::size_t n = covariance.rows();
  Array2D<double> out(n, n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const double inverse = 1 / std::max(e.values[k], 1e-12 * e.values[0]);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        out(a, b) += inverse * e.vectors(k, a) * e.vectors(k, b);
      }
    }
  }
  return out;
}

/// The Gaussian of a mean and covariance in units of rms, in those of coefficients.
ShapeComponent component(double weight, std::vector<double> mean, Array2D<double> covariance,
                         const std::vector<double>& rms) {
  const std::size_t n = mean.size();
  for (std::size_t a = 0; a < n; ++a) {
    covariance(a, a) += kWidth * kWidth;
    for (std::size_t b = 0; b < n; ++b) {
      covariance(a, b) += kRadialWidth * kRadialWidth * mean[a] * mean[b];
    }
  }
  ShapeComponent out{weight, std::move(mean), inverted(covariance)};
  for (std::size_t a = 0; a < n; ++a) {
    out.mean[a] /= rms[a];
    for (std::size_t b = 0; b < n; ++b) out.precision(a, b) *= rms[a] * rms[b];
  }
  return out;
}

ShapeComponent of_rows(const Rows& rows, const std::vector<std::size_t>& group, std::size_t which,
                       const std::vector<double>& rms) {
  const std::size_t n = rms.size();
  std::vector<double> mean(n, 0.0);
  Array2D<double> covariance(n, n, 0.0);
  double count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (group[i] != which) continue;
    count += 1;
    for (std::size_t a = 0; a < n; ++a) mean[a] += rows[i][a];
  }
  for (double& m : mean) m /= count;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (group[i] != which) continue;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        covariance(a, b) += (rows[i][a] - mean[a]) * (rows[i][b] - mean[b]) / count;
      }
    }
  }
  return component(count / static_cast<double>(rows.size()), std::move(mean), std::move(covariance),
                   rms);
}

}  // namespace

std::vector<ShapeComponent> coefficient_shapes(const Template& t) {
  const std::vector<double> rms = rms_of(t);
  const Rows rows = directions(t, rms);
  if (rows.size() < 2) {
    std::vector<double> mean(t.nbasis(), 0.0);
    mean[0] = 1;
    std::vector<ShapeComponent> out;
    for (const double width : kUntrainedWidths) {
      Array2D<double> covariance(t.nbasis(), t.nbasis(), 0.0);
      for (std::size_t a = 1; a < t.nbasis(); ++a) {
        covariance(a, a) = width * width / static_cast<double>(a);
      }
      out.push_back(component(1.0 / kUntrainedWidths.size(), mean, std::move(covariance), rms));
    }
    return out;
  }
  const std::size_t count = std::clamp<std::size_t>(rows.size() / kLeastRows, 1, kMostShapes);
  const std::vector<std::size_t> group = groups_of(rows, count);
  std::vector<ShapeComponent> out;
  for (std::size_t k = 0; k < count; ++k) {
    if (std::find(group.begin(), group.end(), k) == group.end()) continue;
    out.push_back(of_rows(rows, group, k, rms));
  }
  return out;
}

EvidenceTable evidence_table(const std::vector<ShapeComponent>& shapes) {
  EvidenceTable table;
  table.components = static_cast<int>(shapes.size());
  table.nb = static_cast<int>(shapes.front().mean.size());
  const std::size_t n = shapes.front().mean.size();
  for (const ShapeComponent& s : shapes) {
    std::vector<double> product(n, 0.0);
    double constant = std::log(s.weight), square = 0;
    // a correlation matrix of the precision: its determinant is far from any limit
    Array2D<double> scaled(n, n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        product[a] += s.precision(a, b) * s.mean[b];
        scaled(a, b) = s.precision(a, b) / std::sqrt(s.precision(a, a) * s.precision(b, b));
      }
      square += product[a] * s.mean[a];
    }
    for (const double v : loom::symmetric_eigen(scaled).values) {
      constant += 0.5 * std::log(std::max(v, 1e-300));
    }
    table.constant.push_back(constant - 0.5 * square);
    table.numbers.insert(table.numbers.end(), s.mean.begin(), s.mean.end());
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = a; b < n; ++b) table.numbers.push_back(s.precision(a, b));
    }
    table.numbers.insert(table.numbers.end(), product.begin(), product.end());
  }
  return table;
}

void finish_evidence(const EvidenceTable& table, double* parts, double* out) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out[lane] = lane::evidence_sum(table.components, table.constant.data(), parts + lane);
  }
}

}  // namespace fiberloom::redshift
