// SPDX-License-Identifier: BSD-3-Clause
// The only file that knows the library. It is not made for threads: one lock for all of it.
#include "loom/hdf5/hdf5.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <numeric>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/files/output_files.hpp"

namespace loom::hdf5 {
namespace {

/// The library's lock; its own messages, which it would print, are kept silent.
class Lock {
 public:
  Lock() : lock_(mutex()) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  std::lock_guard<std::mutex> lock_;
};

/// Something of the library's that must be closed.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& o) noexcept : id_(std::exchange(o.id_, -1)), close_(o.close_) {}
  Handle& operator=(Handle&& o) noexcept {
    reset();
    id_ = std::exchange(o.id_, -1);
    close_ = o.close_;
    return *this;
  }
  ~Handle() { reset(); }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  [[nodiscard]] bool good() const noexcept { return id_ >= 0; }
  herr_t reset() {
    const herr_t result = id_ >= 0 ? close_(id_) : 0;
    id_ = -1;
    return result;
  }

 private:
  hid_t id_;
  Close close_;
};

[[noreturn]] void cannot_write(const std::string& path, const std::string& name) {
  const int error = errno == 0 ? EIO : errno;
  throw Error(write_status(error), path + ": cannot write " + name, error);
}

hid_t native(Type type) {
  switch (type) {
    case Type::kInt8:
      return H5T_NATIVE_INT8;
    case Type::kInt32:
      return H5T_NATIVE_INT32;
    case Type::kInt64:
      return H5T_NATIVE_INT64;
    case Type::kFloat32:
      return H5T_NATIVE_FLOAT;
    default:
      return H5T_NATIVE_DOUBLE;
  }
}

/// As the file has it: little-endian on every machine.
hid_t stored(Type type) {
  switch (type) {
    case Type::kInt8:
      return H5T_STD_I8LE;
    case Type::kInt32:
      return H5T_STD_I32LE;
    case Type::kInt64:
      return H5T_STD_I64LE;
    case Type::kFloat32:
      return H5T_IEEE_F32LE;
    default:
      return H5T_IEEE_F64LE;
  }
}

std::vector<hsize_t> sizes(const std::vector<std::size_t>& shape) {
  return {shape.begin(), shape.end()};
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

/// How a file is written: what describes its data goes to disk soon. The library would keep 32 MB
/// of that before it lets go of any.
Handle write_access() {
  constexpr std::size_t kLeast = 1 << 20, kMost = 2 << 20;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5AC_cache_config_t cache;
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  if (H5Pget_mdc_config(access.get(), &cache) < 0) return access;
  cache.set_initial_size = true;
  cache.initial_size = cache.min_size = kLeast;
  cache.max_size = kMost;
  H5Pset_mdc_config(access.get(), &cache);
  return access;
}

}  // namespace

bool available() noexcept { return true; }
void require_available(const std::string& /*what*/) {}

std::size_t Field::bytes() const noexcept {
  switch (type) {
    case Type::kInt8:
    case Type::kText:
      return width;
    case Type::kInt32:
    case Type::kFloat32:
      return 4 * width;
    default:
      return 8 * width;
  }
}

struct Writer::Impl {
  Impl(const std::string& its_path, Overwrite overwrite)
      : path(its_path), file(its_path, overwrite), id(-1, H5Fclose), groups(-1, H5Pclose) {}
  [[nodiscard]] Handle new_set(const std::string& name, hid_t type,
                               const std::vector<std::size_t>& shape,
                               const std::vector<std::size_t>& chunk) const {
    const auto dims = sizes(shape), box = sizes(chunk);
    const Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                       H5Sclose);
    const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(how.get(), false);
    const bool empty = std::find(dims.begin(), dims.end(), 0U) != dims.end();
    if (!box.empty() && !empty) {
      H5Pset_chunk(how.get(), static_cast<int>(box.size()), box.data());
    }
    Handle set(
        H5Dcreate2(id.get(), name.c_str(), type, space.get(), groups.get(), how.get(), H5P_DEFAULT),
        H5Dclose);
    if (!set.good()) cannot_write(path, name);
    return set;
  }
  template <class T>
  void write(const std::string& name, std::size_t first, std::span<const T> values, hid_t type) {
    const Lock lock;
    errno = 0;
    const Handle set(H5Dopen2(id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
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
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                        H5Sclose);
    if (H5Dwrite(set.get(), type, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0) {
      cannot_write(path, name);
    }
  }

  std::string path;
  AtomicFile file;
  Handle id, groups;
};

Writer::Writer(const std::string& path, Overwrite overwrite)
    : impl_(std::make_unique<Impl>(path, overwrite)) {
  const Lock lock;
  errno = 0;
  const Handle how(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(how.get(), false);
  const Handle access = write_access();
  impl_->id = {H5Fcreate(impl_->file.place().c_str(), H5F_ACC_TRUNC, how.get(), access.get()),
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
                    const std::vector<std::size_t>& chunk) {
  const Lock lock;
  errno = 0;
  (void)impl_->new_set(name, stored(type), shape, chunk);
}

void Writer::write(const std::string& name, std::size_t first, std::span<const float> values) {
  impl_->write(name, first, values, H5T_NATIVE_FLOAT);
}
void Writer::write(const std::string& name, std::size_t first, std::span<const double> values) {
  impl_->write(name, first, values, H5T_NATIVE_DOUBLE);
}
void Writer::write(const std::string& name, std::size_t first,
                   std::span<const std::int64_t> values) {
  impl_->write(name, first, values, H5T_NATIVE_INT64);
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
  const Handle set = impl_->new_set(name, in_file.get(), {rows}, {});
  if (rows == 0) return;
  if (H5Dwrite(set.get(), in_memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    cannot_write(impl_->path, name);
  }
}

void Writer::commit() {
  {
    const Lock lock;
    errno = 0;
    impl_->groups.reset();
    if (H5Fflush(impl_->id.get(), H5F_SCOPE_GLOBAL) < 0 || impl_->id.reset() < 0) {
      cannot_write(impl_->path, "an HDF5 file");
    }
  }
  impl_->file.commit();
}

struct Reader::Impl {
  Impl(std::string its_path, hid_t its_id) : path(std::move(its_path)), id(its_id, H5Fclose) {}

  [[nodiscard]] Handle open(const std::string& name) const {
    Handle set(H5Dopen2(id.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!set.good()) throw Error(Status::kMissingHdu, path + ": no data set " + name);
    return set;
  }
  [[nodiscard]] std::vector<hsize_t> dims_of(const std::string& name, const Handle& set) const {
    const Handle type(H5Dget_type(set.get()), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.get());
    const Handle space(H5Dget_space(set.get()), H5Sclose);
    const int axes = H5Sget_simple_extent_ndims(space.get());
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || axes < 1) {
      throw Error(Status::kWrongShape, path + ": " + name + ": expected an array of numbers");
    }
    std::vector<hsize_t> dims(static_cast<std::size_t>(axes));
    H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
    hsize_t all = 1;
    for (const hsize_t n : dims) {
      if (n > 0 && all > (hsize_t{1} << 31) / n) {
        throw Error(Status::kWrongShape, path + ": " + name + ": more than 2^31 numbers");
      }
      all *= n;
    }
    return dims;
  }
  template <class T>
  [[nodiscard]] std::vector<T> read(const std::string& name, hid_t type) const {
    const Lock lock;
    const Handle set = open(name);
    const auto dims = dims_of(name, set);
    std::vector<T> out(
        std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>()));
    if (!out.empty() && H5Dread(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0) {
      throw Error(Status::kCorrupt, path + ": " + name + " cannot be read");
    }
    return out;
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
      if (same) return static_cast<std::size_t>(rows);
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

  static constexpr hssize_t kMostRows = hssize_t{1} << 20;
  std::string path;
  Handle id;
};

Reader::Reader(const std::string& path) {
  (void)ByteSource::open(path);  // names what is missing or may not be read
  const Lock lock;
  impl_ = std::make_unique<Impl>(path, H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!impl_->id.good())
    throw Error(Status::kCorrupt, path + ": is no HDF5 file, or a damaged one");
}

Reader::~Reader() {
  const Lock lock;
  if (impl_) impl_->id.reset();
}

const std::string& Reader::path() const noexcept { return impl_->path; }

bool Reader::has(const std::string& name) const {
  const Lock lock;
  const Handle set(H5Oopen(impl_->id.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
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
  const Lock lock;
  const Handle set = impl_->open(name);
  std::vector<hsize_t> count = impl_->dims_of(name, set);
  if (row >= count[0]) {
    throw Error(Status::kWrongShape, impl_->path + ": " + name + ": no row " + std::to_string(row));
  }
  std::vector<hsize_t> start(count.size(), 0);
  start[0] = row;
  count[0] = 1;
  const Handle space(H5Dget_space(set.get()), H5Sclose);
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  std::vector<double> out(
      std::accumulate(count.begin(), count.end(), std::size_t{1}, std::multiplies<>()));
  const auto n = static_cast<hsize_t>(out.size());
  const Handle memory(H5Screate_simple(1, &n, nullptr), H5Sclose);
  if (n > 0 && H5Dread(set.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT,
                       out.data()) < 0) {
    throw Error(Status::kCorrupt, impl_->path + ": " + name + " cannot be read");
  }
  return out;
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
  const auto is_number = [](hid_t type) {
    const H5T_class_t kind = H5Tget_class(type);
    return kind == H5T_INTEGER || kind == H5T_FLOAT;
  };
  if (is_number(stored.get())) {
    return impl_->read_member<double>(name, set, field, H5T_NATIVE_DOUBLE, rows);
  }
  if (H5Tget_class(stored.get()) != H5T_ARRAY) return {};
  const Handle element(H5Tget_super(stored.get()), H5Tclose);
  const int axes = H5Tget_array_ndims(stored.get());
  if (!is_number(element.get()) || axes < 1) return {};
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
  constexpr std::size_t kMostLetters = 4096;
  const std::size_t size = H5Tget_size(stored.get());
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) > 0 ||
      size > kMostLetters) {
    return {};
  }
  const auto letters = impl_->read_member<char>(name, set, field, stored.get(), rows * size);
  std::vector<std::string> out;
  for (std::size_t r = 0; r < rows; ++r) {
    std::string text(letters.data() + r * size, size);
    text.erase(std::min(text.find('\0'), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace loom::hdf5
