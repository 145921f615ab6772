// SPDX-License-Identifier: BSD-3-Clause
// One block of slices made by several ranks: what they say to each other, and a rank's part.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tomoloom/recipes/scans/rank_volume.hpp"
#include "tomoloom/reconstruct/shared_direct.hpp"

namespace tomoloom::scans {

/// Ranks [first, first + size) that share a block.
struct Team {
  int first = 0, size = 1;
};

/// What other ranks send to this one, in order; they may begin before this one has its work.
class TeamMail {
 public:
  TeamMail(RankDesk& desk, int ranks) : desk_(desk), arrived_(static_cast<std::size_t>(ranks)) {}

  // The main thread's side.
  void arrive(int from, Bytes bytes) {
    desk_.change([&] { arrived_[static_cast<std::size_t>(from)].push_back(std::move(bytes)); });
  }

  // The working thread's side.
  void send(int to, std::span<const float> numbers) {
    while (!numbers.empty()) {
      const auto piece = numbers.first(std::min(numbers.size(), kPieceBytes / sizeof(float)));
      const auto bytes = std::as_bytes(piece);
      desk_.post({to, kTagTeam, Bytes(bytes.begin(), bytes.end())});
      numbers = numbers.subspan(piece.size());
    }
  }
  void receive(int from, std::span<float> numbers) {
    std::span<std::byte> rest = std::as_writable_bytes(numbers);
    Piece& piece = pieces_[from];
    while (!rest.empty()) {
      if (piece.at == piece.bytes.size()) {
        auto& arrived = arrived_[static_cast<std::size_t>(from)];
        piece.at = 0;
        piece.bytes = desk_.wait([&] { return !arrived.empty(); },
                                 [&] {
                                   Bytes next = std::move(arrived.front());
                                   arrived.pop_front();
                                   return next;
                                 });
      }
      const std::size_t count = std::min(rest.size(), piece.bytes.size() - piece.at);
      std::memcpy(rest.data(), piece.bytes.data() + piece.at, count);
      piece.at += count;
      rest = rest.subspan(count);
    }
  }

 private:
  /// What of a message is not read yet.
  struct Piece {
    Bytes bytes;
    std::size_t at = 0;
  };
  RankDesk& desk_;
  std::vector<std::deque<Bytes>> arrived_;  ///< of each rank, under the desk's lock
  std::map<int, Piece> pieces_;
};

class RankLink final : public TeamLink {
 public:
  RankLink(TeamMail& mail, const Team& team, int rank) : mail_(mail), team_(team), rank_(rank) {}
  [[nodiscard]] std::size_t members() const override {
    return static_cast<std::size_t>(team_.size);
  }
  [[nodiscard]] std::size_t member() const override {
    return static_cast<std::size_t>(rank_ - team_.first);
  }
  void send(std::size_t to, std::vector<float> numbers) override {
    mail_.send(team_.first + static_cast<int>(to), numbers);
  }
  void receive(std::size_t from, std::span<float> numbers) override {
    mail_.receive(team_.first + static_cast<int>(from), numbers);
  }

 private:
  TeamMail& mail_;
  const Team team_;
  const int rank_;
};

/// Whether a block of such a job can be shared: its slices are made by gridding on the CPU.
[[nodiscard]] bool takes_teams(const ReconJob& job) noexcept;

/// Opens what a member of the team reads of the block, in place of ReconSetup::open_rows().
void open_lines(ReconSetup& setup, const SliceBlock& block, const TeamLink& link);
/// The member's part, after make_plan(); the first one writes the slices. Adds to the setup's
/// summary what it took, and the flaws that it met.
void make_block_together(ReconSetup& setup, const SliceBlock& block, TeamLink& link,
                         SliceSink& writer, Executor& executor, const Observer& observer);

}  // namespace tomoloom::scans
