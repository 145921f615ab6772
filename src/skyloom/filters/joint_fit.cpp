// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/joint_fit.hpp"

#include <algorithm>
#include <cmath>

#include "skyloom/filters/dense_cholesky.hpp"

namespace skyloom {
namespace {

/// b becomes L^-1 b.
void forward(const double* factor, std::size_t n, double* b, std::size_t stride = 1) {
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < r; ++c) b[r * stride] -= factor[r * n + c] * b[c * stride];
    b[r * stride] /= factor[r * n + r];
  }
}
/// b becomes L^-T b.
void backward(const double* factor, std::size_t n, double* b) {
  for (std::size_t r = n; r-- > 0;) {
    for (std::size_t c = r + 1; c < n; ++c) b[r] -= factor[c * n + r] * b[c];
    b[r] /= factor[r * n + r];
  }
}

}  // namespace

/// Products of the templates over samples of a stretch, lower triangle of [own, then shared_in].
class JointFit::Sums {
 public:
  explicit Sums(const JointTemplates& templates) : block_(templates), masked_(kTemplateBlock) {}

  void take(const JointTemplates& templates, std::size_t stretch,
            std::span<const std::uint8_t> good) {
    n_ = templates.own() + templates.shared_in(stretch).size();
    matrix_.assign(n_ * n_, 0.0);
    block_.over(stretch, [&](std::size_t first, std::size_t n) {
      if (std::find(good.begin() + static_cast<std::ptrdiff_t>(first),
                    good.begin() + static_cast<std::ptrdiff_t>(first + n),
                    std::uint8_t{1}) == good.begin() + static_cast<std::ptrdiff_t>(first + n)) {
        return;
      }
      for (std::size_t k = 0; k < block_.count(); ++k) {
        const double* const row = block_.row(k);
        for (std::size_t i = 0; i < n; ++i) masked_[i] = good[first + i] != 0 ? row[i] : 0;
        std::fill(masked_.begin() + static_cast<std::ptrdiff_t>(n), masked_.end(), 0.0);
        products_.assign(k + 1, 0.0);
        block_.kernels().add_products(block_.row(0), k + 1, masked_.data(), products_.data());
        const std::size_t r = block_.number(k);
        for (std::size_t other = 0; other <= k; ++other) {
          const std::size_t c = block_.number(other);
          matrix_[std::max(r, c) * n_ + std::min(r, c)] += products_[other];
        }
      }
    });
  }
  [[nodiscard]] double at(std::size_t r, std::size_t c) const noexcept {
    return matrix_[r * n_ + c];
  }

 private:
  JointBlock block_;
  std::size_t n_ = 0;
  std::vector<double> matrix_, masked_, products_;
};

JointFit::JointFit(const JointTemplates& templates, std::span<const std::uint8_t> good,
                   double least)
    : templates_(templates),
      stretches_(templates.stretches().size()),
      lengths_(templates.shared(), 0.0),
      left_(templates.shared() * templates.shared(), 0.0) {
  Sums sums(templates);
  for (std::size_t s = 0; s < stretches_.size(); ++s) add_stretch(s, sums, good);
  scale();
  if (unknowns_ == 0) {  // no sample takes part, or no stretch could be fitted
    fitted_ = std::ranges::any_of(stretches_, [](const OfStretch& of) { return of.fitted; });
    return;
  }
  const std::size_t n = templates.shared();
  std::vector<double> factor = left_;
  const std::vector<double> whole(n, 1.0);
  if (factor_cholesky(factor.data(), n, n, whole.data())) {
    root_ = inverse_of_factor(factor, n);
    rank_ = n;
    estimate_condition();
  }
  const bool poor = !(reciprocal_ > std::fabs(least));
  fitted_ = !(poor && least < 0);
  if (poor && fitted_) cut();
  std::vector<double>().swap(left_);
}

