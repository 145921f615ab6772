// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/desimodel_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "fiberloom/formats/from_reader.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/files/input_file.hpp"

namespace fiberloom {
namespace {

using fits::FitsReader;
using fits::Hdu;

constexpr std::size_t kLongestText = std::size_t{1} << 22;

std::string in_model(const std::string& desimodel, const std::string& name) {
  return desimodel + "/data/" + name;
}
std::string acceptance_path(const std::string& desimodel) {
  return in_model(desimodel, "throughput/galsim-fiber-acceptance.fits");
}
std::string scale_path(const std::string& desimodel) {
  return in_model(desimodel, "focalplane/platescale.txt");
}
std::string parameter_path(const std::string& desimodel) {
  return in_model(desimodel, "desi.yaml");
}
std::string area_path(const std::string& desimodel, const std::string& camera) {
  return in_model(desimodel, "specpsf/nea/masternea_" + camera + ".fits");
}

constexpr std::string_view kTemplateBegin = "tsnr-ensemble-", kTemplateEnd = ".fits";
std::vector<std::string> template_paths(const std::string& desimodel) {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(in_model(desimodel, "tsnr"), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kTemplateBegin) && name.ends_with(kTemplateEnd))
      out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}
std::string kind_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return loom::in_small_letters(name.substr(
      kTemplateBegin.size(), name.size() - kTemplateBegin.size() - kTemplateEnd.size()));
}

void require_finite(const FitsReader& file, const Hdu& hdu, const std::vector<double>& values) {
  if (std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) return;
  throw file.error(Status::kCorrupt, hdu, "has what is no number");
}

/// Nodes of a table's axis.
std::vector<double> read_nodes(const FitsReader& file, const char* name, std::size_t fewest) {
  const Hdu& hdu = file.require(name);
  std::vector<double> out = formats::read_vector(file, hdu);
  if (out.size() < fewest) {
    throw file.error(
        Status::kWrongShape, hdu,
        std::to_string(out.size()) + " values, expected " + std::to_string(fewest) + " at least");
  }
  formats::require_increasing(file, hdu, out);
  return out;
}

/// Any number of axes, of so many values.
std::vector<double> read_values(const FitsReader& file, const char* name, std::size_t expected) {
  const Hdu& hdu = file.require(name);
  std::vector<double> out(hdu.is_image() ? hdu.pixels() : 0);
  if (out.size() != expected || out.empty()) {
    throw file.error(Status::kWrongShape, hdu,
                     hdu.shape() + ", expected " + std::to_string(expected) + " values");
  }
  file.read_pixels(hdu, std::span<double>(out));
  require_finite(file, hdu, out);
  return out;
}

loom::Array2D<double> read_positive(const FitsReader& file, const char* name, std::size_t columns) {
  const Hdu& hdu = file.require(name);
  loom::Array2D<double> out = formats::read_matrix(file, hdu);
  if (out.cols() != columns) {
    throw file.error(Status::kWrongShape, hdu,
                     hdu.shape() + ", expected a value for each wavelength");
  }
  const double* values = out.data();
  if (!std::all_of(values, values + out.size(), [](double v) { return std::isfinite(v) && v > 0; }))
    throw file.error(Status::kCorrupt, hdu, "has what is not above 0");
  return out;
}

/// The number after "KEY:" in a line; nullopt where there is none.
std::optional<double> number_after(const std::string& line, const std::string& key) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos || line.compare(first, key.size() + 1, key + ":") != 0)
    return std::nullopt;
  std::istringstream rest(line.substr(first + key.size() + 1));
  double value = 0;
  return rest >> value && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

namespace formats {

void parse_plate_scale(const std::string& text, const std::string& label, FocalPlane& out) {
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<double> row;
    for (double value = 0; words >> value;) row.push_back(value);
    std::string rest;
    words.clear();
    const bool more = static_cast<bool>(words >> rest);
    if (row.empty() && !more) continue;
    constexpr std::size_t kRadial = 6, kAzimuth = 7;
    if (row.size() <= kAzimuth || !(row[kRadial] > 0) || !(row[kAzimuth] > 0) ||
        !(row[0] >= 0 && (out.radius.empty() || row[0] > out.radius.back()))) {
      throw Error(Status::kCorrupt, label + ": line " + std::to_string(number) +
                                        ": expected a radius that grows, and scales above 0 as "
                                        "numbers 7 and 8");
    }
    out.radius.push_back(row[0]);
    out.radial.push_back(row[kRadial]);
    out.azimuth.push_back(row[kAzimuth]);
  }
  if (out.radius.empty()) throw Error(Status::kCorrupt, label + ": no line of numbers");
}

