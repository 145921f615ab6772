// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients over the bundle.
#include "fiberloom/extract/exact/solve.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact {

void apply(const NormalEquations& n, const PixelKernels& kernels, const double* p, double* q) {
  // In blocks of bins, so that a coupling is read from memory once for both its fibres.
  constexpr long kBlock = 256;
  const long length = n.pitch - 2 * n.margin;  // a multiple of kLanes
  std::vector<const double*> a, x;
  for (long j = 0; j < length; j += kBlock) {
    for (int f = 0; f < n.nfiber; ++f) {
      a.clear();
      x.clear();
      const auto vector = [&](int fiber) { return p + fiber * n.pitch + n.margin + j; };
      const auto term = [&](const double* entries, int fiber, int offset) {
        a.push_back(entries + j);
        x.push_back(vector(fiber) + offset);
      };
      term(n.own(f, 0), f, 0);
      for (int d = 1; d <= n.band; ++d) {
        term(n.own(f, d), f, d);
        term(n.own(f, d) - d, f, -d);
      }
      for (int r = 1; r <= n.reach; ++r) {
        for (int d = -n.cross_band; d <= n.cross_band; ++d) {
          if (f + r < n.nfiber) term(n.cross(r, f, d), f + r, d);
          if (f - r >= 0) term(n.cross(r, f - r, d) - d, f - r, -d);
        }
      }
      kernels.sum_products(a.data(), x.data(), static_cast<int>(a.size()),
                           q + f * n.pitch + n.margin + j, std::min(kBlock, length - j));
    }
  }
}

namespace {

/// Eight fibres a pack. Lanes beyond the last fibre repeat it; their results are not read.
class Preconditioner {
 public:
  Preconditioner(const NormalEquations& n, const BandedKernels& banded, const PixelKernels& kernels,
                 SolveWork& work)
      : n_(n), banded_(banded), kernels_(kernels), work_(work), band_(round_up_band(n.band)) {
    const auto rows = static_cast<std::size_t>(n.nbin) * kLanes;
    const auto band = static_cast<std::size_t>(band_);
    groups_ = (n.nfiber + kLanes - 1) / kLanes;
    work.matrix.resize(rows * (band + 1), 0.0);
    work.l.resize(static_cast<std::size_t>(groups_) * rows * band);
    work.inv_d.resize(static_cast<std::size_t>(groups_) * rows);
    work.packed.resize(rows);
    work.unread.resize(static_cast<std::size_t>(n.nbin));
    const double shift[kLanes] = {};
    double pivot[kLanes];
    for (int group = 0; group < groups_; ++group) {
      for (int a = 0; a <= n.band; ++a) {
        const double* in[kLanes];
        for (int i = 0; i < kLanes; ++i) in[i] = n.own(fiber(group, i), a);
        kernels_.interleave(in, n.nbin, work.matrix.data() + a * kLanes, (band_ + 1L) * kLanes);
      }
      banded_.factor(band_, n.nbin, work.matrix.data(), shift, l(group), inv_d(group), pivot);
    }
  }

  /// z = M^-1 r
  void operator()(const double* r, double* z) const {
    for (int group = 0; group < groups_; ++group) {
      const double* in[kLanes];
      double* out[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        in[i] = r + fiber(group, i) * n_.pitch + n_.margin;
        const bool real = group * kLanes + i < n_.nfiber;
        out[i] = real ? z + fiber(group, i) * n_.pitch + n_.margin : work_.unread.data();
      }
      kernels_.interleave(in, n_.nbin, work_.packed.data(), kLanes);
      banded_.solve(band_, n_.nbin, l(group), inv_d(group), work_.packed.data());
      kernels_.deinterleave(work_.packed.data(), n_.nbin, out);
    }
  }

 private:
  [[nodiscard]] int fiber(int group, int lane) const {
    return std::min(group * kLanes + lane, n_.nfiber - 1);
  }
  [[nodiscard]] double* l(int group) const {
    return work_.l.data() + static_cast<long>(group) * n_.nbin * band_ * kLanes;
  }
  [[nodiscard]] double* inv_d(int group) const {
    return work_.inv_d.data() + static_cast<long>(group) * n_.nbin * kLanes;
  }
  const NormalEquations& n_;
  const BandedKernels& banded_;
  const PixelKernels& kernels_;
  SolveWork& work_;
  int band_, groups_ = 0;
};

double dot(const double* a, const double* b, std::size_t n) {
  double part[8] = {};
  for (std::size_t i = 0; i < n; i += 8) {
    for (std::size_t k = 0; k < 8; ++k) part[k] += a[i + k] * b[i + k];
  }
  return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

}  // namespace

SolveReport solve_bundle(const NormalEquations& n, const BandedKernels& banded,
                         const PixelKernels& kernels, double tolerance_sigma, int most_iterations,
                         const Observer* observer, SolveWork& work, SolveFrom from) {
  const auto size = static_cast<std::size_t>(n.nfiber) * static_cast<std::size_t>(n.pitch);
  if (from == SolveFrom::kNothing) work.x.resize(size, 0.0);
  for (auto* v : {&work.r, &work.z, &work.p, &work.q}) v->resize(size, 0.0);
  const Preconditioner precondition(n, banded, kernels, work);
  double *x = work.x.data(), *r = work.r.data(), *z = work.z.data(), *p = work.p.data(),
         *q = work.q.data();
  // x0 = M^-1 y leaves only what the fibres exchange
  if (from == SolveFrom::kNothing) precondition(n.rhs_.data(), x);
  apply(n, kernels, x, q);
  for (std::size_t i = 0; i < size; ++i) r[i] = n.rhs_[i] - q[i];
  precondition(r, z);
  SolveProgress progress = begin_solve(dot(r, z, size));
  std::copy(z, z + size, p);
  while (goes_on(progress, tolerance_sigma, most_iterations)) {
    stop_if_asked(observer);
    apply(n, kernels, p, q);
    const double pq = dot(p, q, size);
    if (!(pq > 0)) break;
    const double step = progress.rz / pq;
    for (std::size_t i = 0; i < size; ++i) {
      x[i] += step * p[i];
      r[i] -= step * q[i];
    }
    precondition(r, z);
    const double beta = note_iteration(progress, dot(r, z, size));
    for (std::size_t i = 0; i < size; ++i) p[i] = z[i] + beta * p[i];
  }
  return {progress.iterations, solution_error(progress.rz)};
}

}  // namespace fiberloom::exact
