// SPDX-License-Identifier: BSD-3-Clause
// What a FITS file is and holds, as a few facts for a reader.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

struct FileReport {
  std::string path;
  std::string kind;  ///< "preproc image", "PSF", "frame" ...: name_of() of its FileKind
  std::vector<HduSummary> hdus;
  std::vector<std::pair<std::string, std::string>> facts;  ///< name, value with unit
};

/// Compares the checksums of all HDUs, read by others or not (HduSummary::fault), and reads a file
/// without fault with the reader of its kind, so that a report also says that it can be used.
[[nodiscard]] FileReport inspect_file(const std::string& path, Verify verify);

}  // namespace fiberloom
