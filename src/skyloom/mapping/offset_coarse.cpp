// SPDX-License-Identifier: BSD-3-Clause
// The offset system of baselines that are joined: A between the members of a coarse space.
#include <algorithm>
#include <utility>

#include "skyloom/mapping/offset_system.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kParts = 16;  // of the tiles: each has sums of its own

/// P^T N^-1 M of one member in one pixel.
struct Reach {
  std::uint32_t member = 0;
  Stokes sums;
};

/// The members of a pixel, each once, in their order.
void join(std::vector<Reach>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Reach& a, const Reach& b) { return a.member < b.member; });
  std::size_t to = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (to > 0 && all[to - 1].member == all[i].member) {
      all[to - 1].sums += all[i].sums;
    } else {
      all[to++] = all[i];
    }
  }
  all.resize(to);
}

}  // namespace

std::vector<double> OffsetSystem::coarse(std::span<const std::uint32_t> member_of,
                                         std::size_t members, Executor& executor) const {
  std::vector<std::vector<double>> sums(kParts);
  executor.run(kParts, [&](std::size_t part) {
    std::vector<double>& sum = sums[part];
    sum.assign(members * members, 0.0);
    std::vector<std::vector<Reach>> pixels;
    const std::size_t end = hit_tiles_.size() * (part + 1) / kParts;
    for (std::size_t tile = hit_tiles_.size() * part / kParts; tile < end; ++tile) {
      pixels.assign(inverses_[tile].size(), {});
      for (std::size_t k = tile_parts_[tile]; k < tile_parts_[tile + 1]; ++k) {
        const Part& of = parts_[k];
        const double weight = weights_[of.baseline];
        const std::uint32_t member = member_of[of.baseline];
        for (const Run& run : std::span(runs_).subspan(of.first_run, of.runs)) {
          std::vector<Reach>& to = pixels[run.place];
          if (to.empty() || to.back().member != member) to.push_back({member, {}});
          to.back().sums += Stokes{weight * run.n, weight * run.q, weight * run.u};
        }
      }
      for (std::size_t p = 0; p < pixels.size(); ++p) {
        join(pixels[p]);
        for (const Reach& a : pixels[p]) {
          const Stokes m = inverses_[tile][p] * a.sums;
          for (const Reach& b : pixels[p]) {
            if (b.member > a.member) break;
            sum[a.member * members + b.member] -=
                m.i * b.sums.i + m.q * b.sums.q + m.u * b.sums.u;
          }
        }
      }
    }
  });
  std::vector<double> out(members * members, 0.0);
  for (std::size_t b = 0; b < diagonal_.size(); ++b) {
    out[member_of[b] * members + member_of[b]] += diagonal_[b];
  }
  for (const std::vector<double>& sum : sums) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += sum[i];
  }
  for (std::size_t r = 0; r < members; ++r) {
    for (std::size_t c = 0; c < r; ++c) out[c * members + r] = out[r * members + c];
  }
  return out;
}

}  // namespace skyloom
