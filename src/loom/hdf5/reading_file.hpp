// SPDX-License-Identifier: BSD-3-Clause
// Files that are read: opened, also while somebody writes them, and why a data set cannot be read.
#pragma once

#include <hdf5.h>

#include <string>

#include "loom/base/error.hpp"
#include "loom/hdf5/hdf5.hpp"

namespace loom::hdf5 {

/// Below 0: it cannot be opened. Of a file whose writing may go on no lock is kept: a writer that
/// closes it now and then must be able to open it again.
[[nodiscard]] hid_t open_to_read(const std::string& path, Writing writing);

/// kUnsupported where the data set is packed in a way that the library has no filter for, else
/// kCorrupt.
[[nodiscard]] Error unreadable(const std::string& path, const std::string& name, hid_t set);

}  // namespace loom::hdf5
