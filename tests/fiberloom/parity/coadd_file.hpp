// SPDX-License-Identifier: BSD-3-Clause
// Spectra of a coadd file as the redshift room takes them: for parity tests and benchmarks, which
// want no more than fluxes, weights and resolution.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/redshift/target.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom::parity {

struct CoaddCamera {
  std::string band;
  std::vector<double> wave;
  std::vector<float> flux, ivar, resolution;  ///< [target][nwave], [target][ndiag][nwave]
  std::vector<std::uint32_t> mask;            ///< empty: none
  std::size_t ndiag = 0;
};

struct CoaddFile {
  std::vector<std::int64_t> ids;
  std::vector<CoaddCamera> cameras;

  [[nodiscard]] std::vector<redshift::TargetView> views() const {
    std::vector<redshift::TargetView> out(ids.size());
    for (std::size_t t = 0; t < ids.size(); ++t) {
      out[t].id = ids[t];
      for (const CoaddCamera& c : cameras) {
        const std::size_t n = c.wave.size();
        const auto part = [&](const auto& all, std::size_t size) {
          return std::span(all).subspan(t * size, size);
        };
        redshift::CameraView view{c.wave, part(c.flux, n), part(c.ivar, n), {}, {}, c.ndiag};
        if (!c.mask.empty()) view.mask = part(c.mask, n);
        if (c.ndiag > 0) view.resolution = part(c.resolution, n * c.ndiag);
        out[t].spectra.push_back(view);
      }
    }
    return out;
  }
};

[[nodiscard]] inline CoaddFile read_coadd(const std::string& path) {
  const fits::FitsReader file = fits::FitsReader::open(path);
  CoaddFile out;
  const RawTable fibermap = file.read_table(file.require("FIBERMAP"));
  out.ids = fibermap.integers("TARGETID", 0).value();
  for (const fits::Hdu& hdu : file.hdus()) {
    const auto end = hdu.name.find("_WAVELENGTH");
    if (end == std::string::npos) continue;
    CoaddCamera c;
    c.band = hdu.name.substr(0, end);
    c.wave.resize(hdu.pixels());
    file.read_pixels<double>(hdu, c.wave);
    const auto read = [&](const char* name, auto& values) {
      const fits::Hdu* found = file.find(c.band + "_" + name);
      if (found == nullptr) return std::size_t{0};
      using T = typename std::remove_reference_t<decltype(values)>::value_type;
      values.resize(found->pixels());
      file.read_pixels<T>(*found, values);
      return found->axes.size() > 1 ? found->axes[1] : 1;
    };
    read("FLUX", c.flux);
    read("IVAR", c.ivar);
    read("MASK", c.mask);
    c.ndiag = read("RESOLUTION", c.resolution);
    out.cameras.push_back(std::move(c));
  }
  return out;
}

}  // namespace fiberloom::parity
