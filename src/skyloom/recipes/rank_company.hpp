// SPDX-License-Identifier: BSD-3-Clause
// The ranks of an MPI job as a Company: sums over a tree of ranks, tiles by way of their owners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "loom/runtime/ranks.hpp"
#include "skyloom/mapping/company.hpp"
#include "skyloom/mapping/sky_sums.hpp"

namespace skyloom {

/// Messages in the order in which they are expected, whatever order they come in, of any length.
class RankMail {
 public:
  explicit RankMail(Ranks& ranks) : ranks_(ranks) {}
  void post(int to, std::vector<std::byte> bytes);
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }  ///< bytes so far
  /// The next one of this rank: waits.
  [[nodiscard]] std::vector<std::byte> take(int from);
  /// Numbers of one kind.
  template <class T>
  void post(int to, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    post(to, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  template <class T>
  [[nodiscard]] std::vector<T> take(int from) {
    const std::vector<std::byte> bytes = take(from);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  [[nodiscard]] std::vector<std::byte> piece(int from);
  Ranks& ranks_;
  std::uint64_t sent_ = 0;
  std::map<int, std::deque<std::vector<std::byte>>> waiting_;
};

class RankCompany final : public Company {
 public:
  explicit RankCompany(Ranks& ranks) : ranks_(ranks), mail_(ranks) {}

  [[nodiscard]] bool first() const override { return ranks_.rank() == 0; }
  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(ranks_.rank()); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(ranks_.size()); }
  /// Bytes that this rank has sent so far.
  [[nodiscard]] std::uint64_t sent() const noexcept { return mail_.sent(); }
  void sum(std::span<double> values) override;
  void merge(std::span<SkySums* const> sums) override;
  [[nodiscard]] bool shared(std::int32_t tile) const override {
    return hitters_.at(tile).size() > 1;
  }
  [[nodiscard]] bool owns(std::int32_t tile) const override { return owner(tile) == ranks_.rank(); }
  void begin(std::span<const std::span<Stokes>> tiles) override;
  void end(std::span<const std::span<Stokes>> tiles) override;
  /// To the first rank: what each other one has, in the order of their numbers, use(bytes).
  void collect(std::vector<std::byte> mine,
               const std::function<void(const std::vector<std::byte>&)>& use);
  /// To the first rank: tiles of `sums` that others own, where they replace what it has of them.
  void gather(SkySums& sums);
  /// The same of maps of `hit_tiles`, both of which become those of all processes.
  void gather(std::vector<std::int32_t>& hit_tiles, std::vector<std::vector<Stokes>>& map);

 private:
  [[nodiscard]] int owner(std::int32_t tile) const {
    const std::vector<int>& all = hitters_.at(tile);
    return all[static_cast<std::size_t>(tile) % all.size()];
  }
  void learn_hitters(const SkySums& sums);
  void merge_one(SkySums& sums);
  /// Shared tiles that `sends` says of go to the other rank, those that `receives` says of come:
  /// mail by rank.
  template <class Sends, class Receives>
  [[nodiscard]] auto exchange(const SkySums& sums, const Sends& sends, const Receives& receives);
  /// Values of own tiles to the first rank, and what it does with those of all others.
  template <class T, class ValuesOf>
  void send_owned(std::span<const std::int32_t> tiles, const ValuesOf& values_of);
  template <class T, class Use>
  void take_owned(const Use& use);

  Ranks& ranks_;
  RankMail mail_;
  std::map<std::int32_t, std::vector<int>> hitters_;  ///< ranks that hit it, of own tiles
  std::vector<std::int32_t> shared_;                  ///< own tiles that others hit too, growing
};

}  // namespace skyloom
