// SPDX-License-Identifier: BSD-3-Clause
// What a file says that lies elsewhere: which files, and what is not there.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "loom/hdf5/hdf5_library.hpp"
#include "loom/hdf5/reading_file.hpp"

namespace loom::hdf5 {
namespace {

namespace fs = std::filesystem;

/// Where a link of a group leads to; none: it is no link, or none is there.
std::optional<std::string> target_of(hid_t file, const std::string& link) {
  H5L_info_t info;
  if (H5Lget_info(file, link.c_str(), &info, H5P_DEFAULT) < 0) return std::nullopt;
  if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) return std::nullopt;
  std::vector<char> value(info.u.val_size + 1, '\0');
  if (H5Lget_val(file, link.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) {
    return std::nullopt;
  }
  if (info.type == H5L_TYPE_SOFT) return std::string(value.data());
  const char *to_file = nullptr, *to_object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &to_file, &to_object) < 0) {
    return std::nullopt;
  }
  return std::string(to_object) + " of " + to_file;
}

/// A text that a call of the library gives in two steps: first its length.
template <class Get>
std::string text_from(const Get& get) {
  const ssize_t size = get(nullptr, 0);
  std::vector<char> text(static_cast<std::size_t>(std::max<ssize_t>(size, 0)) + 1, '\0');
  if (size > 0) get(text.data(), text.size());
  return text.data();
}

/// Where the library looks for a file that a virtual data set of `path` names: by HDF5_VDS_PREFIX,
/// beside the file itself, and from where the program runs.
std::vector<fs::path> places_of(const std::string& path, const std::string& name) {
  if (fs::path(name).is_absolute()) return {name};
  std::vector<fs::path> places;
  const char* const prefix = std::getenv("HDF5_VDS_PREFIX");
  if (prefix != nullptr && prefix[0] != '\0') places.push_back(fs::path(prefix) / name);
  std::error_code none;
  places.push_back(fs::path(path).parent_path() / name);
  places.push_back(fs::weakly_canonical(path, none).parent_path() / name);
  places.emplace_back(name);
  return places;
}

/// The file that an open data set lies in, wherever links have led.
std::string file_of(hid_t set) {
  return text_from([&](char* to, std::size_t size) { return H5Fget_name(set, to, size); });
}

/// A file, and a data set of it.
using Named = std::pair<std::string, std::string>;

/// What a virtual data set is made of, as it names it, each once; nothing of any other.
std::set<Named> virtual_parts(hid_t set) {
  std::set<Named> named;
  const Handle how(H5Dget_create_plist(set), H5Pclose);
  std::size_t parts = 0;
  if (H5Pget_layout(how.get()) != H5D_VIRTUAL || H5Pget_virtual_count(how.get(), &parts) < 0) {
    return named;
  }
  for (std::size_t i = 0; i < parts; ++i) {
    named.emplace(text_from([&](char* to, std::size_t size) {
                    return H5Pget_virtual_filename(how.get(), i, to, size);
                  }),
                  text_from([&](char* to, std::size_t size) {
                    return H5Pget_virtual_dsetname(how.get(), i, to, size);
                  }));
  }
  return named;
}

/// Files without any format that a data set's numbers lie in.
std::vector<std::string> raw_files(hid_t set) {
  std::vector<std::string> files;
  const Handle how(H5Dget_create_plist(set), H5Pclose);
  const int count = H5Pget_external_count(how.get());
  for (int i = 0; i < count; ++i) {
    std::array<char, 1024> name{};
    if (H5Pget_external(how.get(), static_cast<unsigned>(i), name.size() - 1, name.data(), nullptr,
                        nullptr) >= 0) {
      files.emplace_back(name.data());
    }
  }
  return files;
}

bool is_numbered(const std::string& name) { return name.find('%') != std::string::npos; }

