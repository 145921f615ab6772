// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/joint.hpp"

#include <algorithm>
#include <utility>

#include "skyloom/good_sample.hpp"

namespace skyloom {
namespace {

/// Takes a solution out of samples, and sums what the templates have of them.
class Sweep {
 public:
  Sweep(const JointTemplates& templates, const JointFit& fit, std::span<double> values,
        std::span<const std::uint8_t> good)
      : templates_(templates),
        fit_(fit),
        values_(values),
        good_(good),
        block_(templates),
        at_(kTemplateBlock) {}

  /// F^T d of good samples.
  [[nodiscard]] JointFit::Amounts products() {
    JointFit::Amounts out = fit_.none();
    over([&](std::size_t s, std::size_t first, std::size_t n) { add(s, first, n, out); });
    return out;
  }
  /// d - F x of all samples; then the products of what is left.
  [[nodiscard]] JointFit::Amounts subtract(const JointFit::Amounts& x) {
    JointFit::Amounts out = fit_.none();
    over([&](std::size_t s, std::size_t first, std::size_t n) {
      const auto in = templates_.shared_in(s);
      x_.resize(block_.count());
      for (std::size_t k = 0; k < block_.count(); ++k) {
        const std::size_t number = block_.number(k), own = templates_.own();
        x_[k] = number < own ? x.own[s][number] : x.shared[in[number - own]];
      }
      block_.kernels().mix(block_.row(0), block_.count(), x_.data(), at_.data());
      for (std::size_t i = 0; i < n; ++i) values_[first + i] -= at_[i];
      add(s, first, n, out);
    });
    return out;
  }

 private:
  template <class Use>
  void over(const Use& use) {
    for (std::size_t s = 0; s < templates_.stretches().size(); ++s) {
      if (!fit_.stretch(s).fitted) continue;
      block_.over(s, [&](std::size_t first, std::size_t n) { use(s, first, n); });
    }
  }
  void add(std::size_t s, std::size_t first, std::size_t n, JointFit::Amounts& to) {
    for (std::size_t i = 0; i < n; ++i) at_[i] = good_[first + i] != 0 ? values_[first + i] : 0;
    std::fill(at_.begin() + static_cast<std::ptrdiff_t>(n), at_.end(), 0.0);
    sums_.assign(block_.count(), 0.0);
    block_.kernels().add_products(block_.row(0), block_.count(), at_.data(), sums_.data());
    const auto in = templates_.shared_in(s);
    for (std::size_t k = 0; k < block_.count(); ++k) {
      const std::size_t number = block_.number(k), own = templates_.own();
      (number < own ? to.own[s][number] : to.shared[in[number - own]]) += sums_[k];
    }
  }

  const JointTemplates& templates_;
  const JointFit& fit_;
  std::span<double> values_;
  std::span<const std::uint8_t> good_;
  JointBlock block_;
  std::vector<double> at_, x_, sums_;
};

}  // namespace

std::vector<std::uint8_t> good_samples(std::span<const double> values,
                                       std::span<const std::uint8_t> flags) {
  std::vector<std::uint8_t> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = takes_part(values[i], flags[i]) ? 1 : 0;
  return out;
}

JointFilter::Fitted JointFilter::fit(std::vector<std::uint8_t> good,
                                     std::vector<std::vector<double>> given) const {
  if (!given.empty()) {
    auto templates = std::make_shared<const JointTemplates>(templates_->with(std::move(given)));
    auto fit = std::make_shared<const JointFit>(*templates, good, options_.least_reciprocal);
    return {std::move(templates), std::move(fit)};
  }
  std::shared_ptr<const JointFit> last;
  std::shared_ptr<const std::vector<std::uint8_t>> last_good;
  {
    const std::lock_guard lock(mutex_);
    last = last_;
    last_good = last_good_;
  }
  if (last && *last_good == good) return {templates_, std::move(last)};
  // a fit is of its samples alone, whatever was kept: the same bytes from any thread
  auto made = std::make_shared<const JointFit>(*templates_, good, options_.least_reciprocal);
  auto made_good = std::make_shared<const std::vector<std::uint8_t>>(std::move(good));
  const std::lock_guard lock(mutex_);
  last_ = made;
  last_good_ = std::move(made_good);
  return {templates_, std::move(made)};
}

std::size_t JointFilter::subtract(std::span<double> values, std::span<std::uint8_t> flags,
                                  std::vector<std::vector<double>> given) const {
  const std::vector<std::uint8_t> good = good_samples(values, flags);
  const auto [with, fit] = this->fit(good, std::move(given));
  const JointTemplates& templates = *with;
  std::size_t failed = 0;
  for (std::size_t s = 0; s < templates.stretches().size(); ++s) {
    if (fit->fitted() && fit->stretch(s).fitted) continue;
    const Stretch& of = templates.stretches()[s];
    const auto begin = static_cast<std::ptrdiff_t>(of.first);
    const auto end = static_cast<std::ptrdiff_t>(of.end);
    failed += std::find(flags.begin() + begin, flags.begin() + end, std::uint8_t{0}) !=
                      flags.begin() + end
                  ? 1
                  : 0;
    std::fill(flags.begin() + begin, flags.begin() + end, std::uint8_t{1});
  }
  if (!fit->fitted()) return failed;
  Sweep sweep(templates, *fit, values, good);
  JointFit::Amounts x = sweep.products();
  for (int pass = 0; pass < 2; ++pass) {  // the second takes what rounding left of the first
    fit->solve(x);
    x = sweep.subtract(x);
  }
  for (const Stretch& of : templates.stretches()) {
    for (std::size_t i = of.first; i < of.end; ++i) {
      const auto shared = templates.bin_template(i);
      if (shared && !fit->is_known(*shared)) flags[i] = 1;
    }
  }
  return failed;
}

double JointFilter::work_bytes(double samples, double own, double shared, double stretches,
                               double given) noexcept {
  const double both = own + shared;
  const double fit = 8 * (stretches * own * (both + 1) + shared * (shared + 1));
  const double eigen = shared <= static_cast<double>(kMostEigen) ? 2 * 8 * shared * shared : 0;
  const double sums = 8 * both * both, block = 8 * static_cast<double>(kTemplateBlock) * both;
  constexpr double kOfTemplates = 28;  // of a sample, which a detector with its own ones has anew
  // of this thread while it is made, and of the last one; the samples that took part, of both
  return 2 * fit + 2 * 8 * shared * shared + eigen + sums + 2 * block + 8 * stretches * own * 8 +
         3 * samples + (given > 0 ? (kOfTemplates + 8 * given) * samples : 0);
}

}  // namespace skyloom
