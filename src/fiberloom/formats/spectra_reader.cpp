// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/spectra_reader.hpp"

#include <algorithm>
#include <cctype>
#include <type_traits>
#include <utility>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/spectrum/gaussian_resolution.hpp"
#include "fiberloom/status.hpp"

namespace fiberloom {

using fits::FitsReader;
using fits::Hdu;

struct SpectraReader::Unpacked {
  std::mutex mutex;
  std::map<std::size_t, Buffer<double>> numbers;  ///< by number of the HDU
  std::map<std::size_t, Buffer<float>> diagonals;
  std::map<std::size_t, Buffer<std::uint32_t>> bits;

  template <class T>
  auto& of() {
    if constexpr (std::is_same_v<T, double>) return numbers;
    if constexpr (std::is_same_v<T, float>) return diagonals;
    if constexpr (std::is_same_v<T, std::uint32_t>) return bits;
  }
};

SpectraReader::SpectraReader(FitsReader file)
    : file_(std::move(file)), unpacked_(std::make_shared<Unpacked>()) {
  header_ = file_.hdus().front().user_header();
  const std::vector<std::string> names = formats::find_cameras(file_);
  const bool frame = names.empty() && file_.find("FLUX") != nullptr;
  if (frame) {
    std::string camera = file_.require("FLUX").header.text("CAMERA").value_or("");
    camera = fits::normal_name(camera).substr(0, 1);
    add_camera(camera, "");
  } else if (names.empty()) {
    static_cast<void>(file_.require("B_WAVELENGTH"));  // throws
  }
  for (const std::string& name : names) add_camera(name, name + "_");
  fibermap = formats::find_rows(file_, "FIBERMAP", nspec_);
  scores = formats::find_rows(file_, "SCORES", nspec_);
  exp_fibermap = formats::find_table(file_, "EXP_FIBERMAP");
}

void SpectraReader::add_camera(const std::string& name, const std::string& prefix) {
  Parts parts;
  parts.flux = &file_.require(prefix + "FLUX");
  formats::require_image(file_, *parts.flux, 2);
  parts.ivar = &formats::require_like_flux(file_, file_.require(prefix + "IVAR"), *parts.flux);
  parts.mask = file_.find(prefix + "MASK");
  if (parts.mask != nullptr) formats::require_like_flux(file_, *parts.mask, *parts.flux);
  parts.resolution = file_.find(prefix + "RESOLUTION");
  if (parts.resolution != nullptr) {
    formats::require_resolution(file_, *parts.resolution, *parts.flux);
  }
  if (parts.resolution == nullptr) add_sigma(prefix + "SIGMA", *parts.flux, parts);
  const Hdu& wave = file_.require(prefix + "WAVELENGTH");
  Camera camera{name, formats::read_wave(file_, wave, *parts.flux),
                parts.resolution == nullptr ? 0 : parts.resolution->axes[1],
                parts.sigma != nullptr};
  formats::require_increasing(file_, wave, camera.wave);
  const std::size_t rows = parts.flux->axes[1];
  if (cameras_.empty()) nspec_ = rows;
  if (rows != nspec_) {
    throw file_.error(Status::kWrongShape, *parts.flux,
                      std::to_string(rows) + " spectra, but " + cameras_.front().name +
                          "_FLUX has " + std::to_string(nspec_));
  }
  cameras_.push_back(std::move(camera));
  parts_.push_back(parts);
}

/// One number a bin, or one a bin of each spectrum.
void SpectraReader::add_sigma(const std::string& name, const Hdu& flux, Parts& parts) const {
  parts.sigma = file_.find(name);
  if (parts.sigma == nullptr) return;
  const bool one = parts.sigma->axes.size() == 1 && parts.sigma->axes[0] == flux.axes[0];
  if (!one) formats::require_like_flux(file_, *parts.sigma, flux);
}

Array2D<double> SpectraReader::read_sigma(const Parts& parts,
                                          std::span<const std::size_t> rows) const {
  const std::size_t m = parts.sigma->axes[0];
  Array2D<double> out(rows.size(), m);
  if (parts.sigma->axes.size() > 1) {
    read_rows(*parts.sigma, rows, out.data());
    return out;
  }
  std::vector<double> all(m);
  file_.read_pixels<double>(*parts.sigma, all);
  for (std::size_t r = 0; r < rows.size(); ++r) std::copy(all.begin(), all.end(), out.row(r));
  return out;
}

void SpectraReader::verify() const {
  for (const Parts& parts : parts_) {
    for (const Hdu* hdu : {parts.flux, parts.ivar, parts.mask, parts.resolution, parts.sigma}) {
      if (hdu != nullptr) file_.require_sums(*hdu);
    }
  }
}

template <class T>
void SpectraReader::read_rows(const Hdu& hdu, std::span<const std::size_t> rows, T* out) const {
  const std::size_t size = hdu.pixels() / nspec_;
  if (hdu.kind == fits::HduKind::kCompressedImage) {
    const std::lock_guard lock(unpacked_->mutex);
    Buffer<T>& all = unpacked_->of<T>()[hdu.number];
    if (all.empty()) {
      all = Buffer<T>(hdu.pixels());
      file_.read_pixels<T>(hdu, {all.data(), all.size()});
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy_n(all.data() + rows[r] * size, size, out + r * size);
    }
    return;
  }
  for (std::size_t r = 0; r < rows.size();) {  // neighbours at once
    std::size_t end = r + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    file_.read_range<T>(hdu, rows[r] * size, {out + r * size, (end - r) * size});
    r = end;
  }
}

Spectra SpectraReader::read(std::size_t camera, std::span<const std::size_t> rows) const {
  const Parts& parts = parts_.at(camera);
  for (const std::size_t row : rows) {
    if (row < nspec_) continue;
    throw file_.error(kFiberRange, "spectrum " + std::to_string(row) + " of " +
                                       std::to_string(nspec_) + " wanted");
  }
  const std::size_t n = rows.size(), m = cameras_[camera].wave.size();
  Spectra out;
  out.wave = cameras_[camera].wave;
  out.flux = Array2D<double>(n, m);
  out.ivar = Array2D<double>(n, m);
  read_rows(*parts.flux, rows, out.flux.data());
  read_rows(*parts.ivar, rows, out.ivar.data());
  if (parts.mask != nullptr) {
    out.mask = Array2D<std::uint32_t>(n, m);
    read_rows(*parts.mask, rows, out.mask.data());
  }
  if (parts.resolution != nullptr) {
    out.resolution = Array3D<float>(n, parts.resolution->axes[1], m);
    read_rows(*parts.resolution, rows, out.resolution.data());
  } else if (parts.sigma != nullptr) {
    out.resolution = gaussian_resolution(out.wave, read_sigma(parts, rows));
  }
  return out;
}

}  // namespace fiberloom