void JointFit::add_stretch(std::size_t number, Sums& sums, std::span<const std::uint8_t> good) {
  const Stretch& stretch = templates_.stretches()[number];
  const auto begin = good.begin() + static_cast<std::ptrdiff_t>(stretch.first);
  const auto end = good.begin() + static_cast<std::ptrdiff_t>(stretch.end);
  const auto count = static_cast<std::size_t>(std::count(begin, end, std::uint8_t{1}));
  const std::size_t own = templates_.own(), n = templates_.shared();
  if (count == 0 || count < own) return;
  sums.take(templates_, number, good);
  OfStretch& of = stretches_[number];
  of.factor.assign(own * own, 0.0);
  for (std::size_t r = 0; r < own; ++r) {
    for (std::size_t c = 0; c <= r; ++c) of.factor[r * own + c] = sums.at(r, c);
    of.lengths.push_back(std::sqrt(sums.at(r, r)));
  }
  std::vector<double> whole(own);
  for (std::size_t r = 0; r < own; ++r) whole[r] = of.factor[r * own + r];
  if (!factor_cholesky(of.factor.data(), own, own, whole.data())) {
    of = {};
    return;
  }
  of.fitted = true;
  unknowns_ += own;
  const auto in = templates_.shared_in(number);
  of.coupling.resize(own * in.size());
  for (std::size_t r = 0; r < own; ++r) {
    for (std::size_t c = 0; c < in.size(); ++c)
      of.coupling[r * in.size() + c] = sums.at(own + c, r);
  }
  for (std::size_t c = 0; c < in.size(); ++c) {
    forward(of.factor.data(), own, of.coupling.data() + c, in.size());
    lengths_[in[c]] += sums.at(own + c, own + c);
  }
  for (std::size_t r = 0; r < in.size(); ++r) {
    for (std::size_t c = 0; c <= r; ++c) {
      double product = 0;
      for (std::size_t k = 0; k < own; ++k) {
        product += of.coupling[k * in.size() + r] * of.coupling[k * in.size() + c];
      }
      left_[in[r] * n + in[c]] += sums.at(own + r, own + c) - product;
    }
  }
}

/// What is left of the shared templates, between such of length 1. One without a good sample stands
/// for itself.
void JointFit::scale() {
  const std::size_t n = lengths_.size();
  for (double& length : lengths_) {
    length = std::sqrt(length);
    unknowns_ += length > 0 ? 1 : 0;
  }
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c <= r; ++c) {
      const double size = lengths_[r] * lengths_[c];
      left_[r * n + c] = size > 0 ? left_[r * n + c] / size : (r == c ? 1 : 0);
    }
  }
}

JointFit::Amounts JointFit::none() const {
  Amounts out{.own = std::vector<std::vector<double>>(stretches_.size()),
              .shared = std::vector<double>(lengths_.size(), 0.0)};
  for (std::size_t s = 0; s < stretches_.size(); ++s) {
    out.own[s].assign(stretches_[s].fitted ? templates_.own() : 0, 0.0);
  }
  return out;
}

void JointFit::solve(Amounts& amounts) const {
  const std::size_t own = templates_.own(), n = lengths_.size();
  std::vector<double>& shared = amounts.shared;
  for (std::size_t s = 0; s < stretches_.size(); ++s) {
    const OfStretch& of = stretches_[s];
    if (!of.fitted) continue;
    const auto in = templates_.shared_in(s);
    forward(of.factor.data(), own, amounts.own[s].data());
    for (std::size_t r = 0; r < own; ++r) {
      for (std::size_t c = 0; c < in.size(); ++c) {
        shared[in[c]] -= of.coupling[r * in.size() + c] * amounts.own[s][r];
      }
    }
  }
  std::vector<double> parts(rank_, 0.0);
  for (std::size_t c = 0; c < n; ++c) shared[c] = lengths_[c] > 0 ? shared[c] / lengths_[c] : 0;
  for (std::size_t k = 0; k < rank_; ++k) {
    for (std::size_t c = 0; c < n; ++c) parts[k] += root_[k * n + c] * shared[c];
  }
  std::fill(shared.begin(), shared.end(), 0.0);
  for (std::size_t k = 0; k < rank_; ++k) {
    for (std::size_t c = 0; c < n; ++c) shared[c] += root_[k * n + c] * parts[k];
  }
  for (std::size_t c = 0; c < n; ++c) shared[c] = lengths_[c] > 0 ? shared[c] / lengths_[c] : 0;
  for (std::size_t s = 0; s < stretches_.size(); ++s) {
    const OfStretch& of = stretches_[s];
    if (!of.fitted) continue;
    const auto in = templates_.shared_in(s);
    for (std::size_t r = 0; r < own; ++r) {
      for (std::size_t c = 0; c < in.size(); ++c) {
        amounts.own[s][r] -= of.coupling[r * in.size() + c] * shared[in[c]];
      }
    }
    backward(of.factor.data(), own, amounts.own[s].data());
  }
}

}  // namespace skyloom
