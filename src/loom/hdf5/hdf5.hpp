// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files: data sets of numbers, and tables, written row by row and read back. The library is
// optional; knows no physics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"

namespace loom::hdf5 {

/// Is the library built in? Without it every constructor throws kUnsupported.
[[nodiscard]] bool available() noexcept;
/// Throws kUnsupported, with what was asked for, where it is not.
void require_available(const std::string& what);

enum class Type { kInt8, kInt32, kInt64, kFloat32, kFloat64, kText };

/// A member of a table's rows: `width` numbers, or a text of so many characters.
struct Field {
  std::string name;
  Type type = Type::kFloat64;
  std::size_t width = 1;
  bool list = false;  ///< numbers in a list, even where it is one alone
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// A file that appears when it is whole. Byte-reproducible: no times in it. Of a process any number
/// may be open, the library does one thing at a time.
class Writer {
 public:
  /// Throws kOutputExists, kUnwritable.
  Writer(const std::string& path, Overwrite overwrite);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// A data set to be filled by write(). `chunk`: the box that is stored and read at once, of as
  /// many axes as `shape`; empty: contiguous. Groups on the way are made. Throws kDiskFull,
  /// kUnwritable.
  void create(const std::string& name, Type type, const std::vector<std::size_t>& shape,
              const std::vector<std::size_t>& chunk = {});
  /// Rows [first, ...) of the first axis, converted to the type of the data set. A whole number of
  /// them; kInternal otherwise.
  void write(const std::string& name, std::size_t first, std::span<const float> values);
  void write(const std::string& name, std::size_t first, std::span<const double> values);
  void write(const std::string& name, std::size_t first, std::span<const std::int64_t> values);
  /// A table: rows of packed members in the machine's byte order.
  void table(const std::string& name, std::span<const Field> fields, std::size_t rows,
             std::span<const std::uint8_t> bytes);
  /// Throws kDiskFull, kUnwritable, kOutputExists.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Reader {
 public:
  /// Throws kNotFound, kCorrupt where it is no HDF5 file.
  explicit Reader(const std::string& path);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] bool has(const std::string& name) const;
  /// Names of what is in a group, in their order. Throws kMissingHdu where there is no such group.
  [[nodiscard]] std::vector<std::string> children(const std::string& group) const;
  /// Throws kMissingHdu (no such data set), kWrongShape (no numbers, or more than 2^31 of them).
  [[nodiscard]] std::vector<std::size_t> shape(const std::string& name) const;
  [[nodiscard]] std::vector<double> read(const std::string& name) const;
  [[nodiscard]] std::vector<std::int64_t> read_integers(const std::string& name) const;
  /// Row r of the first axis.
  [[nodiscard]] std::vector<double> read_row(const std::string& name, std::size_t row) const;

  /// A member of a table's rows: of each row as many numbers as its list holds, or texts of fixed
  /// length without what fills them up. Empty where the rows have no such member, or one of another
  /// kind. Throws kMissingHdu; kWrongShape where it is no table, or one of more than 2^20 rows.
  [[nodiscard]] std::vector<double> read_field(const std::string& name,
                                               const std::string& field) const;
  [[nodiscard]] std::vector<std::string> read_text_field(const std::string& name,
                                                         const std::string& field) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace loom::hdf5
