// SPDX-License-Identifier: BSD-3-Clause
// Data from files: TOAST's HDF5 observations, format 2. Signals are read as they are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "skyloom/tod/last_made.hpp"
#include "skyloom/tod/noise_file.hpp"
#include "skyloom/tod/observation.hpp"

namespace loom::hdf5 {
class Reader;
}

namespace skyloom {

/// What need not be there is none where it is not; another name must be there, or be kNone.
struct StoredOptions {
  static constexpr const char* kNone = "none";
  std::string signal = "signal";              ///< in detdata/
  std::string detector_flags = "flags";       ///< in detdata/; need not be there
  std::string shared_flags = "flags";         ///< in shared/; need not be there
  std::string boresight = "boresight_radec";  ///< in shared/
  std::string plate = "hwp_angle";            ///< in shared/; need not be there: no half-wave plate
  std::string azimuth = "azimuth";            ///< in shared/; for filters of the ground
  std::string noise_model = "noise_model";    ///< in metadata/
  std::string intervals = {};                 ///< in intervals/; empty: all samples
  std::size_t detector_mask = 7, shared_mask = kSharedMask;  ///< bits that flag; TOAST's defaults
};

class StoredTod final : public TodSource {
 public:
  /// Reads what describes the observations. Detectors whose own flags have bits of the mask, or
  /// whose noise weight is 0, are left out. Throws kNotFound, kCorrupt (no HDF5, or cut off),
  /// kMissingHdu, kMissingKeyword, kWrongShape, kNoiseModel; kUnsupported where the format is
  /// another one, or data are compressed.
  StoredTod(const std::vector<std::string>& paths, const StoredOptions& options);
  ~StoredTod() override;

  [[nodiscard]] std::size_t observations() const override { return files_.size(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return files_[number].observation;
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override;
  /// Azimuths alone, where the file has them.
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t number) const override;
  /// That of its mixture of streams where the file has one.
  [[nodiscard]] NoisePsd noise(std::size_t number, std::size_t detector) const override;
  [[nodiscard]] bool has_spectra(std::size_t number) const override {
    return files_[number].has_spectra;
  }
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override;
  /// What is to be told of files whose samples are not what they are taken for, a line each.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct File {
    std::string path;
    std::string note = {};          ///< what is to be told of it
    Observation observation;        ///< with the time of its first sample, and its telescope
    std::vector<std::size_t> rows;  ///< of the detectors that are used
    double unit = 1;                ///< K
    bool has_flags = false, has_plate = false, has_mixed_noise = false, has_spectra = false;
    std::vector<std::uint8_t> flags;  ///< of all detectors; empty: none
  };
  void open(File& file) const;
  /// Throws kUsage where two files have the same samples.
  void check_apart() const;
  void read_shared_flags(const hdf5::Reader& file, File& to) const;
  [[nodiscard]] std::shared_ptr<const hdf5::Reader> reader(std::size_t number) const;

  StoredOptions options_;
  std::vector<File> files_;
  mutable LastMade<hdf5::Reader> open_;
  mutable LastMade<MixedSpectra> spectra_;
};

}  // namespace skyloom
