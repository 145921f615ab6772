// SPDX-License-Identifier: BSD-3-Clause
// A card as the library sees it: memory, streams, times of stages. Bodies: CUDA
// (cuda_device.cu, or no_cuda.cpp where it is not compiled in) and the CPU in its place
// (emulated_device.hpp). Knows nothing of extraction; kernels come with their own launchers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/trace/device_stage_time.hpp"

namespace loom {

struct DeviceInfo {
  std::string name;
  std::size_t memory_bytes = 0, free_bytes = 0;
  int multiprocessors = 0, major = 0, minor = 0;
  bool emulated = false;
  int clock_khz = 0, memory_clock_khz = 0;  ///< the highest; 0: not known
  std::size_t cache_bytes = 0;              ///< L2
  std::size_t shared_bytes = 0;             ///< memory that the threads of a block may share
  int driver = 0, runtime = 0;              ///< versions of CUDA, 1000 major + 10 minor
  /// 90 for 9.0. Code for another capability gives other roundings.
  [[nodiscard]] int capability() const noexcept { return 10 * major + minor; }
};

/// What a device can be asked for; faults are injected into these.
enum class DeviceOperation { kAllocate, kCopy, kLaunch, kSynchronize, kInform, kAny };

/// Makes the `after`-th operation from now on (counted from 0) and all that follow fail.
struct DeviceFault {
  DeviceOperation operation = DeviceOperation::kLaunch;
  long after = -1;  ///< < 0: none
};

/// What a card really does, measured: the limits that timings are compared with. 0: not measured.
struct DeviceRates {
  double copy_bytes_per_s = 0;                     ///< device to device, read plus written
  double in_bytes_per_s = 0, out_bytes_per_s = 0;  ///< page-locked host memory
  double double_flops = 0;                         ///< multiply-adds in double, two operations each
};

class Device;

/// Work in order. One thread at a time.
class Stream {
 public:
  explicit Stream(Device& device) : device_(device) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;
  /// Asynchronous copies. Host memory must come from Device::allocate_host: with any other, when
  /// the copy reads it is up to the driver.
  virtual void copy_in(void* device, const void* host, std::size_t bytes) = 0;
  virtual void copy_out(void* host, const void* device, std::size_t bytes) = 0;
  virtual void zero(void* device, std::size_t bytes) = 0;
  /// From here on, what `bytes` at `memory` and `beyond` bytes behind them held is undefined, and
  /// the latter belong to nobody. Emulation makes that show; a card does nothing.
  virtual void renew(void* memory, std::size_t bytes, std::size_t beyond);
  /// Work beside this one's, on the same card: the same stream each time.
  [[nodiscard]] virtual Stream& side() = 0;
  /// What this one is told from now on begins when all is done that the other was told so far;
  /// nothing else is promised of the order of two.
  virtual void wait_for(Stream& other) = 0;
  /// Waits; a failure of anything before is thrown here at the latest (Error kDevice).
  virtual void synchronize() = 0;
  /// Stages do not nest.
  virtual void begin_stage(const char* name) = 0;
  virtual void end_stage() = 0;
  /// Sums of the stages since the last call, its side's behind its own, in order of first
  /// appearance; synchronizes both.
  [[nodiscard]] virtual std::vector<DeviceStageTime> take_stage_times() = 0;
  /// The body's own stream (cudaStream_t), null when emulated.
  [[nodiscard]] virtual void* native() noexcept { return nullptr; }
  /// Called by every launcher before its launch.
  void count_launch();
  [[nodiscard]] Device& device() noexcept { return device_; }

 protected:
  long launches_ = 0;

 private:
  Device& device_;
};

/// Throws Error kDevice on failure. Allocation and release may come from any thread.
class Device {
 public:
  virtual ~Device() = default;
  /// Throws when the device is lost.
  [[nodiscard]] virtual DeviceInfo info() = 0;
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Page-locked host memory.
  [[nodiscard]] virtual void* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(void* memory) noexcept = 0;
  /// Takes some tenths of a second and 3 GB.
  [[nodiscard]] virtual DeviceRates measure_rates() { return {}; }
  /// For tests and the GPU check: makes a later operation fail for real on this device.
  void inject(DeviceFault fault) noexcept;
  /// Throws when the injected fault is due.
  void count(DeviceOperation operation);