/// Of a name that stands for as many files as there are: those, from 0 on.
std::vector<std::string> numbered_files(const std::string& path, const std::string& name) {
  std::vector<std::string> files;
  const std::size_t number = name.find("%b");
  if (number == std::string::npos) return files;
  for (std::size_t i = 0;; ++i) {
    std::string one = name;
    one.replace(number, 2, std::to_string(i));
    const auto places = places_of(path, one);
    const auto there = std::ranges::find_if(places, [](const fs::path& place) {
      std::error_code no;
      return fs::exists(place, no);
    });
    if (there == places.end()) return files;
    files.push_back(there->string());
  }
}

Handle open_first(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    Handle file(H5Fopen(place.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (file.good()) return file;
  }
  return {-1, H5Fclose};
}

/// Why none of them could be opened.
std::string reason_of(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    std::FILE* const file = std::fopen(place.c_str(), "rb");
    if (file == nullptr && errno == ENOENT) continue;
    if (file == nullptr) return std::strerror(errno);
    std::fclose(file);
    return "no HDF5 file, or a damaged one";
  }
  return std::strerror(ENOENT);
}

/// Whether so many files more may be opened.
bool may_open(std::size_t count) {
  std::vector<int> opened;
  while (opened.size() < count) {
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0) break;
    opened.push_back(file);
  }
  for (const int file : opened) ::close(file);
  return opened.size() == count;
}

}  // namespace

std::optional<Error> broken_link(const std::string& path, hid_t file, const std::string& name) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = name.find('/', end + 1);
    const std::string part = name.substr(0, end);
    if (const htri_t leads = H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT); leads > 0)
      continue;
    const auto target = target_of(file, part);
    if (!target) return std::nullopt;  // there is no such name
    return Error(Status::kNotFound, path + ": " + part + " is a link to " + *target +
                                        ", which is not there or cannot be read");
  }
  return std::nullopt;
}

PartsOfSet parts_of(const std::string& path, const std::string& name, hid_t set) {
  PartsOfSet found;
  const std::string what = path + ": " + name + ": a part of it lies in ";
  // all of them at once, as the library has them when it reads: where that is more than a process
  // may open, it reads its fill value too
  std::map<Named, Handle> sources;
  std::set<Named> seen;  // data sets; one may name another, and that the first
  std::vector<Handle> sets;
  for (std::size_t next = 0; next <= sets.size(); ++next) {
    const hid_t each = next == 0 ? set : sets[next - 1].get();
    const std::string its_file = file_of(each);
    found.files.insert(its_file);
    for (const std::string& raw : raw_files(each)) found.files.insert(raw);
    for (const Named& part : virtual_parts(each)) {
      const auto& [file, object] = part;
      if (is_numbered(file) || is_numbered(object)) {  // files are as many as there are
        for (const std::string& one : numbered_files(its_file, file)) found.files.insert(one);
        continue;
      }
      const std::vector<fs::path> places = places_of(its_file, file == "." ? its_file : file);
      const auto [at, first] = sources.try_emplace({its_file, file}, -1, H5Fclose);
      if (first) at->second = open_first(places);
      if (!at->second.good()) {
        found.lacking.emplace(Status::kNotFound, what + file + ": " + reason_of(places));
        return found;
      }
      Handle there(H5Dopen2(at->second.get(), object.c_str(), H5P_DEFAULT), H5Dclose);
      if (!there.good()) {
        found.lacking.emplace(Status::kMissingHdu,
                              what + file + ", which has no data set " + object);
        return found;
      }
      if (seen.insert({file_of(there.get()), object}).second) sets.push_back(std::move(there));
    }
  }
  constexpr std::size_t kMany = 16;  // and as many are left for what else is open by then
  if (sources.size() > kMany && !may_open(kMany)) {
    found.lacking.emplace(Status::kNotFound,
                          path + ": " + name + ": its parts lie in " +
                              std::to_string(sources.size()) +
                              " files, more than may be open at once (ulimit -n)");
  }
  return found;
}

}  // namespace loom::hdf5
