// SPDX-License-Identifier: BSD-3-Clause
// Where the files of a simulated night lie, and what stands in those that hold its truth. Internal
// to recipes/.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/truth/night.hpp"

namespace fiberloom::simulated_night {

inline constexpr std::int64_t kNight = 20200101;
inline constexpr int kFirstTile = 1000;
inline constexpr std::array<const char*, 3> kBands{"decam2014-g", "decam2014-r", "decam2014-z"};

/// Below DIR.
class Places {
 public:
  explicit Places(const std::string& directory) : root_(directory) {}
  [[nodiscard]] std::string psf(const std::string& camera) const;
  [[nodiscard]] std::string preproc(const std::string& camera, std::int64_t expid) const;
  [[nodiscard]] std::string exposure(const std::string& camera, std::int64_t expid) const;
  [[nodiscard]] std::string camera(const std::string& name) const;
  [[nodiscard]] std::string field(int tile, int spectrograph) const;
  [[nodiscard]] std::string models() const;
  [[nodiscard]] std::string filter(const char* name) const;

 private:
  [[nodiscard]] std::string in_truth(const std::string& name) const;
  std::filesystem::path root_;
};

/// A parabola 1000 Angstrom wide, of kBands.
[[nodiscard]] Passband passband(std::size_t band);
/// As speclite keeps it.
[[nodiscard]] std::string ecsv(const Passband& band);

/// FLUX [fibres][wave], WAVELENGTH, TRUTH.
void write_field_truth(const std::string& path, const std::vector<truth::FieldTarget>& targets,
                       const Array2D<double>& flux, const std::vector<double>& wave,
                       Overwrite overwrite);

/// The grid that simulated standard stars are fitted with, as the field keeps such.
void write_star_models(const std::string& path, Overwrite overwrite);

/// THROUGHPUT [fibres][wave], WAVELENGTH.
void write_throughput(const std::string& path, const Array2D<double>& throughput,
                      const std::vector<double>& wave, Overwrite overwrite);

/// What falls on a CCD, and what of it is sky and what a flux of 1 gives, electrons an Angstrom;
/// the last two empty but of a field.
struct Light {
  Array2D<double> electrons;
  std::vector<double> sky, calibration;
};
/// FLUX [fibres][wave] with the header of its `exposure`, WAVELENGTH, SKY, CALIBRATION, FIBERMAP.
void write_light(const std::string& path, const Light& light, const std::vector<double>& wave,
                 const HeaderCards& exposure, const Table& fibermap, Overwrite overwrite);

}  // namespace fiberloom::simulated_night
