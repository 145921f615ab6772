// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/exact/live_model.hpp"

#include <algorithm>
#include <cmath>

namespace fiberloom::exact {

LiveModel::LiveModel(const SpotPlan& plan, const BundleGeometry& geometry, FloatSpotKernel spots,
                     const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
                     RefineWork& work)
    : plan_(plan),
      g_(geometry),
      spots_(spots),
      kernels_(kernels),
      strip_(strip),
      n_(n),
      work_(work),
      layout_(strip) {
  spot_.resize(kFloatLanes * plan.float_spot_size());
  work.light.resize(static_cast<std::size_t>(strip.rows) * static_cast<std::size_t>(layout_.pitch),
                    0.0F);
  const auto bins = static_cast<std::size_t>(n.nfiber) * static_cast<std::size_t>(n.nbin);
  work.lit.resize(bins, 0.0);
  inverse_sigma_.reserve(bins);
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) inverse_sigma_.push_back(std::sqrt(n.own(f, 0)[j]));
  }
}

bool LiveModel::follows() const {
  for (int f = 0; f < n_.nfiber; ++f) {
    const double *now = n_.phi(f), *first = work_.first_phi_of(f, n_);
    for (int j = 0; j < n_.nbin; ++j) {
      if (now[j] < kUnconstrainedBelow && first[j] >= kUnconstrainedBelow) return false;
    }
  }
  return true;
}

bool LiveModel::follow(const double* x) {
  follows_ = follows_ && follows();
  if (!follows_) return false;
  const auto rows = static_cast<std::size_t>(strip_.rows);
  work_.stale.assign(rows, first_ ? 1 : 0);
  first_ = false;
  for (int f = 0; f < n_.nfiber; ++f) {
    const double* flux = x + f * n_.pitch + n_.margin;
    for (int tile = 0; tile * kFloatLanes < n_.nbin; ++tile) {
      const int end = std::min((tile + 1) * kFloatLanes, n_.nbin);
      for (int j = tile * kFloatLanes; j < end; ++j) {
        const double change =
            (flux[j] - lit(f, j)) * inverse_sigma_[static_cast<std::size_t>(f * n_.nbin + j)];
        if (std::abs(change) <= kUnseenSigma) continue;
        add_tile(f, tile, flux);
        break;
      }
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (work_.stale[r] == 0) continue;
    const float* from = work_.light.data() + static_cast<long>(r) * layout_.pitch;
    std::copy_n(from + (strip_.x0 - layout_.x0), strip_.pitch, work_.model.row(r));
  }
  return true;
}

void LiveModel::add_tile(int f, int tile, const double* flux) {
  const FiberTrace& trace = g_.trace[static_cast<std::size_t>(f)];
  const StampShape shape{plan_.ny, plan_.float_stride};
  const double* first_phi = work_.first_phi_of(f, n_);
  spots_(plan_, g_.first_fiber + f, tile * kFloatLanes, trace, spot_.data());
  const float* spot = spot_.data();
  for (int j = tile * kFloatLanes; j < std::min((tile + 1) * kFloatLanes, n_.nbin);
       ++j, spot += plan_.float_spot_size()) {
    if (!trace.live[static_cast<std::size_t>(j)] || !(first_phi[j] > 0)) continue;
    const double now = light_of(flux[j]);
    const auto light = static_cast<float>(now - lit(f, j));
    lit(f, j) = now;
    const int row = layout_.row_of(trace, j), column = layout_.column_of(trace, j);
    if (first_phi[j] >= kUnconstrainedBelow) {
      kernels_.add_model(shape, spot, light, work_.light.data(), layout_.pitch, row, column);
    } else {
      add_where_weighed(spot, light, row, column);
    }
    std::fill_n(work_.stale.begin() + row, plan_.ny, std::uint8_t{1});
  }
}

void LiveModel::add_where_weighed(const float* spot, float light, int row, int column) {
  for (int r = 0; r < plan_.ny; ++r) {
    float* model = work_.light.data() + (row + r) * layout_.pitch + column;
    for (int c = 0; c < plan_.float_stride; ++c) {
      const long in_strip = column + c - (strip_.x0 - layout_.x0);
      if (in_strip >= 0 && in_strip < strip_.pitch &&
          work_.weighed((row + r) * strip_.pitch + in_strip))
        model[c] += light * spot[r * plan_.float_stride + c];
    }
  }
}

}  // namespace fiberloom::exact
