// SPDX-License-Identifier: BSD-3-Clause
// Reading.
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/hdf5/hdf5_library.hpp"
#include "loom/hdf5/hdf5_values.hpp"
#include "loom/hdf5/reading_file.hpp"

namespace loom::hdf5 {
namespace {

constexpr hsize_t kAnyNumber = ~hsize_t{0};

}  // namespace

struct Reader::Impl {
  Impl(std::string its_path, hid_t its_id, Writing its_writing)
      : path(std::move(its_path)), id(its_id, H5Fclose), writing(its_writing) {}

  [[nodiscard]] Handle open(const std::string& name) const {
    Handle set(H5Dopen2(id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.good()) {
      check_links(name);
      throw Error(Status::kMissingHdu, path + ": no data set " + name);
    }
    if (writing == Writing::kOver && !whole.contains(name)) {
      if (const auto lacking = parts_of(path, name, set.get()).lacking) throw *lacking;
      whole.insert(name);
    }
    return set;
  }
  [[nodiscard]] std::vector<hsize_t> dims_of(const std::string& name, const Handle& set,
                                             hsize_t most = hsize_t{1} << 31) const {
    const Handle type(H5Dget_type(set.get()), H5Tclose);
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    const int axes = H5Sget_simple_extent_ndims(space.get());
    if (!is_number(type) || axes < 1) {
      throw Error(Status::kWrongShape, path + ": " + name + ": expected an array of numbers");
    }
    std::vector<hsize_t> dims(static_cast<std::size_t>(axes));
    H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
    hsize_t all = 1;
    for (const hsize_t n : dims) {
      if (n > 0 && all > most / n) {
        throw Error(Status::kWrongShape, path + ": " + name + ": more than 2^31 numbers");
      }
      all *= n;
    }
    return dims;
  }
  template <class T>
  void read_box(const std::string& name, std::span<const std::size_t> start,
                std::span<const std::size_t> count, std::span<T> out, hid_t type) const {
    const Lock lock;
    const Handle set = open(name);
    const auto dims = dims_of(name, set, kAnyNumber);
    bool fits = dims.size() == start.size() && dims.size() == count.size();
    std::size_t all = 1;
    for (std::size_t i = 0; fits && i < dims.size(); ++i) {
      fits = start[i] <= dims[i] && count[i] <= dims[i] - start[i];
      all *= count[i];
    }
    if (!fits || all != out.size()) {
      throw Error(Status::kWrongShape, path + ": " + name + ": a box that does not lie within");
    }
    if (all == 0) return;
    const std::vector<hsize_t> from{start.begin(), start.end()}, box{count.begin(), count.end()};
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, from.data(), nullptr, box.data(), nullptr);
    // of the same shape: of another the library would look up each number's place
    const Handle memory(H5Screate_simple(static_cast<int>(box.size()), box.data(), nullptr),
                        H5Sclose);
    if (H5Dread(set.get(), type, memory.get(), space.get(), H5P_DEFAULT, out.data()) < 0) {
      throw unreadable(path, name, set.get());
    }
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const std::string& name, hid_t type) const {
    const Lock lock;
    const Handle set = open(name);
    const auto dims = dims_of(name, set);
    std::vector<T> out(
        std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>()));
    if (!out.empty() && H5Dread(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0) {
      throw unreadable(path, name, set.get());
    }
    return out;
  }

