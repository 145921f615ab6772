// SPDX-License-Identifier: BSD-3-Clause
// Small structs for the tests of formats/, and files with one thing wrong.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/spectrum/scores.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/fits/fits_reader.hpp"
#include "loom/fits/fits_writer.hpp"
#include "loom/testing/test_files.hpp"

namespace fiberloom::test {

inline RawTable sample_fibermap(std::size_t n, int first = 0) {
  std::vector<std::int32_t> fiber;
  std::vector<double> ra;
  std::vector<std::string> type;
  for (std::size_t i = 0; i < n; ++i) {
    fiber.push_back(first + static_cast<int>(i));
    ra.push_back(150.0 + 0.01 * static_cast<double>(i));
    type.push_back(i % 2 == 0 ? "SKY" : "TGT");
  }
  RawTable out = fits::TableBuilder(n)
                     .add("FIBER", fiber)
                     .add("TARGET_RA", ra, "deg", "right ascension")
                     .add("OBJTYPE", type, 3)
                     .build();
  out.header.set("SURVEY", "main");
  return out;
}

inline PreprocFile sample_preproc(std::size_t ny = 24, std::size_t nx = 40) {
  PreprocFile out;
  Array2D<float> image(ny, nx), ivar(ny, nx, 0.25F);
  out.mask = Array2D<std::uint32_t>(ny, nx, 0);
  for (std::size_t i = 0; i < image.size(); ++i) {
    image.data()[i] = static_cast<float>(i * 37 % 101) - 50.25F;
    if (i % 31 == 0) out.mask.data()[i] = 16;
  }
  out.ccd = {PixelArray(std::move(image)), PixelArray(std::move(ivar))};
  out.header.set("CAMERA", "r3");
  out.header.set("FLAVOR", "science");
  out.header.set("SPECGRPH", 3);
  out.fibermap = sample_fibermap(10);
  out.readnoise = 3.5;
  return out;
}

inline LegendreSeries sample_series(std::size_t n, std::vector<double> c, double low, double high) {
  LegendreSeries out{low, high, Array2D<double>(n, c.size())};
  for (std::size_t f = 0; f < n; ++f) {
    for (std::size_t k = 0; k < c.size(); ++k) {
      out.coef(f, k) = c[k] * (1 + 0.01 * static_cast<double>(f));
    }
  }
  return out;
}

inline PsfFile sample_psf(std::size_t n = 6) {
  PsfFile out;
  PsfModel& m = out.model;
  m.npix_x = 40;
  m.npix_y = 24;
  m.hsize_x = 4;
  m.hsize_y = 3;
  m.gh_deg_x = 2;
  m.gh_deg_y = 1;
  m.x = sample_series(n, {10, 1, 0.1}, 5000, 6000);
  m.y = sample_series(n, {12, 11}, 5000, 6000);
  m.sigma_x = sample_series(n, {1.1, 0.01}, 5000, 6001);
  m.sigma_y = sample_series(n, {1.2, 0.02}, 5000, 6001);
  for (int i = 0; i < 6; ++i)
    m.gh.push_back(sample_series(n, {i == 0 ? 1.0 : 0.01, 0.005}, 5000, 6001));
  for (std::size_t f = 0; f < n; ++f) {
    m.bundle.push_back(f < n / 2 ? 0 : 1);
    m.status.push_back(0);
  }
  m.psferr = 0.02;
  out.header.set("CAMERA", "r3");
  return out;
}

inline FrameFile sample_frame(std::size_t n = 4, std::size_t m = 30) {
  FrameFile out;
  Spectra& r = out;
  r.wave = linear_wave_grid(5900, 5900 + 0.8 * static_cast<double>(m - 1), 0.8);
  out.spec_min = 2;
  r.flux = Array2D<double>(n, m);
  r.ivar = Array2D<double>(n, m, 0.5);
  r.mask = Array2D<std::uint32_t>(n, m, 0);
  out.chi2pix = Array2D<double>(n, m, 1.0);
  r.resolution = Array3D<float>(n, 11, m, 0.0F);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      r.flux(i, j) = 100.0 * static_cast<double>(i) + 0.125 * static_cast<double>(j * 37 % 19);
      for (std::size_t k = 4; k < 7; ++k) r.resolution(i, k, j) = k == 5 ? 0.6F : 0.2F;
    }
  }
  r.ivar(1, 3) = 0;
  r.flux(1, 3) = 0;
  r.mask(1, 3) = kAllBadPix | 0x80000000U;
  out.header.set("CAMERA", "r3");
  out.header.set("FLAVOR", "science");
  out.header.set("BUNIT", "electron");
  out.fibermap = to_table(sample_fibermap(n, 1502));
  out.scores = frame_scores(out);
  return out;
}

inline FiberFlatFile sample_fiber_flat(std::size_t n = 3, std::size_t m = 20) {
  FiberFlatFile out;
  out.wave = linear_wave_grid(5900, 5900 + 0.8 * static_cast<double>(m - 1), 0.8);
  out.flat = Array2D<double>(n, m, 0.75);
  out.ivar = Array2D<double>(n, m, 1024);
  out.mask = Array2D<std::uint32_t>(n, m, 0U);
  out.mean.assign(m, 4096);
  out.flat(1, 7) = 1.25;
  out.ivar(0, 2) = 0;
  out.mask(0, 2) = kBadFiberFlat;
  out.header.set("CAMERA", "r0");
  out.fibermap = to_table(sample_fibermap(n));
  return out;
}

