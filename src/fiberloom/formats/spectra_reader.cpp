// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/spectra_reader.hpp"

#include <algorithm>
#include <cctype>
#include <type_traits>
#include <utility>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/sdss_file.hpp"
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

SpectraReader::SpectraReader(FitsReader file, AndMask and_mask)
    : path_(file.path()), file_(std::move(file)), unpacked_(std::make_shared<Unpacked>()) {
  header_ = file_->hdus().front().user_header();
  const formats::SdssKind kind = formats::sdss_kind(*file_);
  sdss_ = kind != formats::SdssKind::kNone;
  if (kind == formats::SdssKind::kNone) open_desi(*file_);
  if (kind == formats::SdssKind::kPlate) open_plate(*file_, and_mask);
  if (kind == formats::SdssKind::kFrame) open_sdss_frame(*file_, and_mask);
  if (kind != formats::SdssKind::kSpec) return;
  whole_ = formats::parse_spec(*file_, and_mask);
  file_.reset();  // there are thousands of them
  fibermap = whole_->fibermap;
  nspec_ = 1;
  cameras_.push_back({formats::kSdssCamera, whole_->wave, whole_->resolution.rows(), false});
}

void SpectraReader::open_desi(const FitsReader& file) {
  const std::vector<std::string> names = formats::find_cameras(file);
  const bool frame = names.empty() && file.find("FLUX") != nullptr;
  if (frame) {
    formats::require_one_grid(file);
    std::string camera = file.require("FLUX").header.text("CAMERA").value_or("");
    camera = fits::normal_name(camera).substr(0, 1);
    add_camera(camera, "");
  } else if (names.empty()) {
    static_cast<void>(file.require("B_WAVELENGTH"));  // throws
  }
  for (const std::string& name : names) add_camera(name, name + "_");
  fibermap = formats::find_rows(file, "FIBERMAP", nspec_);
  scores = formats::find_rows(file, "SCORES", nspec_);
  exp_fibermap = formats::find_table(file, "EXP_FIBERMAP");
}

void SpectraReader::add_sdss_images(const formats::SdssImages& images, std::size_t kept,
                                    AndMask and_mask) {
  Parts parts;
  parts.flux = images.flux;
  parts.ivar = images.ivar;
  if (and_mask == AndMask::kUse) parts.mask = images.mask;
  parts.sigma = images.dispersion;
  parts.sigma_in_pixels = true;
  parts.first = images.first;
  parts.kept = kept;
  parts_.push_back(parts);
  nspec_ = images.flux->axes[1];
}

void SpectraReader::open_plate(const FitsReader& file, AndMask and_mask) {
  formats::SdssPlate plate = formats::parse_plate(file);
  add_sdss_images(plate, plate.wave.size(), and_mask);
  cameras_.push_back({formats::kSdssCamera, std::move(plate.wave), 0, true});
  fibermap = std::move(plate.fibermap);
}

void SpectraReader::open_sdss_frame(const FitsReader& file, AndMask and_mask) {
  formats::SdssFrame frame = formats::parse_sdss_frame(file);
  add_sdss_images(frame, frame.wave.cols(), and_mask);
  const double* first = frame.wave.row(0);
  cameras_.push_back({frame.camera, {first, first + frame.wave.cols()}, 0, true});
  waves_ = std::move(frame.wave);
  usable_ = std::move(frame.usable);
  fibermap = std::move(frame.fibermap);
}

void SpectraReader::add_camera(const std::string& name, const std::string& prefix) {
  Parts parts;
  parts.flux = &file_->require(prefix + "FLUX");
  formats::require_image(*file_, *parts.flux, 2);
  parts.ivar = &formats::require_like_flux(*file_, file_->require(prefix + "IVAR"), *parts.flux);
  parts.mask = file_->find(prefix + "MASK");
  if (parts.mask != nullptr) formats::require_like_flux(*file_, *parts.mask, *parts.flux);
  parts.resolution = file_->find(prefix + "RESOLUTION");
  if (parts.resolution != nullptr) {
    formats::require_resolution(*file_, *parts.resolution, *parts.flux);
  }
  if (parts.resolution == nullptr) add_sigma(prefix + "SIGMA", *parts.flux, parts);
  const Hdu& wave = file_->require(prefix + "WAVELENGTH");
  Camera camera{name, formats::read_wave(*file_, wave, *parts.flux),
                parts.resolution == nullptr ? 0 : parts.resolution->axes[1], parts.sigma != nullptr,
                parts.flux->header.text("BUNIT").value_or("")};
  formats::require_increasing(*file_, wave, camera.wave);
  const std::size_t rows = parts.flux->axes[1];
  if (cameras_.empty()) nspec_ = rows;
  if (rows != nspec_) {
    throw file_->error(Status::kWrongShape, *parts.flux,
                       std::to_string(rows) + " spectra, but " + cameras_.front().name +
                           "_FLUX has " + std::to_string(nspec_));
  }
  cameras_.push_back(std::move(camera));
  parts_.push_back(parts);
}

