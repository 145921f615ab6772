// SPDX-License-Identifier: BSD-3-Clause
// The card's body, by CUDA's runtime or, with the names of gpu_runtime.hpp, HIP's.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define FL_NVTX 1
#endif

#include "loom/base/print.hpp"
#include "loom/device/cuda_launch.cuh"
#include "loom/trace/range.hpp"

namespace loom {

void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw Error(Status::kDevice, std::string("GPU: ") + what + ": " + cudaGetErrorString(status));
}

namespace {

#if defined(FL_NVTX)
constexpr RangeHook kNvtxRanges{[](const char* name) noexcept { nvtxRangePushA(name); },
                                []() noexcept { nvtxRangePop(); }};
void show_ranges() { set_range_hook(&kNvtxRanges); }
#else
void show_ranges() {}
#endif

/// Waits for the card asleep, and not for ever: the runtime's own wait spins, on a processor that
/// has frames to read and write, and knows no end where a kernel does not come back.
class Patience {
 public:
  explicit Patience(CardWait wait) : longest_(wait.longest_s), awake_(wait.awake) {}
  /// Has a wait run out? Then the card may still work, and write: nothing that it knows of may be
  /// given back, nor anything be asked that waits for it.
  [[nodiscard]] bool ran_out() const noexcept { return ran_out_; }
  /// The same of any card: all of them know page-locked memory, whoever asked for it.
  [[nodiscard]] static bool any_ran_out() noexcept { return any_ran_out_; }
  void wait(cudaStream_t stream) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds kAwake{200}, kLongestNap{1000};
    const auto begin = Clock::now();
    for (;;) {
      if (ran_out_) fail();
      const cudaError_t status = cudaStreamQuery(stream);
      if (status != cudaErrorNotReady) return check_cuda(status, "synchronize");
      (void)cudaGetLastError();
      const auto waited = Clock::now() - begin;
      if (waited > std::chrono::duration<double>(longest_)) ran_out_ = any_ran_out_ = true;
      // late by a sixteenth of the wait at most
      if (waited > kAwake && !awake_)
        std::this_thread::sleep_for(std::min<Clock::duration>(waited / 16, kLongestNap));
    }
  }
  [[noreturn]] void fail() const {
    throw Error(Status::kDevice, "GPU: no answer for " + print("%.6g", longest_) + " s: given up");
  }

 private:
  double longest_;
  bool awake_;
  std::atomic<bool> ran_out_{false};
  inline static std::atomic<bool> any_ran_out_{false};
};

class CudaStream final : public Stream {
 public:
  CudaStream(Device& device, int ordinal, Patience& patience)
      : Stream(device), ordinal_(ordinal), patience_(patience) {
    check_cuda(cudaSetDevice(ordinal_), "device");
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  }
  ~CudaStream() override {
    if (patience_.ran_out()) return;
    forget_marks();
    if (told_ != nullptr) (void)cudaEventDestroy(told_);
    (void)cudaStreamDestroy(stream_);
    (void)cudaGetLastError();
  }
  void copy_in(void* device, const void* host, std::size_t bytes) override {
    copy(device, host, bytes, cudaMemcpyHostToDevice);
  }
  void copy_out(void* host, const void* device, std::size_t bytes) override {
    copy(host, device, bytes, cudaMemcpyDeviceToHost);
  }
  void zero(void* device, std::size_t bytes) override {
    check_cuda(cudaMemsetAsync(device, 0, bytes, stream_), "memset");
  }
  Stream& side() override {
    if (side_ == nullptr) side_ = std::make_unique<CudaStream>(device(), ordinal_, patience_);
    return *side_;
  }
  void wait_for(Stream& other) override {
    if (&other == this) return;
    auto& first = static_cast<CudaStream&>(other);
    if (first.told_ == nullptr)
      check_cuda(cudaEventCreateWithFlags(&first.told_, cudaEventDisableTiming), "event");
    check_cuda(cudaEventRecord(first.told_, first.stream_), "event");
    check_cuda(cudaStreamWaitEvent(stream_, first.told_, 0), "wait");
  }
  void synchronize() override {
    device().count(DeviceOperation::kSynchronize);
    patience_.wait(stream_);
  }
  void begin_stage(const char* name) override {
    check_cuda(cudaSetDevice(ordinal_), "device");  // the calling thread may be new to it
    Mark m{name, nullptr, nullptr, launches_};
    check_cuda(cudaEventCreate(&m.begin), "event");
    check_cuda(cudaEventCreate(&m.end), "event");
    check_cuda(cudaEventRecord(m.begin, stream_), "event");
    marks_.push_back(m);
  }
  void end_stage() override {
    Mark& m = marks_.back();
    check_cuda(cudaEventRecord(m.end, stream_), "event");
    m.launches = launches_ - m.launches;
  }
  std::vector<DeviceStageTime> take_stage_times() override {
    patience_.wait(stream_);
    if (side_ != nullptr) {
      patience_.wait(side_->stream_);
      for (const Mark& m : std::exchange(side_->marks_, {})) marks_.push_back(m);
    }
    std::vector<StageRun> runs;
    for (const Mark& m : marks_)
      runs.push_back({m.name, since_first(m.begin), since_first(m.end), m.launches});
    forget_marks();
    return sums_of_stages(runs);
  }
  void* native() noexcept override { return stream_; }

