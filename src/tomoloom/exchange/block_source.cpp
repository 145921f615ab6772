// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/block_source.hpp"

#include <algorithm>
#include <utility>

#include "loom/base/stop.hpp"

namespace tomoloom {
namespace {

template <class Block>
auto bytes_of(Block& block, bool counts) {
  if constexpr (std::is_const_v<Block>) {
    return counts ? std::as_bytes(std::span(block.counts)) : std::as_bytes(std::span(block.floats));
  } else {
    return counts ? std::as_writable_bytes(std::span(block.counts))
                  : std::as_writable_bytes(std::span(block.floats));
  }
}

}  // namespace

BlockSource::BlockSource(const FrameSource& reader, const BlockRows& rows, std::string folder,
                         bool frames_alone)
    : reader_(reader), rows_(rows), folder_(std::move(folder)) {
  const ScanLayout& layout = reader.layout();
  add(layout.data, layout.angles);
  if (frames_alone) return;
  add(layout.white, layout.flats);
  add(layout.dark, layout.darks);
}

void BlockSource::add(const std::string& name, std::size_t frames) {
  Set set{.name = name, .frames = frames, .spool = nullptr};
  if (frames > 0) {
    const std::vector<std::size_t> chunk = reader_.chunk(name);
    const bool within = !reader_.made_when_asked() &&
                        (chunk.size() != 3 || rows_.rows <= rows_.block_rows ||
                         (rows_.block_rows % chunk[1] == 0 && rows_.first % chunk[1] == 0));
    if (!within) {
      set.box_frames = std::min(chunk[0], frames);
      set.box_rows = chunk[1];
    }
  }
  sets_.push_back(std::move(set));
}

bool BlockSource::spools() const noexcept {
  return std::any_of(sets_.begin(), sets_.end(), [](const Set& set) { return set.box_rows > 0; });
}

std::uint64_t BlockSource::buffer_bytes() const noexcept {
  std::uint64_t most = 0;
  for (const Set& set : sets_) {
    most = std::max<std::uint64_t>(most, std::uint64_t{set.box_frames} * set.box_rows);
  }
  return 2 * most * reader_.layout().columns * sizeof(float) +  // the box, and what unpacks it
         reader_.buffer_bytes();
}

void BlockSource::fill(Set& set, const Observer& observer) const {
  const ScanLayout& layout = reader_.layout();
  set.spool = std::make_unique<RowSpool>(
      folder_, SpoolShape{.frames = set.frames,
                          .rows = rows_.rows,
                          .columns = layout.columns,
                          .block_rows = rows_.block_rows,
                          .value_bytes = layout.counts ? sizeof(std::uint16_t) : sizeof(float)});
  const std::size_t end = rows_.first + rows_.rows;
  FrameBlock box;
  for (std::size_t f = 0; f < set.frames; f += set.box_frames) {
    const std::size_t frames = std::min(set.box_frames, set.frames - f);
    for (std::size_t row = rows_.first; row < end;) {
      stop_if_asked(observer);
      const std::size_t next = std::min(end, (row / set.box_rows + 1) * set.box_rows);
      reader_.frames(set.name, f, frames, row, next - row, box);
      set.spool->put(f, frames, row - rows_.first, next - row,
                     bytes_of(std::as_const(box), layout.counts));
      row = next;
    }
    if (observer.progress && set.name == layout.data) {
      observer.progress("projections unpacked", f + frames, set.frames);
    }
  }
}

void BlockSource::read_set(const Set& set, std::size_t first, std::size_t rows,
                           FrameBlock& out) const {
  if (set.frames == 0) return;
  if (!set.spool) return reader_.frames(set.name, 0, set.frames, first, rows, out);
  const ScanLayout& layout = reader_.layout();
  out.frames = set.frames;
  out.rows = rows;
  out.columns = layout.columns;
  const std::size_t size = set.frames * rows * layout.columns;
  layout.counts ? out.counts.resize(size) : out.floats.resize(size);
  set.spool->get(first - rows_.first, rows, bytes_of(out, layout.counts));
}

void BlockSource::read(std::size_t first, std::size_t rows, FrameBlock& projections,
                       FrameBlock& flats, FrameBlock& darks, const Observer& observer) {
  if (!std::exchange(filled_, true)) {
    for (Set& set : sets_) {
      if (set.box_rows > 0) fill(set, observer);
    }
  }
  read_set(sets_[0], first, rows, projections);
  if (sets_.size() < 3) return;
  read_set(sets_[1], first, rows, flats);
  read_set(sets_[2], first, rows, darks);
}

}  // namespace tomoloom
