// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/archetype_scan.hpp"

#include <algorithm>
#include <cmath>

namespace fiberloom::redshift {
namespace {

/// Lower Cholesky factor; a column that says nothing new becomes zero.
Array2D<double> factor(Array2D<double> g) {
  const std::size_t n = g.rows();
  for (std::size_t j = 0; j < n; ++j) {
    const double original = g(j, j);
    for (std::size_t k = 0; k < j; ++k) g(j, j) -= g(j, k) * g(j, k);
    const bool good = g(j, j) > 1e-12 * original && original > 0;
    g(j, j) = good ? std::sqrt(g(j, j)) : 0;
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) g(i, j) -= g(i, k) * g(j, k);
      g(i, j) = good ? g(i, j) / g(j, j) : 0;
    }
  }
  return g;
}

std::vector<double> joined(const PreparedTarget& target, Buffer<double> Block::*member) {
  std::vector<double> out;
  for (const Block& block : target.blocks) {
    const Buffer<double>& values = block.*member;
    out.insert(out.end(), values.data(), values.data() + block.pixels);
  }
  return out;
}

/// Sums of one archetype over pixels, a redshift a lane.
struct Sums {
  ZPack square{}, light{};
  std::vector<ZPack> along;  ///< C A
};

}  // namespace

ArchetypeScan::ArchetypeScan(const TargetSet& set, const Archetypes& archetypes, Igm igm,
                             const ArchetypeFitter& fitter, double prior_variance)
    : set_(set),
      fitter_(fitter),
      kernels_(scan_kernels(active_isa())),
      prior_variance_(prior_variance) {
  constexpr auto kGroup = static_cast<std::size_t>(kMostBasis);
  for (std::size_t first = 0; first < archetypes.flux.rows(); first += kGroup) {
    groups_.push_back(archetype_group(archetypes, first, kGroup, igm));
    samplers_.emplace_back(groups_.back(), set.grids, set.halo(), kernels_);
  }
}

ArchetypeScan::Projected ArchetypeScan::project(const PreparedTarget& target) const {
  Projected out;
  const std::vector<double> weight = joined(target, &Block::weight);
  const std::vector<double> flux = joined(target, &Block::flux);
  out.rows = fitter_.legendre_columns(target);
  const std::size_t n = out.rows.size(), pixels = weight.size();
  Array2D<double> g(n, n);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = a == b && prior_variance_ > 0 ? 1 / prior_variance_ : 0;
      for (std::size_t i = 0; i < pixels; ++i) sum += weight[i] * out.rows[a][i] * out.rows[b][i];
      g(a, b) = sum;
    }
  }
  const Array2D<double> l = factor(std::move(g));
  for (std::size_t a = 0; a < n; ++a) {  // rows of C, by substitution
    std::vector<double>& row = out.rows[a];
    for (std::size_t i = 0; i < pixels; ++i) row[i] *= weight[i];
    for (std::size_t b = 0; b < a; ++b) {
      for (std::size_t i = 0; i < pixels; ++i) row[i] -= l(a, b) * out.rows[b][i];
    }
    const double scale = l(a, a) > 0 ? 1 / l(a, a) : 0;
    for (double& v : row) v *= scale;
  }
  out.base = target.weight_flux2;
  out.residual.resize(pixels);
  for (std::size_t i = 0; i < pixels; ++i) out.residual[i] = weight[i] * flux[i];
  for (const std::vector<double>& row : out.rows) {
    double y = 0;
    for (std::size_t i = 0; i < pixels; ++i) y += row[i] * flux[i];
    out.base -= y * y;
    for (std::size_t i = 0; i < pixels; ++i) out.residual[i] -= y * row[i];
  }
  return out;
}

