// SPDX-License-Identifier: BSD-3-Clause
// For tests only: small PSF files of the kinds that nobody here writes, of four fibres.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom::test {

using PsfHeader = std::function<void(HeaderCards&)>;

inline void add_image(fits::FitsWriter& w, const std::string& name, const std::vector<double>& v,
                      const std::vector<std::size_t>& axes, const HeaderCards& header = {}) {
  w.image(name, std::span<const double>(v), axes, fits::PixelType::kFloat64, header);
}

/// XCOEFF and YCOEFF: fibres 20 pixels apart from column 20 on, 1.5 rows an Angstrom around row 60.
inline void add_base(fits::FitsWriter& w, const std::string& kind, const PsfHeader& change = {}) {
  HeaderCards x, y;
  x.set("PSFTYPE", kind);
  for (const char* key : {"NPIX_X", "NPIX_Y"}) x.set(key, key[5] == 'X' ? 100 : 120);
  x.set("NSPEC", 4);
  x.set("CCDPIXSZ", 0.015);
  x.set("PIXSIZE", 0.0049);
  for (HeaderCards* h : {&x, &y}) {
    h->set("WAVEMIN", 5000.0);
    h->set("WAVEMAX", 5060.0);
  }
  if (change) change(x);
  add_image(w, "XCOEFF", {20, 0.3, 40, 0.3, 60, 0.3, 80, 0.3}, {2, 4}, x);
  add_image(w, "YCOEFF", {60, 45, 60.2, 45, 60.4, 45, 60.6, 45}, {2, 4}, y);
}

/// A bump of n x n pixels.
inline std::vector<double> bump(std::size_t n, double sigma) {
  std::vector<double> v;
  const double middle = 0.5 * (static_cast<double>(n) - 1);
  for (std::size_t i = 0; i < n * n; ++i) {
    const double y = static_cast<double>(i / n) - middle, x = static_cast<double>(i % n) - middle;
    v.push_back(std::exp(-0.5 * (x * x + y * y) / (sigma * sigma)));
  }
  return v;
}

struct SpotGridFile {
  std::vector<double> fiber_position{0, 1, 2, 3}, position{-1, 4}, wave{4990, 5030, 5070};
  double first_spot = 1;  ///< factor of one value
  PsfHeader change;
};
inline void add_spot_grid(fits::FitsWriter& w, const SpotGridFile& f = {}) {
  std::vector<double> spots;
  for (std::size_t i = 0; i < f.position.size() * f.wave.size(); ++i) {
    for (const double v : bump(27, 3 + 0.1 * static_cast<double>(i))) spots.push_back(v);
  }
  spots[40] *= f.first_spot;
  add_base(w, "SPOTGRID", f.change);
  add_image(w, "SPOTS", spots, {27, 27, f.wave.size(), f.position.size()});
  add_image(w, "FIBERPOS", f.fiber_position, {f.fiber_position.size()});
  add_image(w, "SPOTPOS", f.position, {f.position.size()});
  add_image(w, "SPOTWAVE", f.wave, {f.wave.size()});
}

inline void add_mono_spot(fits::FitsWriter& w, int scale = 3) {
  add_base(w, "MONOSPOT");
  HeaderCards header;
  header.set("SCALE", scale);
  add_image(w, "SPOT", bump(27, 3.4), {27, 27}, header);
}

inline void add_pca_pix(fits::FitsWriter& w, std::vector<double> powers = {0, 1, 0},
                        std::vector<double> group = {0, 0, 1, 1}) {
  add_base(w, "PCA-PIX");
  add_image(w, "", {0}, {1});
  const std::vector<double> zero(4, 50.0), scale(4, 0.01);
  std::vector<double> y{0, 0, 1};
  y.resize(powers.size());
  w.table("", fits::TableBuilder(powers.size()).add("XEXP", powers).add("YEXP", y).build());
  w.table("", fits::TableBuilder(4)
                  .add("IGROUP", group)
                  .add("X0", zero)
                  .add("XSCALE", scale)
                  .add("Y0", zero)
                  .add("YSCALE", scale)
                  .build());
  std::vector<double> images;
  for (std::size_t g = 0; g < 2; ++g) {
    for (std::size_t i = 0; i < powers.size(); ++i) {
      for (const double v : bump(11, 1.2 + 0.1 * static_cast<double>(g)))
        images.push_back(i == 0 ? v : 0.02 * v);
    }
  }
  add_image(w, "", images, {11, 11, powers.size(), 2});
}

/// One table; `drop`: a row that is left out. STATUS of fibre 2 is 4, BUNDLE 0 0 0 1.
inline void add_two_cores(fits::FitsWriter& w, const std::string& drop = "", double first_gh = 1) {
  std::vector<std::string> names;
  std::vector<double> low, high, coeff;
  const auto row = [&](const std::string& name, const std::vector<double>& of_fiber, double slope) {
    if (name == drop) return;
    names.push_back(name);
    low.push_back(5000);
    high.push_back(5060);
    for (std::size_t f = 0; f < 4; ++f) {
      coeff.push_back(of_fiber[f % of_fiber.size()]);
      coeff.push_back(slope);
    }
  };
  row("X", {20, 40, 60, 80}, 0.3);
  row("Y", {60, 60.2, 60.4, 60.6}, 45);
  row("GHSIGX", {1.1}, 0.01);
  row("GHSIGY", {1.2}, 0.02);
  row("GHNSIG", {3}, 0);
  row("GHSIGX2", {2.2}, 0);
  row("GHSIGY2", {2.4}, 0);
  for (const char* core : {"GH", "GH2"}) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        const bool second = core[2] == '2';
        const double c = i + j > 0 ? 0.01 : second ? 0.05 : first_gh;
        row(core + ("-" + std::to_string(i)) + "-" + std::to_string(j), {c}, 0.001);
      }
    }
  }
  row("TAILAMP", {0.002}, 0);
  for (const char* name : {"TAILCORE", "TAILXSCA", "TAILYSCA"}) row(name, {1}, 0);
  row("TAILINDE", {2}, 0);
  row("BUNDLE", {0, 0, 0, 1}, 0);
  row("STATUS", {0, 0, 4, 0}, 0);
  RawTable table = fits::TableBuilder(names.size())
                       .add("PARAM", names, 8)
                       .add("WAVEMIN", low)
                       .add("WAVEMAX", high)
                       .add_vector("COEFF", coeff, 8, "(2,4)")
                       .build();
  table.header.set("PSFTYPE", "GAUSS-HERMITE2");
  table.header.set("PSFVER", "2");
  table.header.set("NPIX_X", 100);
  table.header.set("NPIX_Y", 120);
  table.header.set("HSIZEX", 7);
  table.header.set("HSIZEY", 5);
  table.header.set("FIBERMIN", 0);
  table.header.set("FIBERMAX", 3);
  for (const char* key : {"GHDEGX", "GHDEGY", "GHDEGX2", "GHDEGY2"}) table.header.set(key, 1);
  w.table("", table);
}

}  // namespace fiberloom::test
