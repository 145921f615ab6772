// SPDX-License-Identifier: BSD-3-Clause
// Who gets a place on which device with how much memory, on emulated devices.
#include "loom/device/device_places.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "loom/device/emulated_device.hpp"

namespace loom {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Places {
  std::vector<Device*> devices;
  std::optional<DevicePlaces> places;
  SerialExecutor serial;
  Observer observer;
  std::vector<std::string> warnings;

  explicit Places(int count, const DevicePlacesOptions& options = {},
                  std::size_t memory = 100 * kMiB) {
    observer.message = [this](LogLevel, const std::string& text) { warnings.push_back(text); };
    std::vector<std::unique_ptr<Device>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(make_emulated_device({.memory_bytes = memory}));
      devices.push_back(all.back().get());
    }
    places.emplace(std::move(all), options);
  }
  DevicePlaces::Lease take(std::size_t least, std::size_t most) {
    return places->take(least, most, serial, observer);
  }
  /// The message of the error with which a request ends.
  std::string refusal(std::size_t least, Status status) {
    try {
      (void)take(least, least);
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), status);
      return e.what();
    }
    return "no error";
  }
};

TEST(DevicePlaces, WithoutADeviceAreAnError) { EXPECT_THROW(Places(0), Error); }

TEST(DevicePlaces, MayUseMostOfWhatIsFreeOrWhatTheyAreTold) {
  EXPECT_EQ(Places(1).places->most_bytes(), 80 * kMiB);
  EXPECT_EQ(Places(1, {10 * kMiB, 2}).places->most_bytes(), 10 * kMiB);
  EXPECT_EQ(Places(1, {1000 * kMiB, 2}).places->most_bytes(), 80 * kMiB);
  EXPECT_EQ(Places(2, {0, 3}).places->count(), 6U);
}

TEST(DevicePlaces, GiveEachPlaceItsShareAndAsMuchAsItNeedsAtLeast) {
  Places p(1);
  {
    auto lease = p.take(kMiB, 30 * kMiB);
    EXPECT_EQ(lease->memory.bytes(), 30 * kMiB);
    EXPECT_NE(lease->stream, nullptr);
    auto other = p.take(kMiB, 90 * kMiB);
    EXPECT_EQ(other->memory.bytes(), 40 * kMiB) << "half of what may be used";
  }
  auto large = p.take(60 * kMiB, 90 * kMiB);
  EXPECT_EQ(large->memory.bytes(), 60 * kMiB) << "more than its share, where the frame needs it";
}

TEST(DevicePlaces, KeepMemoryFromFrameToFrame) {
  Places p(1, {0, 1});
  void* first = p.take(kMiB, 8 * kMiB)->memory.data();
  EXPECT_EQ(p.take(kMiB, 8 * kMiB)->memory.data(), first);
  EXPECT_EQ(p.take(kMiB, 4 * kMiB)->memory.data(), first) << "what is larger will do";
}

TEST(DevicePlaces, KnowWhatWasLeftInMemoryUntilItIsNew) {
  Places p(1, {0, 1});
  p.take(kMiB, 8 * kMiB)->content = 7;
  EXPECT_EQ(p.take(kMiB, 4 * kMiB)->content, 7U);
  EXPECT_EQ(p.take(kMiB, 9 * kMiB)->content, 0U) << "more memory is other memory";
  p.take(kMiB, 9 * kMiB)->content = 8;
  try {
    const auto lease = p.take(kMiB, 9 * kMiB);
    throw std::runtime_error("fault");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(p.take(kMiB, 9 * kMiB)->content, 0U);
}

TEST(DevicePlaces, AnExceptionCostsAPlaceAllThatItHad) {
  Places p(1, {0, 1});
  DevicePlaces::Place* place = nullptr;
  try {
    auto lease = p.take(kMiB, kMiB);
    place = lease.operator->();
    throw std::runtime_error("fault");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(place->memory.data(), nullptr);
  EXPECT_EQ(place->stream, nullptr);
  EXPECT_FALSE(place->busy);
  EXPECT_NE(p.take(kMiB, kMiB)->memory.data(), nullptr);
}

TEST(DevicePlaces, TakeDevicesInTurn) {
  Places p(3, {0, 1});
  std::set<DevicePlaces::Card*> cards;
  for (int i = 0; i < 3; ++i) cards.insert(p.take(kMiB, kMiB)->card);
  EXPECT_EQ(cards.size(), 3U);
}

TEST(DevicePlaces, RefuseWhatCanNeverFitAndWaitForWhatMay) {
  Places p(1);
  EXPECT_EQ(
      p.refusal(90 * kMiB, Status::kDevice),
      "GPU: a frame needs at least 90 MiB of device memory, 80 MiB may be used (--gpu-memory)");
  const auto busy = p.take(50 * kMiB, 50 * kMiB);
  p.observer.stop_requested = [] { return true; };
  EXPECT_NE(p.refusal(50 * kMiB, Status::kInterrupted), "no error") << "it waits, and is stopped";
}

TEST(DevicePlaces, PassTheDevicesOwnWordsOnWhereOthersHaveItsMemory) {
  Places p(1, {0, 1});
  const DeviceMemory others(*p.devices[0], 95 * kMiB);
  EXPECT_NE(p.refusal(20 * kMiB, Status::kDevice).find("out of memory"), std::string::npos);
}

TEST(DevicePlaces, GoOnWithoutALostDeviceAndSaySoOnce) {
  Places p(2, {0, 1});
  EXPECT_EQ(p.places->retire_lost(p.observer), 0U);
  p.devices[0]->inject({DeviceOperation::kAny, 0});
  EXPECT_EQ(p.places->retire_lost(p.observer), 1U);
  EXPECT_EQ(p.places->retire_lost(p.observer), 0U);
  EXPECT_EQ(p.warnings.size(), 1U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(p.take(kMiB, kMiB)->card->device.get(), p.devices[1]);
  p.devices[1]->inject({DeviceOperation::kAny, 0});
  EXPECT_EQ(p.places->retire_lost(p.observer), 1U);
  EXPECT_FALSE(p.places->any_left());
  EXPECT_EQ(p.refusal(kMiB, Status::kDevice), "GPU: no device is left");
  EXPECT_EQ(p.places->most_bytes(), 0U);
  for (const auto& [said, told] :
       {std::pair{"a kernel failed", "a kernel failed; no device is left"},
        std::pair{"another, at the same time", "another, at the same time; no device is left"},
        std::pair{"GPU: no device is left", "GPU: no device is left"}}) {
    EXPECT_STREQ(p.places->after_failure(Error(Status::kDevice, said), p.observer).what(), told);
  }
}

}  // namespace
}  // namespace loom
