// SPDX-License-Identifier: BSD-3-Clause
// Writing. The library is not made for threads: one lock for all of it (hdf5_library.hpp).
#include "loom/hdf5/hdf5.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"
#include "loom/hdf5/direct_file.hpp"
#include "loom/hdf5/file_layout.hpp"
#include "loom/hdf5/hdf5_library.hpp"
#include "loom/hdf5/part_file.hpp"

namespace loom::hdf5 {
namespace {

[[noreturn]] void cannot_write(const std::string& path, const std::string& name) {
  const int error = errno == 0 ? EIO : errno;
  throw Error(write_status(error), path + ": cannot write " + name + ": " + std::strerror(error),
              error);
}

std::vector<hsize_t> sizes(const std::vector<std::size_t>& shape) {
  return {shape.begin(), shape.end()};
}

/// A text of just this length.
Handle text_type(std::size_t length) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), std::max<std::size_t>(length, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return type;
}

/// The type of a table's row, in memory or in the file.
Handle row_type(std::span<const Field> fields, std::size_t bytes, bool in_file) {
  Handle row(H5Tcreate(H5T_COMPOUND, bytes), H5Tclose);
  std::size_t offset = 0;
  for (const Field& field : fields) {
    if (field.type == Type::kText) {
      const Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
      H5Tset_size(text.get(), field.width);
      H5Tset_strpad(text.get(), H5T_STR_NULLPAD);
      H5Tinsert(row.get(), field.name.c_str(), offset, text.get());
    } else {
      const hid_t one = in_file ? stored(field.type) : native(field.type);
      const hsize_t n = field.width;
      const Handle list(H5Tarray_create2(one, 1, &n), H5Tclose);
      const bool is_list = field.list || field.width > 1;
      H5Tinsert(row.get(), field.name.c_str(), offset, is_list ? list.get() : one);
    }
    offset += field.bytes();
  }
  return row;
}

}  // namespace

bool available() noexcept { return true; }
void require_available(const std::string& /*what*/) {}

std::size_t Field::bytes() const noexcept {
  switch (type) {
    case Type::kInt8:
    case Type::kUint8:
    case Type::kText:
      return width;
    case Type::kUint16:
      return 2 * width;
    case Type::kUint32:
    case Type::kInt32:
    case Type::kFloat32:
      return 4 * width;
    default:
      return 8 * width;
  }
}

