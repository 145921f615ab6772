// SPDX-License-Identifier: BSD-3-Clause
// What a file says of itself in headers and tables, whatever it is: no image is read.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

enum class FileKind {
  kTemplate,
  kArchetypes,
  kRedshifts,
  kFiberFlat,
  kFluxCalibration,
  kSky,
  kStandardStars,
  kStellarModels,
  kQuality,
  kFrame,
  kTruth,
  kCoadd,
  kSpectra,
  kPreproc,
  kPsf,
  kOther
};

/// What a file seems to be, by the names of its HDUs alone.
[[nodiscard]] FileKind kind_of(std::span<const HduSummary> hdus);
/// "frame", "fibre flat" ...; of kOther "FITS file".
[[nodiscard]] const char* name_of(FileKind kind);

struct FileTables {
  std::string path;  ///< that was read
  FileKind kind = FileKind::kOther;
  HeaderCards header;     ///< of the primary HDU; of quality that of FIBERQA
  std::size_t nspec = 0;  ///< of a frame
  std::optional<Table> fibermap, exp_fibermap, scores;
  std::optional<Table> petals;     ///< of quality: PETALQA
  std::vector<std::string> names;  ///< of its HDUs
};

/// Of redshifts no table but FIBERMAP. Throws kNotFound, kCorrupt.
[[nodiscard]] FileTables read_file_tables(const std::string& path, Verify verify = Verify::kYes);

}  // namespace fiberloom