ZPack ArchetypeScan::chi2(const PreparedTarget& target, const Projected& projected,
                          const ZPack& z) const {
  ZPack least;
  least.fill(projected.base);
  const std::size_t halo = set_.halo(), terms = projected.rows.size();
  for (const Sampler& sampler : samplers_) {
    const std::size_t nb = sampler.nbasis();
    Buffer<double> pack(sampler.pack_size());
    sampler.sample(z, pack.data());
    std::vector<Sums> sums(nb, Sums{{}, {}, std::vector<ZPack>(terms, ZPack{})});
    std::size_t at = 0;
    for (const Block& block : target.blocks) {
      Buffer<double> blurred(block.padded() * nb * kLanes);
      const std::size_t start = halo - block.ndiag / 2;
      kernels_.blur(static_cast<int>(nb), static_cast<int>(block.ndiag),
                    static_cast<long>(block.padded()), block.rows.data(),
                    pack.data() + sampler.grid_offset(block.grid) + start * nb * kLanes,
                    blurred.data());
      for (std::size_t i = 0; i < block.pixels; ++i) {
        const double w = block.weight[i];
        if (w == 0) continue;
        for (std::size_t a = 0; a < nb; ++a) {
          const double* const b = blurred.data() + (i * nb + a) * kLanes;
          Sums& s = sums[a];
          const double r = projected.residual[at + i];
          for (std::size_t lane = 0; lane < kLanes; ++lane) {
            s.square[lane] += w * b[lane] * b[lane];
            s.light[lane] += r * b[lane];
          }
          for (std::size_t k = 0; k < terms; ++k) {
            const double c = projected.rows[k][at + i];
            if (c == 0) continue;  // of another camera
            for (std::size_t lane = 0; lane < kLanes; ++lane) s.along[k][lane] += c * b[lane];
          }
        }
      }
      at += block.pixels;
    }
    for (const Sums& s : sums) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        double square = s.square[lane];
        for (const ZPack& along : s.along) square -= along[lane] * along[lane];
        if (!(square > 1e-12 * s.square[lane]) || !(s.light[lane] > 0)) continue;
        const double gain = s.light[lane] * s.light[lane] / square;
        least[lane] = std::min(least[lane], projected.base - gain);
      }
    }
  }
  return least;
}

Candidate ArchetypeScan::close_in(const PreparedTarget& target, const Projected& projected,
                                  double low, double high) const {
  Candidate c;
  constexpr int kRounds = 4;  // two steps of 207 km/s become 0.2
  for (int round = 0; round < kRounds; ++round) {
    ZPack z;
    const double step = (high - low) / static_cast<double>(kLanes - 1);
    for (std::size_t i = 0; i < kLanes; ++i) z[i] = low + step * static_cast<double>(i);
    const ZPack value = chi2(target, projected, z);
    const auto i =
        static_cast<std::size_t>(std::min_element(value.begin(), value.end()) - value.begin());
    const std::size_t middle = std::clamp<std::size_t>(i, 1, kLanes - 2);
    const Parabola p = parabola(std::span<const double, 3>(z.data() + middle - 1, 3),
                                std::span<const double, 3>(value.data() + middle - 1, 3));
    c.z = p.good && p.x0 > low && p.x0 < high ? p.x0 : z[i];
    c.chi2 = value[i];
    if (p.good) c.zerr = p.width;
    c.fine_z.assign(z.begin(), z.end() - 1);
    c.fine_chi2.assign(value.begin(), value.end() - 1);
    low = std::max(low, z[i] - step);
    high = std::min(high, z[i] + step);
    if (p.good && high - low < 0.5 * p.width) break;  // closer in there is noise of sums alone
  }
  if (c.zerr == 0) {
    c.zerr = high - low;
    c.zwarn |= zwarn::kBadMinimum;
  }
  return c;
}

std::vector<Candidate> ArchetypeScan::find(const PreparedTarget& target, const Curve& curve,
                                           std::size_t index, std::size_t most) const {
  std::vector<double> grid;
  std::copy_if(curve.z.begin(), curve.z.end(), std::back_inserter(grid),
               [&](double z) { return fitter_.covers(z); });
  std::vector<Candidate> out;
  if (grid.size() < 3 || target.good_pixels == 0) return out;
  const Projected projected = project(target);
  std::vector<double> values;
  for (std::size_t i = 0; i < grid.size(); i += kLanes) {
    const ZPack chi2_of = chi2(target, projected, pack_of(std::span(grid).subspan(i)));
    for (std::size_t k = 0; k < kLanes && i + k < grid.size(); ++k) values.push_back(chi2_of[k]);
  }
  const Template& source = curve.fitter->source();
  for (const std::size_t at : find_minima(values)) {
    if (out.size() == most) break;
    const double low = grid[at == 0 ? 0 : at - 1], high = grid[std::min(at + 1, grid.size() - 1)];
    Candidate c = close_in(target, projected, low, high);
    const bool again = std::any_of(out.begin(), out.end(), [&](const Candidate& o) {
      return std::abs(velocity_kms(c.z, o.z)) < source.least_separation_kms();
    });
    if (again) continue;
    c.curve = index;
    c.spectype = source.spectype;
    c.subtype = source.subtype;
    c.good_pixels = target.good_pixels;
    c.least_separation_kms = source.least_separation_kms();
    if (c.z < grid[1] || c.z > grid[grid.size() - 2]) c.zwarn |= zwarn::kFitLimit;
    take_archetype(target, fitter_, c);
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace fiberloom::redshift
