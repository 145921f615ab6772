// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients over every second fibre of the bundle; those between are
// solved for exactly in each step.
#include "fiberloom/extract/exact/solve.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loom/base/stop.hpp"

namespace fiberloom::exact {

void apply(const NormalEquations& n, const PixelKernels& kernels, EverySo rows, Terms terms,
           const double* p, double* q) {
  // In blocks of bins, so that a coupling is read from memory once for both its fibres.
  constexpr long kBlock = 256;
  const long length = n.pitch - 2 * n.margin;  // a multiple of kLanes
  std::vector<const double*> a, x;
  for (long j = 0; j < length; j += kBlock) {
    for (int f = rows.first; f < n.nfiber; f += rows.step) {
      a.clear();
      x.clear();
      const auto vector = [&](int fiber) { return p + fiber * n.pitch + n.margin + j; };
      const auto term = [&](const double* entries, int fiber, int offset) {
        a.push_back(entries + j);
        x.push_back(vector(fiber) + offset);
      };
      if (terms == Terms::kAll) {
        term(n.own(f, 0), f, 0);
        for (int d = 1; d <= n.band; ++d) {
          term(n.own(f, d), f, d);
          term(n.own(f, d) - d, f, -d);
        }
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

/// The own blocks of N of some of the fibres, factored. Eight fibres a pack; lanes beyond the last
/// repeat it, their results are not read.
class OwnBlocks {
 public:
  OwnBlocks(const NormalEquations& n, EverySo fibers, const BandedKernels& banded,
            const PixelKernels& kernels, OwnFactors& factors, SolveWork& work)
      : n_(n), fibers_(fibers), banded_(banded), kernels_(kernels), factors_(factors), work_(work) {
    const auto rows = static_cast<std::size_t>(n.nbin) * kLanes;
    const auto band = static_cast<std::size_t>(band_), packs = static_cast<std::size_t>(packs_);
    work.matrix.resize(rows * (band + 1), 0.0);
    factors.l.resize(packs * rows * band);
    factors.inv_d.resize(packs * rows);
    work.packed.resize(rows);
    work.unread.resize(static_cast<std::size_t>(n.nbin));
    const double shift[kLanes] = {};
    double pivot[kLanes];
    for (int pack = 0; pack < packs_; ++pack) {
      for (int a = 0; a <= n.band; ++a) {
        const double* in[kLanes];
        for (int i = 0; i < kLanes; ++i) in[i] = n.own(fiber(pack, i), a);
        kernels_.interleave(in, n.nbin, work.matrix.data() + a * kLanes, (band_ + 1L) * kLanes);
      }
      banded_.factor(band_, n.nbin, work.matrix.data(), shift, l(pack), inv_d(pack), pivot);
    }
  }

  /// z = (own blocks)^-1 r
  void solve(const double* r, double* z) const {
    for (int pack = 0; pack < packs_; ++pack) {
      const double* in[kLanes];
      double* out[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        in[i] = r + fiber(pack, i) * n_.pitch + n_.margin;
        const bool real = pack * kLanes + i < count_;
        out[i] = real ? z + fiber(pack, i) * n_.pitch + n_.margin : work_.unread.data();
      }
      kernels_.interleave(in, n_.nbin, work_.packed.data(), kLanes);
      banded_.solve(band_, n_.nbin, l(pack), inv_d(pack), work_.packed.data());
      kernels_.deinterleave(work_.packed.data(), n_.nbin, out);
    }
  }

 private:
  [[nodiscard]] int fiber(int pack, int lane) const {
    return fibers_.first + std::min(pack * kLanes + lane, count_ - 1) * fibers_.step;
  }
  [[nodiscard]] double* l(int pack) const {
    return factors_.l.data() + static_cast<long>(pack) * n_.nbin * band_ * kLanes;
  }
  [[nodiscard]] double* inv_d(int pack) const {
    return factors_.inv_d.data() + static_cast<long>(pack) * n_.nbin * kLanes;
  }
  const NormalEquations& n_;
  const EverySo fibers_;
  const BandedKernels& banded_;
  const PixelKernels& kernels_;
  OwnFactors& factors_;
  SolveWork& work_;
  const int band_ = round_up_band(n_.band), count_ = fibers_.count(n_.nfiber),
            packs_ = (count_ + kLanes - 1) / kLanes;
};

/// Vectors over the bins of a bundle's fibres as n.rhs_ has them, some of the fibres at a time.
class FiberVectors {
 public:
  FiberVectors(const NormalEquations& n, EverySo fibers) : n_(n), fibers_(fibers) {}
  /// each(i) for each place in such a vector.
  template <class Each>
  void for_each(Each each) const {
    for (int f = fibers_.first; f < n_.nfiber; f += fibers_.step) {
      const std::size_t begin = static_cast<std::size_t>(f) * static_cast<std::size_t>(n_.pitch);
      for (std::size_t i = begin; i < begin + static_cast<std::size_t>(n_.pitch); ++i) each(i);
    }
  }
  [[nodiscard]] double dot(const double* a, const double* b) const {
    double part[8] = {};
    for (int f = fibers_.first; f < n_.nfiber; f += fibers_.step) {
      const double *x = a + f * n_.pitch, *y = b + f * n_.pitch;
      for (long i = 0; i < n_.pitch; i += 8) {
        for (long k = 0; k < 8; ++k) part[k] += x[i + k] * y[i + k];
      }
    }
    return ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
  }

 private:
  const NormalEquations& n_;
  EverySo fibers_;
};

}  // namespace

SolveReport solve_bundle(const NormalEquations& n, const BandedKernels& banded,
                         const PixelKernels& kernels, double tolerance_sigma, int most_iterations,
                         const Observer* observer, SolveWork& work, SolveFrom from) {
  const auto size = static_cast<std::size_t>(n.nfiber) * static_cast<std::size_t>(n.pitch);
  if (from == SolveFrom::kNothing) work.x.resize(size, 0.0);
  for (auto* v : {&work.r, &work.z, &work.p, &work.q, &work.own_p}) v->resize(size, 0.0);
  const auto [some, between] = solve_order(n.nfiber, n.reach);
  const OwnBlocks own(n, some, banded, kernels, work.own, work),
      own_between(n, between, banded, kernels, work.own_between, work);
  const FiberVectors iterates(n, some), others(n, between), all(n, {0, 1});
  double *x = work.x.data(), *r = work.r.data(), *z = work.z.data(), *p = work.p.data(),
         *q = work.q.data(), *own_p = work.own_p.data();
  // x0 of the iterated ones as if they were alone; of the others what follows from that
  if (from == SolveFrom::kNothing) own.solve(n.rhs_.data(), x);
  apply(n, kernels, between, Terms::kCouplings, x, q);
  others.for_each([&](std::size_t i) { q[i] = n.rhs_[i] - q[i]; });
  own_between.solve(q, x);
  apply(n, kernels, some, Terms::kAll, x, q);
  iterates.for_each([&](std::size_t i) { r[i] = n.rhs_[i] - q[i]; });
  own.solve(r, z);
  SolveProgress progress = begin_solve(iterates.dot(r, z));
  double beta = 0;
  while (goes_on(progress, tolerance_sigma, most_iterations)) {
    stop_if_asked(observer);
    iterates.for_each([&](std::size_t i) {
      p[i] = z[i] + beta * p[i];
      own_p[i] = r[i] + beta * own_p[i];
    });
    // what keeps the others' equations true
    apply(n, kernels, between, Terms::kCouplings, p, q);
    others.for_each([&](std::size_t i) { q[i] = -q[i]; });
    own_between.solve(q, p);
    apply(n, kernels, some, Terms::kCouplings, p, q);
    iterates.for_each([&](std::size_t i) { q[i] += own_p[i]; });
    const double pq = iterates.dot(p, q);
    if (!(pq > 0)) break;
    const double step = progress.rz / pq;
    all.for_each([&](std::size_t i) { x[i] += step * p[i]; });
    iterates.for_each([&](std::size_t i) { r[i] -= step * q[i]; });
    own.solve(r, z);
    beta = note_iteration(progress, iterates.dot(r, z));
  }
  return {progress.iterations, solution_error(progress.rz)};
}

}  // namespace fiberloom::exact
