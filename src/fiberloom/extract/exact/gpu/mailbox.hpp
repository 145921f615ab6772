// SPDX-License-Identifier: BSD-3-Clause
// Small arrays to and from the card while a frame is under way, by way of page-locked memory: when
// the driver would read other memory of the host is its own affair. Knows nothing of frames.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/device/device.hpp"

namespace fiberloom::exact::gpu {

class Mailbox {
 public:
  Mailbox() = default;
  /// `memory` is page-locked.
  Mailbox(Stream& stream, std::span<std::byte> memory) : stream_(&stream), memory_(memory) {}

  /// `values` may go at once. Waits only when the mailbox is full.
  template <class T>
  void send(const T* device, const std::vector<T>& values) {
    if (values.empty()) return;
    T* out = room<T>(values.size());
    std::copy(values.begin(), values.end(), out);
    stream_->copy_in(const_cast<T*>(device), out, values.size() * sizeof(T));
  }
  /// Fills `values`; waits.
  template <class T>
  void receive(const T* device, std::vector<T>& values) {
    if (values.empty()) return;
    const T* in = room<T>(values.size());
    stream_->copy_out(const_cast<T*>(in), device, values.size() * sizeof(T));
    stream_->synchronize();
    std::copy_n(in, values.size(), values.begin());
    used_ = 0;
  }

 private:
  template <class T>
  T* room(std::size_t n) {
    constexpr std::size_t kAlign = 64;
    const std::size_t bytes = (n * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    if (bytes > memory_.size()) throw Error(Status::kInternal, "a letter larger than the mailbox");
    if (used_ + bytes > memory_.size()) {
      stream_->synchronize();  // everything in it has been read
      used_ = 0;
    }
    auto* at = reinterpret_cast<T*>(memory_.data() + used_);
    used_ += bytes;
    return at;
  }
  Stream* stream_ = nullptr;
  std::span<std::byte> memory_;
  std::size_t used_ = 0;
};

}  // namespace fiberloom::exact::gpu
