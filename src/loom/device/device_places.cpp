// SPDX-License-Identifier: BSD-3-Clause
#include "loom/device/device_places.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "loom/base/stop.hpp"

namespace loom {
namespace {

/// What a failure is told with where it was the last one.
constexpr const char* kNoneLeft = "no device is left";
constexpr auto kStopPoll = std::chrono::milliseconds(100);

std::string mebibytes(std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

DevicePlaces::DevicePlaces(std::vector<std::unique_ptr<Device>> devices,
                           const DevicePlacesOptions& options)
    : turn_(static_cast<std::size_t>(getpid())),  // processes side by side begin side by side
      each_(static_cast<std::size_t>(std::max(1, options.places))),
      work_(options.work) {
  for (auto& device : devices) {
    auto card = std::make_unique<Card>();
    card->device = std::move(device);
    card->info = card->device->info();
    // the driver keeps threads' stacks beside it
    const std::size_t most = card->info.free_bytes / 10 * 8;
    card->limit = options.memory_bytes == 0 ? most : std::min(options.memory_bytes, most);
    for (std::size_t i = 0; i < each_; ++i) {
      places_.push_back(std::make_unique<Place>());
      places_.back()->card = card.get();
    }
    cards_.push_back(std::move(card));
  }
  if (cards_.empty()) throw Error(Status::kDevice, "GPU: no device given");
}

DevicePlaces::~DevicePlaces() { places_.clear(); }  // streams and memory before their device

std::size_t DevicePlaces::most_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return most_of_living();
}

std::size_t DevicePlaces::most_of_living() const noexcept {
  std::size_t most = 0;
  for (const auto& card : cards_) most = card->lost ? most : std::max(most, card->limit);
  return most;
}

/// The work on the device may need the processor that the caller has, to get off it: so the wait
/// is without one.
DevicePlaces::Lease DevicePlaces::take(std::size_t least, std::size_t most, Executor& executor,
                                       const Observer& observer) {
  Place* place = nullptr;
  {
    const std::lock_guard lock(mutex_);
    place = find(least, most);
  }
  if (place == nullptr) {
    executor.idle([&] {
      std::unique_lock lock(mutex_);
      while ((place = find(least, most)) == nullptr) {
        freed_.wait_for(lock, kStopPoll);
        stop_if_asked(observer);
      }
    });
  }
  return {*this, *place};
}

/// A place taken, null while one may become free. Called with the mutex held.
DevicePlaces::Place* DevicePlaces::find(std::size_t least, std::size_t most) {
  bool any_busy = false, any_left = false;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    const std::size_t which = (turn_ + i) % cards_.size();
    Card& card = *cards_[which];
    if (card.lost) continue;
    any_left = true;
    std::size_t used = 0;
    Place* idle = nullptr;
    for (std::size_t p = which * each_; p < (which + 1) * each_; ++p) {
      Place& place = *places_[p];
      if (place.busy) {
        any_busy = true;
        used += place.memory.bytes();
      } else if (idle == nullptr || place.memory.bytes() > idle->memory.bytes()) {
        idle = &place;
      }
    }
    const std::size_t share = std::max(least, card.limit / each_);
    const std::size_t left = card.limit - std::min(used, card.limit);
    if (idle == nullptr || left < least || card.refused) continue;
    if (!furnish(*idle, least, std::min({most, share, left}), left)) continue;
    idle->busy = true;
    turn_ = which + 1;
    return idle;
  }
  if (!any_left) throw Error(Status::kDevice, std::string("GPU: ") + kNoneLeft);
  if (any_busy) return nullptr;
  for (auto& card : cards_) {
    if (card->refused) std::rethrow_exception(std::exchange(card->refused, nullptr));
  }
  throw Error(Status::kDevice, "GPU: a " + work_ + " needs at least " + mebibytes(least) +
                                   " of device memory, " + mebibytes(most_of_living()) +
                                   " may be used (--gpu-memory)");
}

/// Memory and a stream for a place; false when the device has not even the least to give, though it
/// lives: others may have taken what was free.
bool DevicePlaces::furnish(Place& place, std::size_t least, std::size_t bytes, std::size_t left) {
  Card& card = *place.card;
  if (place.memory.bytes() < bytes || place.memory.bytes() > left) {
    // idle memory makes room; what is needed is seldom different from the last time
    for (auto& other : places_) {
      if (other->card != &card || other->busy) continue;
      other->memory = DeviceMemory();
      other->content = 0;
    }
    try {
      place.memory = DeviceMemory(*card.device, bytes);
    } catch (const Error&) {
      (void)card.device->info();  // a lost one is the caller's affair
      try {
        place.memory = DeviceMemory(*card.device, least);
      } catch (const Error&) {
        card.refused = std::current_exception();
        return false;
      }
    }
  }
  if (place.stream == nullptr) place.stream = card.device->make_stream();
  return true;
}

void DevicePlaces::give_back(Place& place, bool broken) {
  const std::lock_guard lock(mutex_);
  if (broken) {  // nothing that was under way on it may reach the next one
    place.stream.reset();
    place.memory = DeviceMemory();
    place.content = 0;
    place.staging = HostMemory();
  }
  place.busy = false;
  for (auto& card : cards_) card->refused = nullptr;  // there may be more now
  freed_.notify_all();
}

bool DevicePlaces::any_left() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(cards_.begin(), cards_.end(), [](const auto& card) { return !card->lost; });
}

std::size_t DevicePlaces::retire_lost(const Observer& observer) {
  const std::lock_guard lock(mutex_);
  std::size_t lost = 0;
  for (std::size_t i = 0; i < cards_.size(); ++i) {
    Card& card = *cards_[i];
    if (card.lost) continue;
    try {
      (void)card.device->info();
    } catch (const Error& e) {
      card.lost = true;
      ++lost;
      observer.warn("device " + std::to_string(i) + " is lost and gets no more " + work_ +
                    "s: " + e.what());
    }
  }
  freed_.notify_all();  // who waits for a place may have none to wait for
  return lost;
}

Error DevicePlaces::after_failure(const Error& error, const Observer& observer) {
  retire_lost(observer);
  const std::string said = error.what();
  if (any_left() || said.ends_with(kNoneLeft)) return error;
  return {Status::kDevice, said + "; " + kNoneLeft};
}

}  // namespace loom
