// SPDX-License-Identifier: BSD-3-Clause
// A vector for what takes much memory and is filled by whoever asks for it: its numbers are not set
// to zero first, which walks through all of it once more. Large ones begin at a huge page and ask
// for such ones, as a Buffer does.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
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

  [[nodiscard]] T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    void* const data = ::operator new(bytes, alignment(bytes));
    if (is_large(bytes)) ask_for_huge_pages(data, bytes);
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t n) noexcept {
    ::operator delete(data, alignment(n * sizeof(T)));
  }

  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    if constexpr (sizeof...(Values) == 0) {
      ::new (static_cast<void*>(at)) U;
    } else {
      ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
    }
  }

 private:
  static constexpr std::size_t kHugePage = Buffer<T>::kHugePage;
  static constexpr bool is_large(std::size_t bytes) noexcept { return bytes >= 2 * kHugePage; }
  static constexpr std::align_val_t alignment(std::size_t bytes) noexcept {
    return std::align_val_t{is_large(bytes) ? kHugePage : Buffer<T>::kAlign};
  }
  static void ask_for_huge_pages(void* data, std::size_t bytes) noexcept {
#if defined(__linux__)
    ::madvise(data, bytes, MADV_HUGEPAGE);  // a wish; failure changes nothing
#endif
  }
};

template <class T>
using LargeVector = std::vector<T, UnsetAllocator<T>>;

}  // namespace loom
