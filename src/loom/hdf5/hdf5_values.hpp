// SPDX-License-Identifier: BSD-3-Clause
// Texts and single numbers as the library stores them. For hdf5_reader.cpp.
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loom/hdf5/hdf5_library.hpp"

namespace loom::hdf5 {

/// The first text of `size` bytes a text, or where texts are pointers the library's own, by `read`.
template <class Read>
std::optional<std::string> text_by(const Handle& type, const Handle& space, const Read& read) {
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1) {
    return std::nullopt;
  }
  if (H5Tis_variable_str(type.get()) > 0) {
    char* found = nullptr;
    if (read(type.get(), &found) < 0 || found == nullptr) return std::nullopt;
    std::string out = found;
    H5free_memory(found);
    return out;
  }
  std::string out(H5Tget_size(type.get()), '\0');
  if (read(type.get(), out.data()) < 0) return std::nullopt;
  return out.substr(0, out.find('\0'));
}

/// Numbers, or names of integers, as h5py has FALSE and TRUE: the library reads them as those.
inline bool is_number(const Handle& type) {
  const H5T_class_t kind = H5Tget_class(type.get());
  return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM;
}

/// One number, by `read`; nullopt where it is none, or a list of them.
template <class Read>
std::optional<double> number_by(const Handle& type, const Handle& space, const Read& read) {
  double value = 0;
  if (!is_number(type) || H5Sget_simple_extent_npoints(space.get()) != 1 ||
      read(H5T_NATIVE_DOUBLE, &value) < 0) {
    return std::nullopt;
  }
  return value;
}

/// Bytes of a text of fixed length; 0: it is none, or too long a one.
inline std::size_t text_size(const Handle& type) {
  constexpr std::size_t kMostLetters = 4096;
  const std::size_t size = H5Tget_size(type.get());
  const bool fixed = H5Tget_class(type.get()) == H5T_STRING && H5Tis_variable_str(type.get()) <= 0;
  return fixed && size <= kMostLetters ? size : 0;
}

/// Texts of `size` bytes each, without what fills them up.
inline std::vector<std::string> texts_of(std::span<const char> letters, std::size_t size) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at + size <= letters.size(); at += size) {
    std::string text(letters.data() + at, size);
    text.erase(std::min(text.find('\0'), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace loom::hdf5
