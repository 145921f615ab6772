// SPDX-License-Identifier: BSD-3-Clause
// Sums over spots. A is never formed: a spot covers 3 % of a patch's pixels.
#include "fiberloom/extract/patch/patch_pixels.hpp"

#include <limits>

namespace fiberloom::patch {
namespace {

std::size_t index(const Spot& s, int x, int y) {
  return static_cast<std::size_t>((y - s.y0) * s.nx + (x - s.x0));
}

Box whole(const Spot& s) { return {s.x0, s.x0 + s.nx, s.y0, s.y0 + s.ny}; }

void enclose(Box& box, const Box& b) {
  box = {std::min(box.x0, b.x0), std::max(box.x1, b.x1), std::min(box.y0, b.y0),
         std::max(box.y1, b.y1)};
}

constexpr Box kNothing{std::numeric_limits<int>::max(), std::numeric_limits<int>::min(),
                       std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};

}  // namespace

PatchPixels::PatchPixels(const CcdFrame& ccd, const SpotTable& spots, const PatchPlan& plan,
                         std::size_t pad, double pixpad_frac)
    : nbin_(plan.nwave + 2 * pad) {
  for (int f = plan.pad_first; f < plan.pad_last; ++f) {
    for (std::size_t j = 0; j < nbin_; ++j) spot_.push_back(&spots.at(f, plan.begin - pad + j));
  }
  box_ = choose_box(plan, pad, pixpad_frac, ccd);
  for (const Spot* s : spot_) reach_.push_back(intersect(whole(*s), box_));
  if (box_.empty()) return;
  const auto rows = static_cast<std::size_t>(box_.y1 - box_.y0);
  const auto cols = static_cast<std::size_t>(box_.x1 - box_.x0);
  image_ = Array2D<double>(rows, cols);
  weight_ = Array2D<double>(rows, cols);
  for (int y = box_.y0; y < box_.y1; ++y) {
    for (int x = box_.x0; x < box_.x1; ++x) {
      const auto r = static_cast<std::size_t>(y), c = static_cast<std::size_t>(x);
      image_(row(y), col(x)) = ccd.image.at(r, c);
      weight_(row(y), col(x)) = ccd.ivar.at(r, c);
    }
  }
}

Box PatchPixels::choose_box(const PatchPlan& plan, std::size_t pad, double pixpad_frac,
                            const CcdFrame& ccd) const {
  Box all = kNothing, core = kNothing;
  for (std::size_t u = 0; u < spot_.size(); ++u) {
    const std::size_t bin = u % nbin_;
    enclose(all, whole(*spot_[u]));
    if (bin >= pad && bin < pad + plan.nwave) enclose(core, whole(*spot_[u]));
  }
  const int lo = static_cast<int>((core.y0 - all.y0) * (1 - pixpad_frac));
  const int hi = static_cast<int>((core.y1 - all.y0) + (all.y1 - core.y1) * pixpad_frac);
  all.y1 = all.y0 + hi;
  all.y0 += lo;
  return intersect(all,
                   {0, static_cast<int>(ccd.image.cols()), 0, static_cast<int>(ccd.image.rows())});
}

double PatchPixels::overlap(const Spot& a, const std::vector<double>& weighted, const Spot& b,
                            const Box& both) const {
  double sum = 0;
  for (int y = both.y0; y < both.y1; ++y) {
    const double* wa = &weighted[index(a, both.x0, y)];
    const double* vb = &b.value[index(b, both.x0, y)];
    for (int x = 0; x < both.x1 - both.x0; ++x) sum += wa[x] * vb[x];
  }
  return sum;
}

Array2D<double> PatchPixels::normal_matrix() const {
  Array2D<double> normal(size(), size(), 0.0);
  std::vector<double> weighted;
  for (std::size_t a = 0; a < size(); ++a) {
    const Spot& s = *spot_[a];
    const Box& reach = reach_[a];
    if (reach.empty()) continue;
    weighted.assign(s.value.size(), 0.0);
    for (int y = reach.y0; y < reach.y1; ++y) {
      for (int x = reach.x0; x < reach.x1; ++x) {
        weighted[index(s, x, y)] = s.value[index(s, x, y)] * weight_(row(y), col(x));
      }
    }
    for (std::size_t b = a; b < size(); ++b) {
      const Box both = intersect(reach, reach_[b]);
      if (both.empty()) continue;
      normal(a, b) = normal(b, a) = overlap(s, weighted, *spot_[b], both);
    }
  }
  return normal;
}

std::vector<double> PatchPixels::transposed(const Array2D<double>& map) const {
  std::vector<double> out(size(), 0.0);
  for (std::size_t u = 0; u < size(); ++u) {
    const Spot& s = *spot_[u];
    for (int y = reach_[u].y0; y < reach_[u].y1; ++y) {
      for (int x = reach_[u].x0; x < reach_[u].x1; ++x) {
        out[u] += s.value[index(s, x, y)] * map(row(y), col(x));
      }
    }
  }
  return out;
}

Array2D<double> PatchPixels::projected(const double* x) const {
  Array2D<double> out(image_.rows(), image_.cols(), 0.0);
  for (std::size_t u = 0; u < size(); ++u) {
    const Spot& s = *spot_[u];
    for (int py = reach_[u].y0; py < reach_[u].y1; ++py) {
      for (int px = reach_[u].x0; px < reach_[u].x1; ++px) {
        out(row(py), col(px)) += x[u] * s.value[index(s, px, py)];
      }
    }
  }
  return out;
}

double PatchPixels::lost_fraction(std::size_t u) const {
  const Spot& s = *spot_[u];
  double lost = 0, good = 0;
  for (int y = s.y0; y < s.y0 + s.ny; ++y) {
    for (int x = s.x0; x < s.x0 + s.nx; ++x) {
      const bool inside = x >= box_.x0 && x < box_.x1 && y >= box_.y0 && y < box_.y1;
      const bool used = inside && weight_(row(y), col(x)) > 0;
      (used ? good : lost) += s.value[index(s, x, y)];
    }
  }
  return good > 0 ? lost : 1.0;
}

}  // namespace fiberloom::patch
