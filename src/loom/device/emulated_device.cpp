// SPDX-License-Identifier: BSD-3-Clause
#include "loom/device/emulated_device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#endif

namespace loom {
namespace {

/// Blocks of memory by their beginnings.
class Blocks {
 public:
  void add(void* memory, std::size_t bytes) { sizes_[static_cast<std::byte*>(memory)] = bytes; }
  std::size_t remove(void* memory) {
    const auto found = sizes_.find(static_cast<std::byte*>(memory));
    const std::size_t bytes = found->second;
    sizes_.erase(found);
    return bytes;
  }
  [[nodiscard]] bool hold(const void* memory, std::size_t bytes) const {
    const auto* at = static_cast<const std::byte*>(memory);
    const auto after = sizes_.upper_bound(const_cast<std::byte*>(at));
    if (after == sizes_.begin()) return false;
    const auto& [begin, size] = *std::prev(after);
    return at + bytes <= begin + size;
  }

 private:
  std::map<std::byte*, std::size_t> sizes_;
};

/// A whole number below n that has no divisor in common with it, far from 0 and from n.
std::uint64_t far_step(std::uint64_t n) {
  auto step = static_cast<std::uint64_t>(0.6180339887 * static_cast<double>(n)) | 1U;
  while (std::gcd(step, n) != 1) ++step;
  return step;
}

/// Number of the i-th thread to run, of `n`.
long in_order(GridOrder order, long i, long n, std::uint64_t step) {
  switch (order) {
    case GridOrder::kForward:
      return i;
    case GridOrder::kBackward:
      return n - 1 - i;
    case GridOrder::kInward:
      return i % 2 == 0 ? n - 1 - i / 2 : i / 2;
    case GridOrder::kScattered:
      return static_cast<long>(static_cast<std::uint64_t>(i) * step %
                               static_cast<std::uint64_t>(n));
  }
  return i;
}

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const EmulatedDeviceOptions& options) : options_(options) {}
  DeviceInfo info() override {
    count(DeviceOperation::kInform);
    const std::lock_guard lock(mutex_);
    DeviceInfo info;
    info.name = "CPU emulation, " + std::to_string(options_.threads) + " threads";
    info.memory_bytes = options_.memory_bytes;
    info.free_bytes = options_.memory_bytes - used_;
    info.shared_bytes = options_.shared_bytes;
    info.emulated = true;
    return info;
  }
  std::unique_ptr<Stream> make_stream() override;
  void* allocate(std::size_t bytes) override {
    count(DeviceOperation::kAllocate);
    const std::lock_guard lock(mutex_);
    if (used_ + bytes > options_.memory_bytes) {
      throw Error(Status::kDevice,
                  "GPU: out of memory asking for " + std::to_string(bytes) + " bytes");
    }
    used_ += bytes;
    void* memory = get(bytes);
    std::memset(memory, options_.rubbish, bytes);
    card_.add(memory, bytes);
    return memory;
  }
  void release(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = card_.remove(memory);
    used_ -= bytes;
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    std::free(memory);
  }
  void* allocate_host(std::size_t bytes) override {
    void* memory = get(bytes);
    const std::lock_guard lock(mutex_);
    page_locked_.add(memory, bytes);
    return memory;
  }
  void release_host(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    page_locked_.remove(memory);
    std::free(memory);
  }
  [[nodiscard]] const EmulatedDeviceOptions& options() const noexcept { return options_; }
  [[nodiscard]] bool on_card(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return card_.hold(memory, bytes);
  }
  [[nodiscard]] bool page_locked(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return page_locked_.hold(memory, bytes);
  }

 private:
  static void* get(std::size_t bytes) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (memory == nullptr) throw Error(Status::kDevice, "out of memory");
    return memory;
  }
  EmulatedDeviceOptions options_;
  std::mutex mutex_;
  std::size_t used_ = 0;
  Blocks card_, page_locked_;
};

