// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/joint_matrix.hpp"

#include <algorithm>

namespace skyloom {
namespace {

/// [pixel][I, Q, U][column] as a factor has it.
void put_rows(const std::vector<double>& values, std::size_t rank, PixelFactor& to) {
  to.rank = rank;
  to.rows.assign(to.blocks() * rank * kTemplateBlock, 0.0);
  for (std::size_t j = 0; j < 3 * to.pixels.size(); ++j) {
    double* const block = to.rows.data() + j / kTemplateBlock * rank * kTemplateBlock;
    for (std::size_t k = 0; k < rank; ++k) {
      block[k * kTemplateBlock + j % kTemplateBlock] = values[j * rank + k];
    }
  }
}

class Products {
 public:
  Products(const JointTemplates& templates, const JointFit& fit, const SeenSamples& seen,
           std::size_t pixels)
      : templates_(templates),
        fit_(fit),
        seen_(seen),
        block_(templates),
        shared_(3 * pixels * templates.shared(), 0.0),
        place_(pixels, kNowhere) {}

  /// V_s = P^T F_s L_s^-T; what it has of the shared templates is taken off those.
  PixelFactor of_stretch(std::size_t s) {
    const Stretch& stretch = templates_.stretches()[s];
    PixelFactor out;
    for (std::size_t i = stretch.first; i < stretch.end; ++i) {
      if (seen_.good[i] == 0) continue;
      std::uint32_t& place = place_[seen_.pixels[i]];
      if (place == kNowhere) out.pixels.push_back(seen_.pixels[i]);
      place = 0;
    }
    std::sort(out.pixels.begin(), out.pixels.end());
    for (std::size_t p = 0; p < out.pixels.size(); ++p) {
      place_[out.pixels[p]] = static_cast<std::uint32_t>(p);
    }
    const std::size_t own = templates_.own();
    own_.assign(3 * out.pixels.size() * own, 0.0);
    block_.over(s, [&](std::size_t first, std::size_t n) { add(s, first, n); });
    const JointFit::OfStretch& of = fit_.stretch(s);
    for (std::size_t j = 0; j < 3 * out.pixels.size(); ++j) {
      double* const row = own_.data() + j * own;  // L^-1 on each row of P^T F
      for (std::size_t r = 0; r < own; ++r) {
        for (std::size_t c = 0; c < r; ++c) row[r] -= of.factor[r * own + c] * row[c];
        row[r] /= of.factor[r * own + r];
      }
      take_coupling(s, row, shared_row(3 * out.pixels[j / 3] + j % 3));
    }
    for (const std::uint32_t pixel : out.pixels) place_[pixel] = kNowhere;
    put_rows(own_, own, out);
    return out;
  }

  /// W = (P^T F_c - sum_s V_s C_s) G^-1 R^T.
  PixelFactor of_shared() {
    const std::size_t n = templates_.shared(), rank = fit_.rank();
    const std::size_t pixels = place_.size();
    PixelFactor out;
    for (std::size_t p = 0; p < pixels; ++p) out.pixels.push_back(static_cast<std::uint32_t>(p));
    std::vector<double> values(3 * pixels * rank, 0.0);
    std::vector<double> row(n);
    for (std::size_t j = 0; j < 3 * pixels; ++j) {
      const double* const from = shared_row(j);
      for (std::size_t c = 0; c < n; ++c) {
        row[c] = fit_.lengths()[c] > 0 ? from[c] / fit_.lengths()[c] : 0;
      }
      for (std::size_t k = 0; k < rank; ++k) {
        const double* const root = fit_.root().data() + k * n;
        double sum = 0;
        for (std::size_t c = 0; c < n; ++c) sum += root[c] * row[c];
        values[j * rank + k] = sum;
      }
    }
    std::vector<double>().swap(shared_);
    put_rows(values, rank, out);
    return out;
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  [[nodiscard]] double* shared_row(std::size_t j) {
    return shared_.data() + j * templates_.shared();
  }
  void add(std::size_t s, std::size_t first, std::size_t n) {
    const auto in = templates_.shared_in(s);
    const std::size_t own = templates_.own();
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = first + i;
      if (seen_.good[at] == 0) continue;
      const double weights[] = {1, seen_.q[at], seen_.u[at]};
      const std::size_t pixel = seen_.pixels[at];
      for (std::size_t k = 0; k < block_.count(); ++k) {
        const double value = block_.row(k)[i];
        if (value == 0) continue;
        const std::size_t number = block_.number(k);
        for (std::size_t stokes = 0; stokes < 3; ++stokes) {
          double& to = number < own ? own_[(3 * place_[pixel] + stokes) * own + number]
                                    : shared_row(3 * pixel + stokes)[in[number - own]];
          to += weights[stokes] * value;
        }
      }
    }
  }
  void take_coupling(std::size_t s, const double* row, double* shared) const {
    const auto in = templates_.shared_in(s);
    const std::vector<double>& coupling = fit_.stretch(s).coupling;
    for (std::size_t r = 0; r < templates_.own(); ++r) {
      for (std::size_t c = 0; c < in.size(); ++c) {
        shared[in[c]] -= row[r] * coupling[r * in.size() + c];
      }
    }
  }

  const JointTemplates& templates_;
  const JointFit& fit_;
  const SeenSamples& seen_;
  JointBlock block_;
  std::vector<double> shared_, own_;  ///< P^T F, [pixel][I, Q, U][template]
  std::vector<std::uint32_t> place_;  ///< of the detector's pixels among those of a stretch
};

}  // namespace

std::vector<PixelFactor> pixel_factors(const JointTemplates& templates, const JointFit& fit,
                                       const SeenSamples& seen, std::size_t pixels) {
  std::vector<PixelFactor> out;
  Products products(templates, fit, seen, pixels);
  for (std::size_t s = 0; s < templates.stretches().size(); ++s) {
    if (!fit.stretch(s).fitted) continue;
    PixelFactor of = products.of_stretch(s);
    if (of.rank > 0) out.push_back(std::move(of));
  }
  if (fit.rank() > 0) out.push_back(products.of_shared());
  return out;
}

}  // namespace skyloom
