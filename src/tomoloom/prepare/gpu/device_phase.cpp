// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/gpu/device_phase.hpp"

#include <algorithm>
#include <vector>

#include "loom/device/device_stage.hpp"
#include "loom/device/send.hpp"
#include "tomoloom/prepare/gpu/prepare_kernels.hpp"

namespace tomoloom {

using gpu::kFftElement;

namespace {

/// Lines whose transforms go on at the same time.
constexpr std::size_t kLines = 256;

PhaseAxis axis_of(const PhaseChoice& choice, std::size_t size, std::size_t rows,
                  std::size_t columns) {
  return phase_axis(choice, size, phase_reach(choice, std::max(rows, columns)));
}

gpu::PaddedAxis padded(const PhaseAxis& axis) {
  return {.size = static_cast<long>(axis.size),
          .before = static_cast<long>(axis.before),
          .padded = static_cast<long>(axis.padded)};
}

}  // namespace

struct DevicePhase::Arrays {
  float *images, *spectrum, *lines, *work[2];
  float *row_plus, *row_minus, *column_plus, *column_minus;
  float* twiddles[4];

  Arrays(const DevicePhase& of, Arena& arena) {
    const PhaseAxis &along = of.row_axis_, &across = of.column_axis_;
    const std::size_t element = kFftElement;
    images = arena.take<float>(kImages * along.size * across.size);
    spectrum = arena.take<float>(across.size * along.padded * element);
    lines = arena.take<float>(kLines * std::max(along.padded, across.padded) * element);
    for (float*& one : work) {
      one = arena.take<float>(kLines * std::max(along.padded, across.padded) * element);
    }
    row_plus = arena.take<float>(along.padded);
    row_minus = arena.take<float>(along.padded);
    column_plus = arena.take<float>(across.padded);
    column_minus = arena.take<float>(across.padded);
    const DeviceTransform* const transforms[4] = {&of.along_, &of.along_back_, &of.across_,
                                                  &of.across_back_};
    for (std::size_t i = 0; i < 4; ++i) {
      twiddles[i] = arena.take<float>(transforms[i]->twiddle_count());
    }
  }
  static std::size_t bytes(const DevicePhase& of) {
    Arena measure;
    const Arrays unused(of, measure);
    return measure.used();
  }
};

bool DevicePhase::knows(const PhaseChoice& choice, std::size_t rows, std::size_t columns) {
  return fft::is_length(axis_of(choice, columns, rows, columns).padded) &&
         fft::is_length(axis_of(choice, rows, rows, columns).padded);
}

std::uint64_t DevicePhase::host_bytes(std::size_t rows, std::size_t columns) noexcept {
  return std::uint64_t{kImages} * rows * columns * sizeof(float);
}

DevicePhase::DevicePhase(const PhaseChoice& choice, std::size_t rows, std::size_t columns,
                         std::unique_ptr<Device> device)
    : alpha_(static_cast<float>(phase_alpha(choice))),
      row_axis_(axis_of(choice, columns, rows, columns)),
      column_axis_(axis_of(choice, rows, rows, columns)),
      device_(std::move(device)),
      info_(device_->info()),
      kernels_(gpu::prepare_kernels(info_)),
      stream_(device_->make_stream()),
      along_(row_axis_.padded, fft::Sign::kMinus, info_),
      along_back_(row_axis_.padded, fft::Sign::kPlus, info_),
      across_(column_axis_.padded, fft::Sign::kMinus, info_),
      across_back_(column_axis_.padded, fft::Sign::kPlus, info_),
      memory_(*device_, Arrays::bytes(*this)),
      staging_(*device_, host_bytes(rows, columns)) {
  Arena arena(memory_.data(), memory_.bytes(), stream_.get());
  arrays_ = std::make_unique<Arrays>(*this, arena);
  const auto with_alpha = [&](std::vector<float> values) {
    for (float& value : values) value += alpha_;
    return values;
  };
  send(*stream_, arrays_->row_plus, with_alpha(row_axis_.plus), staging_);
  send(*stream_, arrays_->row_minus, with_alpha(row_axis_.minus), staging_);
  send(*stream_, arrays_->column_plus, column_axis_.plus, staging_);
  send(*stream_, arrays_->column_minus, column_axis_.minus, staging_);
  along_.send(*stream_, arrays_->twiddles[0], staging_);
  along_back_.send(*stream_, arrays_->twiddles[1], staging_);
  across_.send(*stream_, arrays_->twiddles[2], staging_);
  across_back_.send(*stream_, arrays_->twiddles[3], staging_);
}

DevicePhase::~DevicePhase() = default;

void DevicePhase::run(std::span<const float> images, std::size_t first, std::size_t count,
                      std::span<float> out, Executor& executor) {
  const std::size_t columns = row_axis_.size, image = column_axis_.size * columns;
  const std::size_t there = images.size() / image;
  auto* const host = static_cast<float*>(staging_.data());
  executor.run(there, [&](std::size_t i) {
    std::copy_n(images.data() + i * image, image, host + i * image);
  });
  stream_->copy_in(arrays_->images, host, there * image * sizeof(float));
  rows_there(there);
  columns_filtered();
  rows_back(there, first, count);
  stream_->copy_out(host, arrays_->images, there * count * columns * sizeof(float));
  stream_->synchronize();
  executor.run(there, [&](std::size_t i) {
    std::copy_n(host + i * count * columns, count * columns, out.data() + i * count * columns);
  });
}

void DevicePhase::rows_there(std::size_t images) {
  const DeviceStage stage(*stream_, "rows");
  const Arrays& a = *arrays_;
  const gpu::PaddedAxis along = padded(row_axis_);
  const std::size_t columns = row_axis_.size, line = row_axis_.padded * kFftElement;
  for (std::size_t first = 0; first < column_axis_.size; first += kLines) {
    const std::size_t rows = std::min(kLines, column_axis_.size - first);
    const auto count = static_cast<long>(rows);
    kernels_.gather_rows(*stream_, count * along.padded * kFftElement,
                         {.along = along,
                          .images = static_cast<long>(images),
                          .image_size = static_cast<long>(column_axis_.size * columns),
                          .from = a.images + first * columns,
                          .lines = a.lines});
    along_.run(*stream_, count,
               {.data = a.lines, .line = static_cast<long>(line), .count = along.padded}, a.work,
               a.spectrum + first * line);
  }
}

void DevicePhase::columns_filtered() {
  const DeviceStage stage(*stream_, "columns");
  const Arrays& a = *arrays_;
  const gpu::PaddedAxis across = padded(column_axis_);
  const long frequencies = static_cast<long>(row_axis_.padded);
  const long line = across.padded * kFftElement;
  for (long first = 0; first < frequencies; first += static_cast<long>(kLines)) {
    const long count = std::min(static_cast<long>(kLines), frequencies - first);
    kernels_.gather_columns(*stream_, count * line,
                            {.across = across,
                             .frequencies = frequencies,
                             .from = a.spectrum + first * kFftElement,
                             .lines = a.lines});
    float* const there = across_.run(
        *stream_, count, {.data = a.lines, .line = line, .count = across.padded}, a.work);
    kernels_.filter(*stream_, count * line,
                    {.padded = across.padded,
                     .row_plus = a.row_plus + first,
                     .row_minus = a.row_minus + first,
                     .column_plus = a.column_plus,
                     .column_minus = a.column_minus,
                     .scale = phase_scale(row_axis_, column_axis_, alpha_),
                     .lines = there});
    // the way back begins where the way there has left its work, or beside it
    float* const work[2] = {there == a.work[0] ? a.work[1] : a.work[0], there};
    const float* const back = across_back_.run(
        *stream_, count, {.data = there, .line = line, .count = across.padded}, work);
    kernels_.put_columns(*stream_, count * across.size * kFftElement,
                         {.across = across,
                          .columns = count,
                          .frequencies = frequencies,
                          .lines = back,
                          .to = a.spectrum + first * kFftElement});
  }
}

void DevicePhase::rows_back(std::size_t images, std::size_t first, std::size_t count) {
  const DeviceStage stage(*stream_, "rows back");
  const Arrays& a = *arrays_;
  const gpu::PaddedAxis along = padded(row_axis_);
  const long line = along.padded * kFftElement;
  for (std::size_t at = 0; at < count; at += kLines) {
    const auto rows = static_cast<long>(std::min(kLines, count - at));
    const float* const result =
        along_back_.run(*stream_, rows,
                        {.data = a.spectrum + static_cast<long>(first + at) * line,
                         .line = line,
                         .count = along.padded},
                        a.work);
    kernels_.put_rows(*stream_, static_cast<long>(images) * rows * along.size,
                      {.along = along,
                       .rows = rows,
                       .image_size = static_cast<long>(count) * along.size,
                       .lines = result,
                       .to = a.images + static_cast<long>(at) * along.size});
  }
}

}  // namespace tomoloom
