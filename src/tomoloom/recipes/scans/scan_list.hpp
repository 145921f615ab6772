// SPDX-License-Identifier: BSD-3-Clause
// Which scans a command line means: files, folders of them, lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom::scans {

/// A scan, the folder below the output that its volume goes to, and its axis where a list says it.
struct FoundScan {
  std::string path, below = ".";
  std::string axis = {};  ///< as --center
};

/// Lines of a list: a scan each (relative to `folder`; in quotes where its name has blanks), and
/// behind it, where wanted, its axis; what begins with # is a remark. Throws kUsage with the line's
/// number where there is more on it.
[[nodiscard]] std::vector<FoundScan> parse_scan_list(std::string_view text, const std::string& name,
                                                     const std::string& folder);

/// A folder that is no stack of images, but has Data Exchange files in it or below it.
[[nodiscard]] bool is_folder_of_scans(const std::string& path);

/// Throws kNotFound where a folder holds neither images nor, in or below it, Data Exchange files.
void check_folder(const std::string& path);

/// Whether these are to be taken one by one, into a folder: several, a list (.txt), a folder of
/// scans.
[[nodiscard]] bool are_many(const std::vector<std::string>& inputs);

/// Files as they are; of a folder the Data Exchange files (*.h5, *.hdf5, *.hdf, *.nxs, in letters
/// of either case) in it and below it, except volumes that `recon` has made (*_rec.*), whose
/// subfolders the outputs keep; the lines of lists. Throws kNotFound, and what parse_scan_list()
/// throws.
[[nodiscard]] std::vector<FoundScan> find_scans(const std::vector<std::string>& inputs);

/// "tooth_rec" of "data/tooth.h5".
[[nodiscard]] std::string volume_name(const std::string& scan);

}  // namespace tomoloom::scans
