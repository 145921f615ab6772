// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/gpu/scan_problem.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "fiberloom/redshift/gpu/scan_device_lane.hpp"

namespace fiberloom::redshift::gpu {
namespace {

static_assert(static_cast<std::size_t>(kTileRows) == kReachTile);

/// Numbers mixed into one, word by word.
class Mixed {
 public:
  void add(std::uint64_t word) noexcept {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15U;
    state_ ^= state_ >> 32;
  }
  void add(std::span<const double> values) noexcept {
    add(values.size());
    for (const double v : values) add(std::bit_cast<std::uint64_t>(v));
  }
  [[nodiscard]] std::uint64_t state() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3U;
};

std::size_t doubles_of(long count) { return static_cast<std::size_t>(count); }

bool is_solved(const Curve& curve) { return curve.fitter->source().method != Method::kNmf; }

int components_of(const Curve& curve) {
  return is_solved(curve) && curve.fitter->has_evidence() ? curve.fitter->evidence().components : 0;
}

void put_scales(const CurvePlan& plan, std::vector<double>& tables) {
  const FastScan::Scales scales = FastScan::scales(plan.curve->fitter->source());
  double* const own = tables.data() + plan.tables_at;
  std::copy(scales.of_vector.begin(), scales.of_vector.end(), own + plan.scale_at);
  std::copy(scales.unit.begin(), scales.unit.end(), own + plan.unit_at);
}

}  // namespace

ScanProblem::ScanProblem(const TargetSet& set, std::span<Curve> curves, Executor& executor)
    : set_(set), fast_(set, executor) {
  cut_pixels();
  lay_sky();
  std::vector<Curve*> order;
  for (Curve& curve : curves) order.push_back(&curve);
  const auto kind = [](const Curve* c) {
    return std::tuple(is_solved(*c), components_of(*c), c->fitter->nbasis());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const Curve* a, const Curve* b) { return kind(a) < kind(b); });
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && kind(order[end]) == kind(order[i])) ++end;
    plan_group(std::span(order).subspan(i, end - i));
    i = end;
  }
  reached_.resize(pack_tables_.size() * (1 + set.sky_terms) * tiles());
  executor.run(plans_.size(), [&](std::size_t k) {
    put_scales(plans_[k], tables_);
    find_reach(plans_[k]);
  });
}

std::size_t ScanProblem::targets() const noexcept {
  return fast_.groups() * static_cast<std::size_t>(kGatherTargets);
}

std::size_t ScanProblem::weights() const noexcept { return tiles() * kReachTile * targets(); }

void ScanProblem::cut_pixels() {
  const std::size_t ndiag = fast_.ndiag();
  std::size_t before = 0;  // pixels of a pack before the grid's halo
  for (const FastScan::Grid& grid : fast_.grids()) {
    for (std::size_t i = 0; i < grid.padded; i += kReachTile) {
      tile_first_.push_back(static_cast<int>(before + i));
      tile_pixels_.push_back(static_cast<int>(std::min(kReachTile, grid.padded - i)));
    }
    rows_.insert(rows_.end(), grid.rows.begin(), grid.rows.end());
    rows_.resize(tiles() * kReachTile * ndiag, 0.0);
    before += grid.padded + 2 * set_.halo();
  }
}

void ScanProblem::lay_sky() {
  sky_.assign(2 * targets() * set_.sky_terms, 0.0);
  double* to = sky_.data();
  for (const PreparedTarget& target : set_.targets) {
    for (std::size_t k = 0; k < set_.sky_terms; ++k) {
      *to++ = target.sky[k].beta;
      *to++ = target.sky[k].weighted_flux;
    }
  }
}

void ScanProblem::plan_group(std::span<Curve*> curves) {
  CurveGroup group{.first_plan = plans_.size(), .plans = curves.size()};
  for (Curve* curve : curves) {
    plans_.push_back(plan_curve(*curve));
    group.packs += plans_.back().packs;
  }
  groups_.push_back(group);
}

CurvePlan ScanProblem::plan_curve(Curve& curve) {
  const Fitter& fitter = *curve.fitter;
  CurvePlan p;
  p.curve = &curve;
  p.nb = static_cast<int>(fitter.nbasis());
  p.packs = (curve.z.size() + kLanes - 1) / kLanes;
  p.pack_doubles = fitter.sampler().pack_size();
  p.first_pack = pack_tables_.size();
  p.solved = is_solved(curve);
  p.components = components_of(curve);
  p.sampled_at = sampled_;
  p.result_at = results_;
  p.result_doubles = p.solved ? doubles_of((2 + p.nb) * kLanes) : fitter.normal_doubles();
  sampled_ += p.packs * p.pack_doubles;
  results_ += p.packs * targets() * p.result_doubles;
  p.tables_at = tables_.size();
  if (p.components > 0) {
    const EvidenceTable& table = fitter.evidence();
    tables_.insert(tables_.end(), table.numbers.begin(), table.numbers.end());
    p.constant_at = tables_.size() - p.tables_at;
    tables_.insert(tables_.end(), table.constant.begin(), table.constant.end());
  }
  const std::size_t nb = fitter.nbasis();
  p.scale_at = tables_.size() - p.tables_at;
  p.unit_at = p.scale_at + nb;
  tables_.resize(tables_.size() + nb + doubles_of(normal_size(p.nb)));
  pack_tables_.insert(pack_tables_.end(), p.packs, static_cast<int>(p.tables_at));
  return p;
}

void ScanProblem::find_reach(const CurvePlan& plan) {
  const std::size_t rows = 1 + set_.sky_terms;
  unsigned char* row = reached_.data() + plan.first_pack * rows * tiles();
  for (std::size_t pack = 0; pack < plan.packs; ++pack, row += rows * tiles()) {
    const std::vector<Sampler::Reach> reach = plan.curve->fitter->reach(redshifts(plan, pack));
    std::size_t tile = 0;
    for (std::size_t g = 0; g < reach.size(); ++g) {
      for (std::size_t i = 0; i < fast_.grids()[g].padded; i += kReachTile, ++tile) {
        if (i < reach[g].first || i >= reach[g].last) continue;
        const std::size_t pixels = std::min(kReachTile, reach[g].last - i);
        row[tile] = static_cast<unsigned char>(pixels);
        if (set_.sky_terms > 0) row[(1 + g) * tiles() + tile] = row[tile];
      }
    }
  }
}

ZPack ScanProblem::redshifts(const CurvePlan& plan, std::size_t pack) noexcept {
  return pack_of(std::span(plan.curve->z).subspan(pack * kLanes));
}

std::uint64_t ScanProblem::content(Executor& executor) const {
  Mixed mixed;
  mixed.add(set_.halo());
  for (const WaveGrid& grid : set_.grids) mixed.add(grid.wave);
  std::vector<std::uint64_t> each(plans_.size());
  executor.run(plans_.size(), [&](std::size_t k) {
    const Fitter& fitter = *plans_[k].curve->fitter;
    const Template& t = fitter.source();
    Mixed own;
    own.add(static_cast<std::uint64_t>(t.igm));
    own.add(static_cast<std::uint64_t>(fitter.options().igm_edge));
    own.add(plans_[k].curve->z);
    own.add(t.wave);
    own.add({t.flux.data(), t.flux.size()});
    each[k] = own.state();
  });
  for (const std::uint64_t state : each) mixed.add(state);
  return std::max<std::uint64_t>(mixed.state(), 1);
}

}  // namespace fiberloom::redshift::gpu