 private:
  struct Mark {
    const char* name;
    cudaEvent_t begin, end;
    long launches;
  };
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    device().count(DeviceOperation::kCopy);
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copy");
  }
  [[nodiscard]] double since_first(cudaEvent_t event) const {
    float ms = 0;
    if (cudaEventElapsedTime(&ms, marks_.front().begin, event) != cudaSuccess)
      (void)cudaGetLastError();
    return 1e-3 * static_cast<double>(ms);
  }
  void forget_marks() {
    for (const Mark& m : marks_) {
      (void)cudaEventDestroy(m.begin);
      (void)cudaEventDestroy(m.end);
    }
    marks_.clear();
  }
  int ordinal_;
  Patience& patience_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t told_ = nullptr;  ///< of those that wait for this one
  std::unique_ptr<CudaStream> side_;
  std::vector<Mark> marks_;
};

/// 16 independent chains of multiply-adds a thread.
__global__ void multiply_add_kernel(double* out, double a, double b, int rounds) {
  double x[16];
  for (int i = 0; i < 16; ++i) x[i] = threadIdx.x + i;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = x[i] * a + b;
  }
  double sum = 0;
  for (int i = 0; i < 16; ++i) sum += x[i];
  if (sum == 1.2345) out[0] = sum;  // never, but the compiler cannot know
}

