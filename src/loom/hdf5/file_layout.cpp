// SPDX-License-Identifier: BSD-3-Clause
#include "loom/hdf5/file_layout.hpp"

#include <algorithm>
#include <bit>

#include "loom/hdf5/direct_file.hpp"

namespace loom::hdf5 {

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
    case Type::kUint8:
      return H5T_STD_U8LE;
    case Type::kUint16:
      return H5T_STD_U16LE;
    case Type::kUint32:
      return H5T_STD_U32LE;
    default:
      return H5T_IEEE_F64LE;
  }
}

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
  H5Pset_alignment(access.get(), kDirectLeast, kDirectAlign);
  return access;
}

RowChunks chunks_of_rows(hid_t set, std::size_t first, std::size_t values) {
  RowChunks rows;
#if H5_VERSION_GE(1, 10, 5)
  const Handle space(H5Dget_space(set), H5Sclose), type(H5Dget_type(set), H5Tclose);
  const Handle how(H5Dget_create_plist(set), H5Pclose);
  std::vector<hsize_t> dims(
      static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space.get()), 0)));
  if (dims.empty() || std::endian::native != std::endian::little ||
      H5Tequal(type.get(), H5T_IEEE_F32LE) <= 0 || H5Pget_layout(how.get()) != H5D_CHUNKED ||
      H5Pget_nfilters(how.get()) != 0) {
    return {};
  }
  std::vector<hsize_t> box(dims.size()), at(dims.size(), 0);
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  H5Pget_chunk(how.get(), static_cast<int>(box.size()), box.data());
  if (box[0] != 1 || !std::equal(box.begin() + 1, box.end(), dims.begin() + 1)) return {};
  rows.numbers = 1;
  for (std::size_t i = 1; i < dims.size(); ++i) rows.numbers *= dims[i];
  if (rows.numbers == 0) return {};
  const std::size_t bytes = rows.numbers * sizeof(float), count = values / rows.numbers;
  if (bytes < kDirectLeast || values % rows.numbers != 0 || first + count > dims[0]) return {};
  for (std::size_t row = first; row < first + count; ++row) {
    at[0] = row;
    unsigned left_out = 0;
    haddr_t place = HADDR_UNDEF;
    hsize_t size = 0;
    if (H5Dget_chunk_info_by_coord(set, at.data(), &left_out, &place, &size) < 0 ||
        place == HADDR_UNDEF || size != bytes) {
      return {};
    }
    rows.places.push_back(place);
  }
#endif
  return rows;
}

}  // namespace loom::hdf5
