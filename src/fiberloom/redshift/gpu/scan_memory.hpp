// SPDX-License-Identifier: BSD-3-Clause
// What a scan has on a device, piece by piece, and how much that is.
#pragma once

#include <algorithm>
#include <cstddef>

#include "fiberloom/redshift/gpu/scan_device_lane.hpp"
#include "fiberloom/redshift/gpu/scan_problem.hpp"
#include "loom/device/device.hpp"

namespace fiberloom::redshift::gpu {

/// Products and sums of one launch: more would not keep a card busier.
inline constexpr std::size_t kMostScratch = std::size_t{3} << 30;
/// Templates that wait in page-locked memory for their copy.
inline constexpr std::size_t kMostStaged = std::size_t{64} << 20;
inline constexpr std::size_t kAlign = 256;

inline std::size_t aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// What stays on the card for the whole scan, beside the templates.
struct ScanArrays {
  const int *first, *pixels, *pack_tables;
  const unsigned char* reached;
  const double *rows, *weight_unit, *flux_unit, *tables, *sky;
  const float *weight, *weighted_flux;
  double* results;

  ScanArrays(const ScanProblem& p, Arena& arena)
      : first(arena.take<int>(p.tiles())),
        pixels(arena.take<int>(p.tiles())),
        pack_tables(arena.take<int>(p.pack_tables().size())),
        reached(arena.take<unsigned char>(p.reached().size())),
        rows(arena.take<double>(p.rows().size())),
        weight_unit(arena.take<double>(p.targets())),
        flux_unit(arena.take<double>(p.targets())),
        tables(arena.take<double>(p.tables().size())),
        sky(arena.take<double>(p.sky().size())),
        weight(arena.take<float>(p.weights())),
        weighted_flux(arena.take<float>(p.weights())),
        results(arena.take<double>(p.result_doubles())) {}
};

/// What the launches of some packs of a template use.
struct ScanScratch {
  double *sampled = nullptr, *normal, *parts;
  float* columns;

  ScanScratch(const ScanProblem& p, const CurvePlan& plan, std::size_t packs, bool streamed,
              Arena& arena) {
    if (streamed) sampled = arena.take<double>(packs * plan.pack_doubles);
    columns = arena.take<float>(packs * p.tiles() *
                                static_cast<std::size_t>(gpu::columns_of_tile(plan.nb)));
    const std::size_t lanes = plan.solved ? packs * p.targets() * kLanes : 0;
    normal = arena.take<double>(lanes *
                                static_cast<std::size_t>(gpu::sum_columns(plan.nb, p.sky_terms())));
    parts =
        arena.take<double>(lanes * static_cast<std::size_t>(3 * kBrightnesses * plan.components));
  }
  [[nodiscard]] static std::size_t bytes(const ScanProblem& p, const CurvePlan& plan,
                                         std::size_t packs, bool streamed) {
    Arena measure;
    const ScanScratch unused(p, plan, packs, streamed, measure);
    return measure.used() + kAlign;
  }
};

/// Bytes of device memory and of page-locked memory that a scan needs.
struct ScanNeeds {
  std::size_t resident = 0;  ///< the templates on the pixels
  std::size_t least = 0;     ///< without them: each pack goes there and is used once
  std::size_t most = 0;
  std::size_t upload = 0, results = 0, sampled = 0;

  explicit ScanNeeds(const ScanProblem& p) {
    Arena measure;
    const ScanArrays unused(p, measure);
    const std::size_t fixed = measure.used() + kAlign;
    std::size_t least_scratch = 0, most_scratch = 0;
    for (const CurveGroup& group : p.groups()) {
      if (group.packs == 0) continue;
      const CurvePlan& plan = p.plans()[group.first_plan];
      const std::size_t one = ScanScratch::bytes(p, plan, 1, true);
      const std::size_t packs = std::clamp<std::size_t>(kMostScratch / one, 1, group.packs);
      least_scratch = std::max(least_scratch, one);
      most_scratch = std::max(most_scratch, ScanScratch::bytes(p, plan, packs, false));
      const std::size_t pack = plan.pack_doubles * sizeof(double);
      sampled =
          std::max(sampled, pack * std::clamp<std::size_t>(kMostStaged / pack, 1, group.packs));
    }
    resident = aligned(p.sampled_doubles() * sizeof(double));
    least = fixed + least_scratch;
    most = resident + fixed + std::max(least_scratch, most_scratch);
    upload =
        2 * p.weights() * sizeof(float) + (12 + 2 * p.fast().grids().size()) * kAlign +
        (p.rows().size() + p.tables().size() + p.sky().size() + 2 * p.targets()) * sizeof(double) +
        (2 * p.tiles() + p.pack_tables().size()) * sizeof(int) + p.reached().size();
    results = p.result_doubles() * sizeof(double);
    sampled = aligned(sampled);
    upload = aligned(upload);
    results = aligned(results);
  }
  [[nodiscard]] std::size_t staging() const { return upload + results + sampled; }
};

}  // namespace fiberloom::redshift::gpu
