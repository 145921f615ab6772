// SPDX-License-Identifier: BSD-3-Clause
// Where things lie in a file that the library writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loom/hdf5/hdf5_library.hpp"

namespace loom::hdf5 {

/// As the file has it: little-endian on every machine.
[[nodiscard]] hid_t stored(Type type);

/// How a file is written: what describes its data goes to disk soon. The library would keep 32 MB
/// of that before it lets go of any. Large chunks lie where DirectFile can write them.
[[nodiscard]] Handle write_access();

/// Rows along the first axis, each of them a chunk.
struct RowChunks {
  std::vector<std::uint64_t> places;  ///< in the file
  std::size_t numbers = 0;            ///< of a row
};

/// Of so many values from row `first` on, as floats lie in memory; empty where rows are no chunks,
/// or have no place yet, or are stored otherwise, or do not fit. Under the library's lock.
[[nodiscard]] RowChunks chunks_of_rows(hid_t set, std::size_t first, std::size_t values);

}  // namespace loom::hdf5