class EmulatedStream final : public Stream {
 public:
  explicit EmulatedStream(EmulatedDevice& device) : Stream(device), card_(device) {}
  void copy_in(void* device, const void* host, std::size_t bytes) override {
    copy(device, host, bytes, device, host);
  }
  void copy_out(void* host, const void* device, std::size_t bytes) override {
    copy(host, device, bytes, device, host);
  }
  void zero(void* device, std::size_t bytes) override {
    expect(card_.on_card(device, bytes), "memory cleared that is not the card's");
    later([=] { std::memset(device, 0, bytes); });
  }
  void renew(void* memory, std::size_t bytes, std::size_t beyond) override {
    expect(card_.on_card(memory, bytes + beyond), "a piece of memory that is not the card's");
    later([=, rubbish = card_.options().rubbish] {
      ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
      ASAN_POISON_MEMORY_REGION(static_cast<std::byte*>(memory) + bytes, beyond);
      std::memset(memory, rubbish, bytes);
    });
  }
  Stream& side() override {
    if (side_ == nullptr) side_ = std::make_unique<EmulatedStream>(card_);
    return *side_;
  }
  void wait_for(Stream& other) override {
    if (&other == this) return;
    auto& first = static_cast<EmulatedStream&>(other);
    later([&first, told = first.told_] { first.work_off(told); });
  }
  void synchronize() override {
    device().count(DeviceOperation::kSynchronize);
    if (side_ != nullptr && card_.options().timing == StreamTiming::kSideFirst)
      side_->work_off(side_->told_);
    work_off(told_);
  }
  void begin_stage(const char* name) override {
    later([this, name, launches = launches_] {
      stage_ = name;
      before_ = launches;
      start_ = now();
    });
  }
  void end_stage() override {
    later([this, launches = launches_] {
      stages_.push_back({stage_, start_, now(), launches - before_});
    });
  }
  std::vector<DeviceStageTime> take_stage_times() override {
    work_off(told_);
    std::vector<StageRun> stages = std::exchange(stages_, {});
    if (side_ != nullptr) {
      side_->work_off(side_->told_);
      for (StageRun& each : std::exchange(side_->stages_, {})) stages.push_back(std::move(each));
    }
    return sums_of_stages(stages);
  }
  void launch(long n, std::function<void(long)> kernel) {
    if (n <= 0) return;
    count_launch();
    later([this, n, kernel = std::move(kernel)] { grid(n, kernel); });
  }
  void launch_blocks(long n, EmulatedBlocks kernel) {
    if (n <= 0) return;
    count_launch();
    expect(kernel.shared_bytes <= card_.options().shared_bytes, "a block with too much memory");
    later([this, n, kernel = std::move(kernel)] {
      const int phases = kernel.phases();
      grid(n, [&](long block) {
        const std::size_t bytes = kernel.shared_bytes + kernel.state_bytes;
        const auto shared = std::make_unique<double[]>((bytes + 7) / 8);
        std::memset(shared.get(), card_.options().rubbish, bytes);
        const std::uint64_t step = far_step(static_cast<std::uint64_t>(kernel.threads));
        for (int phase = 0; phase < phases; ++phase) {
          for (int i = 0; i < kernel.threads; ++i) {
            const long thread = in_order(card_.options().order, i, kernel.threads, step);
            kernel.run(phase, block, static_cast<int>(thread), shared.get());
          }
        }
      });
    });
  }
  [[nodiscard]] EmulatedDevice& card() noexcept { return card_; }

 private:
  static void expect(bool holds, const char* what) {
    if (!holds) throw Error(Status::kInternal, std::string("GPU: ") + what);
  }
  void copy(void* to, const void* from, std::size_t bytes, const void* device, const void* host) {
    this->device().count(DeviceOperation::kCopy);
    expect(card_.on_card(device, bytes), "a copy that leaves the card's memory");
    expect(card_.page_locked(host, bytes), "a copy of memory that is not page-locked");
    later([=] { std::memcpy(to, from, bytes); });
  }
  void later(std::function<void()> work) {
    queue_.push_back(std::move(work));
    ++told_;
    if (card_.options().timing == StreamTiming::kEager) work_off(told_);
  }
  /// The first `until` things that it was told.
  void work_off(long until) {
    while (done_ < until) {
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      ++done_;
      work();
    }
  }
  static double now() {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now().time_since_epoch();
    return time.count();
  }
  void grid(long n, const std::function<void(long)>& kernel) const {
    const EmulatedDeviceOptions& o = card_.options();
    const std::uint64_t step = far_step(static_cast<std::uint64_t>(n));
    const auto part = [&](long first, long last) {
      for (long i = first; i < last; ++i) kernel(in_order(o.order, i, n, step));
    };
    if (o.threads <= 1 || n < 2 * o.threads) return part(0, n);
    std::vector<std::thread> pool;
    for (int t = 0; t < o.threads; ++t) {
      pool.emplace_back([&, t] { part(n * t / o.threads, n * (t + 1) / o.threads); });
    }
    for (std::thread& t : pool) t.join();
  }

  EmulatedDevice& card_;
  std::unique_ptr<EmulatedStream> side_;
  std::deque<std::function<void()>> queue_;
  long told_ = 0, done_ = 0;
  std::string stage_;
  long before_ = 0;
  double start_ = 0;
  std::vector<StageRun> stages_;
};

std::unique_ptr<Stream> EmulatedDevice::make_stream() {
  return std::make_unique<EmulatedStream>(*this);
}

/// Whether a word could be, and is, the address of something of this process. Two small integers
/// side by side give addresses below those that Linux hands out; one, with what lies in the padding
/// behind it, gives one with a small lower half.
bool is_mapped(std::uint64_t word) {
  if (word < 0x5000'0000'0000U || word >= 0x8000'0000'0000U) return false;
  if ((word & 0xffff'ffffU) < 0x1000U) return false;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(word / page * page), 1, MS_ASYNC) == 0;
}

}  // namespace

std::unique_ptr<Device> make_emulated_device(const EmulatedDeviceOptions& options) {
  return std::make_unique<EmulatedDevice>(options);
}

void run_emulated(Stream& stream, long threads, std::function<void(long)> kernel) {
  static_cast<EmulatedStream&>(stream).launch(threads, std::move(kernel));
}

void run_emulated_blocks(Stream& stream, long blocks, EmulatedBlocks kernel) {
  static_cast<EmulatedStream&>(stream).launch_blocks(blocks, std::move(kernel));
}

void refuse_host_pointers(Stream& stream, const void* arguments, std::size_t bytes) {
  EmulatedDevice& card = static_cast<EmulatedStream&>(stream).card();
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(arguments) + at, sizeof word);
    if (is_mapped(word) && !card.on_card(reinterpret_cast<const void*>(word), 0)) {
      throw Error(Status::kInternal, "GPU: byte " + std::to_string(at) +
                                         " of a kernel's arguments points to memory of the host");
    }
  }
}

}  // namespace loom
