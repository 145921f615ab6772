// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/fitter.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"

namespace fiberloom::redshift {
namespace {

/// The doublet at rest, Angstrom.
constexpr double kOiiFirst = 3724, kOiiLast = 3733;

std::vector<double> oii_sums(const Template& t) {
  std::vector<double> sums(t.nbasis(), 0.0);
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    if (t.wave[k] < kOiiFirst || t.wave[k] > kOiiLast) continue;
    for (std::size_t a = 0; a < t.nbasis(); ++a) sums[a] += t.flux(a, k);
  }
  return sums;
}

/// M and y of one lane, whole.
void unpack(const double* normal, std::size_t nb, std::size_t lane, Array2D<double>& m,
            std::vector<double>& y) {
  std::size_t at = 0;
  for (std::size_t a = 0; a < nb; ++a) {
    for (std::size_t b = a; b < nb; ++b) m(a, b) = m(b, a) = normal[kLanes * at++ + lane];
  }
  for (std::size_t a = 0; a < nb; ++a) y[a] = normal[kLanes * at++ + lane];
}

/// What a smooth spectrum explains of a block where no template does.
double gain_beyond(const Block& block, const Sampler::Reach& reach) {
  if (block.smooth_gain.empty()) return 0;
  const auto before = [&](std::size_t i) { return block.smooth_gain[std::min(i, block.pixels)]; };
  return before(reach.first) + before(block.pixels) - before(reach.last);
}

}  // namespace

ZPack pack_of(std::span<const double> z) noexcept {
  ZPack pack{};
  for (std::size_t lane = 0; lane < pack.size(); ++lane) {
    pack[lane] = z[std::min(lane, z.size() - 1)];
  }
  return pack;
}

Fitter::Fitter(const TargetSet& set, const Template& source, const ScanKernels& kernels,
               const FitOptions& options)
    : set_(set),
      source_(source),
      kernels_(kernels),
      options_(options),
      halo_(set.halo()),
      sampler_(source, set.grids, halo_, kernels, options.igm_edge) {
  if (source.nbasis() > static_cast<std::size_t>(kMostBasis)) {
    throw Error(Status::kUnsupported, source.file + ": " + std::to_string(source.nbasis()) +
                                          " vectors, at most " + std::to_string(kMostBasis) +
                                          " supported");
  }
  if (options.evidence == WithEvidence::kYes)
    evidence_ = evidence_table(coefficient_shapes(source));
  if (options.oii_penalty != OiiPenalty::kNo && source.spectype == "GALAXY" &&
      source.method == Method::kPca) {
    oii_ = oii_sums(source);
  }
}

std::size_t Fitter::sky_at(std::size_t grid) const noexcept {
  const auto equations = static_cast<std::size_t>(normal_size(static_cast<int>(nbasis())));
  return (equations + grid * nbasis()) * kLanes;
}

std::size_t Fitter::normal_doubles() const noexcept { return sky_at(set_.sky_terms); }

void Fitter::accumulate(const Block& block, const double* part, std::size_t part_first,
                        std::size_t first, std::size_t count, double* normal) const noexcept {
  const std::size_t start = halo_ - block.ndiag / 2 + first - part_first;
  kernels_.accumulate(static_cast<int>(nbasis()), static_cast<int>(block.ndiag),
                      static_cast<long>(count), block.rows.data() + first * block.ndiag,
                      block.weight.data() + first, block.flux.data() + first,
                      part + start * nbasis() * kLanes, normal);
  if (set_.sky_terms == 0) return;
  kernels_.project(static_cast<int>(nbasis()), static_cast<long>(count), block.pull.data() + first,
                   part + (halo_ + first - part_first) * nbasis() * kLanes,
                   normal + sky_at(block.grid));
}

void Fitter::solve_nonnegative(const double* normal, PackFit& out) const {
  const std::size_t nb = nbasis();
  Array2D<double> m(nb, nb);
  std::vector<double> y(nb);
  const std::vector<double> lower(nb, 0.0), upper(nb, HUGE_VAL);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    unpack(normal, nb, lane, m, y);
    const std::vector<double> c = solve_constrained(options_.constrained, m, y, lower, upper);
    out.chi2[lane] = chi2_gain(m, y, c);
    for (std::size_t a = 0; a < nb; ++a) out.coefficients[a * kLanes + lane] = c[a];
  }
}

std::vector<Sampler::Reach> Fitter::reach(const ZPack& z) const {
  std::vector<Sampler::Reach> out;
  for (std::size_t g = 0; g < set_.grids.size(); ++g) out.push_back(sampler_.reach(z, g));
  return out;
}

