// SPDX-License-Identifier: BSD-3-Clause
#include "loom/hdf5/reading_file.hpp"

#include <array>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5_library.hpp"

namespace loom::hdf5 {
namespace {

#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
void keep_no_lock(hid_t access) { H5Pset_file_locking(access, false, true); }
#else
void keep_no_lock(hid_t /*access*/) {}
#endif

}  // namespace

hid_t open_to_read(const std::string& path, Writing writing) {
  const auto open = [&](unsigned how, hid_t access) { return H5Fopen(path.c_str(), how, access); };
  if (writing == Writing::kOver) return open(H5F_ACC_RDONLY, H5P_DEFAULT);
  if (is_being_written(path)) return -1;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  keep_no_lock(access.get());
  const hid_t id = open(H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.get());
  return id >= 0 ? id : open(H5F_ACC_RDONLY, access.get());
}

Error unreadable(const std::string& path, const std::string& name, hid_t set) {
  const Handle how(H5Dget_create_plist(set), H5Pclose);
  for (int i = 0; i < H5Pget_nfilters(how.get()); ++i) {
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    std::array<char, 64> what{};
    const H5Z_filter_t filter = H5Pget_filter2(how.get(), static_cast<unsigned>(i), &flags, &values,
                                               nullptr, what.size() - 1, what.data(), &config);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    return {Status::kUnsupported,
            print("%s: %s is packed by filter %d%s%s, which is not there: HDF5_PLUGIN_PATH names "
                  "the folder of such",
                  path.c_str(), name.c_str(), filter, what[0] == 0 ? "" : " ", what.data())};
  }
  std::array<char, 1024> raw{};
  if (H5Pget_external_count(how.get()) > 0 &&
      H5Pget_external(how.get(), 0, raw.size() - 1, raw.data(), nullptr, nullptr) >= 0) {
    return {Status::kNotFound,
            path + ": " + name + " cannot be read: its numbers lie in " + raw.data()};
  }
  return {Status::kCorrupt, path + ": " + name + " cannot be read"};
}

}  // namespace loom::hdf5
