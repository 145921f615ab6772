// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files: data sets of numbers, and tables, written row by row and read back. The library is
// optional; knows no physics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"

namespace loom::hdf5 {

/// Is the library built in? Without it every constructor throws kUnsupported.
[[nodiscard]] bool available() noexcept;
/// Throws kUnsupported, with what was asked for, where it is not.
void require_available(const std::string& what);

enum class Type {
  kInt8,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
  kText,
  kUint8,
  kUint16,
  kUint32,
};

/// A member of a table's rows: `width` numbers, or a text of so many characters.
struct Field {
  std::string name;
  Type type = Type::kFloat64;
  std::size_t width = 1;
  bool list = false;  ///< numbers in a list, even where it is one alone
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// What becomes of a file that is not committed.
enum class Unfinished {
  kVanishes,
  kStays,  ///< under part_name(), to be filled further by another Writer
};

/// Where an unfinished file lies that stays: PATH.part, where PATH is no link.
[[nodiscard]] std::string part_name(const std::string& path);

/// How a text that describes something is stored: as long as it is, or where h5py finds a str.
enum class TextKind { kFixed, kVariable };

/// When the room of a data set is taken.
enum class Room {
  kAsWritten,
  kAtOnce,  ///< what is written later changes no other byte of the file: it can be gone on with
};

/// A file that appears when it is whole. Byte-reproducible: no times in it. Of a process any number
/// may be open, the library does one thing at a time.
class Writer {
 public:
  /// Throws kOutputExists, kUnwritable.
  Writer(const std::string& path, Overwrite overwrite,
         Unfinished unfinished = Unfinished::kVanishes);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// A data set to be filled by write(). `chunk`: the box that is stored and read at once, of as
  /// many axes as `shape`; empty: contiguous. Groups on the way are made. Throws kDiskFull,
  /// kUnwritable.
  void create(const std::string& name, Type type, const std::vector<std::size_t>& shape,
              const std::vector<std::size_t>& chunk = {}, Room room = Room::kAsWritten);
  /// The same where most is alike: chunks that nobody writes take no room and are read as `fill`.
  void create_sparse(const std::string& name, Type type, const std::vector<std::size_t>& shape,
                     const std::vector<std::size_t>& chunk, double fill);
  /// A box of a data set, converted; kInternal where it does not lie within.
  void write_box(const std::string& name, std::span<const std::size_t> start,
                 std::span<const std::size_t> count, std::span<const double> values);
  /// Rows [first, ...) of the first axis, converted to the type of the data set. A whole number of
  /// them; kInternal otherwise.
  void write(const std::string& name, std::size_t first, std::span<const float> values);
  void write(const std::string& name, std::size_t first, std::span<const double> values);
  void write(const std::string& name, std::size_t first, std::span<const std::int64_t> values);
  void write(const std::string& name, std::size_t first, std::span<const std::uint16_t> values);
  void write(const std::string& name, std::size_t first, std::span<const std::uint8_t> values);
  /// A text by itself.
  void text(const std::string& name, const std::string& value);
  /// A text that describes a data set or a group.
  void describe(const std::string& name, const std::string& attribute, const std::string& value,
                TextKind kind = TextKind::kFixed);
  /// A number that does.
  void describe(const std::string& name, const std::string& attribute, double value);
  void describe(const std::string& name, const std::string& attribute, std::int64_t value);
  /// A group with nothing in it yet. Groups on the way are made.
  void group(const std::string& name);
  /// A list of texts, each of as many bytes as the longest.
  void texts(const std::string& name, const std::vector<std::string>& values);
  /// A table: rows of packed members in the machine's byte order.
  void table(const std::string& name, std::span<const Field> fields, std::size_t rows,
             std::span<const std::uint8_t> bytes);
  /// Whether a file that stayed is filled further: its data sets are there.
  [[nodiscard]] bool continues() const noexcept;
  /// Of a file that stays: what was written so far outlives the process and the machine's.
  void sync();
  /// With `together` the name of a file that vanishes otherwise waits for the others there. Throws
  /// kDiskFull, kUnwritable, kOutputExists.
  void commit(FilesTogether* together = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether somebody has a file open for writing who lets nobody else read it.
[[nodiscard]] bool is_being_written(const std::string& path);

/// Whether a file that another process is still writing (SWMR: single writer, multiple readers) is
/// read as well: what had been flushed when it was opened is seen. Such a file is not locked: its
/// writer may close it and open it again meanwhile.
enum class Writing { kOver, kMayGoOn };

/// Data sets may be virtual, and links lead into other files. All files that a file names must be
/// there (kNotFound), unless it is being written.
class Reader {
 public:
  /// Throws kNotFound, kCorrupt where it is no HDF5 file.
  explicit Reader(const std::string& path, Writing writing = Writing::kOver);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] const std::string& path() const noexcept;
  /// Throws kNotFound where it is a link that leads nowhere: it ought to be there.
  [[nodiscard]] bool has(const std::string& name) const;
  /// Names of what is in a group, in their order. Throws kMissingHdu where there is no such group.
  [[nodiscard]] std::vector<std::string> children(const std::string& group) const;
  /// Sizes of a data set of numbers, however many they are. Throws kMissingHdu, kWrongShape.
  [[nodiscard]] std::vector<std::size_t> extent(const std::string& name) const;
  /// The files that a data set lies in, wherever links and its virtual parts lead. Throws
  /// kMissingHdu.
  [[nodiscard]] std::set<std::string> files(const std::string& name) const;
  /// The box that is stored and unpacked at once; empty: rows lie one after the other.
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& name) const;
  /// How its numbers are stored; nullopt: as none of the types.
  [[nodiscard]] std::optional<Type> type(const std::string& name) const;
  /// A box of a data set, converted. Throws kWrongShape where it does not lie within, kCorrupt,
  /// kUnsupported where it is packed by a filter that the library does not have.
  void read_box(const std::string& name, std::span<const std::size_t> start,
                std::span<const std::size_t> count, std::span<float> out) const;
  void read_box(const std::string& name, std::span<const std::size_t> start,
                std::span<const std::size_t> count, std::span<std::uint16_t> out) const;
  void read_box(const std::string& name, std::span<const std::size_t> start,
                std::span<const std::size_t> count, std::span<double> out) const;
  void read_box(const std::string& name, std::span<const std::size_t> start,
                std::span<const std::size_t> count, std::span<std::uint8_t> out) const;
  /// A text by itself, or the text that describes something; nullopt where there is none.
  [[nodiscard]] std::optional<std::string> text(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> description(const std::string& name,
                                                       const std::string& attribute) const;
  /// A number by itself, or one that describes something; nullopt where there is none, or a list of
  /// several.
  [[nodiscard]] std::optional<double> number(const std::string& name) const;
  [[nodiscard]] std::optional<double> number(const std::string& name,
                                             const std::string& attribute) const;
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
  /// A list of texts of fixed length, as Writer::texts() has it; empty where there is none.
  [[nodiscard]] std::vector<std::string> read_texts(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace loom::hdf5
