// SPDX-License-Identifier: BSD-3-Clause
#include "loom/hdf5/test_links.hpp"

#include <cstdint>

#include "loom/hdf5/hdf5_library.hpp"

namespace loom::hdf5::test {
namespace {

Handle new_file(const std::string& path) {
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
}

}  // namespace

void write_link(const std::string& path, const std::string& name, const std::string& file,
                const std::string& object) {
  const Lock lock;
  const Handle into = new_file(path);
  H5Lcreate_external(file.c_str(), object.c_str(), into.get(), name.c_str(), H5P_DEFAULT,
                     H5P_DEFAULT);
}

void write_flags(const std::string& path, const std::string& name, const std::vector<bool>& flags) {
  const Lock lock;
  const Handle into = new_file(path);
  const Handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type.get(), "FALSE", &no);
  H5Tenum_insert(type.get(), "TRUE", &yes);
  const std::vector<std::int8_t> values(flags.begin(), flags.end());
  const hsize_t count = values.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle set(H5Dcreate2(into.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                              H5P_DEFAULT, H5P_DEFAULT),
                   H5Dclose);
  H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  const Handle one(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle flag(H5Acreate2(set.get(), "flag", type.get(), one.get(), H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose);
  H5Awrite(flag.get(), type.get(), values.data());
}

}  // namespace loom::hdf5::test
