// SPDX-License-Identifier: BSD-3-Clause
// A vector for what takes much memory and is filled by whoever asks for it: its numbers are not set
// to zero first, which walks through all of it once more. Large ones begin at a huge page and ask
// for such ones, as a Buffer does.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "loom/base/array.hpp"

namespace loom {

/// Like the standard allocator, but what no value is given for has none.
template <class T>
class UnsetAllocator : public std::allocator<T> {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  using std::allocator<T>::allocator;

  [[nodiscard]] T* allocate(std::size_t n) { return static_cast<T*>(new_memory(n * sizeof(T))); }
  void deallocate(T* data, std::size_t n) noexcept { delete_memory(data, n * sizeof(T)); }

  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    if constexpr (sizeof...(Values) == 0) {
      ::new (static_cast<void*>(at)) U;
    } else {
      ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
    }
  }
};

template <class T>
using LargeVector = std::vector<T, UnsetAllocator<T>>;

}  // namespace loom
