// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/scan_window.hpp"

#include <algorithm>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

/// Of the scan, that is read at once.
constexpr std::uint64_t kMostPiece = std::uint64_t{32} << 20;

/// A frame with only some of its columns.
template <class Number>
void crop(const Number* from, std::size_t columns, std::size_t rows, std::size_t first,
          std::size_t wanted, Number* to) {
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(from + r * columns + first, wanted, to + r * wanted);
  }
}

/// A frame of means over bin x bin pixels; one that is no number makes its mean none.
template <class Number>
void average(const Number* from, std::size_t columns, std::size_t bin, std::size_t rows,
             std::size_t first, std::size_t wanted, float* to) {
  const double share = 1 / static_cast<double>(bin * bin);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < wanted; ++c) {
      double sum = 0;
      for (std::size_t y = r * bin; y < (r + 1) * bin; ++y) {
        const Number* const line = from + y * columns + first + c * bin;
        for (std::size_t x = 0; x < bin; ++x) sum += static_cast<double>(line[x]);
      }
      to[r * wanted + c] = static_cast<float>(sum * share);
    }
  }
}

}  // namespace

ScanWindow::ScanWindow(std::unique_ptr<FrameSource> scan, const WindowChoice& choice)
    : scan_(std::move(scan)), choice_(choice) {
  const ScanLayout& whole = scan_->layout();
  layout_ = whole;
  const std::size_t end = choice.end_column.value_or(whole.columns), bin = choice.bin;
  if (choice.first_column >= end || end > whole.columns) {
    throw Error(kSliceRange, print("%s: --columns %zu:%zu: expected FIRST:END, within 0:%zu",
                                   whole.path.c_str(), choice.first_column, end, whole.columns));
  }
  layout_.columns = (end - choice.first_column) / bin;
  layout_.rows = whole.rows / bin;
  layout_.middle = choice.to_window(
      (static_cast<double>(choice.first_column) + static_cast<double>(end) - 1) / 2);
  if (layout_.rows == 0 || layout_.columns < 2) {
    throw Error(kSliceRange,
                print("%s: rows and columns, %zu x %zu, by --bin %zu leave %zu x %zu: expected at "
                      "least 1 x 2",
                      whole.path.c_str(), whole.rows, end - choice.first_column, bin, layout_.rows,
                      layout_.columns));
  }
  layout_.counts = whole.counts && bin == 1;
  const std::size_t projections = scan_->projections();
  std::vector<bool> out(projections, false);
  for (const auto& [from, to] : choice.skipped) {
    if (from >= to || (to > projections && !grows())) {
      throw Error(kSliceRange, print("%s: --skip %zu:%zu: expected FIRST:END, within 0:%zu",
                                     whole.path.c_str(), from, to, projections));
    }
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(std::min(from, projections)),
              out.begin() + static_cast<std::ptrdiff_t>(std::min(to, projections)), true);
  }
  for (std::size_t a = 0; a < whole.angles; ++a) {
    if (!out[a]) kept_.push_back(a);
  }
  const auto left = static_cast<std::size_t>(std::count(out.begin(), out.end(), false));
  if (left == 0 && !grows())
    throw Error(kSliceRange, whole.path + ": --skip: no projection is left");
  if (whole.expected > 0) layout_.expected = left;
  layout_.angles = kept_.size();
  const auto keep = [&](auto& values) {
    if (values.empty()) return;
    for (std::size_t i = 0; i < kept_.size(); ++i) values[i] = values[kept_[i]];
    values.resize(kept_.size());
  };
  keep(layout_.theta_deg);
  keep(layout_.shift);
  keep(layout_.weight);
  keep(layout_.flat_set);
  keep_filter();
  for (double& shift : layout_.shift) shift /= static_cast<double>(bin);
  if (whole.axis.empty()) return;
  layout_.axis.assign(layout_.rows, 0);
  for (std::size_t row = 0; row < layout_.rows * bin; ++row) {
    layout_.axis[row / bin] += choice.to_window(whole.axis[row]) / static_cast<double>(bin);
  }
}

/// Where each projection has a set of weights, those of the projections that are left.
void ScanWindow::keep_filter() {
  if (layout_.filter_sets == 1) return;
  const std::vector<double> all = std::exchange(layout_.filter, {});
  const std::size_t set = all.size() / layout_.filter_sets;
  for (const std::size_t a : kept_) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(a * set);
    layout_.filter.insert(layout_.filter.end(), from, from + static_cast<std::ptrdiff_t>(set));
  }
  layout_.filter_sets = kept_.size();
}

std::vector<std::size_t> ScanWindow::chunk(const std::string& name) const {
  std::vector<std::size_t> box = scan_->chunk(name);
  if (box.size() != 3) return box;
  box[1] = box[1] % choice_.bin == 0 ? box[1] / choice_.bin : layout_.rows;
  box[2] = layout_.columns;
  return box;
}

std::uint64_t ScanWindow::buffer_bytes() const noexcept {
  const ScanLayout& whole = scan_->layout();
  const std::uint64_t row = std::uint64_t{whole.columns} * choice_.bin * sizeof(float);
  return scan_->buffer_bytes() + std::max(kMostPiece, row * layout_.rows);
}

void ScanWindow::read_run(const std::string& name, std::size_t frame, std::size_t frames,
                          std::size_t first, std::size_t at, FrameBlock& out) const {
  const ScanLayout& whole = scan_->layout();
  const std::size_t bin = choice_.bin, rows = out.rows;
  const std::uint64_t bytes = std::uint64_t{rows} * bin * whole.columns * sizeof(float);
  const std::size_t at_once = std::max<std::size_t>(
      1, static_cast<std::size_t>(kMostPiece / std::max<std::uint64_t>(bytes, 1)));
  const std::size_t full = rows * bin * whole.columns, kept = rows * out.columns;
  FrameBlock piece;
  for (std::size_t done = 0; done < frames; done += at_once) {
    const std::size_t count = std::min(at_once, frames - done);
    scan_->frames(name, frame + done, count, first * bin, rows * bin, piece);
    for (std::size_t f = 0; f < count; ++f) {
      const std::size_t to = (at + done + f) * kept;
      if (layout_.counts) {
        crop(piece.counts.data() + f * full, whole.columns, rows, choice_.first_column, out.columns,
             out.counts.data() + to);
      } else if (bin == 1) {
        crop(piece.floats.data() + f * full, whole.columns, rows, choice_.first_column, out.columns,
             out.floats.data() + to);
      } else if (whole.counts) {
        average(piece.counts.data() + f * full, whole.columns, bin, rows, choice_.first_column,
                out.columns, out.floats.data() + to);
      } else {
        average(piece.floats.data() + f * full, whole.columns, bin, rows, choice_.first_column,
                out.columns, out.floats.data() + to);
      }
    }
  }
}

void ScanWindow::frames(const std::string& name, std::size_t frame, std::size_t frames,
                        std::size_t first, std::size_t rows, FrameBlock& out) const {
  out.frames = frames;
  out.rows = rows;
  out.columns = layout_.columns;
  const std::size_t size = frames * rows * layout_.columns;
  if (layout_.counts) {
    out.counts.resize(size);
  } else {
    out.floats.resize(size);
  }
  if (name != layout_.data) return read_run(name, frame, frames, first, 0, out);
  for (std::size_t done = 0; done < frames;) {
    std::size_t end = done + 1;
    while (end < frames && kept_[frame + end] == kept_[frame + end - 1] + 1) ++end;
    read_run(name, kept_[frame + done], end - done, first, done, out);
    done = end;
  }
}

}  // namespace tomoloom
