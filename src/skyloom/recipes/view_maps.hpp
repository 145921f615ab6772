// SPDX-License-Identifier: BSD-3-Clause
// Maps as one self-contained page: the whole and a part of it, hits, how the offsets converged,
// spectra (of HEALPix maps); beside them other maps with the differences.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/output_files.hpp"
#include "skyloom/recipes/projection.hpp"

namespace skyloom {

struct ViewJob {
  /// Of maps: map.fits or binned.fits, hits.fits (or .h5); or one map, a file; or an observation,
  /// whose noise is shown alone.
  std::string folder = {};
  std::string noise = {};  ///< an observation whose noise is shown beside maps; empty: none
  std::string other = {};  ///< another one; empty: none
  std::string summary =
      {};  ///< --json of the run; empty: summary.json in the folder, where it is there
  std::optional<SkyPlace> middle = {};  ///< of the part; none: where most samples are
  double size_deg = 20;                 ///< of the part
  std::size_t multipoles = 512;         ///< of spectra, at most; 0: none
};

/// `inputs`, and beside folders among them their maps and summary.
[[nodiscard]] std::vector<NamedFile> files_that_are_read(std::span<const NamedFile> inputs);

/// "LON,LAT", degrees. Throws kUsage.
[[nodiscard]] SkyPlace sky_place_of(const std::string& text);

/// HTML that needs nothing else, of maps with what is asked for, or of an observation; the same
/// bytes for any executor. Spectra are of maps of Nside 256 at most. Throws kPixelisation where the
/// other map has other pixels, kUsage where the middle is beyond a flat map, kCorrupt where the
/// summary is no JSON, and what reading throws.
[[nodiscard]] std::string view_maps(const ViewJob& job, Executor& executor,
                                    const Observer& observer = {});

}  // namespace skyloom
