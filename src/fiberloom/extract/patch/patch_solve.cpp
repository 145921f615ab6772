// SPDX-License-Identifier: BSD-3-Clause
// Dense solution of one patch. For the inverse of the precision only the blocks of the kept fibres
// are formed, from one Cholesky factor; the peers eigen-decompose the whole matrix for the same
// numbers.
#include "fiberloom/extract/patch/patch_solve.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "fiberloom/extract/patch/patch_pixels.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::patch {
namespace {

constexpr double kMinWeightFraction = 1e-4;
constexpr double kFloor = 1e-15;
constexpr double kRescueRidge = 1e-4;

/// Where the kept fibres and bins lie among the unknowns.
struct Core {
  std::size_t fiber_offset, nfiber, pad, nkeep, nbin;
  [[nodiscard]] Eigen::Index unknown(std::size_t f, std::size_t j) const {
    return static_cast<Eigen::Index>((f + fiber_offset) * nbin + pad + j);
  }
};

PatchResult blank_result(const Core& core, int ndiag) {
  PatchResult out;
  for (auto* a : {&out.flux, &out.ivar, &out.xflux, &out.chi2pix, &out.pixmask_fraction}) {
    *a = Array2D<double>(core.nfiber, core.nkeep, 0.0);
  }
  out.resolution = Array3D<double>(core.nfiber, static_cast<std::size_t>(ndiag), core.nkeep, 0.0);
  for (std::size_t f = 0; f < core.nfiber; ++f) {
    for (std::size_t j = 0; j < core.nkeep; ++j) {
      out.resolution(f, static_cast<std::size_t>(ndiag / 2), j) = 1.0;
    }
  }
  return out;
}

Eigen::VectorXd prior_diagonal(const Eigen::VectorXd& flux_weight, double regularize) {
  const double min_weight = kMinWeightFraction * flux_weight.maxCoeff();
  Eigen::VectorXd prior(flux_weight.size());
  for (Eigen::Index u = 0; u < prior.size(); ++u) {
    const bool weak = flux_weight(u) < min_weight;
    const double alpha = weak ? min_weight - flux_weight(u) : regularize;
    prior(u) = alpha * alpha + kFloor;
  }
  return prior;
}

/// Q = C^(-1/2) of the block of N^-1 that belongs to one fibre; empty when it is not positive.
Eigen::MatrixXd inverse_root(const Eigen::LLT<Eigen::MatrixXd>& factor, std::size_t fiber,
                             std::size_t nbin) {
  const auto n = static_cast<Eigen::Index>(nbin);
  const Eigen::Index first = static_cast<Eigen::Index>(fiber) * n;
  const Eigen::Index below = factor.rows() - first;  // rows above the block stay zero
  Eigen::MatrixXd half = Eigen::MatrixXd::Zero(below, n);
  half.topRows(n).setIdentity();
  factor.matrixLLT()
      .bottomRightCorner(below, below)
      .triangularView<Eigen::Lower>()
      .solveInPlace(half);
  const Eigen::MatrixXd covariance = half.transpose() * half;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  if (eigen.info() != Eigen::Success || !(eigen.eigenvalues().minCoeff() > 0)) return {};
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseInverse().cwiseSqrt().asDiagonal() *
         eigen.eigenvectors().transpose();
}

/// Q = N^(1/2) of the whole patch; empty when N is not positive.
Eigen::MatrixXd root_of(const Eigen::MatrixXd& precision) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(precision);
  if (eigen.info() != Eigen::Success || !(eigen.eigenvalues().minCoeff() > 0)) return {};
  return eigen.operatorSqrt();
}

/// Rows of Q that belong to one fibre: its own block, and what they give of 1 and x.
struct FiberRoot {
  Eigen::MatrixXd q;
  Eigen::VectorXd s, qx;
};

FiberRoot root_of_fiber(const Eigen::MatrixXd& q, const Eigen::VectorXd& x, const Core& core,
                        std::size_t f) {
  const auto n = static_cast<Eigen::Index>(core.nbin);
  const Eigen::Index first = core.unknown(f, 0) - static_cast<Eigen::Index>(core.pad);
  if (q.size() == 0) return {};
  if (q.rows() == n) return {q, q.rowwise().sum(), q * x.segment(first, n)};
  const auto rows = q.middleRows(first, n);
  return {rows.middleCols(first, n), rows.rowwise().sum(), rows * x};
}

/// flux, ivar, xflux and resolution of one fibre; false when a number is not finite.
bool decorrelate(const FiberRoot& root, const Eigen::VectorXd& x, const Eigen::VectorXd& weight,
                 const Core& core, std::size_t f, PatchResult& out) {
  const Eigen::MatrixXd& q = root.q;
  const Eigen::VectorXd& s = root.s;
  if (q.size() == 0) return false;
  const auto n = static_cast<Eigen::Index>(core.nbin);
  const Eigen::VectorXd flux = root.qx.cwiseQuotient(s);
  if (!flux.allFinite() || !s.allFinite()) return false;
  const auto half = static_cast<Eigen::Index>(out.resolution.rows() / 2);
  for (std::size_t j = 0; j < core.nkeep; ++j) {
    const auto col = static_cast<Eigen::Index>(core.pad + j);
    const bool lost = weight(core.unknown(f, j)) == 0;
    out.flux(f, j) = lost ? 0.0 : flux(col);
    out.ivar(f, j) = lost ? 0.0 : s(col) * s(col);
    out.xflux(f, j) = lost ? 0.0 : x(core.unknown(f, j));
    for (std::size_t k = 0; k < out.resolution.rows(); ++k) {
      const Eigen::Index row = col - half + static_cast<Eigen::Index>(k);
      out.resolution(f, k, j) = row >= 0 && row < n ? q(row, col) / s(row) : 0.0;
    }
  }
  return true;
}

