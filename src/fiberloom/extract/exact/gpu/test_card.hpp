// SPDX-License-Identifier: BSD-3-Clause
// For tests of kernels: arrays on the CPU in place of a card.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "loom/device/emulated_device.hpp"

namespace fiberloom::exact::gpu {

/// Arrays on an emulated card, with one order of threads.
class Card {
 public:
  explicit Card(GridOrder order)
      : device_(make_emulated_device({.order = order})), stream_(device_->make_stream()) {}
  template <class T>
  T* put(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    memory_.emplace_back(*device_, bytes);
    const HostMemory host(*device_, bytes);
    std::memcpy(host.data(), values.data(), bytes);
    stream_->copy_in(memory_.back().data(), host.data(), bytes);
    stream_->synchronize();
    return static_cast<T*>(memory_.back().data());
  }
  template <class T>
  std::vector<T> get(const T* from, std::size_t n) {
    const HostMemory host(*device_, n * sizeof(T));
    stream_->copy_out(host.data(), from, n * sizeof(T));
    stream_->synchronize();
    const T* values = static_cast<const T*>(host.data());
    return {values, values + n};
  }
  Stream& stream() { return *stream_; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::vector<DeviceMemory> memory_;
};

}  // namespace fiberloom::exact::gpu
