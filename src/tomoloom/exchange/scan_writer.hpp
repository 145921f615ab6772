// SPDX-License-Identifier: BSD-3-Clause
// Data Exchange files of scans, frame by frame; they appear when they are whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "loom/hdf5/hdf5.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

class ScanWriter {
 public:
  struct Sizes {
    std::size_t angles = 0, rows = 0, columns = 0, flats = 0, darks = 0;
  };
  /// Throws kOutputExists, kUnwritable, kDiskFull; the other members too.
  ScanWriter(const std::string& path, Overwrite overwrite, const Sizes& sizes,
             std::span<const double> theta_deg);
  void projection(std::size_t number, std::span<const std::uint16_t> frame);
  void flat(std::size_t number, std::span<const std::uint16_t> frame);
  void dark(std::size_t number, std::span<const std::uint16_t> frame);
  /// A number or a text about how the scan was made, below /measurement.
  void note(const std::string& name, double value);
  void note(const std::string& name, const std::string& value);
  void commit();

 private:
  hdf5::Writer writer_;
};

}  // namespace tomoloom