/// One number a bin, or one a bin of each spectrum.
void SpectraReader::add_sigma(const std::string& name, const Hdu& flux, Parts& parts) const {
  parts.sigma = file_->find(name);
  if (parts.sigma == nullptr) return;
  const bool one = parts.sigma->axes.size() == 1 && parts.sigma->axes[0] == flux.axes[0];
  if (!one) formats::require_like_flux(*file_, *parts.sigma, flux);
}

Array2D<double> SpectraReader::read_sigma(const Parts& parts,
                                          std::span<const std::size_t> rows) const {
  if (parts.sigma->axes.size() > 1) return read_image<double>(parts, *parts.sigma, rows);
  const std::size_t m = parts.sigma->axes[0];
  Array2D<double> out(rows.size(), m);
  std::vector<double> all(m);
  file_->read_pixels<double>(*parts.sigma, all);
  for (std::size_t r = 0; r < rows.size(); ++r) std::copy(all.begin(), all.end(), out.row(r));
  return out;
}

void SpectraReader::take_grid(std::size_t camera, const std::vector<double>& wave) {
  cameras_.at(camera).wave = wave;
  if (whole_) whole_->wave = wave;
}

void SpectraReader::verify() const {
  if (whole_) return;  // done when it was read
  for (const Parts& parts : parts_) {
    for (const Hdu* hdu : {parts.flux, parts.ivar, parts.mask, parts.resolution, parts.sigma}) {
      if (hdu != nullptr) file_->require_sums(*hdu);
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
      file_->read_pixels<T>(hdu, {all.data(), all.size()});
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy_n(all.data() + rows[r] * size, size, out + r * size);
    }
    return;
  }
  for (std::size_t r = 0; r < rows.size();) {  // neighbours at once
    std::size_t end = r + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    file_->read_range<T>(hdu, rows[r] * size, {out + r * size, (end - r) * size});
    r = end;
  }
}

template <class T>
Array2D<T> SpectraReader::read_image(const Parts& parts, const Hdu& hdu,
                                     std::span<const std::size_t> rows) const {
  const std::size_t all = hdu.axes[0], kept = parts.kept == 0 ? all : parts.kept;
  Array2D<T> whole(rows.size(), all);
  read_rows(hdu, rows, whole.data());
  if (kept == all) return whole;
  Array2D<T> out(rows.size(), kept);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::copy_n(whole.row(r) + parts.first, kept, out.row(r));
  }
  return out;
}

/// Of a file whose spectrum is in memory: that one again and again.
Spectra SpectraReader::read_whole(std::span<const std::size_t> rows) const {
  const std::size_t n = rows.size(), m = whole_->nwave(), nd = whole_->resolution.rows();
  Spectra out;
  out.wave = whole_->wave;
  out.flux = Array2D<double>(n, m);
  out.ivar = Array2D<double>(n, m);
  if (!whole_->mask.empty()) out.mask = Array2D<std::uint32_t>(n, m);
  if (nd > 0) out.resolution = Array3D<float>(n, nd, m);
  for (std::size_t r = 0; r < n; ++r) {
    std::copy_n(whole_->flux.data(), m, out.flux.row(r));
    std::copy_n(whole_->ivar.data(), m, out.ivar.row(r));
    if (!out.mask.empty()) std::copy_n(whole_->mask.data(), m, out.mask.row(r));
    if (nd > 0) std::copy_n(whole_->resolution.data(), nd * m, out.resolution.data() + r * nd * m);
  }
  return out;
}

Spectra SpectraReader::read(std::size_t camera, std::span<const std::size_t> rows) const {
  for (const std::size_t row : rows) {
    if (row < nspec_) continue;
    throw Error(kFiberRange, path_ + ": spectrum " + std::to_string(row) + " of " +
                                 std::to_string(nspec_) + " wanted");
  }
  if (whole_) return read_whole(rows);
  if (has_own_waves() && rows.size() != 1) {
    throw Error(Status::kInternal, path_ + ": spectra on grids of their own are read one by one");
  }
  const Parts& parts = parts_.at(camera);
  const std::size_t n = rows.size(), m = cameras_[camera].wave.size();
  Spectra out;
  out.wave = cameras_[camera].wave;
  if (has_own_waves()) out.wave.assign(waves_.row(rows[0]), waves_.row(rows[0]) + m);
  out.flux = read_image<double>(parts, *parts.flux, rows);
  out.ivar = read_image<double>(parts, *parts.ivar, rows);
  if (has_own_waves() && !usable_[rows[0]]) std::fill_n(out.ivar.data(), m, 0.0);
  if (parts.mask != nullptr) out.mask = read_image<std::uint32_t>(parts, *parts.mask, rows);
  if (parts.resolution != nullptr) {
    out.resolution = Array3D<float>(n, parts.resolution->axes[1], m);
    read_rows(*parts.resolution, rows, out.resolution.data());
  } else if (parts.sigma != nullptr) {
    Array2D<double> sigma = read_sigma(parts, rows);
    for (std::size_t r = 0; r < n && parts.sigma_in_pixels; ++r) {
      const std::vector<double> aa = formats::sigma_of_dispersion({sigma.row(r), m}, out.wave);
      std::copy(aa.begin(), aa.end(), sigma.row(r));
    }
    out.resolution = gaussian_resolution(out.wave, sigma);
  }
  return out;
}

}  // namespace fiberloom
