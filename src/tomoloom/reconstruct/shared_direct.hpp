// SPDX-License-Identifier: BSD-3-Clause
// A group of slices made by several processes together: each transforms the projections of its
// angles, fills rows of the grid of its own with the samples of all, and makes rows of the slices.
// Knows no MPI.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tomoloom/reconstruct/direct.hpp"

namespace tomoloom {

/// The members of a team, numbered, as they hear each other.
class TeamLink {
 public:
  virtual ~TeamLink() = default;
  [[nodiscard]] virtual std::size_t members() const = 0;
  [[nodiscard]] virtual std::size_t member() const = 0;
  /// Returns at once; what one sends to another arrives in order.
  virtual void send(std::size_t to, std::vector<float> numbers) = 0;
  /// Waits for the next numbers.
  virtual void receive(std::size_t from, std::span<float> numbers) = 0;
};

/// A member's part of `count` things that are cut in parts as large as each other.
[[nodiscard]] constexpr Stretch even_part(std::size_t count, std::size_t members,
                                          std::size_t member) noexcept {
  return {member * count / members, (member + 1) * count / members};
}

/// What each member does; some have nothing of something.
struct TeamShares {
  std::vector<Stretch> lines;   ///< rows of the group, one a slice: read and prepared
  std::vector<Stretch> angles;  ///< whose projections are transformed
  std::vector<Stretch> grid;    ///< rows of the grid, as long to fill as each other
  std::vector<Stretch> image;   ///< rows of the slices, counted from below
};
[[nodiscard]] TeamShares share_group(const GridPlan& plan, std::size_t slices, std::size_t members);

/// Frequencies that member `from` transforms and member `to` adds: use(first, count), elements of
/// DirectEngine::samples(); few of them twice.
void for_samples(const GridPlan& plan, const Stretch& angles, const Stretch& rows,
                 const std::function<void(std::size_t, std::size_t)>& use);

/// One member's part. All members call reconstruct() at the same time, and the bytes are those of
/// DirectEngine::reconstruct(): a row of the grid gets the samples of all angles in its order.
class SharedDirect {
 public:
  SharedDirect(DirectEngine& engine, TeamLink& link, std::size_t slices);
  /// Most that a member of such a team takes beside its engine.
  [[nodiscard]] static std::uint64_t bytes(const GridPlan& plan, std::size_t slices,
                                           std::size_t members);

  [[nodiscard]] const Stretch& lines() const noexcept { return shares_.lines[member_]; }
  /// `integrals` of its lines: [angle][line][column]. `slices` of member 0 alone:
  /// [slice][row][column].
  void reconstruct(std::span<const float> integrals, std::span<float> slices, Executor& executor);

 private:
  void exchange_lines(std::span<const float> integrals);
  void exchange_samples();
  void exchange_rows();
  void gather(std::span<float> slices, Executor& executor);
  /// Calls use(member) for all others, the next one first, so that not all write to the same.
  template <class Use>
  void for_others(const Use& use) const {
    for (std::size_t i = 1; i < members_; ++i) use((member_ + i) % members_);
  }

  DirectEngine& engine_;
  const GridPlan& plan_;
  TeamLink& link_;
  std::size_t slices_, members_, member_;
  TeamShares shares_;
  std::vector<float> lines_;  ///< of its angles: [angle][slice][column]
};

}  // namespace tomoloom