inline SkyFile sample_sky(std::size_t n = 3, std::size_t m = 20) {
  SkyFile out;
  out.wave = linear_wave_grid(5900, 5900 + 0.8 * static_cast<double>(m - 1), 0.8);
  out.flux = Array2D<double>(n, m, 37.5);
  out.ivar = Array2D<double>(n, m, 0.5);
  out.stat_ivar = Array2D<double>(n, m, 0.75);
  out.mask = Array2D<std::uint32_t>(n, m, 0U);
  out.mask(1, 1) = kBadSky;
  out.throughput.assign(n, 1.0);
  out.header.set("CAMERA", "r0");
  return out;
}

inline FluxCalibrationFile sample_flux_calibration(std::size_t n = 3, std::size_t m = 20) {
  FluxCalibrationFile out;
  out.wave = linear_wave_grid(5900, 5900 + 0.8 * static_cast<double>(m - 1), 0.8);
  out.calib = Array2D<double>(n, m, 37.3);
  out.ivar = Array2D<double>(n, m, 4);
  out.mask = Array2D<std::uint32_t>(n, m, 0U);
  out.deconvolved.assign(m, 37.7);
  out.flat_to_psf.assign(n, 1.0);
  out.flat_to_psf[1] = 1.25;
  out.header.set("CAMERA", "r0");
  out.stars = to_table(sample_fibermap(1));
  return out;
}

/// FLUX, WAVELENGTH and FIBERS of `n` stars at `m` wavelengths.
inline void add_standard_stars(fits::FitsWriter& w, std::size_t n, std::size_t m,
                               const std::vector<double>& fibers) {
  const std::vector<double> flux(n * m, 12.5);
  const std::vector<double> wave =
      linear_wave_grid(5900, 5900 + 0.1 * static_cast<double>(m - 1), 0.1);
  w.image("FLUX", std::span<const double>(flux), {m, n}, fits::PixelType::kFloat32);
  w.image("WAVELENGTH", std::span<const double>(wave), {m}, fits::PixelType::kFloat64);
  w.image("FIBERS", std::span<const double>(fibers), {fibers.size()}, fits::PixelType::kInt32);
}

using Build = std::function<void(fits::FitsWriter&)>;
inline fits::FitsReader in_memory(const Build& build) {
  MemorySink sink;
  fits::FitsWriter writer(sink);
  build(writer);
  return fits::FitsReader::from_memory(sink.bytes(), "test.fits");
}

/// Image of n1 x n2 (x n3) zeros of this name.
inline void add_image(fits::FitsWriter& w, const std::string& name,
                      const std::vector<std::size_t>& axes,
                      fits::PixelType type = fits::PixelType::kFloat32, const HeaderCards& h = {}) {
  std::size_t n = 1;
  for (const std::size_t a : axes) n *= a;
  const std::vector<double> zeros(n, 0.0);
  w.image(name, std::span<const double>(zeros), axes, type, h);
}

/// {camera}_WAVELENGTH ... of `n` spectra of `m` bins: flux 10 i + j, R the identity.
inline void add_camera(fits::FitsWriter& w, const std::string& camera, double first_aa,
                       std::size_t n, std::size_t m) {
  const std::vector<double> wave =
      linear_wave_grid(first_aa, first_aa + 0.8 * static_cast<double>(m - 1), 0.8);
  std::vector<double> flux(n * m), ivar(n * m, 0.25), resolution(n * 5 * m);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      flux[i * m + j] = 10.0 * static_cast<double>(i) + static_cast<double>(j);
      resolution[(i * 5 + 2) * m + j] = 1;
    }
  }
  const std::vector<std::uint32_t> mask(n * m, 2);
  HeaderCards unit;
  unit.set("BUNIT", "10**-17 erg/(s cm2 Angstrom)");
  const auto real = [&](const char* name, const std::vector<double>& a,
                        const std::vector<std::size_t>& axes, fits::PixelType type) {
    w.image(camera + name, std::span<const double>(a), axes, type, unit);
  };
  real("_WAVELENGTH", wave, {m}, fits::PixelType::kFloat64);
  real("_FLUX", flux, {m, n}, fits::PixelType::kFloat32);
  real("_IVAR", ivar, {m, n}, fits::PixelType::kFloat32);
  w.image(camera + "_MASK", std::span<const std::uint32_t>(mask), {m, n}, fits::PixelType::kInt32);
  real("_RESOLUTION", resolution, {m, 5, n}, fits::PixelType::kFloat32);
}

/// A coadd of three targets in two cameras, with all tables.
inline void add_coadd(fits::FitsWriter& w) {
  w.table("FIBERMAP", sample_fibermap(3, 7));
  w.table("EXP_FIBERMAP", sample_fibermap(5));
  add_camera(w, "B", 3600, 3, 12);
  add_camera(w, "Z", 7520, 3, 15);
  w.table("SCORES", fits::TableBuilder(3).add("TSNR2_LRG", std::vector<double>{1, 2, 3}).build());
}

/// Where a file of outside data lies, in the folder that the variable names, or empty.
inline std::string parity_file(const std::string& name,
                               const char* variable = "FIBERLOOM_PARITY_DIR") {
  const char* folder = std::getenv(variable);
  if (folder == nullptr) return "";
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace fiberloom::test
