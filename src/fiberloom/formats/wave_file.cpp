// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/wave_file.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

#include "fiberloom/formats/from_reader.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/input_file.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 25;

/// FITS, or FITS in gzip.
bool looks_like_fits(const std::string& path) {
  std::array<std::uint8_t, 6> first{};
  const InputFile file(path);
  const std::size_t n = file.read(0, first);
  const std::string_view begin(reinterpret_cast<const char*>(first.data()), n);
  return begin == "SIMPLE" || begin.starts_with("\x1f\x8b");
}

const fits::Hdu& find_grid(const fits::FitsReader& file) {
  for (const char* name : {"FIBER_WAVELENGTH", "WAVELENGTH"}) {
    if (const fits::Hdu* hdu = file.find(name)) return *hdu;
  }
  for (const fits::Hdu& hdu : file.hdus()) {
    const bool image =
        hdu.kind == fits::HduKind::kImage || hdu.kind == fits::HduKind::kCompressedImage;
    if (image && !hdu.axes.empty()) return hdu;
  }
  return file.require("WAVELENGTH");
}

}  // namespace

Array2D<double> parse_wave_text(const std::string& text, const std::string& label) {
  std::istringstream lines(text);
  std::vector<double> wave;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value) ||
        (!wave.empty() && value <= wave.back())) {
      throw Error(Status::kCorrupt, label + ": line " + std::to_string(number) + ": '" +
                                        line.substr(0, 40) +
                                        "', expected a wavelength (Angstrom) above the one before");
    }
    wave.push_back(value);
  }
  if (wave.empty()) throw Error(Status::kCorrupt, label + ": no wavelengths");
  Array2D<double> out(1, wave.size());
  std::copy(wave.begin(), wave.end(), out.data());
  return out;
}

Array2D<double> parse_wave_fits(const fits::FitsReader& file) {
  const fits::Hdu& hdu = find_grid(file);
  formats::require_angstrom(file, hdu);
  Array2D<double> out;
  if (hdu.axes.size() == 2) {
    out = formats::read_matrix(file, hdu);
  } else {
    const std::vector<double> wave = formats::read_vector(file, hdu);
    out = Array2D<double>(1, wave.size());
    std::copy(wave.begin(), wave.end(), out.data());
  }
  if (out.empty()) throw file.error(Status::kCorrupt, hdu, "no wavelengths");
  for (std::size_t f = 0; f < out.rows(); ++f) {
    for (std::size_t j = 0; j < out.cols(); ++j) {
      if (std::isfinite(out(f, j)) && (j == 0 || out(f, j) > out(f, j - 1))) continue;
      throw file.error(Status::kCorrupt, hdu,
                       print("bin %zu of row %zu is at %g Angstrom, expected wavelengths that "
                             "increase",
                             j, f, out(f, j)));
    }
  }
  return out;
}

Array2D<double> read_wave_file(const std::string& path, Verify verify) {
  if (looks_like_fits(path)) return parse_wave_fits(fits::FitsReader::open(path, verify));
  return parse_wave_text(read_text(path, kLongestText), path);
}

}  // namespace fiberloom
