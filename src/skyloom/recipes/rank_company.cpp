// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/rank_company.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace skyloom {
namespace {

constexpr int kTag = 7;
constexpr std::size_t kMostBytes = std::size_t{1} << 28;  // of a message: MPI counts in int
constexpr int kPatience = 2000;  // looks before a process that waits gives its processor away

/// Values of a message, read from its start where they lie.
template <class T>
class Cursor {
 public:
  explicit Cursor(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::span<const T> next(std::size_t n) {
    const auto bytes = std::span<const std::byte>(bytes_).subspan(at_, n * sizeof(T));
    at_ += bytes.size();
    return {reinterpret_cast<const T*>(bytes.data()), n};  // NOLINT: they were sent as such
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Messages to other ranks as they will be sent: each as long as is told beforehand. Fresh memory
/// costs more than what is done with it, and in each step there is as much.
class Parcels {
 public:
  void expect(int to, std::size_t values) { lengths_[to] += values * sizeof(Stokes); }
  void add(int to, std::span<const Stokes> values) {
    std::vector<std::byte>& bytes = parcels_[to];
    if (bytes.empty()) bytes.reserve(lengths_[to]);
    const auto more = std::as_bytes(values);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  void post(RankMail& mail) {
    for (auto& [to, bytes] : parcels_) mail.post(to, std::move(bytes));
  }

 private:
  std::map<int, std::size_t> lengths_;
  std::map<int, std::vector<std::byte>> parcels_;
};

/// A tile in a message of pixels: one without hits says how many follow.
void append(std::vector<PixelSums>& to, std::span<const PixelSums> pixels) {
  PixelSums head;
  head.place = static_cast<std::uint32_t>(pixels.size());
  to.push_back(head);
  to.insert(to.end(), pixels.begin(), pixels.end());
}
std::span<const PixelSums> next_tile(Cursor<PixelSums>& from) {
  return from.next(from.next(1)[0].place);
}

}  // namespace

void RankMail::post(int to, std::vector<std::byte> bytes) {
  std::uint64_t length = bytes.size();
  sent_ += sizeof length + length;
  std::vector<std::byte> head(sizeof length);
  std::memcpy(head.data(), &length, sizeof length);
  ranks_.send(to, kTag, std::move(head));
  if (bytes.size() <= kMostBytes) {
    if (!bytes.empty()) ranks_.send(to, kTag, std::move(bytes));
    return;
  }
  for (std::size_t first = 0; first < bytes.size(); first += kMostBytes) {
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t n = std::min(kMostBytes, bytes.size() - first);
    ranks_.send(to, kTag, {from, from + static_cast<std::ptrdiff_t>(n)});
  }
}

std::vector<std::byte> RankMail::piece(int from) {
  std::deque<std::vector<std::byte>>& own = waiting_[from];
  for (int looks = 0; own.empty(); ++looks) {
    if (auto message = ranks_.receive()) {
      waiting_[message->from].push_back(std::move(message->bytes));
      looks = 0;
    } else if (looks > kPatience) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  std::vector<std::byte> out = std::move(own.front());
  own.pop_front();
  return out;
}

std::vector<std::byte> RankMail::take(int from) {
  const std::vector<std::byte> head = piece(from);
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), std::min(sizeof length, head.size()));
  std::vector<std::byte> out;
  while (out.size() < length) {
    std::vector<std::byte> more = piece(from);
    if (out.empty()) {
      out = std::move(more);
    } else {
      out.insert(out.end(), more.begin(), more.end());
    }
  }
  return out;
}

void RankCompany::sum(std::span<double> values) {
  const int rank = ranks_.rank(), size = ranks_.size();
  int step = 1;  // up the tree: this rank gathers those of rank + 1, + 2, + 4 ...
  for (; step < size && rank % (2 * step) == 0; step *= 2) {
    if (rank + step >= size) continue;
    const auto more = mail_.take<double>(rank + step);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += more[i];
  }
  if (rank != 0) {
    mail_.post(rank - step, std::vector<double>(values.begin(), values.end()));
    const auto all = mail_.take<double>(rank - step);
    std::copy(all.begin(), all.end(), values.begin());
  }
  for (step /= 2; step > 0; step /= 2) {
    if (rank + step < size) {
      mail_.post(rank + step, std::vector<double>(values.begin(), values.end()));
    }
  }
}

void RankCompany::learn_hitters(const SkySums& sums) {
  const std::vector<std::int32_t> own = sums.hit_tiles();
  for (int to = 0; to < ranks_.size(); ++to) {
    if (to != ranks_.rank()) mail_.post(to, own);
  }
  for (const std::int32_t tile : own) hitters_[tile];
  for (int from = 0; from < ranks_.size(); ++from) {
    const auto tiles = from == ranks_.rank() ? own : mail_.take<std::int32_t>(from);
    for (const std::int32_t tile : tiles) {
      const auto at = hitters_.find(tile);
      if (at != hitters_.end()) at->second.push_back(from);
    }
  }
  for (const auto& [tile, all] : hitters_) {
    if (all.size() > 1) shared_.push_back(tile);
  }
}

template <class Sends, class Receives>
auto RankCompany::exchange(const SkySums& sums, const Sends& sends, const Receives& receives) {
  const auto size = static_cast<std::size_t>(ranks_.size());
  std::vector<std::vector<PixelSums>> out(size);
  std::vector<bool> expected(size);
  for (const std::int32_t tile : shared_) {
    for (const int other : hitters_.at(tile)) {
      if (other == ranks_.rank()) continue;
      const auto to = static_cast<std::size_t>(other);
      if (sends(tile, other)) append(out[to], sums.tile(static_cast<std::size_t>(tile)));
      if (receives(tile, other)) expected[to] = true;
    }
  }
  std::map<int, Cursor<PixelSums>> mail;
  for (std::size_t other = 0; other < size; ++other) {
    if (!out[other].empty()) mail_.post(static_cast<int>(other), out[other]);
    std::vector<PixelSums>().swap(out[other]);
  }
  for (int other = 0; other < ranks_.size(); ++other) {
    if (!expected[static_cast<std::size_t>(other)]) continue;
    mail.emplace(other, Cursor<PixelSums>(mail_.take(other)));
  }
  return mail;
}

void RankCompany::merge_one(SkySums& sums) {
  const auto owns_it = [&](std::int32_t tile, int /*other*/) { return owns(tile); };
  const auto is_others = [&](std::int32_t tile, int other) { return owner(tile) == other; };
  auto to_owner = exchange(sums, is_others, owns_it);
  for (const std::int32_t tile : shared_) {
    if (!owns(tile)) continue;
    const auto number = static_cast<std::size_t>(tile);
    const auto mine = sums.tile(number);
    const std::vector<PixelSums> own(mine.begin(), mine.end());
    sums.clear_tile(number);
    for (const int other : hitters_.at(tile)) {
      sums.add_tile(number, other == ranks_.rank() ? std::span<const PixelSums>(own)
                                                   : next_tile(to_owner.at(other)));
    }
  }
  auto from_owner = exchange(sums, owns_it, is_others);
  for (const std::int32_t tile : shared_) {
    if (owns(tile)) continue;
    sums.clear_tile(static_cast<std::size_t>(tile));
    sums.add_tile(static_cast<std::size_t>(tile), next_tile(from_owner.at(owner(tile))));
  }
}

void RankCompany::merge(std::span<SkySums* const> sums) {
  learn_hitters(*sums[0]);
  for (SkySums* const one : sums) merge_one(*one);
}

void RankCompany::begin(std::span<const std::span<Stokes>> tiles) {
  Parcels out;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const int to = owner(shared_[i]);
    if (to != ranks_.rank()) out.expect(to, tiles[i].size());
  }
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const int to = owner(shared_[i]);
    if (to != ranks_.rank()) out.add(to, tiles[i]);
  }
  out.post(mail_);
}

void RankCompany::end(std::span<const std::span<Stokes>> tiles) {
  const int rank = ranks_.rank();
  Parcels out;
  std::map<int, Cursor<Stokes>> parts, wholes;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    if (owner(shared_[i]) != rank) continue;
    for (const int other : hitters_.at(shared_[i])) {
      if (other == rank) continue;
      out.expect(other, tiles[i].size());
      if (!parts.contains(other)) parts.emplace(other, Cursor<Stokes>(mail_.take(other)));
    }
  }
  std::vector<Stokes> all;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    if (owner(shared_[i]) != rank) continue;
    const std::size_t n = tiles[i].size();
    all.assign(n, Stokes{});
    for (const int other : hitters_.at(shared_[i])) {
      const std::span<const Stokes> from =
          other == rank ? std::span<const Stokes>(tiles[i]) : parts.at(other).next(n);
      for (std::size_t p = 0; p < n; ++p) {
        all[p].i += from[p].i;
        all[p].q += from[p].q;
        all[p].u += from[p].u;
      }
    }
    std::copy(all.begin(), all.end(), tiles[i].begin());
    for (const int other : hitters_.at(shared_[i])) {
      if (other != rank) out.add(other, all);
    }
  }
  out.post(mail_);
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    const int from = owner(shared_[i]);
    if (from == rank) continue;
    if (!wholes.contains(from)) wholes.emplace(from, Cursor<Stokes>(mail_.take(from)));
    const auto values = wholes.at(from).next(tiles[i].size());
    std::copy(values.begin(), values.end(), tiles[i].begin());
  }
}

