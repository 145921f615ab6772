// SPDX-License-Identifier: BSD-3-Clause
// What the two files that know the library share: its lock, its handles, its names of types.
#pragma once

#include <hdf5.h>

#include <mutex>
#include <utility>

#include "loom/hdf5/hdf5.hpp"

namespace loom::hdf5 {

/// The library's lock; its own messages, which it would print, are kept silent, and forgotten: it
/// keeps those of a thread for good when that ends.
class Lock {
 public:
  Lock() : lock_(mutex()) { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }
  ~Lock() { H5Eclear2(H5E_DEFAULT); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    // At the end of the program the library would close what it holds to be open once more, and
    // fault where that could not be written. All files are closed by who opened them.
    [[maybe_unused]] static const herr_t left_alone = H5dont_atexit();
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

/// As memory has it.
[[nodiscard]] inline hid_t native(Type type) {
  switch (type) {
    case Type::kInt8:
      return H5T_NATIVE_INT8;
    case Type::kInt32:
      return H5T_NATIVE_INT32;
    case Type::kInt64:
      return H5T_NATIVE_INT64;
    case Type::kFloat32:
      return H5T_NATIVE_FLOAT;
    case Type::kUint8:
      return H5T_NATIVE_UINT8;
    case Type::kUint16:
      return H5T_NATIVE_UINT16;
    case Type::kUint32:
      return H5T_NATIVE_UINT32;
    default:
      return H5T_NATIVE_DOUBLE;
  }
}

}  // namespace loom::hdf5