void Fitter::solve(const double* normal, double least_pivot, PackFit& out) const {
  const std::size_t nb = nbasis();
  out.coefficients.assign(nb * kLanes, 0.0);
  out.evidence.fill(0);
  if (has_evidence()) {
    Buffer<double> parts(
        static_cast<std::size_t>(3 * kLanes * kBrightnesses * evidence_.components));
    kernels_.evidence(static_cast<int>(nb), normal, evidence_.components, evidence_.numbers.data(),
                      parts.data());
    finish_evidence(evidence_, parts.data(), out.evidence.data());
  }
  if (source_.method == Method::kNmf) return solve_nonnegative(normal, out);
  ZPack rank;
  kernels_.solve(static_cast<int>(nb), normal, least_pivot, out.chi2.data(),
                 out.coefficients.data(), rank.data());
}

bool Fitter::is_oii_bluer(double z) const noexcept {
  return std::all_of(set_.grids.begin(), set_.grids.end(),
                     [&](const WaveGrid& g) { return g.edges.front() > kOiiFirst * (1 + z); });
}

void Fitter::settle(const PreparedTarget& target, const ZPack& z,
                    std::span<const Sampler::Reach> reach, PackFit& out) const {
  out.penalty.fill(0);
  if (target.good_pixels == 0) {
    out.coefficients.assign(nbasis() * kLanes, 0.0);
    out.evidence.fill(0);
    out.chi2.fill(kHugeChi2);
    return;
  }
  double beyond = 0;
  for (const Block& block : target.blocks) beyond += gain_beyond(block, reach[block.grid]);
  const double none = target.weight_flux2 - beyond - target.sky_gain;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (has_evidence()) out.evidence[lane] += 0.5 * beyond;
    out.chi2[lane] = none - out.chi2[lane];
    if (options_.oii_penalty == OiiPenalty::kUnlessBluer && is_oii_bluer(z[lane])) continue;
    double oii = 0;
    for (std::size_t a = 0; a < oii_.size(); ++a) oii += oii_[a] * out.coefficient(a, lane);
    if (oii < 0) out.penalty[lane] = -oii;
  }
}

void Fitter::finish(const PreparedTarget& target, const ZPack& z,
                    std::span<const Sampler::Reach> reach, const double* normal, double least_pivot,
                    PackFit& out) const {
  if (target.good_pixels > 0 && target.sky.empty()) {
    solve(normal, least_pivot, out);
  } else if (target.good_pixels > 0) {
    out.reduced.assign(normal, normal + sky_at(0));
    for (std::size_t g = 0; g < target.sky.size(); ++g) {
      kernels_.take_out(static_cast<int>(nbasis()), normal + sky_at(g), target.sky[g].beta,
                        target.sky[g].weighted_flux, out.reduced.data());
    }
    solve(out.reduced.data(), least_pivot, out);
  }
  settle(target, z, reach, out);
}

void Fitter::fit(const PreparedTarget& target, std::span<const double> z, std::span<double> part,
                 PackFit& out) const {
  const ZPack lanes = pack_of(z);
  const std::vector<Sampler::Reach> reached = reach(lanes);
  std::vector<double> normal(normal_doubles(), 0.0);
  for (const Block& block : target.blocks) {  // exposures of one grid sample it again: rare
    const Sampler::OnGrid on = sampler_.on_grid(lanes, block.grid);
    const Sampler::Reach r = reached[block.grid];
    for (std::size_t i = r.first; i < r.last; i += kPart) {
      const std::size_t count = std::min(kPart, r.last - i);
      sampler_.sample(on, i, count, part.data());
      accumulate(block, part.data(), i, i, count, normal.data());
    }
  }
  finish(target, lanes, reached, normal.data(), kLeastPivot, out);
}

std::vector<double> Fitter::model(const Block& block, double z,
                                  std::span<const double> coefficients) const {
  std::vector<double> pack(sampler_.pack_size());
  sampler_.sample(pack_of({&z, 1}), pack.data());
  const std::size_t nb = nbasis(), start = halo_ - block.ndiag / 2;
  std::vector<double> b(block.padded() * nb * kLanes);
  kernels_.blur(static_cast<int>(nb), static_cast<int>(block.ndiag),
                static_cast<long>(block.padded()), block.rows.data(),
                pack.data() + sampler_.grid_offset(block.grid) + start * nb * kLanes, b.data());
  std::vector<double> out(block.pixels, 0.0);
  const Sampler::Reach r = sampler_.reach(pack_of({&z, 1}), block.grid);
  for (std::size_t i = r.first; i < std::min(block.pixels, r.last); ++i) {
    for (std::size_t a = 0; a < nb && a < coefficients.size(); ++a) {
      out[i] += coefficients[a] * b[(i * nb + a) * kLanes];
    }
  }
  return out;
}

}  // namespace fiberloom::redshift