void parse_fiber_size(const std::string& text, const std::string& label, FocalPlane& out) {
  std::istringstream lines(text);
  bool here = false;
  for (std::string line; std::getline(lines, line);) {
    const bool blank = line.find_first_not_of(" \t\r") == std::string::npos;
    if (!blank && line[0] != ' ' && line[0] != '#') here = line.starts_with("fibers:");
    if (!here) continue;
    if (const auto um = number_after(line, "diameter_um")) out.fiber_um = *um;
    if (const auto as = number_after(line, "diameter_arcsec")) out.fiber_as = *as;
  }
  if (out.fiber_um > 0 && out.fiber_as > 0) return;
  throw Error(Status::kMissingKeyword,
              label + ": no diameter_um and diameter_arcsec above 0 below fibers:");
}

FiberAcceptance parse_acceptance(const FitsReader& file) {
  FiberAcceptance a;
  a.sigma = read_nodes(file, "SIGMA", 2);
  a.offset = read_nodes(file, "OFFSET", 2);
  a.radius = read_nodes(file, "HLRAD", 2);
  const std::size_t plane = a.sigma.size() * a.offset.size();
  a.point = read_values(file, "POINT", plane);
  a.disk = read_values(file, "DISK", a.radius.size() * plane);
  a.bulge = read_values(file, "BULGE", a.radius.size() * plane);
  return a;
}

NoiseArea parse_noise_area(const FitsReader& file) {
  constexpr std::size_t kOfSpline = 4;
  NoiseArea out;
  out.wave = read_nodes(file, "WAVELENGTH", kOfSpline);
  out.pixels = read_positive(file, "NEA", out.wave.size());
  out.aa_per_pixel = read_positive(file, "ANGPERPIX", out.wave.size());
  if (out.pixels.rows() == out.aa_per_pixel.rows()) return out;
  throw file.error(Status::kWrongShape, file.require("ANGPERPIX"),
                   std::to_string(out.aa_per_pixel.rows()) + " fibres, expected those of NEA, " +
                       std::to_string(out.pixels.rows()));
}

SnrTemplate parse_snr_template(const FitsReader& file, char band) {
  const std::string letter = loom::in_capitals(std::string(1, band));
  const HeaderCards header = file.hdus().front().user_header();
  SnrTemplate out{"", {}, {}, header.number("SNR2TIME")};
  out.wave = read_nodes(file, ("WAVE_" + letter).c_str(), 2);
  out.light = read_values(file, ("DFLUX_" + letter).c_str(), out.wave.size());
  const double scale = header.number("FLUXSCAL").value_or(1);
  for (double& v : out.light) v *= scale;
  return out;
}

}  // namespace formats

FocalPlane read_focal_plane(const std::string& desimodel) {
  FocalPlane out;
  out.acceptance = formats::parse_acceptance(FitsReader::open(acceptance_path(desimodel)));
  formats::parse_plate_scale(read_text(scale_path(desimodel), kLongestText), scale_path(desimodel),
                             out);
  formats::parse_fiber_size(read_text(parameter_path(desimodel), kLongestText),
                            parameter_path(desimodel), out);
  return out;
}

NoiseArea read_noise_area(const std::string& desimodel, const std::string& camera) {
  return formats::parse_noise_area(FitsReader::open(area_path(desimodel, camera)));
}

std::vector<SnrTemplate> read_snr_templates(const std::string& desimodel, char band) {
  std::vector<SnrTemplate> out;
  for (const std::string& path : template_paths(desimodel)) {
    out.push_back(formats::parse_snr_template(FitsReader::open(path), band));
    out.back().kind = kind_of(path);
  }
  if (!out.empty()) return out;
  throw Error(Status::kNotFound, in_model(desimodel, "tsnr") +
                                     ": no tsnr-ensemble-KIND.fits, expected them in the folder "
                                     "of desimodel");
}

std::vector<std::string> desimodel_files(const std::string& desimodel, const std::string& camera) {
  std::vector<std::string> out = template_paths(desimodel);
  for (const std::string& path : {acceptance_path(desimodel), scale_path(desimodel),
                                  parameter_path(desimodel), area_path(desimodel, camera)}) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) out.push_back(path);
  }
  return out;
}

}  // namespace fiberloom
