// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/shared_direct.hpp"

#include <algorithm>

#include "tomoloom/reconstruct/grid_points_lane.hpp"

namespace tomoloom {
namespace {

std::vector<Stretch> even_cuts(std::size_t count, std::size_t members) {
  std::vector<Stretch> cuts;
  for (std::size_t m = 0; m < members; ++m) cuts.push_back(even_part(count, members, m));
  return cuts;
}

/// Radii of an angle that meet rows of the grid, counted from its first; `turn` of what comes in on
/// the other side.
lane::Radii radii_of(const GridPlan& plan, std::size_t angle, bool mirror, const Stretch& rows,
                     long turn) {
  const auto half = static_cast<long>(plan.grid / 2);
  const double slope = mirror ? -plan.slope[angle] : plan.slope[angle];
  return lane::radii_on_rows(slope, static_cast<long>(rows.first) - half + turn,
                             static_cast<long>(rows.end) - half + turn, plan.width, plan.radii,
                             mirror);
}

/// Rows of the grid, whole tasks, by what they cost: their samples and their transforms.
std::vector<Stretch> grid_cuts(const GridPlan& plan, std::size_t members) {
  std::vector<double> cost{0};  // of all tasks before one
  for (std::size_t first = 0; first < plan.grid; first += kRowsPerTask) {
    const Stretch rows{first, std::min(plan.grid, first + kRowsPerTask)};
    auto sum = static_cast<double>(plan.grid * rows.size());
    for (std::size_t a = 0; a < plan.angles; ++a) {
      for (const bool mirror : {false, true}) {
        const lane::Radii radii = radii_of(plan, a, mirror, rows, 0);
        sum += static_cast<double>(radii.end - radii.first);
      }
    }
    cost.push_back(cost.back() + sum);
  }
  std::vector<Stretch> cuts;
  std::size_t from = 0;
  for (std::size_t m = 1; m <= members; ++m) {
    const double until =
        cost.back() * static_cast<double>(m) / static_cast<double>(members) * (1 + 1e-12);
    const auto at = std::upper_bound(cost.begin(), cost.end(), until) - cost.begin() - 1;
    const std::size_t to = std::min(plan.grid, static_cast<std::size_t>(at) * kRowsPerTask);
    cuts.push_back({from, std::max(from, to)});
    from = cuts.back().end;
  }
  return cuts;
}

std::size_t sample_count(const GridPlan& plan, const Stretch& angles, const Stretch& rows) {
  std::size_t count = 0;
  for_samples(plan, angles, rows, [&](std::size_t, std::size_t n) { count += n; });
  return count;
}

}  // namespace

TeamShares share_group(const GridPlan& plan, std::size_t slices, std::size_t members) {
  return {.lines = even_cuts(slices, members),
          .angles = even_cuts(plan.angles, members),
          .grid = grid_cuts(plan, members),
          .image = even_cuts(plan.image, members)};
}

void for_samples(const GridPlan& plan, const Stretch& angles, const Stretch& rows,
                 const std::function<void(std::size_t, std::size_t)>& use) {
  if (rows.size() == 0) return;
  const auto grid = static_cast<long>(plan.grid), half = grid / 2, reach = long{plan.width} + 1;
  const long first = static_cast<long>(rows.first) - half;
  const long end = static_cast<long>(rows.end) - half;
  std::vector<long> turns{0};
  if (plan.periodic && first + grid < half + reach) turns.push_back(grid);
  if (plan.periodic && end - grid > -half - reach) turns.push_back(-grid);
  for (std::size_t a = angles.first; a < angles.end; ++a) {
    for (const bool mirror : {false, true}) {
      for (const long turn : turns) {
        const lane::Radii radii = radii_of(plan, a, mirror, rows, turn);
        if (radii.first >= radii.end) continue;
        use((2 * a + (mirror ? 1 : 0)) * plan.radii + radii.first, radii.end - radii.first);
      }
    }
  }
}

SharedDirect::SharedDirect(DirectEngine& engine, TeamLink& link, std::size_t slices)
    : engine_(engine),
      plan_(engine.plan()),
      link_(link),
      slices_(slices),
      members_(link.members()),
      member_(link.member()),
      shares_(share_group(plan_, slices, members_)),
      lines_(shares_.angles[member_].size() * slices * plan_.columns) {}

std::uint64_t SharedDirect::bytes(const GridPlan& plan, std::size_t slices, std::size_t members) {
  const TeamShares shares = share_group(plan, slices, members);
  std::uint64_t most = 0;
  for (std::size_t m = 0; m < members; ++m) {
    std::uint64_t elements = 0;  // sent or received, which may be held until the end
    for (std::size_t other = 0; other < members; ++other) {
      if (other == m) continue;
      elements += sample_count(plan, shares.angles[m], shares.grid[other]) +
                  sample_count(plan, shares.angles[other], shares.grid[m]) +
                  shares.grid[m].size() * shares.image[other].size() +
                  shares.grid[other].size() * shares.image[m].size();
    }
    const std::uint64_t lines =
        (2 * shares.angles[m].size() * slices + plan.angles * shares.lines[m].size()) *
        plan.columns;
    const std::uint64_t image = std::uint64_t{slices} * shares.image[m].size() * plan.image;
    most = std::max(most, (elements * kElementFloats + lines + 2 * image) * sizeof(float));
  }
  return most;
}

void SharedDirect::reconstruct(std::span<const float> integrals, std::span<float> slices,
                               Executor& executor) {
  exchange_lines(integrals);
  engine_.transform_projections({.data = lines_.data(),
                                 .slices = slices_,
                                 .angle_stride = slices_ * plan_.columns,
                                 .slice_stride = plan_.columns},
                                shares_.angles[member_], executor);
  exchange_samples();
  engine_.fill_grid(shares_.grid[member_], executor);
  exchange_rows();
  gather(slices, executor);
}

/// Lines of its rows and all angles -> lines of all rows and its angles.
void SharedDirect::exchange_lines(std::span<const float> integrals) {
  const std::size_t columns = plan_.columns, own = lines().size() * columns;
  const auto of_angles = [&](const Stretch& angles) {
    return integrals.subspan(angles.first * own, angles.size() * own);
  };
  const auto place = [&](std::span<const float> from, const Stretch& of) {
    const std::size_t width = of.size() * columns;
    for (std::size_t a = 0; a < shares_.angles[member_].size() && width > 0; ++a) {
      std::copy_n(&from[a * width], width, &lines_[(a * slices_ + of.first) * columns]);
    }
  };
  for_others([&](std::size_t m) {
    const auto part = of_angles(shares_.angles[m]);
    link_.send(m, {part.begin(), part.end()});
  });
  place(of_angles(shares_.angles[member_]), lines());
  for_others([&](std::size_t m) {
    const Stretch& of = shares_.lines[m];
    std::vector<float> part(shares_.angles[member_].size() * of.size() * columns);
    link_.receive(m, part);
    place(part, of);
  });
}

/// Samples of its angles -> what falls on its rows of the grid, of all angles.
void SharedDirect::exchange_samples() {
  const std::span<float> samples = engine_.samples();
  const auto part = [&](std::size_t first, std::size_t count) {
    return samples.subspan(first * kElementFloats, count * kElementFloats);
  };
  for_others([&](std::size_t m) {
    std::vector<float> out;
    out.reserve(sample_count(plan_, shares_.angles[member_], shares_.grid[m]) * kElementFloats);
    for_samples(plan_, shares_.angles[member_], shares_.grid[m],
                [&](std::size_t first, std::size_t count) {
                  const auto from = part(first, count);
                  out.insert(out.end(), from.begin(), from.end());
                });
    link_.send(m, std::move(out));
  });
  for_others([&](std::size_t m) {
    for_samples(
        plan_, shares_.angles[m], shares_.grid[member_],
        [&](std::size_t first, std::size_t count) { link_.receive(m, part(first, count)); });
  });
}

/// Its rows of the grid, transformed -> its part of all of them.
void SharedDirect::exchange_rows() {
  const auto part = [&](std::size_t row, const Stretch& image) {
    return engine_.rows().subspan((row * plan_.image + image.first) * kElementFloats,
                                  image.size() * kElementFloats);
  };
  const Stretch& own = shares_.grid[member_];
  for_others([&](std::size_t m) {
    std::vector<float> out;
    out.reserve(own.size() * shares_.image[m].size() * kElementFloats);
    for (std::size_t row = own.first; row < own.end; ++row) {
      const auto from = part(row, shares_.image[m]);
      out.insert(out.end(), from.begin(), from.end());
    }
    link_.send(m, std::move(out));
  });
  for_others([&](std::size_t m) {
    for (std::size_t row = shares_.grid[m].first; row < shares_.grid[m].end; ++row) {
      link_.receive(m, part(row, shares_.image[member_]));
    }
  });
}

/// Rows of the slices, to member 0.
void SharedDirect::gather(std::span<float> slices, Executor& executor) {
  const std::size_t n = plan_.image;
  const Stretch& own = shares_.image[member_];
  if (member_ > 0) {
    const std::size_t part = own.size() * n;
    std::vector<float> out(slices_ * part);
    engine_.transform_columns({.data = out.data(), .slice_stride = part, .row_stride = n}, slices_,
                              own, executor);
    link_.send(0, std::move(out));
    return;
  }
  engine_.transform_columns(
      {.data = &slices[(n - own.end) * n], .slice_stride = n * n, .row_stride = n}, slices_, own,
      executor);
  for_others([&](std::size_t m) {
    const Stretch& of = shares_.image[m];
    for (std::size_t s = 0; s < slices_; ++s) {
      link_.receive(m, slices.subspan((s * n + n - of.end) * n, of.size() * n));
    }
  });
}

}  // namespace tomoloom