/// Seconds of the best of five runs.
template <class Work>
double best_time(cudaStream_t stream, Work work) {
  cudaEvent_t begin, end;
  check_cuda(cudaEventCreate(&begin), "event");
  check_cuda(cudaEventCreate(&end), "event");
  float best = 1e30F;
  for (int i = 0; i < 6; ++i) {
    check_cuda(cudaEventRecord(begin, stream), "event");
    work();
    check_cuda(cudaEventRecord(end, stream), "event");
    check_cuda(cudaEventSynchronize(end), "synchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin, end), "event");
    if (i > 0 && ms < best) best = ms;
  }
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  return 1e-3 * static_cast<double>(best);
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, CardWait wait) : ordinal_(ordinal), patience_(wait) {
    check_cuda(cudaSetDevice(ordinal_), "device");
    check_cuda(cudaGetDeviceProperties(&properties_, ordinal_), "properties");
  }
  DeviceInfo info() override {
    count(DeviceOperation::kInform);
    if (patience_.ran_out()) patience_.fail();
    check_cuda(cudaSetDevice(ordinal_), "device");
    std::size_t free_bytes = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free_bytes, &total), "memory");
    DeviceInfo info;
    info.name = properties_.name;
    info.memory_bytes = total;
    info.free_bytes = free_bytes;
    info.multiprocessors = properties_.multiProcessorCount;
    info.major = properties_.major;
    info.minor = properties_.minor;
    info.cache_bytes = static_cast<std::size_t>(properties_.l2CacheSize);
    info.shared_bytes =
        static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    info.clock_khz = attribute(cudaDevAttrClockRate);
    info.memory_clock_khz = attribute(cudaDevAttrMemoryClockRate);
    if (cudaDriverGetVersion(&info.driver) != cudaSuccess) info.driver = 0;
    if (cudaRuntimeGetVersion(&info.runtime) != cudaSuccess) info.runtime = 0;
    (void)cudaGetLastError();
    return info;
  }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<CudaStream>(*this, ordinal_, patience_);
  }
  void* allocate(std::size_t bytes) override {
    count(DeviceOperation::kAllocate);
    if (patience_.ran_out()) patience_.fail();
    check_cuda(cudaSetDevice(ordinal_), "device");
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, bytes), "allocate");
    return memory;
  }
  void release(void* memory) noexcept override {
    if (patience_.ran_out()) return;
    (void)cudaSetDevice(ordinal_);
    (void)cudaFree(memory);
    (void)cudaGetLastError();  // of a card that is lost: nobody can do anything about it
  }
  void* allocate_host(std::size_t bytes) override {
    check_cuda(cudaSetDevice(ordinal_), "device");
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, bytes), "allocate page-locked memory");
    return memory;
  }
  void release_host(void* memory) noexcept override {
    if (Patience::any_ran_out()) return;
    (void)cudaFreeHost(memory);
    (void)cudaGetLastError();
  }
  DeviceRates measure_rates() override {
    constexpr std::size_t kBytes = std::size_t{1} << 30, kHost = std::size_t{1} << 28;
    const DeviceMemory a(*this, kBytes), b(*this, kBytes);
    const HostMemory host(*this, kHost);
    const std::unique_ptr<Stream> stream = make_stream();
    const auto native = static_cast<cudaStream_t>(stream->native());
    DeviceRates rates;
    rates.copy_bytes_per_s =
        2.0 * kBytes / best_time(native, [&] {
          (void)cudaMemcpyAsync(b.data(), a.data(), kBytes, cudaMemcpyDeviceToDevice, native);
        });
    rates.in_bytes_per_s =
        kHost / best_time(native, [&] {
          (void)cudaMemcpyAsync(a.data(), host.data(), kHost, cudaMemcpyHostToDevice, native);
        });
    rates.out_bytes_per_s =
        kHost / best_time(native, [&] {
          (void)cudaMemcpyAsync(host.data(), a.data(), kHost, cudaMemcpyDeviceToHost, native);
        });
    const int blocks = 16 * properties_.multiProcessorCount, rounds = 4096;
    rates.double_flops = 2.0 * 16 * 256 * rounds * blocks / best_time(native, [&] {
                           multiply_add_kernel<<<static_cast<unsigned>(blocks), 256, 0, native>>>(
                               static_cast<double*>(a.data()), 0.999, 1e-3, rounds);
                         });
    check_cuda(cudaGetLastError(), "measure");
    return rates;
  }

 private:
  /// 0 where the driver does not tell.
  [[nodiscard]] int attribute(cudaDeviceAttr which) const {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, ordinal_) != cudaSuccess) value = 0;
    return value;
  }
  int ordinal_;
  Patience patience_;
  cudaDeviceProp properties_{};
};

}  // namespace

std::string why_no_cuda() {
  int n = 0;
  const cudaError_t status = cudaGetDeviceCount(&n);
  (void)cudaGetLastError();
  if (status == cudaSuccess && n > 0) return {};
  return std::string("no CUDA device: ") +
         (status == cudaSuccess ? "none is there" : cudaGetErrorString(status));
}

int cuda_device_count() noexcept {
  int n = 0;
  const cudaError_t status = cudaGetDeviceCount(&n);
  (void)cudaGetLastError();
  return status == cudaSuccess ? n : 0;
}

std::unique_ptr<Device> open_cuda_device(int ordinal, CardWait wait) {
  const std::string why = why_no_cuda();
  if (!why.empty()) throw Error(Status::kDevice, "GPU: " + why);
  show_ranges();
  return std::make_unique<CudaDevice>(ordinal, wait);
}

}  // namespace loom
