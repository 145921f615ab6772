// SPDX-License-Identifier: BSD-3-Clause
// Places for pieces of work on one or several devices: memory, streams, whose turn it is, which
// devices are lost. Knows nothing of what is done there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/device/device.hpp"

namespace loom {

struct DevicePlacesOptions {
  std::size_t memory_bytes = 0;  ///< of each device; 0: most of what is free
  int places = 2;                ///< on each device
  const char* work = "frame";    ///< what goes there, in messages
};

class DevicePlaces {
 public:
  struct Card {
    std::unique_ptr<Device> device;
    DeviceInfo info;  ///< as it was found
    std::size_t limit = 0;
    bool lost = false;  ///< it answers no more: nothing goes there
    /// Why it had no memory to give; it is not asked again before a place is given back.
    std::exception_ptr refused;
  };
  /// One place: a stream and memory of its own.
  struct Place {
    Card* card = nullptr;
    std::unique_ptr<Stream> stream;
    DeviceMemory memory;
    HostMemory staging;
    /// Whoever leaves something in the memory for the next one says here what; 0 where the memory
    /// is new.
    std::uint64_t content = 0;
    bool busy = false;
  };
  /// A place taken, until destroyed; by an exception it loses all that it had.
  class Lease {
   public:
    Lease(DevicePlaces& places, Place& place) : places_(&places), place_(&place) {}
    Lease(Lease&& o) noexcept : places_(std::exchange(o.places_, nullptr)), place_(o.place_) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (places_ != nullptr) places_->give_back(*place_, std::uncaught_exceptions() > entered_);
    }
    Place* operator->() { return place_; }

   private:
    DevicePlaces* places_;
    Place* place_;
    int entered_ = std::uncaught_exceptions();
  };

  /// Takes the devices over; throws kDevice when there is none.
  DevicePlaces(std::vector<std::unique_ptr<Device>> devices, const DevicePlacesOptions& options);
  ~DevicePlaces();
  DevicePlaces(const DevicePlaces&) = delete;
  DevicePlaces& operator=(const DevicePlaces&) = delete;

  /// A place with between `least` and `most` bytes of device memory, on the devices in turn. Waits
  /// for one without keeping a processor of the executor from others. Throws kDevice when the
  /// memory can never suffice, when no device is left, or when one fails.
  [[nodiscard]] Lease take(std::size_t least, std::size_t most, Executor& executor,
                           const Observer& observer);
  /// After a failure: devices that do not answer at all are out, so that the others get the work.
  /// Returns how many.
  std::size_t retire_lost(const Observer& observer);
  /// The same, and the failure as it is to be told: where no device is left it says so, whichever
  /// of those that fail together is asked first.
  [[nodiscard]] Error after_failure(const Error& error, const Observer& observer);
  [[nodiscard]] bool any_left() const;
  [[nodiscard]] const std::vector<std::unique_ptr<Card>>& cards() const noexcept { return cards_; }
  [[nodiscard]] std::size_t count() const noexcept { return places_.size(); }
  /// Of the device that may use most, of those that are left.
  [[nodiscard]] std::size_t most_bytes() const noexcept;

 private:
  [[nodiscard]] std::size_t most_of_living() const noexcept;
  [[nodiscard]] Place* find(std::size_t least, std::size_t most);
  [[nodiscard]] bool furnish(Place& place, std::size_t least, std::size_t bytes, std::size_t left);
  void give_back(Place& place, bool broken);

  std::vector<std::unique_ptr<Card>> cards_;
  std::vector<std::unique_ptr<Place>> places_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t turn_ = 0, each_ = 1;
  std::string work_;
};

}  // namespace loom
