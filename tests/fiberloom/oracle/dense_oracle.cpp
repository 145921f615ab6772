// SPDX-License-Identifier: BSD-3-Clause
// One bundle at a time: spots, normal equations, solution, Schur complements, roots, diagnostics.
// Long: all that is asked of one dense problem.
#include "tests/fiberloom/oracle/dense_oracle.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "tests/fiberloom/oracle/profile_cholesky.hpp"
#include "tests/fiberloom/oracle/quadrature_spot.hpp"

namespace fiberloom::oracle {
namespace {

using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

constexpr Real kUnconstrainedPhi = 1e-2L;
constexpr Real kPriorStrength = 1e-9L;

/// One bundle; unknown u = bin * nfiber + fibre, bins counted from the first guard bin.
struct Problem {
  int first_fiber = 0;
  std::size_t nfiber = 0, nbin = 0, guard = 0;
  std::vector<ExtendedSpot> spot;  ///< one an unknown
  std::vector<Real> phi, y;
  std::vector<char> unconstrained;
  ProfileMatrix normal;
  std::vector<Real> x;

  [[nodiscard]] std::size_t size() const { return spot.size(); }
};

/// Pixels that a rectangle of the CCD holds: [x0, x1) x [y0, y1).
struct Box {
  int x0, x1, y0, y1;
  [[nodiscard]] bool empty() const { return x0 >= x1 || y0 >= y1; }
};

Box on_ccd(const ExtendedSpot& s, const CcdFrame& ccd) {
  return {std::max(s.x0, 0), std::min(s.x0 + s.nx, static_cast<int>(ccd.image.cols())),
          std::max(s.y0, 0), std::min(s.y0 + s.ny, static_cast<int>(ccd.image.rows()))};
}

Box overlap(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::min(a.x1, b.x1), std::max(a.y0, b.y0), std::min(a.y1, b.y1)};
}

Real value(const ExtendedSpot& s, int x, int y) {
  return s.value[static_cast<std::size_t>((y - s.y0) * s.nx + (x - s.x0))];
}

Real weight(const CcdFrame& ccd, int x, int y) {
  return ccd.ivar.at(static_cast<std::size_t>(y), static_cast<std::size_t>(x));
}

/// Calls f(x, y) for every pixel of the box that has weight.
template <class F>
void for_good_pixels(const CcdFrame& ccd, const Box& box, const F& f) {
  for (int y = box.y0; y < box.y1; ++y) {
    for (int x = box.x0; x < box.x1; ++x) {
      if (weight(ccd, x, y) > 0) f(x, y);
    }
  }
}

void build_spots(Problem& p, const PsfModel& psf, const std::vector<double>& wave) {
  for (const double w : wave) {
    for (std::size_t f = 0; f < p.nfiber; ++f) {
      p.spot.push_back(quadrature_spot(psf, static_cast<std::size_t>(p.first_fiber) + f, w));
    }
  }
}

void build_normal_equations(Problem& p, const CcdFrame& ccd) {
  std::vector<Box> box;
  for (const auto& s : p.spot) box.push_back(on_ccd(s, ccd));
  for (std::size_t a = 0; a < p.size(); ++a) {
    Real phi = 0, y = 0;
    for_good_pixels(ccd, box[a], [&](int px, int py) {
      const Real v = value(p.spot[a], px, py);
      phi += v;
      y += v * weight(ccd, px, py) *
           ccd.image.at(static_cast<std::size_t>(py), static_cast<std::size_t>(px));
    });
    p.phi.push_back(phi);
    p.y.push_back(y);

    std::size_t first = a;
    for (std::size_t b = 0; b < a && first == a; ++b) {
      if (!overlap(box[a], box[b]).empty()) first = b;
    }
    std::vector<Real> row(a - first + 1, 0);
    for (std::size_t b = first; b <= a; ++b) {
      Real sum = 0;
      for_good_pixels(ccd, overlap(box[a], box[b]), [&](int px, int py) {
        sum += value(p.spot[a], px, py) * weight(ccd, px, py) * value(p.spot[b], px, py);
      });
      row[b - first] = sum;
    }
    p.normal.append_row(first, std::move(row));
  }
}

bool in_grid(const Problem& p, std::size_t unknown) {
  const std::size_t bin = unknown / p.nfiber;
  return bin >= p.guard && bin < p.nbin - p.guard;
}

Real median_diagonal(const Problem& p, PriorScope scope) {
  std::vector<Real> d;
  for (std::size_t u = 0; u < p.size(); ++u) {
    if (p.phi[u] > 0.5L && (scope == PriorScope::kWithGuards || in_grid(p, u))) {
      d.push_back(p.normal.row[u].back());
    }
  }
  if (d.empty()) return 1;  // nothing is constrained: any positive number will do
  std::sort(d.begin(), d.end());
  const std::size_t mid = d.size() / 2;
  return d.size() % 2 == 1 ? d[mid] : (d[mid - 1] + d[mid]) / 2;
}

void add_prior(Problem& p, double regularize, PriorScope scope) {
  const Real prior = kPriorStrength * median_diagonal(p, scope);
  const Real ridge = static_cast<Real>(regularize) * regularize;
  for (std::size_t u = 0; u < p.size(); ++u) {
    p.unconstrained.push_back(p.phi[u] < kUnconstrainedPhi ? 1 : 0);
    p.normal.row[u].back() += p.unconstrained.back() != 0 ? prior : ridge;
  }
}

/// S of one fibre: its block of N less the part that the other fibres explain.
Matrix schur_complement(const Problem& p, std::size_t fiber) {
  std::vector<std::size_t> others;
  for (std::size_t u = 0; u < p.size(); ++u) {
    if (u % p.nfiber != fiber) others.push_back(u);
  }
  const ProfileMatrix l = cholesky(submatrix(p.normal, others));
  std::vector<std::vector<Real>> column(p.nbin);
  std::vector<std::size_t> start(p.nbin);
  for (std::size_t j = 0; j < p.nbin; ++j) {
    auto& b = column[j];
    b.resize(others.size());
    for (std::size_t k = 0; k < others.size(); ++k) {
      b[k] = p.normal.at(j * p.nfiber + fiber, others[k]);
    }
    while (start[j] < b.size() && b[start[j]] == 0) ++start[j];
    solve_lower(l, b, start[j]);
  }
  const auto n = static_cast<Eigen::Index>(p.nbin);
  Matrix s(n, n);
  for (std::size_t j = 0; j < p.nbin; ++j) {
    for (std::size_t k = 0; k <= j; ++k) {
      const std::size_t from = std::max(start[j], start[k]);
      const Real explained =
          from < others.size() ? dot(&column[j][from], &column[k][from], others.size() - from) : 0;
      const Real entry = p.normal.lower(j * p.nfiber + fiber, k * p.nfiber + fiber) - explained;
      s(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k)) = entry;
      s(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(j)) = entry;
    }
  }
  return s;
}

