// SPDX-License-Identifier: BSD-3-Clause
// Parquet files of flat tables, for pandas, Arrow, DuckDB and Spark: PLAIN values, not compressed,
// so that a writer of a few hundred lines is enough and no library is needed. Writes, never reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "loom/files/atomic_file.hpp"

namespace loom::parquet {

/// Texts are UTF-8.
using Values = std::variant<std::vector<std::int64_t>, std::vector<std::int32_t>,
                            std::vector<std::int16_t>, std::vector<double>, std::vector<float>,
                            std::vector<bool>, std::vector<std::string>>;

struct Column {
  std::string name;  ///< UTF-8, unlike all others
  Values values;
  std::vector<bool> known{};  ///< [row] false: NULL, whatever the value; empty: all are known
};

inline constexpr std::size_t kGroupRows = 100'000;  ///< of a row group

/// A file of one table; `creator` is what its footer says made it. Same bytes for the same table.
/// Throws kInternal where columns differ in length or names are the same, and what AtomicFile does.
void write_parquet(const std::string& path, std::span<const Column> columns,
                   const std::string& creator, Overwrite overwrite);

}  // namespace loom::parquet
