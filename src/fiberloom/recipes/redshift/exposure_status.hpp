// SPDX-License-Identifier: BSD-3-Clause
// Which spectra of exposures FIBERSTATUS forbids, as a coadd of them leaves them out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "fiberloom/formats/spectra_reader.hpp"

namespace fiberloom {

/// Who an exposure of a target is, whichever camera's file tells of it; -1: not said.
struct Exposure {
  std::int64_t target, expid, tile, fiber;
  bool operator<(const Exposure& o) const noexcept {
    return std::tie(target, expid, tile, fiber) < std::tie(o.target, o.expid, o.tile, o.fiber);
  }
};

/// Of each row of a file with a FIBERMAP; what that has no column of, the header says of all.
[[nodiscard]] std::vector<Exposure> exposures_of(const SpectraReader& file);

/// FIBERSTATUS of each row of each file, with the bits that files of other cameras have of the same
/// target, exposure and fibre: what is wrong with one camera its own file says alone. 0 where
/// nobody says anything.
[[nodiscard]] std::vector<std::vector<std::int64_t>> status_of_exposures(
    const std::deque<SpectraReader>& files);

/// 'b' of "B", 'r' of "R" ...; 0 of no name.
[[nodiscard]] char band_of_camera(const std::string& name) noexcept;

/// Does it keep a spectrum of this camera ("B", "R", "Z"; any other: of all) out of a coadd?
[[nodiscard]] bool is_forbidden(std::int64_t status, const std::string& camera) noexcept;

/// Weight 0 for spectra (of these rows of a file) that are forbidden.
void leave_out(const std::vector<std::int64_t>& status_of_file, std::span<const std::size_t> rows,
               const std::string& camera, Spectra& spectra);

/// Has the file exposures, not what was made of them: a coadd's ivar is 0 where nothing counted.
[[nodiscard]] bool has_exposures(const SpectraReader& file);

}  // namespace fiberloom
