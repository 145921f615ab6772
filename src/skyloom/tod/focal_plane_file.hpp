// SPDX-License-Identifier: BSD-3-Clause
// Focal planes in HDF5 files, as TOAST keeps them: by themselves or within an observation.
#pragma once

#include <string>
#include <vector>

#include "skyloom/pointing/focal_plane.hpp"

namespace skyloom {

/// All detectors of the table `focalplane` (TOAST's Focalplane.save_hdf5) or instrument/focalplane
/// (an observation): name, quat, and where they are there pol_leakage (or pol_efficiency), gamma,
/// uid, psd_net, psd_fknee, psd_fmin, psd_alpha. What has no column is as `otherwise` says, a uid
/// that of the name. Units are those that astropy noted beside the table, without a note K s(1/2),
/// Hz and rad. Throws kMissingHdu (no such table), kMissingKeyword, kUnsupported (a unit), kCorrupt
/// (two detectors of one name, a place that is no rotation), and what reading throws.
/// `groups`: columns of texts or whole numbers, what each detector has in them.
[[nodiscard]] FocalPlane read_focal_plane(const std::string& path, const HexagonOptions& otherwise,
                                          const std::vector<std::string>& groups = {});

}  // namespace skyloom