template <class T, class ValuesOf>
void RankCompany::send_owned(std::span<const std::int32_t> tiles, const ValuesOf& values_of) {
  std::vector<std::uint64_t> heads;  // tile and length of each
  std::vector<T> values;
  for (std::size_t h = 0; h < tiles.size(); ++h) {
    if (!owns(tiles[h])) continue;
    const std::span<const T> own = values_of(h);
    heads.insert(heads.end(), {static_cast<std::uint64_t>(tiles[h]), own.size()});
    values.insert(values.end(), own.begin(), own.end());
  }
  mail_.post(0, heads);
  mail_.post(0, values);
}

template <class T, class Use>
void RankCompany::take_owned(const Use& use) {
  for (int from = 1; from < ranks_.size(); ++from) {
    const auto heads = mail_.take<std::uint64_t>(from);
    Cursor<T> values(mail_.take(from));
    for (std::size_t k = 0; k < heads.size(); k += 2) use(heads[k], values.next(heads[k + 1]));
  }
}

void RankCompany::collect(std::vector<std::byte> mine,
                          const std::function<void(const std::vector<std::byte>&)>& use) {
  if (!first()) return mail_.post(0, std::move(mine));
  for (int rank = 1; rank < ranks_.size(); ++rank) use(mail_.take(rank));
}