  /// The library reads a member wherever the file says that it lies, beyond its row too.
  void check_member(const std::string& name, const Handle& table, unsigned member) const {
    const Handle type(H5Tget_member_type(table.get(), member), H5Tclose);
    const std::size_t row = H5Tget_size(table.get()), size = H5Tget_size(type.get());
    if (size == 0 || size > row || H5Tget_member_offset(table.get(), member) > row - size) {
      throw Error(Status::kCorrupt, path + ": " + name + ": a column that does not lie in its row");
    }
  }
  /// Rows of a table whose type is `table`; 0 where it has no member `field`.
  [[nodiscard]] std::size_t rows_with(const std::string& name, const Handle& set,
                                      const Handle& table, const std::string& field) const {
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    const hssize_t rows = H5Sget_simple_extent_npoints(space.get());
    if (H5Tget_class(table.get()) != H5T_COMPOUND || rows < 0 || rows > kMostRows) {
      throw Error(Status::kWrongShape, path + ": " + name + ": expected a table of at most " +
                                           std::to_string(kMostRows) + " rows");
    }
    const int count = H5Tget_nmembers(table.get());
    for (int m = 0; m < count; ++m) {
      char* const found = H5Tget_member_name(table.get(), static_cast<unsigned>(m));
      const bool same = found != nullptr && field == found;
      H5free_memory(found);
      if (same) {
        check_member(name, table, static_cast<unsigned>(m));
        return static_cast<std::size_t>(rows);
      }
    }
    return 0;
  }
  /// All rows of one member, as `type` in memory.
  template <class T>
  [[nodiscard]] std::vector<T> read_member(const std::string& name, const Handle& set,
                                           const std::string& field, hid_t type,
                                           std::size_t count) const {
    const Handle row(H5Tcreate(H5T_COMPOUND, H5Tget_size(type)), H5Tclose);
    H5Tinsert(row.get(), field.c_str(), 0, type);
    std::vector<T> out(count);
    if (H5Dread(set.get(), row.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0) {
      throw Error(Status::kCorrupt, path + ": " + name + ": " + field + " cannot be read");
    }
    return out;
  }

  /// While a file is being written what it links to may be to come.
  void check_links(const std::string& name) const {
    if (writing == Writing::kMayGoOn) return;
    if (const auto broken = broken_link(path, id.get(), name)) throw *broken;
  }

  static constexpr hssize_t kMostRows = hssize_t{1} << 20;
  std::string path;
  Handle id;
  Writing writing;
  mutable std::set<std::string> whole;  ///< data sets that lack no part
};

Reader::Reader(const std::string& path, Writing writing) {
  (void)ByteSource::open(path);  // names what is missing or may not be read
  const Lock lock;
  impl_ = std::make_unique<Impl>(path, open_to_read(path, writing), writing);
  if (!impl_->id.good())
    throw Error(Status::kCorrupt, path + ": is no HDF5 file, a damaged one, or being written");
}

Reader::~Reader() {
  const Lock lock;
  if (impl_) impl_->id.reset();
}

const std::string& Reader::path() const noexcept { return impl_->path; }

bool Reader::has(const std::string& name) const {
  const Lock lock;
  const Handle set(H5Oopen(impl_->id.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!set.good()) impl_->check_links(name);
  return set.good();
}

std::vector<std::string> Reader::children(const std::string& group) const {
  const Lock lock;
  const Handle id(H5Gopen2(impl_->id.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (!id.good()) throw Error(Status::kMissingHdu, impl_->path + ": no group " + group);
  std::vector<std::string> out;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  if (H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &out) < 0) {
    throw Error(Status::kCorrupt, impl_->path + ": group " + group + " cannot be read");
  }
  return out;
}

std::vector<std::size_t> Reader::shape(const std::string& name) const {
  const Lock lock;
  const auto dims = impl_->dims_of(name, impl_->open(name));
  return {dims.begin(), dims.end()};
}

std::vector<double> Reader::read(const std::string& name) const {
  return impl_->read<double>(name, H5T_NATIVE_DOUBLE);
}

std::vector<std::int64_t> Reader::read_integers(const std::string& name) const {
  return impl_->read<std::int64_t>(name, H5T_NATIVE_INT64);
}

std::vector<double> Reader::read_row(const std::string& name, std::size_t row) const {
  std::vector<std::size_t> count = shape(name), start(count.size(), 0);
  if (row >= count[0]) {
    throw Error(Status::kWrongShape, impl_->path + ": " + name + ": no row " + std::to_string(row));
  }
  start[0] = row;
  count[0] = 1;
  std::vector<double> out(
      std::accumulate(count.begin(), count.end(), std::size_t{1}, std::multiplies<>()));
  impl_->read_box(name, start, count, std::span<double>(out), H5T_NATIVE_DOUBLE);
  return out;
}

std::vector<std::size_t> Reader::extent(const std::string& name) const {
  const Lock lock;
  const auto dims = impl_->dims_of(name, impl_->open(name), kAnyNumber);
  return {dims.begin(), dims.end()};
}

std::set<std::string> Reader::files(const std::string& name) const {
  const Lock lock;
  return parts_of(impl_->path, name, impl_->open(name).get()).files;
}

std::vector<std::size_t> Reader::chunk(const std::string& name) const {
  const Lock lock;
  const Handle set = impl_->open(name), how(H5Dget_create_plist(set.get()), H5Pclose);
  if (H5Pget_layout(how.get()) != H5D_CHUNKED) return {};
  std::vector<hsize_t> box(H5S_MAX_RANK);
  const int axes = H5Pget_chunk(how.get(), static_cast<int>(box.size()), box.data());
  return {box.begin(), box.begin() + std::max(axes, 0)};
}

std::optional<Type> Reader::type(const std::string& name) const {
  const Lock lock;
  const Handle set = impl_->open(name), type(H5Dget_type(set.get()), H5Tclose);
  const Handle here(H5Tget_native_type(type.get(), H5T_DIR_ASCEND), H5Tclose);
  for (const Type each : {Type::kInt8, Type::kInt32, Type::kInt64, Type::kFloat32, Type::kFloat64,
                          Type::kUint8, Type::kUint16, Type::kUint32}) {
    if (H5Tequal(here.get(), native(each)) > 0) return each;
  }
  return std::nullopt;
}

void Reader::read_box(const std::string& name, std::span<const std::size_t> start,
                      std::span<const std::size_t> count, std::span<float> out) const {
  impl_->read_box(name, start, count, out, H5T_NATIVE_FLOAT);
}
void Reader::read_box(const std::string& name, std::span<const std::size_t> start,
                      std::span<const std::size_t> count, std::span<std::uint16_t> out) const {
  impl_->read_box(name, start, count, out, H5T_NATIVE_UINT16);
}

std::vector<double> Reader::read_field(const std::string& name, const std::string& field) const {
  constexpr std::size_t kMostNumbers = std::size_t{1} << 26;
  const Lock lock;
  const Handle set = impl_->open(name);
  const Handle table(H5Dget_type(set.get()), H5Tclose);
  const std::size_t rows = impl_->rows_with(name, set, table, field);
  if (rows == 0) return {};
  const auto member = static_cast<unsigned>(H5Tget_member_index(table.get(), field.c_str()));
  const Handle stored(H5Tget_member_type(table.get(), member), H5Tclose);
  if (is_number(stored)) {
    return impl_->read_member<double>(name, set, field, H5T_NATIVE_DOUBLE, rows);
  }
  if (H5Tget_class(stored.get()) != H5T_ARRAY) return {};
  const Handle element(H5Tget_super(stored.get()), H5Tclose);
  const int axes = H5Tget_array_ndims(stored.get());
  if (!is_number(element) || axes < 1) return {};
  std::vector<hsize_t> dims(static_cast<std::size_t>(axes));
  H5Tget_array_dims2(stored.get(), dims.data());
  const std::size_t width =
      H5Tget_size(stored.get()) / std::max<std::size_t>(1, H5Tget_size(element.get()));
  if (width > kMostNumbers / rows) {
    throw Error(Status::kWrongShape, impl_->path + ": " + name + ": " + field + " is too large");
  }
  const Handle wanted(H5Tarray_create2(H5T_NATIVE_DOUBLE, static_cast<unsigned>(axes), dims.data()),
                      H5Tclose);
  return impl_->read_member<double>(name, set, field, wanted.get(), rows * width);
}

std::vector<std::string> Reader::read_text_field(const std::string& name,
                                                 const std::string& field) const {
  const Lock lock;
  const Handle set = impl_->open(name);
  const Handle table(H5Dget_type(set.get()), H5Tclose);
  const std::size_t rows = impl_->rows_with(name, set, table, field);
  if (rows == 0) return {};
  const auto member = static_cast<unsigned>(H5Tget_member_index(table.get(), field.c_str()));
  const Handle stored(H5Tget_member_type(table.get(), member), H5Tclose);
  const std::size_t size = text_size(stored);
  if (size == 0) return {};
  return texts_of(impl_->read_member<char>(name, set, field, stored.get(), rows * size), size);
}

std::vector<std::string> Reader::read_texts(const std::string& name) const {
  if (!has(name)) return {};
  const Lock lock;
  const Handle set = impl_->open(name), stored(H5Dget_type(set.get()), H5Tclose);
  const Handle space(H5Dget_space(set.get()), H5Sclose);
  const std::size_t size = text_size(stored);
  const hssize_t rows = H5Sget_simple_extent_npoints(space.get());
  constexpr hssize_t kMostRows = 1 << 20;
  if (size == 0 || rows <= 0 || rows > kMostRows) return {};
  std::vector<char> letters(static_cast<std::size_t>(rows) * size);
  if (H5Dread(set.get(), stored.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, letters.data()) < 0) {
    throw Error(Status::kCorrupt, impl_->path + ": " + name + " cannot be read");
  }
  return texts_of(letters, size);
}

void Reader::read_box(const std::string& name, std::span<const std::size_t> start,
                      std::span<const std::size_t> count, std::span<double> out) const {
  impl_->read_box(name, start, count, out, H5T_NATIVE_DOUBLE);
}
void Reader::read_box(const std::string& name, std::span<const std::size_t> start,
                      std::span<const std::size_t> count, std::span<std::uint8_t> out) const {
  impl_->read_box(name, start, count, out, H5T_NATIVE_UINT8);
}

std::optional<double> Reader::number(const std::string& name, const std::string& attribute) const {
  const Lock lock;
  const Handle found(
      H5Aopen_by_name(impl_->id.get(), name.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (!found.good()) return std::nullopt;
  const Handle type(H5Aget_type(found.get()), H5Tclose), space(H5Aget_space(found.get()), H5Sclose);
  return number_by(type, space, [&](hid_t as, void* to) { return H5Aread(found.get(), as, to); });
}

std::optional<double> Reader::number(const std::string& name) const {
  const Lock lock;
  const Handle set(H5Dopen2(impl_->id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.good()) return std::nullopt;
  const Handle type(H5Dget_type(set.get()), H5Tclose), space(H5Dget_space(set.get()), H5Sclose);
  return number_by(type, space, [&](hid_t as, void* to) {
    return H5Dread(set.get(), as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
  });
}

std::optional<std::string> Reader::text(const std::string& name) const {
  const Lock lock;
  const Handle set(H5Dopen2(impl_->id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.good()) return std::nullopt;
  const Handle type(H5Dget_type(set.get()), H5Tclose), space(H5Dget_space(set.get()), H5Sclose);
  return text_by(type, space, [&](hid_t as, void* to) {
    return H5Dread(set.get(), as, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
  });
}

std::optional<std::string> Reader::description(const std::string& name,
                                               const std::string& attribute) const {
  const Lock lock;
  const Handle found(
      H5Aopen_by_name(impl_->id.get(), name.c_str(), attribute.c_str(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (!found.good()) return std::nullopt;
  const Handle type(H5Aget_type(found.get()), H5Tclose), space(H5Aget_space(found.get()), H5Sclose);
  return text_by(type, space, [&](hid_t as, void* to) { return H5Aread(found.get(), as, to); });
}

}  // namespace loom::hdf5