/// One attempt with the given ridge. False when the equations have no finite solution.
bool solve(const Eigen::MatrixXd& normal, const Eigen::VectorXd& y,
           const Eigen::VectorXd& flux_weight, const SolveSettings& settings, const Core& core,
           const Observer& observer, Eigen::VectorXd& x, PatchResult& out) {
  Eigen::MatrixXd precision = normal;
  precision.diagonal() += prior_diagonal(flux_weight, settings.regularize);
  const Eigen::LLT<Eigen::MatrixXd> factor(precision);
  if (factor.info() != Eigen::Success) return false;
  x = factor.solve(y);
  if (!x.allFinite()) return false;
  const Eigen::MatrixXd whole =
      settings.decorrelate_fibers ? root_of(precision) : Eigen::MatrixXd();
  for (std::size_t f = 0; f < core.nfiber; ++f) {
    stop_if_asked(observer);
    const FiberRoot root = root_of_fiber(
        settings.decorrelate_fibers ? whole
                                    : inverse_root(factor, core.fiber_offset + f, core.nbin),
        x, core, f);
    if (!decorrelate(root, x, flux_weight, core, f, out)) return false;
  }
  return true;
}

void goodness_of_fit(const PatchPixels& pixels, const Eigen::VectorXd& x, double psferr,
                     const Core& core, PatchResult& out) {
  Array2D<double> chi2 = pixels.projected(x.data());  // the model, then the squared residual
  Array2D<double> good(chi2.rows(), chi2.cols(), 0.0);
  for (std::size_t p = 0; p < chi2.size(); ++p) {
    const double w = pixels.weight().data()[p], model = chi2.data()[p];
    chi2.data()[p] = 0.0;
    if (!(w > 0)) continue;
    const double difference = pixels.image().data()[p] - model, error = psferr * model;
    good.data()[p] = 1.0;
    chi2.data()[p] = difference * difference / (1.0 / w + error * error);
  }
  const auto sum = pixels.transposed(chi2), phi = pixels.transposed(good);
  for (std::size_t f = 0; f < core.nfiber; ++f) {
    for (std::size_t j = 0; j < core.nkeep; ++j) {
      const auto u = static_cast<std::size_t>(core.unknown(f, j));
      const double mean = phi[u] > 0 ? sum[u] / phi[u] : 0.0;
      out.chi2pix(f, j) = std::isfinite(mean) ? mean : 0.0;
    }
  }
}

}  // namespace

PatchResult solve_patch(const CcdFrame& ccd, const SpotTable& spots, const PatchPlan& plan,
                        std::size_t pad, const SolveSettings& settings, const Observer& observer) {
  const PatchPixels pixels(ccd, spots, plan, pad, settings.pixpad_frac);
  const Core core{static_cast<std::size_t>(plan.first - plan.pad_first),
                  static_cast<std::size_t>(plan.last - plan.first), pad, plan.nkeep, pixels.nbin()};
  PatchResult out = blank_result(core, settings.ndiag);
  for (std::size_t f = 0; f < core.nfiber; ++f) {
    for (std::size_t j = 0; j < core.nkeep; ++j) {
      out.pixmask_fraction(f, j) =
          pixels.lost_fraction(static_cast<std::size_t>(core.unknown(f, j)));
    }
  }
  const auto n = static_cast<Eigen::Index>(pixels.size());
  const auto weight_sum = pixels.transposed(pixels.weight());
  const Eigen::VectorXd flux_weight = Eigen::Map<const Eigen::VectorXd>(weight_sum.data(), n);
  if (!(flux_weight.maxCoeff() > 0)) return out;

  const Array2D<double> products = pixels.normal_matrix();
  const Eigen::MatrixXd normal = Eigen::Map<const Eigen::MatrixXd>(products.data(), n, n);
  Array2D<double> weighted_image = pixels.image();
  for (std::size_t p = 0; p < weighted_image.size(); ++p) {
    weighted_image.data()[p] *= pixels.weight().data()[p];
  }
  const auto projection = pixels.transposed(weighted_image);
  const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(projection.data(), n);
  Eigen::VectorXd x;
  out.status = PatchStatus::kSolved;
  if (!solve(normal, y, flux_weight, settings, core, observer, x, out)) {
    out.status = PatchStatus::kRegularized;
    SolveSettings rescue = settings;
    rescue.regularize = kRescueRidge;
    if (settings.regularize != 0 ||
        !solve(normal, y, flux_weight, rescue, core, observer, x, out)) {
      const auto pixmask_fraction = out.pixmask_fraction;
      out = blank_result(core, settings.ndiag);
      out.pixmask_fraction = pixmask_fraction;
      out.status = PatchStatus::kFailed;
      return out;
    }
  }
  goodness_of_fit(pixels, x, settings.psferr, core, out);
  return out;
}

}  // namespace fiberloom::patch