struct Root {
  Matrix q;
  Real kappa = 1;
};

Root square_root(const Matrix& s) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(s);
  const Vector& lambda = eigen.eigenvalues();
  if (eigen.info() != Eigen::Success || !(lambda.minCoeff() > 0)) {
    throw Error(Status::kNumerical, "oracle: the marginal precision is not positive definite");
  }
  Root root;
  root.q =
      eigen.eigenvectors() * lambda.cwiseSqrt().asDiagonal() * eigen.eigenvectors().transpose();
  root.kappa = lambda.maxCoeff() / lambda.minCoeff();
  return root;
}

/// All fibres and bins together.
Root whole_root(const Problem& p) {
  const auto n = static_cast<Eigen::Index>(p.size());
  Matrix s(n, n);
  for (std::size_t a = 0; a < p.size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const auto i = static_cast<Eigen::Index>(a), j = static_cast<Eigen::Index>(b);
      s(i, j) = s(j, i) = p.normal.lower(a, b);
    }
  }
  return square_root(s);
}

Matrix fiber_block(const Problem& p, const Matrix& q, std::size_t fiber) {
  const auto n = static_cast<Eigen::Index>(p.nbin);
  const auto at = [&](Eigen::Index j) {
    return j * static_cast<Eigen::Index>(p.nfiber) + static_cast<Eigen::Index>(fiber);
  };
  Matrix block(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index k = 0; k < n; ++k) block(j, k) = q(at(j), at(k));
  }
  return block;
}

