// SPDX-License-Identifier: BSD-3-Clause
// A vector for what takes much memory and is filled by whoever asks for it: its numbers are not set
// to zero first, which walks through all of it once more. (Huge pages for it were tried: fewer
// faults, but where the system has to make room for them they took longer than the faults.)
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace loom {

/// The standard allocator, but what no value is given for has none.
template <class T>
class UnsetAllocator : public std::allocator<T> {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  using std::allocator<T>::allocator;

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
