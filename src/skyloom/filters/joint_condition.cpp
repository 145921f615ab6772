// SPDX-License-Identifier: BSD-3-Clause
// How well samples determine the templates of a JointFit, and what is done where they do not.
#include <algorithm>
#include <cmath>

#include "loom/base/array.hpp"
#include "loom/linalg/symmetric_eigen.hpp"
#include "skyloom/filters/dense_cholesky.hpp"
#include "skyloom/filters/joint_fit.hpp"

namespace skyloom {
namespace {

constexpr int kMostSteps = 60;            // of a power iteration
constexpr double kEnough = 1e-3;          // its relative change: a threshold asks for no more
constexpr double kGolden = 0.6180339887;  // a start that no eigenvector is at right angles to

template <class Use>
void over_all(JointFit::Amounts& x, const Use& use) {
  for (std::vector<double>& own : x.own) {
    for (double& value : own) use(value);
  }
  for (double& value : x.shared) use(value);
}

/// Brought to length 1; returns what it was.
double unit(JointFit::Amounts& x) {
  double sum = 0;
  over_all(x, [&](double value) { sum += value * value; });
  const double length = std::sqrt(sum);
  over_all(x, [&](double& value) { value /= length; });
  return length;
}

/// The largest eigenvalue of what `apply` does.
template <class Apply>
double largest_eigenvalue(JointFit::Amounts x, const Apply& apply) {
  double at = 0;
  over_all(x, [&](double& value) {
    at = std::fmod(at + kGolden, 1.0);
    value = at - 0.5;
  });
  unit(x);
  double found = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    x = apply(x);
    const double before = found;
    found = unit(x);
    if (!(found > 0) || std::fabs(found - before) < kEnough * found) break;
  }
  return found;
}

}  // namespace

/// F^T F x.
JointFit::Amounts JointFit::product(const Amounts& x) const {
  const std::size_t own = templates_.own(), n = lengths_.size();
  Amounts out = none();
  for (std::size_t r = 0; r < n; ++r) {  // S x
    for (std::size_t c = 0; c < n; ++c) {
      const double of = left_[std::max(r, c) * n + std::min(r, c)];
      out.shared[r] += lengths_[r] * of * lengths_[c] * x.shared[c];
    }
  }
  std::vector<double> at(own);
  for (std::size_t s = 0; s < stretches_.size(); ++s) {
    const OfStretch& of = stretches_[s];
    if (!of.fitted) continue;
    const auto in = templates_.shared_in(s);
    for (std::size_t r = 0; r < own; ++r) {  // L^T x_s + C x_c
      at[r] = 0;
      for (std::size_t c = r; c < own; ++c) at[r] += of.factor[c * own + r] * x.own[s][c];
      for (std::size_t c = 0; c < in.size(); ++c) {
        at[r] += of.coupling[r * in.size() + c] * x.shared[in[c]];
      }
      for (std::size_t c = 0; c < in.size(); ++c) {
        out.shared[in[c]] += of.coupling[r * in.size() + c] * at[r];
      }
    }
    for (std::size_t r = 0; r < own; ++r) {
      for (std::size_t c = 0; c <= r; ++c) out.own[s][r] += of.factor[r * own + c] * at[c];
    }
  }
  return out;
}

/// Times the templates' lengths to the power 1 or -1: between those as they are and of length 1.
JointFit::Amounts JointFit::scaled(Amounts x, int power) const {
  const auto by = [&](double value, double length) {
    if (!(length > 0)) return 0.0;
    return power > 0 ? value * length : value / length;
  };
  for (std::size_t s = 0; s < stretches_.size(); ++s) {
    for (std::size_t r = 0; r < x.own[s].size(); ++r) {
      x.own[s][r] = by(x.own[s][r], stretches_[s].lengths[r]);
    }
  }
  for (std::size_t c = 0; c < lengths_.size(); ++c) x.shared[c] = by(x.shared[c], lengths_[c]);
  return x;
}

/// By iterations with F^T F and with its inverse: the cost of some solutions, however many
/// unknowns.
void JointFit::estimate_condition() {
  const double largest = largest_eigenvalue(
      none(), [&](const Amounts& x) { return scaled(product(scaled(x, -1)), -1); });
  const double of_inverse = largest_eigenvalue(none(), [&](const Amounts& x) {
    Amounts y = scaled(x, 1);
    solve(y);
    return scaled(std::move(y), 1);
  });
  reciprocal_ = largest > 0 && of_inverse > 0 ? 1 / (largest * of_inverse) : 0;
}

/// Directions that the samples hardly determine are left out of R.
void JointFit::cut() {
  if (lengths_.size() <= kMostEigen) {
    cut_eigenvalues();
  } else {
    leave_out_templates();
  }
}

void JointFit::cut_eigenvalues() {
  const std::size_t n = lengths_.size();
  root_.clear();
  rank_ = 0;
  if (n == 0) return;
  Array2D<double> matrix(n, n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) matrix(r, c) = left_[std::max(r, c) * n + std::min(r, c)];
  }
  const SymmetricEigen found = symmetric_eigen(std::move(matrix));
  // 1 is what a template has by itself: the largest of all of F^T F is no smaller
  const double least = kLeastEigen * std::max(1.0, found.values.front());
  for (std::size_t k = 0; k < n && found.values[k] > least; ++k, ++rank_) {
    const double size = 1 / std::sqrt(found.values[k]);
    for (std::size_t c = 0; c < n; ++c) root_.push_back(size * found.vectors(k, c));
  }
}

/// What is taken out is the same whichever of templates that follow from each other are fitted.
void JointFit::leave_out_templates() {
  const std::size_t n = lengths_.size();
  std::vector<std::size_t> kept;
  std::vector<double> factor;  // of those that are kept, row by row, [n] each
  std::vector<double> row(n);
  for (std::size_t r = 0; r < n; ++r) {
    double pivot = left_[r * n + r];
    for (std::size_t c = 0; c < kept.size(); ++c) {
      const double* const other = factor.data() + c * n;
      double at = left_[r * n + kept[c]];
      for (std::size_t k = 0; k < c; ++k) at -= row[k] * other[k];
      row[c] = at / other[c];
      pivot -= row[c] * row[c];
    }
    if (!(pivot > kLeastEigen)) continue;
    row[kept.size()] = std::sqrt(pivot);
    kept.push_back(r);
    factor.insert(factor.end(), row.begin(), row.end());
  }
  rank_ = kept.size();
  std::vector<double> dense(rank_ * rank_, 0.0);
  for (std::size_t r = 0; r < rank_; ++r) {
    for (std::size_t c = 0; c <= r; ++c) dense[r * rank_ + c] = factor[r * n + c];
  }
  const std::vector<double> inverse = inverse_of_factor(dense, rank_);
  root_.assign(rank_ * n, 0.0);
  for (std::size_t r = 0; r < rank_; ++r) {
    for (std::size_t c = 0; c <= r; ++c) root_[r * n + kept[c]] = inverse[r * rank_ + c];
  }
}

std::size_t JointFit::bytes() const noexcept {
  std::size_t doubles = lengths_.size() + root_.size();
  for (const OfStretch& of : stretches_) {
    doubles += of.factor.size() + of.coupling.size() + of.lengths.size();
  }
  return sizeof(double) * doubles + sizeof(OfStretch) * stretches_.size();
}

}  // namespace skyloom