/// flux, ivar, xflux and R of fibre `fiber` of the bundle into row `spec`, bins not yet in
/// Angstrom. `whole`: the root of the whole bundle, where fibres are decorrelated.
Real decorrelate(const Problem& p, std::size_t fiber, std::size_t spec, const Root* whole,
                 ExtractResult& out) {
  Root root = whole != nullptr ? Root{fiber_block(p, whole->q, fiber), whole->kappa}
                               : square_root(schur_complement(p, fiber));
  Vector x(static_cast<Eigen::Index>(p.nbin));
  for (std::size_t j = 0; j < p.nbin; ++j) {
    x(static_cast<Eigen::Index>(j)) = p.x[j * p.nfiber + fiber];
  }
  Vector s = root.q.rowwise().sum();
  Vector qx = root.q * x;
  if (whole != nullptr) {
    for (std::size_t j = 0; j < p.nbin; ++j) {
      const auto e = static_cast<Eigen::Index>(j);
      const auto row = whole->q.row(static_cast<Eigen::Index>(j * p.nfiber + fiber));
      s(e) = row.sum();
      qx(e) = 0;
      for (std::size_t u = 0; u < p.size(); ++u)
        qx(e) += row(static_cast<Eigen::Index>(u)) * p.x[u];
    }
  }
  const auto nwave = p.nbin - 2 * p.guard, half = out.resolution.rows() / 2;
  for (std::size_t j = 0; j < nwave; ++j) {
    const std::size_t bin = j + p.guard;
    const auto e = static_cast<Eigen::Index>(bin);
    const bool lost = p.unconstrained[bin * p.nfiber + fiber] != 0;
    out.flux(spec, j) = lost ? 0.0 : static_cast<double>(qx(e) / s(e));
    out.ivar(spec, j) = lost ? 0.0 : static_cast<double>(s(e) * s(e));
    out.xflux(spec, j) = lost ? 0.0 : static_cast<double>(x(e));
    for (std::size_t k = 0; k < out.resolution.rows(); ++k) {
      const std::size_t col = j + half - k;  // row j of R: R[j, col] is diagonal k of column col
      if (col >= nwave) continue;
      const Real r = root.q(e, static_cast<Eigen::Index>(col + p.guard)) / s(e);
      const double identity = col == j ? 1.0 : 0.0;
      out.resolution(spec, k, col) = static_cast<float>(lost ? identity : static_cast<double>(r));
    }
  }
  return root.kappa;
}

