// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/device/emulated_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace fiberloom {
namespace {

class EmulatedDevice;

class EmulatedStream final : public Stream {
 public:
  EmulatedStream(Device& device, int threads) : Stream(device), threads_(threads) {}
  void copy_in(void* device, const void* host, std::size_t bytes) override {
    copy(device, host, bytes);
  }
  void copy_out(void* host, const void* device, std::size_t bytes) override {
    copy(host, device, bytes);
  }
  void zero(void* device, std::size_t bytes) override { std::memset(device, 0, bytes); }
  void synchronize() override { device().count(DeviceOperation::kSynchronize); }
  void begin_stage(const char* name) override {
    stage_ = name;
    before_ = launches_;
    start_ = std::chrono::steady_clock::now();
  }
  void end_stage() override {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    const auto found = std::find_if(times_.begin(), times_.end(),
                                    [&](const DeviceStageTime& t) { return t.name == stage_; });
    DeviceStageTime& t = found != times_.end() ? *found : times_.emplace_back();
    t.name = stage_;
    t.seconds += took.count();
    t.launches += launches_ - before_;
    ++t.count;
  }
  std::vector<DeviceStageTime> take_stage_times() override { return std::exchange(times_, {}); }

  void grid(long n, const std::function<void(long)>& kernel) {
    const auto part = [&](long first, long last) {
      for (long low = first, high = last - 1; low <= high; ++low, --high) {
        kernel(high);
        if (low < high) kernel(low);
      }
    };
    if (threads_ <= 1 || n < 2 * threads_) return part(0, n);
    std::vector<std::thread> pool;
    for (int t = 0; t < threads_; ++t) {
      pool.emplace_back([&, t] { part(n * t / threads_, n * (t + 1) / threads_); });
    }
    for (std::thread& t : pool) t.join();
  }

 private:
  void copy(void* to, const void* from, std::size_t bytes) {
    device().count(DeviceOperation::kCopy);
    std::memcpy(to, from, bytes);
  }
  int threads_;
  std::string stage_;
  long before_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::vector<DeviceStageTime> times_;
};

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulatedDeviceOptions& options) : options_(options) {}
  DeviceInfo info() override {
    const std::lock_guard lock(mutex_);
    return {"CPU emulation, " + std::to_string(options_.threads) + " threads",
            options_.memory_bytes,
            options_.memory_bytes - used_,
            0,
            0,
            0,
            true};
  }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<EmulatedStream>(*this, options_.threads);
  }
  void* allocate(std::size_t bytes) override {
    count(DeviceOperation::kAllocate);
    const std::lock_guard lock(mutex_);
    if (used_ + bytes > options_.memory_bytes) {
      throw Error(Status::kDevice,
                  "GPU: out of memory asking for " + std::to_string(bytes) + " bytes");
    }
    used_ += bytes;
    void* memory = get(bytes);
    std::memset(memory, 0xff, bytes);  // NaNs: what is read before it is written shows
    sizes_[memory] = bytes;
    return memory;
  }
  void release(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    used_ -= sizes_[memory];
    sizes_.erase(memory);
    std::free(memory);
  }
  void* allocate_host(std::size_t bytes) override { return get(bytes); }
  void release_host(void* memory) noexcept override { std::free(memory); }

 private:
  static void* get(std::size_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (memory == nullptr) throw Error(Status::kDevice, "out of memory");
    return memory;
  }
  EmulatedDeviceOptions options_;
  std::mutex mutex_;
  std::size_t used_ = 0;
  std::map<void*, std::size_t> sizes_;
};

}  // namespace

std::unique_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options) {
  return std::make_unique<EmulatedDevice>(options);
}

void run_emulated(Stream& stream, long threads, const std::function<void(long)>& kernel) {
  stream.count_launch();
  static_cast<EmulatedStream&>(stream).grid(threads, kernel);
}

}  // namespace fiberloom
