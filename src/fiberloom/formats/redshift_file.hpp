// SPDX-License-Identifier: BSD-3-Clause
// Redshifts of targets as the field keeps them (redrock-*.fits), and the best models beside them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

/// HDUs REDSHIFTS, FIBERMAP, EXP_FIBERMAP, TSNR2, CANDIDATES.
struct RedshiftFile {
  std::string path;
  HeaderCards header;                    ///< of the primary HDU: TEMNAMnn, SPGRP ...
  Table redshifts;                       ///< a row for each target: TARGETID, Z, ZWARN ...
  std::optional<Table> fibermap, tsnr2;  ///< likewise
  std::optional<Table> exp_fibermap;     ///< a row for each exposure of each target
  std::optional<Table> candidates;       ///< a row for each candidate of each target, best first
};

/// The tables as they are; REDSHIFTS gets the header's cards too.
void write_redshifts(const std::string& path, const RedshiftFile& file, Overwrite overwrite,
                     FilesTogether* together = nullptr);

/// Any file with a table REDSHIFTS that has TARGETID, Z and ZWARN: ours and redrock's of any
/// version. Throws kMissingHdu, kMissingKeyword (a column), kWrongShape where a table beside it has
/// another number of rows.
[[nodiscard]] RedshiftFile read_redshifts(const std::string& path, Verify verify = Verify::kYes);

/// Models of one camera.
struct ModelCamera {
  std::string name;               ///< "B"
  std::vector<double> wave;       ///< Angstrom
  std::span<const float> models;  ///< [row of `redshifts`][wave]
};
/// REDSHIFTS, then {CAMERA}_WAVELENGTH and {CAMERA}_MODEL of each camera.
void write_models(const std::string& path, const HeaderCards& header, const Table& redshifts,
                  std::span<const ModelCamera> cameras, Overwrite overwrite,
                  FilesTogether* together = nullptr);

/// An open file of models, ours or redrock's: tables and wavelengths have been read, models are by
/// the row. Threads may share it.
class ModelReader {
 public:
  struct Camera {
    std::string name;
    std::vector<double> wave;
  };
  /// Throws as read_redshifts(); kMissingHdu without a model, kWrongShape where sizes disagree.
  /// All bytes are compared with their checksums.
  explicit ModelReader(const std::string& path, Verify verify = Verify::kYes)
      : ModelReader(fits::FitsReader::open(path, verify)) {}
  explicit ModelReader(fits::FitsReader file);

  [[nodiscard]] const Table& redshifts() const noexcept { return redshifts_; }
  [[nodiscard]] const std::vector<Camera>& cameras() const noexcept { return cameras_; }
  [[nodiscard]] std::vector<double> read(std::size_t camera, std::size_t row) const;

 private:
  fits::FitsReader file_;
  Table redshifts_;
  std::vector<Camera> cameras_;
};

}  // namespace fiberloom
