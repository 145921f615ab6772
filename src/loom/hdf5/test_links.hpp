// SPDX-License-Identifier: BSD-3-Clause
// Files as others write them, and Writer does not, for tests of any room.
#pragma once

#include <string>
#include <vector>

namespace loom::hdf5::test {

/// A new file in which `name` is a link to `object` of another file.
void write_link(const std::string& path, const std::string& name, const std::string& file,
                const std::string& object);

/// A new file with a data set of FALSE and TRUE as h5py has them, and an attribute `flag` of it
/// that is the first of them.
void write_flags(const std::string& path, const std::string& name, const std::vector<bool>& flags);

}  // namespace loom::hdf5::test
