// SPDX-License-Identifier: BSD-3-Clause
// Packing of the PSF, traces, and the choice of the spot kernel.
#include "fiberloom/psf/spot_plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "fiberloom/psf/pixel_spots.hpp"
#include "fiberloom/psf/spots_lane.hpp"
#include "fiberloom/psf/two_core_spots.hpp"
#include "loom/base/error.hpp"
#include "loom/simd/isa_tables.hpp"

namespace fiberloom {

namespace {

std::vector<const LegendreSeries*> all_series(const PsfModel& psf) {
  std::vector<const LegendreSeries*> series{&psf.x, &psf.y, &psf.sigma_x, &psf.sigma_y};
  const auto add = [&series](const std::vector<LegendreSeries>& more) {
    for (const LegendreSeries& s : more) series.push_back(&s);
  };
  const auto add_tails = [&series](const PsfTails& t) {
    series.insert(series.end(), {&t.amp, &t.core, &t.xscale, &t.yscale, &t.index});
  };
  if (const TwoCores* cores = psf.shape ? psf.shape->cores() : nullptr) {
    add(cores->first.coef);
    add_tails(cores->tails);
    series.insert(series.end(), {&cores->second.sigma_x, &cores->second.sigma_y});
    add(cores->second.coef);
    series.push_back(&cores->cut_sigma);
    return series;
  }
  add(psf.gh);
  if (psf.has_tails) add_tails(psf.tails);
  return series;
}

/// A series over the whole grid.
std::vector<double> evaluate_all(const SpotPlan& plan, int fiber, int series) {
  const double* c = plan.coef.data() + plan.coef_of(fiber) + series * plan.ncoef;
  std::vector<double> sum(static_cast<std::size_t>(plan.nwave_padded), 0.0);
  for (int k = 0; k < plan.ncoef; ++k) {
    if (c[k] == 0.0) continue;
    const double* basis = plan.basis_row(fiber, plan.domain[static_cast<std::size_t>(series)], k);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += c[k] * basis[j];
  }
  return sum;
}

/// Far beyond what a PSF holds, values are cut: nothing may become infinite.
Buffer<float> rounded(const Buffer<double>& exact) {
  Buffer<float> out(exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    out[i] = static_cast<float>(std::clamp(exact[i], -1e25, 1e25));
  }
  return out;
}

void require_room(int nx, int ny, int degree) {
  if (nx <= lane::kMaxStampX && ny <= lane::kMaxStampY && degree <= lane::kMaxDegree) return;
  throw Error(Status::kUnsupported,
              "PSF stamp of " + std::to_string(nx) + " x " + std::to_string(ny) +
                  " pixels and degree " + std::to_string(degree) + ": at most " +
                  std::to_string(lane::kMaxStampX) + " x " + std::to_string(lane::kMaxStampY) +
                  " and " + std::to_string(lane::kMaxDegree) + " supported");
}

void require_stamp(const SpotShape& shape) {
  if (shape.nx() <= kMaxShapeStamp && shape.ny() <= kMaxShapeStamp) return;
  throw Error(Status::kUnsupported, std::string("PSF of kind ") + shape.kind() + ", stamp of " +
                                        std::to_string(shape.nx()) + " x " +
                                        std::to_string(shape.ny()) + " pixels: at most " +
                                        std::to_string(kMaxShapeStamp) + " a side supported");
}

using Domain = std::pair<double, double>;

/// P_k(u) of one grid, [ncoef][padded] for each domain; bins beyond the grid repeat the last.
void fill_basis(const std::vector<Domain>& domains, std::size_t ncoef, std::size_t padded,
                const std::vector<double>& wave_aa, double* basis) {
  for (std::size_t d = 0; d < domains.size(); ++d) {
    for (std::size_t j = 0; j < padded; ++j) {
      const double wave = wave_aa[std::min(j, wave_aa.size() - 1)];
      const double u =
          (wave - domains[d].first) * 2.0 / (domains[d].second - domains[d].first) - 1.0;
      double p0 = 1.0, p1 = u;
      for (std::size_t k = 0; k < ncoef; ++k) {
        basis[(d * ncoef + k) * padded + j] = p0;
        const double kd = static_cast<double>(k);
        const double p2 = ((2 * kd + 3) * u * p1 - (kd + 1) * p0) / (kd + 2);
        p0 = p1;
        p1 = p2;
      }
    }
  }
}

/// Which of the kernels makes the spots, and what they are made of.
void choose_kernel(const PsfModel& psf, SpotPlan& plan) {
  plan.shape = psf.shape;
  ImageSum sum;
  plan.of_images = psf.shape && psf.shape->sum_of({}, sum);
  if (plan.of_images) return require_stamp(*psf.shape);
  plan.degree_x = psf.gh_deg_x;
  plan.degree_y = psf.gh_deg_y;
  plan.has_tails = psf.has_tails;
  if (psf.shape) {
    const TwoCores* cores = psf.shape->cores();
    if (cores == nullptr) {
      throw Error(Status::kUnsupported,
                  std::string("no kernel for spots of PSFs of kind ") + psf.shape->kind());
    }
    plan.two_cores = plan.has_tails = true;
    plan.degree_x = cores->first.degree_x;
    plan.degree_y = cores->first.degree_y;
    plan.second_degree_x = cores->second.degree_x;
    plan.second_degree_y = cores->second.degree_y;
  }
  require_room(
      psf.stamp_nx(), psf.stamp_ny(),
      std::max({plan.degree_x, plan.degree_y, plan.second_degree_x, plan.second_degree_y}));
}

// Long: fills the fields of a plan one after the other.
SpotPlan make_plan(const PsfModel& psf, std::span<const std::vector<double>> grids,
                   int first_fiber) {
  SpotPlan plan;
  choose_kernel(psf, plan);
  plan.nx = psf.stamp_nx();
  plan.ny = psf.stamp_ny();
  plan.stride = (plan.nx + kLanes - 1 + kLanes - 1) / kLanes * kLanes;
  plan.float_stride = (plan.nx + kFloatLanes - 1 + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
  plan.hsize_x = psf.hsize_x;
  plan.hsize_y = psf.hsize_y;
  plan.npix_x = psf.npix_x;
  plan.npix_y = psf.npix_y;
  plan.nfiber = psf.nfiber();
  plan.nbases = static_cast<int>(grids.size());
  plan.basis_first = first_fiber;
  plan.nwave = static_cast<int>(grids.front().size());
  plan.nwave_padded = (plan.nwave + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
  if (plan.of_images) {
    for (const std::vector<double>& wave_aa : grids) {
      plan.wave_aa.insert(plan.wave_aa.end(), wave_aa.begin(), wave_aa.end());
      plan.wave_aa.insert(plan.wave_aa.end(),
                          static_cast<std::size_t>(plan.nwave_padded) - wave_aa.size(),
                          wave_aa.back());
    }
  }

  const auto series = all_series(psf);
  plan.nseries = static_cast<int>(series.size());
  std::vector<Domain> domains;
  for (const LegendreSeries* s : series) {
    plan.ncoef = std::max(plan.ncoef, static_cast<int>(s->coef.cols()));
    const Domain domain(s->wave_min, s->wave_max);
    const auto found = std::find(domains.begin(), domains.end(), domain);
    plan.domain.push_back(static_cast<int>(found - domains.begin()));
    if (found == domains.end()) domains.push_back(domain);
  }
  plan.ndomain = static_cast<int>(domains.size());

  const auto ncoef = static_cast<std::size_t>(plan.ncoef);
  plan.used.assign(series.size(), 1);
  plan.coef = Buffer<double>(static_cast<std::size_t>(plan.nfiber) * series.size() * ncoef, 0.0);
  for (std::size_t f = 0; f < static_cast<std::size_t>(plan.nfiber); ++f) {
    for (std::size_t s = 0; s < series.size(); ++s) {
      for (std::size_t k = 0; k < series[s]->coef.cols(); ++k) {
        const double c = series[s]->coef(f, k);
        plan.coef[(f * series.size() + s) * ncoef + k] = c;
        if (c != 0.0) plan.used[s] = std::max(plan.used[s], static_cast<int>(k) + 1);
      }
    }
  }
  const auto padded = static_cast<std::size_t>(plan.nwave_padded);
  const std::size_t size = domains.size() * ncoef * padded;
  plan.basis = Buffer<double>(grids.size() * size, 0.0);
  for (std::size_t g = 0; g < grids.size(); ++g)
    fill_basis(domains, ncoef, padded, grids[g], plan.basis.data() + g * size);
  plan.float_coef = rounded(plan.coef);
  plan.float_basis = rounded(plan.basis);
  return plan;
}

}  // namespace

SpotPlan make_spot_plan(const PsfModel& psf, const std::vector<double>& wave_aa) {
  return make_plan(psf, {&wave_aa, 1}, 0);
}

SpotPlan make_spot_plan(const PsfModel& psf,
                        const std::vector<std::vector<double>>& wave_of_fiber_aa, int first_fiber) {
  return make_plan(psf, wave_of_fiber_aa, first_fiber);
}

FiberTrace trace_fiber(const SpotPlan& plan, int fiber) {
  FiberTrace trace;
  trace.x = evaluate_all(plan, fiber, 0);
  trace.y = evaluate_all(plan, fiber, 1);
  const auto sigma_x = evaluate_all(plan, fiber, 2), sigma_y = evaluate_all(plan, fiber, 3);
  const std::size_t n = trace.x.size();
  trace.x0.assign(n, 0);
  trace.y0.assign(n, 0);
  trace.frame.assign(n, 0);
  trace.live.assign(n, 0);
  const auto usable = [&](std::size_t j) {
    const double x = trace.x[j], y = trace.y[j];
    if (!(std::abs(x) < 1e6 && std::abs(y) < 1e6)) return false;
    trace.x0[j] =
        plan.shape ? plan.shape->corner_x(x) : static_cast<int>(std::floor(x - plan.hsize_x + 0.5));
    trace.y0[j] =
        plan.shape ? plan.shape->corner_y(y) : static_cast<int>(std::floor(y - plan.hsize_y + 0.5));
    trace.frame[j] = frame_of(trace.x0[j], kLanes);
    if (trace.x0[j] <= -plan.nx || trace.x0[j] >= plan.npix_x) return false;
    if (trace.y0[j] <= -plan.ny || trace.y0[j] >= plan.npix_y) return false;
    return sigma_x[j] > kLeastSigma && sigma_y[j] > kLeastSigma;
  };
  // Outward from the bin nearest to the middle of the trace's domain (u = 0, where P_1 changes
  // sign).
  const double* u = plan.basis_row(fiber, plan.domain[1], plan.ncoef > 1 ? 1 : 0);
  std::size_t middle = 0;
  const auto nwave = static_cast<std::size_t>(plan.nwave);
  while (middle + 1 < nwave && u[middle] < 0) ++middle;
  bool inside = true;
  for (std::size_t j = middle; j < nwave && inside; ++j) {
    trace.live[j] = usable(j) ? 1 : 0;
    inside = trace.live[j] || std::abs(u[j]) <= 1.0;  // within the domain a gap is no end
  }
  inside = true;
  for (std::size_t j = middle; j-- > 0 && inside;) {
    trace.live[j] = usable(j) ? 1 : 0;
    inside = trace.live[j] || std::abs(u[j]) <= 1.0;
  }
  const auto edges = [&](const std::vector<double>& centre, const std::vector<int>& corner) {
    std::vector<double> edge(n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      if (trace.live[j]) edge[j] = corner[j] - 0.5 - centre[j];
    }
    return edge;
  };
  trace.edge_x = edges(trace.x, trace.x0);
  trace.edge_y = edges(trace.y, trace.y0);
  trace.float_edge_x.assign(trace.edge_x.begin(), trace.edge_x.end());
  trace.float_edge_y.assign(trace.edge_y.begin(), trace.edge_y.end());
  trace.lit.assign(trace.live.begin(), trace.live.end());
  return trace;
}

LOOM_ISA_TABLES(SpotKernels, kSpots, spot_kernels)

}  // namespace fiberloom