/// Correlations of the errors of fibres `fiber` and the next: Q_1 Z Q_2 with Z their block of N^-1,
/// column by column.
void correlate(const Problem& p, const ProfileMatrix& l, std::size_t fiber, std::size_t spec,
               ExtractResult& out) {
  const auto n = static_cast<Eigen::Index>(p.nbin);
  Matrix z(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    std::vector<Real> column(p.size(), 0);
    column[static_cast<std::size_t>(k) * p.nfiber + fiber + 1] = 1;
    solve_lower(l, column, 0);
    solve_upper(l, column);
    for (Eigen::Index j = 0; j < n; ++j)
      z(j, k) = column[static_cast<std::size_t>(j) * p.nfiber + fiber];
  }
  const Matrix correlation =
      square_root(schur_complement(p, fiber)).q * z * square_root(schur_complement(p, fiber + 1)).q;
  const std::size_t nwave = out.flux.cols(), half = out.fiber_correlation.rows() / 2;
  for (std::size_t j = 0; j < nwave; ++j) {
    for (std::size_t k = 0; k <= 2 * half; ++k) {
      const std::size_t other = j + k - half;  // wraps below 0
      if (other >= nwave) continue;
      const bool lost = p.unconstrained[(j + p.guard) * p.nfiber + fiber] != 0 ||
                        p.unconstrained[(other + p.guard) * p.nfiber + fiber + 1] != 0;
      const Real entry = correlation(static_cast<Eigen::Index>(j + p.guard),
                                     static_cast<Eigen::Index>(other + p.guard));
      out.fiber_correlation(spec, k, j) = lost ? 0.0F : static_cast<float>(entry);
    }
  }
}

/// A x; what an unconstrained bin puts on masked pixels is its prior's business and left out.
Array2D<double> project(const Problem& p, const CcdFrame& ccd) {
  Array2D<double> image(ccd.image.rows(), ccd.image.cols(), 0.0);
  for (std::size_t u = 0; u < p.size(); ++u) {
    const Box box = on_ccd(p.spot[u], ccd);
    for (int y = box.y0; y < box.y1; ++y) {
      for (int x = box.x0; x < box.x1; ++x) {
        if (p.unconstrained[u] != 0 && !(weight(ccd, x, y) > 0)) continue;
        image(static_cast<std::size_t>(y), static_cast<std::size_t>(x)) +=
            static_cast<double>(p.x[u] * value(p.spot[u], x, y));
      }
    }
  }
  return image;
}

/// chi2pix and pixmask_fraction of one fibre.
void diagnose(const Problem& p, const CcdFrame& ccd, const Array2D<double>& model, double psferr,
              std::size_t fiber, std::size_t spec, ExtractResult& out) {
  for (std::size_t j = 0; j < out.flux.cols(); ++j) {
    const std::size_t u = (j + p.guard) * p.nfiber + fiber;
    Real sum = 0;
    for_good_pixels(ccd, on_ccd(p.spot[u], ccd), [&](int x, int y) {
      const auto r = static_cast<std::size_t>(y), c = static_cast<std::size_t>(x);
      const Real m = model(r, c), variance = 1 / weight(ccd, x, y) + psferr * m * psferr * m;
      const Real d = ccd.image.at(r, c) - m;
      sum += value(p.spot[u], x, y) * d * d / variance;
    });
    out.chi2pix(spec, j) = p.phi[u] > 0 ? static_cast<double>(sum / p.phi[u]) : 0.0;
    out.pixmask_fraction(spec, j) = static_cast<double>(1 - p.phi[u]);
  }
}

ExtractResult empty_result(const CcdFrame& ccd, const PsfModel& psf,
                           const ExtractOptions& options) {
  ExtractResult out;
  const auto n =
      static_cast<std::size_t>(options.nspec < 0 ? psf.nfiber() - options.spec_min : options.nspec);
  const std::size_t nwave = options.wave.size();
  out.wave = options.wave;
  out.spec_min = options.spec_min;
  for (auto* a : {&out.flux, &out.ivar, &out.xflux, &out.chi2pix, &out.pixmask_fraction}) {
    *a = Array2D<double>(n, nwave, 0.0);
  }
  out.resolution = Array3D<float>(n, static_cast<std::size_t>(options.ndiag), nwave, 0.0F);
  if (options.fiber_correlation) {
    out.fiber_correlation = Array3D<float>(n, static_cast<std::size_t>(options.ndiag), nwave, 0.0F);
  }
  if (options.want_model) out.model = Array2D<float>(ccd.image.rows(), ccd.image.cols(), 0.0F);
  return out;
}