void RankCompany::gather(SkySums& sums) {
  if (!first()) {
    const std::vector<std::int32_t> tiles = sums.hit_tiles();
    return send_owned<PixelSums>(
        tiles, [&](std::size_t h) { return sums.tile(static_cast<std::size_t>(tiles[h])); });
  }
  take_owned<PixelSums>([&](std::size_t tile, std::span<const PixelSums> pixels) {
    sums.clear_tile(tile);
    sums.add_tile(tile, pixels);
  });
}

void RankCompany::gather(std::vector<std::int32_t>& hit_tiles,
                         std::vector<std::vector<Stokes>>& map) {
  if (!first()) {
    return send_owned<Stokes>(hit_tiles, [&](std::size_t h) { return std::span(map[h]); });
  }
  std::map<std::int32_t, std::vector<Stokes>> all;
  for (std::size_t h = 0; h < hit_tiles.size(); ++h) all[hit_tiles[h]] = std::move(map[h]);
  take_owned<Stokes>([&](std::size_t tile, std::span<const Stokes> values) {
    all[static_cast<std::int32_t>(tile)].assign(values.begin(), values.end());
  });
  hit_tiles.clear();
  map.clear();
  for (auto& [tile, values] : all) {
    hit_tiles.push_back(tile);
    map.push_back(std::move(values));
  }
}

}  // namespace skyloom