struct Writer::Impl {
  Impl(const std::string& its_path, Overwrite its_overwrite, Unfinished unfinished)
      : path(its_path),
        overwrite(its_overwrite),
        place(part_name(its_path)),
        id(-1, H5Fclose),
        groups(-1, H5Pclose) {
    if (unfinished == Unfinished::kVanishes) {
      file.emplace(its_path, overwrite);
      place = file->place();
    } else if (overwrite == Overwrite::kNo && ::access(its_path.c_str(), F_OK) == 0) {
      throw Error(Status::kOutputExists, its_path + ": exists already");
    }
  }
  [[nodiscard]] Handle new_set(const std::string& name, hid_t type,
                               const std::vector<std::size_t>& shape,
                               const std::vector<std::size_t>& chunk, Room room = Room::kAsWritten,
                               const double* fill = nullptr) const {
    const auto dims = sizes(shape), box = sizes(chunk);
    const Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                       H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(how.get(), false);
    const bool empty = std::find(dims.begin(), dims.end(), 0U) != dims.end();
    if (!box.empty() && !empty) {
      H5Pset_chunk(how.get(), static_cast<int>(box.size()), box.data());
    }
    if (room == Room::kAtOnce) {
      H5Pset_alloc_time(how.get(), H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER);
    }
    if (fill != nullptr) H5Pset_fill_value(how.get(), H5T_NATIVE_DOUBLE, fill);
    Handle set(
        H5Dcreate2(id.get(), name.c_str(), type, space.get(), groups.get(), how.get(), H5P_DEFAULT),
        H5Dclose);
    if (!set.good()) cannot_write(path, name);
    return set;
  }
  /// Rows that are chunks, past the page cache: true where all are there. The lock is held while
  /// their places are looked up alone, so that others read meanwhile.
  bool write_direct(const std::string& name, std::size_t first, std::span<const float> values) {
    RowChunks rows;
    {
      const Lock lock;
      const Handle set(H5Dopen2(id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
      if (set.good()) rows = chunks_of_rows(set.get(), first, values.size());
    }
    if (rows.places.empty()) return false;
    if (!direct) direct.emplace(place);
    const std::size_t bytes = rows.numbers * sizeof(float);
    for (std::size_t i = 0, end = 0; i < rows.places.size(); i = end) {
      end = i + 1;  // those that lie side by side at once: a disk likes much to do
      while (end < rows.places.size() && rows.places[end] == rows.places[end - 1] + bytes) ++end;
      const auto run = values.subspan(i * rows.numbers, (end - i) * rows.numbers);
      if (!direct->write(rows.places[i], std::as_bytes(run))) return false;
    }
    return true;
  }
  template <class T>
  void write(const std::string& name, std::size_t first, std::span<const T> values, hid_t type) {
    const Lock lock;
    errno = 0;
    Handle set(H5Dopen2(id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.good()) throw Error(Status::kInternal, path + ": no data set " + name);
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    std::vector<hsize_t> dims(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
    const hsize_t row =
        std::accumulate(dims.begin() + 1, dims.end(), hsize_t{1}, std::multiplies<>());
    if (row == 0 || values.size() % row != 0 || first + values.size() / row > dims[0]) {
      throw Error(Status::kInternal, path + ": rows of " + name + " do not fit");
    }
    std::vector<hsize_t> start(dims.size(), 0), count = dims;
    start[0] = first;
    count[0] = values.size() / row;
    if (count[0] == 0) return;
    write_box(name, std::move(set), space, start, count, values.data(), type);
  }
  /// With a set's end what the library still holds of it goes to the disk, or is lost where that is
  /// full: the file's own end, with room again, would tell nothing of it.
  void close(const std::string& name, Handle set) const {
    if (set.reset() < 0) cannot_write(path, name);
  }
  void write_box(const std::string& name, Handle set, const Handle& space,
                 const std::vector<hsize_t>& start, const std::vector<hsize_t>& count,
                 const void* values, hid_t type) const {
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                        H5Sclose);
    if (H5Dwrite(set.get(), type, memory.get(), space.get(), H5P_DEFAULT, values) < 0) {
      cannot_write(path, name);
    }
    close(name, std::move(set));
  }

  void describe(const std::string& name, const std::string& attribute, hid_t stored_as,
                hid_t given_as, const void* value) const {
    const Lock lock;
    errno = 0;
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle made(H5Acreate_by_name(id.get(), name.c_str(), attribute.c_str(), stored_as,
                                        space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    if (!made.good() || H5Awrite(made.get(), given_as, value) < 0) {
      cannot_write(path, name + ":" + attribute);
    }
  }

  std::string path;
  Overwrite overwrite;
  std::string place;               ///< where the library writes
  std::optional<AtomicFile> file;  ///< none: of a file that stays
  std::optional<DirectFile> direct;
  Handle id, groups;
  bool continues = false;
};

Writer::Writer(const std::string& path, Overwrite overwrite, Unfinished unfinished)
    : impl_(std::make_unique<Impl>(path, overwrite, unfinished)) {
  const Lock lock;
  errno = 0;
  const Handle how(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(how.get(), false);
  const Handle access = write_access();
  impl_->continues = unfinished == Unfinished::kStays && ::access(impl_->place.c_str(), F_OK) == 0;
  impl_->id = {impl_->continues
                   ? H5Fopen(impl_->place.c_str(), H5F_ACC_RDWR, access.get())
                   : H5Fcreate(impl_->place.c_str(), H5F_ACC_TRUNC, how.get(), access.get()),
               H5Fclose};
  if (!impl_->id.good()) cannot_write(path, "an HDF5 file");
  impl_->groups = {H5Pcreate(H5P_LINK_CREATE), H5Pclose};
  H5Pset_create_intermediate_group(impl_->groups.get(), 1);
}

Writer::~Writer() {
  const Lock lock;
  impl_->groups.reset();
  impl_->id.reset();
}

void Writer::create(const std::string& name, Type type, const std::vector<std::size_t>& shape,
                    const std::vector<std::size_t>& chunk, Room room) {
  const Lock lock;
  errno = 0;
  impl_->close(name, impl_->new_set(name, stored(type), shape, chunk, room));
}

void Writer::create_sparse(const std::string& name, Type type,
                           const std::vector<std::size_t>& shape,
                           const std::vector<std::size_t>& chunk, double fill) {
  const Lock lock;
  errno = 0;
  impl_->close(name, impl_->new_set(name, stored(type), shape, chunk, Room::kAsWritten, &fill));
}

void Writer::write_box(const std::string& name, std::span<const std::size_t> start,
                       std::span<const std::size_t> count, std::span<const double> values) {
  const Lock lock;
  errno = 0;
  Handle set(H5Dopen2(impl_->id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set.good()) throw Error(Status::kInternal, impl_->path + ": no data set " + name);
  const Handle space(H5Dget_space(set.get()), H5Sclose);
  std::vector<hsize_t> dims(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  std::size_t numbers = 1;
  for (const std::size_t n : count) numbers *= n;
  bool within = start.size() == dims.size() && count.size() == dims.size();
  for (std::size_t i = 0; within && i < dims.size(); ++i) within = start[i] + count[i] <= dims[i];
  if (!within || numbers != values.size()) {
    throw Error(Status::kInternal, impl_->path + ": box of " + name + " does not fit");
  }
  impl_->write_box(name, std::move(set), space, {start.begin(), start.end()},
                   {count.begin(), count.end()}, values.data(), H5T_NATIVE_DOUBLE);
}

void Writer::write(const std::string& name, std::size_t first, std::span<const float> values) {
  if (impl_->write_direct(name, first, values)) return;
  impl_->write(name, first, values, H5T_NATIVE_FLOAT);
}
void Writer::write(const std::string& name, std::size_t first, std::span<const double> values) {
  impl_->write(name, first, values, H5T_NATIVE_DOUBLE);
}
void Writer::write(const std::string& name, std::size_t first,
                   std::span<const std::int64_t> values) {
  impl_->write(name, first, values, H5T_NATIVE_INT64);
}

void Writer::write(const std::string& name, std::size_t first,
                   std::span<const std::uint16_t> values) {
  impl_->write(name, first, values, H5T_NATIVE_UINT16);
}

void Writer::write(const std::string& name, std::size_t first,
                   std::span<const std::uint8_t> values) {
  impl_->write(name, first, values, H5T_NATIVE_UINT8);
}

void Writer::group(const std::string& name) {
  const Lock lock;
  errno = 0;
  const Handle how(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(how.get(), false);
  const Handle made(
      H5Gcreate2(impl_->id.get(), name.c_str(), impl_->groups.get(), how.get(), H5P_DEFAULT),
      H5Gclose);
  if (!made.good()) cannot_write(impl_->path, name);
}

void Writer::texts(const std::string& name, const std::vector<std::string>& values) {
  const Lock lock;
  errno = 0;
  std::size_t width = 1;
  for (const std::string& value : values) width = std::max(width, value.size());
  std::vector<char> bytes(width * values.size(), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::copy(values[i].begin(), values[i].end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  const Handle type = text_type(width);
  Handle set = impl_->new_set(name, type.get(), {values.size()}, {});
  if (!values.empty() &&
      H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    cannot_write(impl_->path, name);
  }
  impl_->close(name, std::move(set));
}

void Writer::describe(const std::string& name, const std::string& attribute, double value) {
  impl_->describe(name, attribute, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void Writer::describe(const std::string& name, const std::string& attribute, std::int64_t value) {
  impl_->describe(name, attribute, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void Writer::text(const std::string& name, const std::string& value) {
  const Lock lock;
  errno = 0;
  const Handle type = text_type(value.size()), space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(how.get(), false);
  Handle set(H5Dcreate2(impl_->id.get(), name.c_str(), type.get(), space.get(), impl_->groups.get(),
                        how.get(), H5P_DEFAULT),
             H5Dclose);
  if (!set.good() ||
      H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str()) < 0) {
    cannot_write(impl_->path, name);
  }
  impl_->close(name, std::move(set));
}

void Writer::describe(const std::string& name, const std::string& attribute,
                      const std::string& value, TextKind kind) {
  if (kind == TextKind::kVariable) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), H5T_VARIABLE);
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    const char* const text = value.c_str();
    impl_->describe(name, attribute, type.get(), type.get(), &text);
    return;
  }
  const Handle type = text_type(value.size());
  impl_->describe(name, attribute, type.get(), type.get(), value.c_str());
}

void Writer::table(const std::string& name, std::span<const Field> fields, std::size_t rows,
                   std::span<const std::uint8_t> bytes) {
  const Lock lock;
  errno = 0;
  std::size_t row = 0;
  for (const Field& field : fields) row += field.bytes();
  if (bytes.size() != rows * row || row == 0) {
    throw Error(Status::kInternal, impl_->path + ": rows of " + name + " do not fit");
  }
  const Handle in_file = row_type(fields, row, true), in_memory = row_type(fields, row, false);
  Handle set = impl_->new_set(name, in_file.get(), {rows}, {});
  if (rows > 0 &&
      H5Dwrite(set.get(), in_memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    cannot_write(impl_->path, name);
  }
  impl_->close(name, std::move(set));
}

bool Writer::continues() const noexcept { return impl_->continues; }

void Writer::sync() {
  {
    const Lock lock;
    errno = 0;
    if (H5Fflush(impl_->id.get(), H5F_SCOPE_GLOBAL) < 0) cannot_write(impl_->path, "an HDF5 file");
  }
  flush_to_disk(impl_->place, impl_->path);
}

void Writer::commit(FilesTogether* together) {
  {
    const Lock lock;
    errno = 0;
    impl_->groups.reset();
    if (H5Fflush(impl_->id.get(), H5F_SCOPE_GLOBAL) < 0 || impl_->id.reset() < 0) {
      cannot_write(impl_->path, "an HDF5 file");
    }
  }
  if (impl_->file) {
    impl_->file->commit(together);
  } else {
    publish_part(impl_->path, impl_->overwrite);
  }
}

}  // namespace loom::hdf5
