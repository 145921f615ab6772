// SPDX-License-Identifier: BSD-3-Clause
// Owning aligned arrays and row-major views. Nothing here knows what the numbers mean.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace loom {

/// A view of `rows` x `cols` elements, `stride` elements from row to row. Does not own.
template <class T>
struct View2D {
  T* data = nullptr;
  std::size_t rows = 0, cols = 0, stride = 0;

  T& operator()(std::size_t r, std::size_t c) const noexcept { return data[r * stride + c]; }
  [[nodiscard]] T* row(std::size_t r) const noexcept { return data + r * stride; }
  [[nodiscard]] std::span<T> row_span(std::size_t r) const noexcept { return {row(r), cols}; }
  operator View2D<const T>() const noexcept requires(!std::is_const_v<T>) {
    return {data, rows, cols, stride};
  }
};

/// Memory that begins at a cache line; large ones at a huge page, and ask for such pages.
inline constexpr std::size_t kCacheLine = 64, kHugePage = std::size_t{2} << 20;
[[nodiscard]] constexpr std::align_val_t memory_alignment(std::size_t bytes) noexcept {
  return std::align_val_t{bytes >= 2 * kHugePage ? kHugePage : kCacheLine};
}
[[nodiscard]] inline void* new_memory(std::size_t bytes) {
  void* const data = ::operator new(bytes, memory_alignment(bytes));
#if defined(__linux__)
  if (bytes >= 2 * kHugePage)
    ::madvise(data, bytes, MADV_HUGEPAGE);  // a wish; failure changes nothing
#endif
  return data;
}
inline void delete_memory(void* data, std::size_t bytes) noexcept {
  ::operator delete(data, memory_alignment(bytes));
}

/// A heap buffer of trivially copyable elements, aligned to a cache line, zeroed on request only.
/// Large ones ask for huge pages: the engine walks hundreds of rows side by side, which small
/// pages' TLB entries do not cover (8 % of the compute time).
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kAlign = kCacheLine, kHugePage = loom::kHugePage;
  Buffer() = default;
  /// Uninitialised storage for n elements.
  explicit Buffer(std::size_t n) : size_(n) {
    if (n > 0) data_ = static_cast<T*>(new_memory(n * sizeof(T)));
  }
  Buffer(std::size_t n, T value) : Buffer(n) {
    for (std::size_t i = 0; i < n; ++i) data_[i] = value;
  }
  Buffer(const Buffer& o) : Buffer(o.size_) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = o.data_[i];
  }
  Buffer(Buffer&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  Buffer& operator=(Buffer o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) delete_memory(data_, size_ * sizeof(T));
  }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  void fill(T value) noexcept {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = value;
  }
  [[nodiscard]] bool operator==(const Buffer& o) const noexcept {
    return std::equal(begin(), end(), o.begin(), o.end());
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An owning row-major matrix.
template <class T>
class Array2D {
 public:
  Array2D() = default;
  Array2D(std::size_t rows, std::size_t cols) : buffer_(rows * cols), rows_(rows), cols_(cols) {}
  Array2D(std::size_t rows, std::size_t cols, T value)
      : buffer_(rows * cols, value), rows_(rows), cols_(cols) {}
  T& operator()(std::size_t r, std::size_t c) noexcept { return buffer_[r * cols_ + c]; }
  const T& operator()(std::size_t r, std::size_t c) const noexcept {
    return buffer_[r * cols_ + c];
  }
  [[nodiscard]] T* row(std::size_t r) noexcept { return buffer_.data() + r * cols_; }
  [[nodiscard]] const T* row(std::size_t r) const noexcept { return buffer_.data() + r * cols_; }
  [[nodiscard]] T* data() noexcept { return buffer_.data(); }
  [[nodiscard]] const T* data() const noexcept { return buffer_.data(); }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
  [[nodiscard]] bool empty() const noexcept { return buffer_.empty(); }
  [[nodiscard]] View2D<T> view() noexcept { return {data(), rows_, cols_, cols_}; }
  [[nodiscard]] View2D<const T> view() const noexcept { return {data(), rows_, cols_, cols_}; }

 private:
  Buffer<T> buffer_;
  std::size_t rows_ = 0, cols_ = 0;
};

/// An owning array of planes: element (p, r, c), c fastest.
template <class T>
class Array3D {
 public:
  Array3D() = default;
  Array3D(std::size_t planes, std::size_t rows, std::size_t cols)
      : buffer_(planes * rows * cols), planes_(planes), rows_(rows), cols_(cols) {}
  Array3D(std::size_t planes, std::size_t rows, std::size_t cols, T value)
      : buffer_(planes * rows * cols, value), planes_(planes), rows_(rows), cols_(cols) {}
  T& operator()(std::size_t p, std::size_t r, std::size_t c) noexcept {
    return buffer_[(p * rows_ + r) * cols_ + c];
  }
  const T& operator()(std::size_t p, std::size_t r, std::size_t c) const noexcept {
    return buffer_[(p * rows_ + r) * cols_ + c];
  }
  [[nodiscard]] T* data() noexcept { return buffer_.data(); }
  [[nodiscard]] const T* data() const noexcept { return buffer_.data(); }
  [[nodiscard]] std::size_t planes() const noexcept { return planes_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
  [[nodiscard]] bool empty() const noexcept { return buffer_.empty(); }

 private:
  Buffer<T> buffer_;
  std::size_t planes_ = 0, rows_ = 0, cols_ = 0;
};

}  // namespace loom
