// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/gpu/device_pointing.hpp"

#include "loom/device/send.hpp"
#include "skyloom/gpu/sky_kernels.hpp"

namespace skyloom {
struct DevicePointing::Arrays {
  double *rows, *q, *u;  ///< rows: of the boresight
  std::int32_t* pixels;

  Arrays(const Boresight& boresight, Arena& arena)
      : rows(arena.take<double>(boresight.rows() * boresight.cols())),
        q(arena.take<double>(boresight.cols())),
        u(arena.take<double>(boresight.cols())),
        pixels(arena.take<std::int32_t>(boresight.cols())) {}

  [[nodiscard]] static std::size_t bytes(const Boresight& boresight) {
    Arena measure;
    const Arrays unused(boresight, measure);
    return measure.used() + gpu::kRest;
  }
};

DevicePointing::DevicePointing(const Boresight& boresight, Device& device)
    : boresight_(boresight),
      kernels_(gpu::sky_kernels(device)),
      stream_(device.make_stream()),
      memory_(device, Arrays::bytes(boresight)),
      staging_(device, gpu::kStaging) {
  Arena arena(memory_.data(), memory_.bytes(), stream_.get());
  arrays_ = std::make_unique<Arrays>(boresight, arena);
  const std::size_t n = boresight.cols();
  for (std::size_t row = 0; row < boresight.rows(); ++row) {
    send(*stream_, arrays_->rows + row * n, {boresight.row(row), n}, staging_);
  }
}

DevicePointing::~DevicePointing() = default;

void DevicePointing::expand(const Detector& detector, const SkyGrid& grid, const Pointing& out) {
  const std::size_t n = boresight_.cols();
  ExpandView view = expand_view(boresight_, 0, detector, grid, out);
  const auto row = [&](std::size_t number) { return arrays_->rows + number * n; };
  view.x = row(0);
  view.y = row(1);
  view.z = row(2);
  view.w = row(3);
  if (view.plate_cos != nullptr) {
    view.plate_cos = row(kPlateAngle + 1);
    view.plate_sin = row(kPlateAngle + 2);
  }
  view.q = arrays_->q;
  view.u = arrays_->u;
  view.pixels = arrays_->pixels;
  kernels_.expand(*stream_, static_cast<long>(n), view);
  fetch(*stream_, out.q, arrays_->q, staging_);
  fetch(*stream_, out.u, arrays_->u, staging_);
  fetch(*stream_, out.pixels, arrays_->pixels, staging_);
}

}  // namespace skyloom