 private:
  std::atomic<int> fault_operation_{-1};
  std::atomic<long> fault_after_{-1};
};

/// A stage as it was, by any clock.
struct StageRun {
  std::string name;
  double begin = 0, end = 0;
  long launches = 0;
};
/// Their sums, in order of first appearance.
[[nodiscard]] std::vector<DeviceStageTime> sums_of_stages(const std::vector<StageRun>& runs);

/// Memory that gives itself back, by the pair of functions that made it.
template <auto kAllocate, auto kRelease>
class OwnedMemory {
 public:
  OwnedMemory() = default;
  OwnedMemory(Device& device, std::size_t bytes)
      : device_(&device), data_((device.*kAllocate)(bytes)), bytes_(bytes) {}
  OwnedMemory(OwnedMemory&& o) noexcept { swap(o); }
  OwnedMemory& operator=(OwnedMemory&& o) noexcept {
    swap(o);
    return *this;
  }
  ~OwnedMemory() {
    if (data_ != nullptr) (device_->*kRelease)(data_);
  }
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  void swap(OwnedMemory& o) noexcept {
    std::swap(device_, o.device_);
    std::swap(data_, o.data_);
    std::swap(bytes_, o.bytes_);
  }
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

using DeviceMemory = OwnedMemory<&Device::allocate, &Device::release>;
/// Page-locked memory of the host.
using HostMemory = OwnedMemory<&Device::allocate_host, &Device::release_host>;

/// Pieces of one block of memory, in order. Made over nullptr it only measures. A copy that takes
/// what the original has taken too ends the life of the original's pieces.
class Arena {
 public:
  Arena() = default;
  /// `stream` is told of pieces of device memory.
  Arena(void* base, std::size_t bytes, Stream* stream = nullptr)
      : base_(static_cast<std::byte*>(base)), bytes_(bytes), stream_(stream) {}
  template <class T>
  T* take(std::size_t n) {
    const std::size_t at = (used_ + kAlign - 1) / kAlign * kAlign;
    used_ = at + n * sizeof(T) + (measuring() || stream_ != nullptr ? kGap : 0);
    if (base_ == nullptr) return nullptr;
    if (used_ > bytes_) throw Error(Status::kInternal, "device memory plan exceeded");
    if (stream_ != nullptr) {
      stream_->renew(base_ + at, n * sizeof(T), bytes_ - at - n * sizeof(T));
    }
    return reinterpret_cast<T*>(base_ + at);
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  [[nodiscard]] std::size_t left() const noexcept {
    const std::size_t at = (used_ + kAlign - 1) / kAlign * kAlign;
    return at < bytes_ ? bytes_ - at : 0;
  }
  /// What lies before one of its pieces.
  [[nodiscard]] Arena before(const void* piece) const {
    const auto* at = static_cast<const std::byte*>(piece);
    return {base_, static_cast<std::size_t>(at - base_), stream_};
  }
  [[nodiscard]] bool measuring() const noexcept { return base_ == nullptr; }

 private:
  static constexpr std::size_t kAlign = 256;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr std::size_t kGap = 1 << 16;  // wider than any row that a kernel could miss by
#else
  static constexpr std::size_t kGap = 0;
#endif
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0, used_ = 0;
  Stream* stream_ = nullptr;
};

/// Why there is no CUDA device to use ("CUDA is not compiled in", the driver's words), empty when
/// there is one.
[[nodiscard]] std::string why_no_cuda();
/// Number of CUDA devices, 0 where CUDA is not compiled in.
[[nodiscard]] int cuda_device_count() noexcept;
/// Seconds after which a card that does not answer is given up, as one that is lost: what it may
/// still write to stays allocated. Far above any frame, also under a tool that watches each access.
inline constexpr double kLongestWait = 600;
/// How the host waits for a card.
struct CardWait {
  double longest_s = kLongestWait;
  bool awake = false;  ///< asks without end, as the runtime's own wait: to measure what sleep costs
};
/// Throws kDevice when there is no such device.
[[nodiscard]] std::unique_ptr<Device> open_cuda_device(int ordinal, CardWait wait = {});

}  // namespace loom
