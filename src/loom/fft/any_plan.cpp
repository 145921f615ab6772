// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/any_plan.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace loom::fft {

template <class Real>
AnyPlan<Real>::AnyPlan(std::size_t n, Sign sign, Isa isa) : length_(n) {
  if (n == 1) return;
  if (is_length(n)) {
    direct_.emplace(n, sign, isa);
    return;
  }
  const std::size_t padded = good_length(2 * n - 1);
  there_.emplace(padded, Sign::kMinus, isa);
  back_.emplace(padded, Sign::kPlus, isa);
  std::vector<std::complex<double>> turns(n);
  for (std::size_t j = 0; j < n; ++j) {
    const auto squared = static_cast<double>(j * j % (2 * n));  // the angle without whole turns
    const double angle =
        static_cast<int>(sign) * std::numbers::pi * squared / static_cast<double>(n);
    turns[j] = {std::cos(angle), std::sin(angle)};
    chirp_.push_back({static_cast<Real>(turns[j].real()), static_cast<Real>(turns[j].imag())});
  }
  constexpr std::size_t kWide = kElement<double>;
  const Plan<double> plan(padded, Sign::kMinus, isa);
  std::vector<double> against(padded * kWide, 0), work(plan.work_size());
  for (std::size_t j = 0; j < n; ++j) {
    for (const std::size_t at : {j, (padded - j) % padded}) {
      against[at * kWide] = turns[j].real();
      against[at * kWide + kBatch<double>] = -turns[j].imag();
    }
  }
  const double* const spectrum = plan.run(against.data(), 1, padded, work.data());
  const auto size = static_cast<double>(padded);
  for (std::size_t k = 0; k < padded; ++k) {
    response_.push_back({static_cast<Real>(spectrum[k * kWide] / size),
                         static_cast<Real>(spectrum[k * kWide + kBatch<double>] / size)});
  }
}

template <class Real>
std::size_t AnyPlan<Real>::work_size() const noexcept {
  if (direct_) return direct_->work_size();
  if (!there_) return kElement<Real>;
  return there_->length() * kElement<Real> + 2 * there_->work_size();
}

template <class Real>
void AnyPlan<Real>::multiply(const Real* in, const std::vector<Factor>& factors, std::size_t count,
                             Real* out) {
  constexpr std::size_t kLanesOf = kBatch<Real>;
  for (std::size_t k = 0; k < count; ++k) {
    const Factor f = factors[k];
    const Real* const from = in + k * kElement<Real>;
    Real* const to = out + k * kElement<Real>;
    for (std::size_t l = 0; l < kLanesOf; ++l) {
      const Real re = from[l], im = from[l + kLanesOf];
      to[l] = re * f.re - im * f.im;
      to[l + kLanesOf] = re * f.im + im * f.re;
    }
  }
}

template <class Real>
Real* AnyPlan<Real>::by_chirp(const Real* in, Real* work) const {
  const std::size_t padded = there_->length();
  Real* const line = work;
  Real* const first = line + padded * kElement<Real>;
  Real* const second = first + there_->work_size();
  multiply(in, chirp_, length_, line);
  Real* const spectrum = there_->run(line, 1, length_, first);
  multiply(spectrum, response_, padded, spectrum);
  Real* const result = back_->run(spectrum, 1, padded, second);
  multiply(result, chirp_, length_, result);
  return result;
}

template <class Real>
Real* AnyPlan<Real>::run(const Real* in, Real* work) const {
  if (direct_) return direct_->run(in, 1, length_, work);
  if (there_) return by_chirp(in, work);
  std::copy_n(in, kElement<Real>, work);
  return work;
}

template class AnyPlan<float>;
template class AnyPlan<double>;

}  // namespace loom::fft