void add_to_model(const Array2D<double>& part, Array2D<float>& model) {
  for (std::size_t k = 0; k < part.size(); ++k) {
    model.data()[k] += static_cast<float>(part.data()[k]);
  }
}

void solve_bundle(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& options,
                  const BundleRange& range, int guard_bins, PriorScope scope, ExtractResult& out) {
  Problem p;
  p.first_fiber = range.first;
  p.nfiber = static_cast<std::size_t>(range.last - range.first);
  p.guard = static_cast<std::size_t>(guard_bins);
  p.nbin = options.wave.size() + 2 * p.guard;
  build_spots(p, psf, extended_grid(options.wave, guard_bins, guard_bins));
  build_normal_equations(p, ccd);
  add_prior(p, options.regularize, scope);
  const ProfileMatrix l = cholesky(p.normal);
  p.x = p.y;
  solve_lower(l, p.x, 0);
  solve_upper(l, p.x);

  BundleReport report;
  report.first_fiber = range.first;
  report.nfiber = range.last - range.first;
  const auto model = project(p, ccd);
  const double psferr = options.psferr < 0 ? psf.psferr : options.psferr;
  const auto requested = [&](std::size_t fiber) {
    const int f = range.first + static_cast<int>(fiber) - options.spec_min;
    return f >= 0 && f < static_cast<int>(out.flux.rows());
  };
  const Root whole = options.decorrelate_fibers ? whole_root(p) : Root{};
  for (std::size_t f = 0; f < p.nfiber; ++f) {
    if (!requested(f)) continue;
    const auto spec =
        static_cast<std::size_t>(range.first + static_cast<int>(f) - options.spec_min);
    report.kappa = std::max(report.kappa,
                            static_cast<double>(decorrelate(
                                p, f, spec, options.decorrelate_fibers ? &whole : nullptr, out)));
    diagnose(p, ccd, model, psferr, f, spec, out);
    if (options.fiber_correlation && f + 1 < p.nfiber && requested(f + 1))
      correlate(p, l, f, spec, out);
  }
  const auto shown = [&](std::size_t u) { return in_grid(p, u) && requested(u % p.nfiber); };
  for (std::size_t u = 0; u < p.size(); ++u) {
    if (shown(u) && p.unconstrained[u] != 0) ++report.unconstrained;
  }
  if (options.want_model) add_to_model(model, out.model);
  out.bundles.push_back(report);
}

}  // namespace

std::vector<double> extended_grid(const std::vector<double>& wave, int below, int above) {
  const double lo = wave.size() > 1 ? wave[1] - wave[0] : 1.0;
  const double hi = wave.size() > 1 ? wave[wave.size() - 1] - wave[wave.size() - 2] : 1.0;
  std::vector<double> out;
  for (int k = below; k > 0; --k) out.push_back(wave.front() - k * lo);
  out.insert(out.end(), wave.begin(), wave.end());
  for (int k = 1; k <= above; ++k) out.push_back(wave.back() + k * hi);
  return out;
}

ExtractResult dense_oracle(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& options,
                           int guard_bins, PriorScope scope) {
  validate(ccd, psf, options);
  ExtractResult out = empty_result(ccd, psf, options);
  const int first = options.spec_min, last = first + static_cast<int>(out.flux.rows());
  for (const BundleRange& range : bundle_ranges(psf, options.bundle_size)) {
    if (range.last <= first || range.first >= last) continue;
    solve_bundle(ccd, psf, options, range, guard_bins, scope, out);
  }
  const auto width = bin_widths(options.wave);
  for (std::size_t s = 0; s < out.flux.rows(); ++s) {
    for (std::size_t j = 0; j < width.size(); ++j) {
      out.flux(s, j) /= width[j];
      out.xflux(s, j) /= width[j];
      out.ivar(s, j) *= width[j] * width[j];
    }
  }
  set_spectral_mask(out);
  return out;
}

}  // namespace fiberloom::oracle
