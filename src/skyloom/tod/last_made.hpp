// SPDX-License-Identifier: BSD-3-Clause
// What all detectors of an observation ask for is made once: that of the observation that was asked
// for last is kept.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

namespace skyloom {

template <class Thing>
class LastMade {
 public:
  /// `make()` returns a shared_ptr; not while another thread makes one.
  template <class Make>
  [[nodiscard]] std::shared_ptr<const Thing> of(std::size_t number, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (!thing_ || number_ != number) {
      thing_.reset();
      thing_ = make();
      number_ = number;
    }
    return thing_;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    thing_.reset();
  }

 private:
  std::mutex mutex_;
  std::size_t number_ = 0;
  std::shared_ptr<const Thing> thing_;
};

}  // namespace skyloom
