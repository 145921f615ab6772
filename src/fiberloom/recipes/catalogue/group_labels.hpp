// SPDX-License-Identifier: BSD-3-Clause
// What a file's header and tables say of the group that it holds, and what its name says of the
// files beside it. Internal to recipes/catalogue/.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/catalogue/catalogue.hpp"
#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

/// `path`: of a file of redshifts or of spectra; it names the group that has no labels.
[[nodiscard]] catalogue::GroupLabels labels_of(const HeaderCards& header,
                                               const std::optional<Table>& fibermap,
                                               const std::string& path);

/// "redshifts" and whatever of spectra, details and models lies beside a file of redshifts under
/// the names that `redshift` and the field give; absolute paths.
[[nodiscard]] std::vector<catalogue::Location> files_beside(const std::string& redshifts);

/// Size and time of change: equal where a file has not been written to.
[[nodiscard]] std::string stamp_of(const std::string& path);

[[nodiscard]] std::string absolute_path(const std::string& path);

/// Keywords that the catalogue has columns for, as a table of one row.
[[nodiscard]] Table header_table(const HeaderCards& header);

}  // namespace fiberloom
