// SPDX-License-Identifier: BSD-3-Clause
// Ordinary memory of the host to and from a device, by way of page-locked memory of any size.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

#include "loom/device/device.hpp"

namespace loom {

/// All of `from` to the device; waits.
template <class T>
void send(Stream& stream, T* to, std::type_identity_t<std::span<const T>> from,
          HostMemory& staging) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(from.data());
  for (std::size_t at = 0; at < from.size_bytes(); at += staging.bytes()) {
    const std::size_t count = std::min(staging.bytes(), from.size_bytes() - at);
    std::memcpy(staging.data(), bytes + at, count);
    stream.copy_in(reinterpret_cast<std::byte*>(to) + at, staging.data(), count);
    stream.synchronize();
  }
}

/// The other way; waits for what was told before.
template <class T>
void fetch(Stream& stream, std::type_identity_t<std::span<T>> to, const T* from,
           HostMemory& staging) {
  auto* const bytes = reinterpret_cast<std::byte*>(to.data());
  for (std::size_t at = 0; at < to.size_bytes(); at += staging.bytes()) {
    const std::size_t count = std::min(staging.bytes(), to.size_bytes() - at);
    stream.copy_out(staging.data(), reinterpret_cast<const std::byte*>(from) + at, count);
    stream.synchronize();
    std::memcpy(bytes + at, staging.data(), count);
  }
}

}  // namespace loom
