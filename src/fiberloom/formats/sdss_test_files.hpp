// SPDX-License-Identifier: BSD-3-Clause
// Small files of SDSS's kinds, for tests and as seeds of fuzzers.
#pragma once

#include <cmath>
#include <vector>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom::test {

/// What a plate of `n` fibres and `m` pixels from 10^(first 1e-4) Angstrom has: flux 10 i + j, ivar
/// 0.25, a bit of ANDMASK in pixel 3 of each, a sigma of one pixel but none (0) in pixel 4.
struct PlateLook {
  std::size_t n = 3, m = 12, first = 36000, tables = 1;
  bool ids = true;
};

inline void add_plate(fits::FitsWriter& w, const PlateLook& look = {}) {
  const std::size_t n = look.n, m = look.m;
  HeaderCards header;
  header.set("COEFF0", static_cast<double>(look.first) * 1e-4);
  header.set("COEFF1", 1e-4);
  if (look.ids) header.set("PLATEID", 3586);
  header.set("MJD", 55181);
  std::vector<double> flux(n * m), ivar(n * m, 0.25), sigma(n * m, 1.0), zeros(n * m);
  std::vector<std::uint32_t> mask(n * m);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < m; ++j) flux[i * m + j] = static_cast<double>(10 * i + j);
    if (m > 4) mask[i * m + 3] = 1U << 23;
    if (m > 4) sigma[i * m + 4] = 0;
  }
  const auto real = [&](const char* name, const std::vector<double>& a, const HeaderCards& h) {
    w.image(name, std::span<const double>(a), {m, n}, fits::PixelType::kFloat32, h);
  };
  const auto bits = [&](const char* name) {
    w.image(name, std::span<const std::uint32_t>(mask), {m, n}, fits::PixelType::kInt32);
  };
  real("", flux, header);
  real("IVAR", ivar, {});
  bits("ANDMASK");
  bits("ORMASK");
  real("WAVEDISP", sigma, {});
  std::vector<std::int32_t> fiber;
  std::vector<double> ra, dec(n, 1.5);
  std::vector<std::string> type;
  for (std::size_t i = 0; i < n; ++i) {
    fiber.push_back(static_cast<std::int32_t>(i + 1));
    ra.push_back(150 + static_cast<double>(i));
    type.emplace_back(i == 1 ? "SKY" : "GALAXY");
  }
  if (look.tables == 0) return;
  w.table("PLUGMAP", fits::TableBuilder(n)
                         .add("OBJTYPE", type, 16)
                         .add("RA", ra)
                         .add("DEC", dec)
                         .add("FIBERID", fiber)
                         .build());
}

/// A spCFrame of `n` fibres from FIBERID `fiber` on, the last one first, and `m` pixels: fibre f of
/// row r begins r / 8 of a pixel behind 10^(first 1e-4) Angstrom; flux 10 r + j, ivar 0.25, a bit
/// of the mask in pixel 3, a sigma of one pixel. Row `dead` has no wavelengths.
struct SdssFrameLook {
  std::size_t n = 3, m = 12, first = 36000, fiber = 1, dead = 1000;
  const char* camera = "b1";
  bool rows_of_two = false;  ///< two fibres of one row
};

inline void add_sdss_frame(fits::FitsWriter& w, const SdssFrameLook& look = {}) {
  const std::size_t n = look.n, m = look.m;
  HeaderCards header;
  header.set("PLATEID", 3586);
  header.set("MJD", 55182);
  header.set("CAMERAS", std::string(look.camera));
  header.set("EXPOSURE", 116539);
  std::vector<double> flux(n * m), ivar(n * m, 0.25), loglam(n * m), sigma(n * m, 1.0);
  std::vector<std::uint32_t> mask(n * m);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t j = 0; j < m; ++j) {
      flux[r * m + j] = static_cast<double>(10 * r + j);
      const double pixel = static_cast<double>(look.first + j) + static_cast<double>(r) / 8;
      loglam[r * m + j] = r == look.dead ? 0 : 1e-4 * pixel;
    }
    if (m > 4) mask[r * m + 3] = 1U << 23;
  }
  const auto real = [&](const char* name, const std::vector<double>& a, const HeaderCards& h) {
    w.image(name, std::span<const double>(a), {m, n}, fits::PixelType::kFloat32, h);
  };
  real("", flux, header);
  real("IVAR", ivar, {});
  w.image("MASK", std::span<const std::uint32_t>(mask), {m, n}, fits::PixelType::kInt32);
  w.image("LOGLAM", std::span<const double>(loglam), {m, n}, fits::PixelType::kFloat64);
  real("WAVEDISP", sigma, {});
  std::vector<std::int32_t> fiber;
  for (std::size_t i = n; i-- > 0;) {
    fiber.push_back(static_cast<std::int32_t>(look.fiber + (look.rows_of_two ? 0 : i)));
  }
  const std::vector<double> ra(n, 150), dec(n, 1.5);
  const std::vector<std::string> type(n, "GALAXY");
  w.table("PLUGMAP", fits::TableBuilder(n)
                         .add("OBJTYPE", type, 16)
                         .add("RA", ra)
                         .add("DEC", dec)
                         .add("FIBERID", fiber)
                         .build());
}

/// A spec file of `m` pixels that begins at pixel `first` of SDSS's grid, `off` of a pixel beside
/// it: flux j, ivar 0.5, a bit of AND_MASK in pixel 3.
inline void add_spec(fits::FitsWriter& w, std::size_t first = 36000, std::size_t m = 12,
                     double off = 0, bool ids = true) {
  HeaderCards header;
  if (ids) header.set("PLATEID", 3586);
  header.set("MJD", 55181);
  header.set("FIBERID", 17);
  header.set("PLUG_RA", 150.25);
  header.set("PLUG_DEC", 1.5);
  w.primary(header);
  std::vector<double> flux(m), loglam(m), ivar(m, 0.5), wdisp(m, 1.0);
  std::vector<std::int32_t> mask(m);
  for (std::size_t j = 0; j < m; ++j) {
    flux[j] = static_cast<double>(j);
    const double exact = (static_cast<double>(first + j) + off) * 1e-4;
    loglam[j] = static_cast<double>(static_cast<float>(exact));  // as SDSS stores it
    if (j == 3) mask[j] = 1 << 23;
  }
  w.table("COADD", fits::TableBuilder(m)
                       .add("flux", flux)
                       .add("loglam", loglam)
                       .add("ivar", ivar)
                       .add("and_mask", mask)
                       .add("wdisp", wdisp)
                       .build());
  const std::vector<std::string> type{"QSO"};
  w.table("SPALL", fits::TableBuilder(1).add("OBJTYPE", type, 16).build());
}

}  // namespace fiberloom::test
