// SPDX-License-Identifier: BSD-3-Clause
// Values as bytes between the ranks of one job: same program, same machine type, nothing kept. A
// message that does not read back is an Error (kInternal), never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "loom/base/array.hpp"

namespace loom::batch {

using Bytes = std::vector<std::byte>;

/// Appends values; the counterpart of WireReader, called with the same list of fields.
class WireWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&value, sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(values.size());
    raw(values.data(), values.size() * sizeof(T));
  }
  void put(const std::vector<std::string>& texts) {
    put(texts.size());
    for (const std::string& text : texts) put(text);
  }
  template <class T>
  void put(const Array2D<T>& a) {
    put(a.rows());
    put(a.cols());
    raw(a.data(), a.size() * sizeof(T));
  }
  template <class T>
  void put(const Array3D<T>& a) {
    put(a.planes());
    put(a.rows());
    put(a.cols());
    raw(a.data(), a.size() * sizeof(T));
  }
  void raw(const void* data, std::size_t n) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + n);
    if (n > 0) std::memcpy(bytes_.data() + at, data, n);
  }

  Bytes bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// Throws when something is left over.
  void finish() const;

 private:
  template <class T>
  void get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&value, sizeof value);
  }
  void get(std::string& text) {
    text.resize(count(1));
    raw(text.data(), text.size());
  }
  template <class T>
  void get(std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    values.resize(count(sizeof(T)));
    raw(values.data(), values.size() * sizeof(T));
  }
  void get(std::vector<std::string>& texts) {
    texts.resize(count(sizeof(std::size_t)));
    for (std::string& text : texts) get(text);
  }
  template <class T>
  void get(Array2D<T>& a) {
    std::size_t rows = 0, cols = 0;
    (*this)(rows, cols);
    check_size(rows, cols, sizeof(T));
    a = Array2D<T>(rows, cols);
    raw(a.data(), a.size() * sizeof(T));
  }
  template <class T>
  void get(Array3D<T>& a) {
    std::size_t planes = 0, rows = 0, cols = 0;
    (*this)(planes, rows, cols);
    check_size(planes, rows, sizeof(T));
    check_size(planes * rows, cols, sizeof(T));
    a = Array3D<T>(planes, rows, cols);
    raw(a.data(), a.size() * sizeof(T));
  }
  void raw(void* to, std::size_t n);
  [[nodiscard]] std::size_t count(std::size_t element_size);
  void check_size(std::size_t a, std::size_t b, std::size_t element_size) const;

  std::span<const std::byte> rest_;
};

}  // namespace loom::batch
