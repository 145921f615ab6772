// SPDX-License-Identifier: BSD-3-Clause
// Files that are read: opened, also while somebody writes them, and why a data set cannot be read.
#pragma once

#include <hdf5.h>

#include <optional>
#include <set>
#include <string>

#include "loom/base/error.hpp"
#include "loom/hdf5/hdf5.hpp"

namespace loom::hdf5 {

/// Below 0: it cannot be opened. Of a file whose writing may go on no lock is kept: a writer that
/// closes it now and then must be able to open it again.
[[nodiscard]] hid_t open_to_read(const std::string& path, Writing writing);

/// Where a file says that something lies which is not there: a link (soft, or into another file)
/// that leads nowhere.
[[nodiscard]] std::optional<Error> broken_link(const std::string& path, hid_t file,
                                               const std::string& name);

/// What a data set lies in: its own file, and of a virtual one those of its parts, and of theirs.
struct PartsOfSet {
  std::set<std::string> files;
  /// A part whose file or data set is missing, or is one file more than may be open: the library
  /// would read its fill value there, and say nothing. One that is shorter than the part is that
  /// of a scan that was broken off, and none of these.
  std::optional<Error> lacking;
};
[[nodiscard]] PartsOfSet parts_of(const std::string& path, const std::string& name, hid_t set);

/// kUnsupported where the data set is packed in a way that the library has no filter for, kNotFound
/// where its numbers lie in a file without any format, else kCorrupt.
[[nodiscard]] Error unreadable(const std::string& path, const std::string& name, hid_t set);

}  // namespace loom::hdf5
