// SPDX-License-Identifier: BSD-3-Clause
// Long: the runtime's functions, one beside the other.
#include "tests/fiberloom/gpu/cuda_standin.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "tests/fiberloom/gpu/cuda_standin_kernels.hpp"

namespace fiberloom::standin {
namespace {

constexpr std::size_t kSharedBytes = std::size_t{227} << 10;  // of a block, when asked for

struct Block {
  std::size_t bytes = 0;
  int card = -1;  ///< -1: page-locked memory of the host
};

struct World {
  std::mutex mutex;
  Options options;
  Seen seen;
  std::map<const std::byte*, Block> blocks;
  std::vector<std::size_t> used;
  std::size_t page_locked = 0;
  std::vector<long> fails_after;  ///< < 0: never
  std::vector<long> hangs_after;  ///< the same; 0: it does
};
World& world() {
  static World w;
  return w;
}
/// Names of kernels by the address of their stub.
std::map<const void*, std::string>& kernels() {
  static std::map<const void*, std::string> all;
  return all;
}

thread_local int current_card = 0;
thread_local cudaError_t last_error = cudaSuccess;
struct Launch {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local Launch configured;

}  // namespace
}  // namespace fiberloom::standin

using namespace fiberloom::standin;

struct CUstream_st {
  int card = 0;
  bool asked = false;  ///< whether it is done, since it was given work
  std::deque<std::function<void()>> queue;
  long told = 0, done = 0;
  /// Of all streams: one may work off what another was told.
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex of_all;
    return of_all;
  }
  void work_off(long until) {
    const std::lock_guard lock(mutex());
    while (done < until) {
      const std::function<void()> work = std::move(queue.front());
      queue.pop_front();
      ++done;
      work();
    }
  }
  void work_off() {
    const std::lock_guard lock(mutex());
    work_off(told);
  }
};
struct CUevent_st {
  int card = 0;
  bool recorded = false;
  bool timed = true;
  long told = 0;  ///< what the stream had been told when it was recorded
  std::chrono::steady_clock::time_point at;
  CUstream_st* stream = nullptr;
};

namespace {

std::vector<CUstream_st*> streams;                // under world().mutex
std::map<const void*, std::size_t> shared_asked;  // the same

cudaError_t fail(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}
cudaError_t misuse(const std::string& what, cudaError_t error = cudaErrorInvalidValue) {
  const std::lock_guard lock(world().mutex);
  if (world().seen.misuses.size() < 20) world().seen.misuses.push_back(what);
  return fail(error);
}
/// Every call that touches a card goes through here.
cudaError_t touch(int card) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  ++w.seen.calls;
  long& quick = w.hangs_after[static_cast<std::size_t>(card)];
  if (quick > 0) --quick;
  long& left = w.fails_after[static_cast<std::size_t>(card)];
  if (left < 0) return cudaSuccess;
  if (left > 0) {
    --left;
    return cudaSuccess;
  }
  return fail(cudaErrorLaunchFailure);
}
bool hangs(int card) {
  const std::lock_guard lock(world().mutex);
  const std::vector<long>& after = world().hangs_after;
  return card < 0 ? std::count(after.begin(), after.end(), 0) > 0
                  : after[static_cast<std::size_t>(card)] == 0;
}
/// -2: neither a card's nor page-locked.
int owner_of(const void* memory, std::size_t bytes) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  const auto* at = static_cast<const std::byte*>(memory);
  const auto after = w.blocks.upper_bound(at);
  if (after == w.blocks.begin()) return -2;
  const auto& [begin, block] = *std::prev(after);
  return at + bytes <= begin + block.bytes ? block.card : -2;
}
cudaError_t later(CUstream_st* stream, std::function<void()> work) {
  const std::lock_guard lock(CUstream_st::mutex());
  stream->queue.push_back(std::move(work));
  ++stream->told;
  stream->asked = false;
  return cudaSuccess;
}
cudaError_t take(void** memory, std::size_t bytes, int card) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  std::size_t& used = card < 0 ? w.page_locked : w.used[static_cast<std::size_t>(card)];
  const std::size_t most = card < 0 ? w.options.page_locked_bytes : w.options.memory_bytes;
  if (bytes == 0 || used + bytes > most) return fail(cudaErrorMemoryAllocation);
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return fail(cudaErrorMemoryAllocation);
  std::memset(*memory, 0xff, bytes);  // NaNs
  used += bytes;
  ++(card < 0 ? w.seen.live_host_memory : w.seen.live_memory);
  w.blocks[static_cast<const std::byte*>(*memory)] = {bytes, card};
  return cudaSuccess;
}
cudaError_t give(void* memory, bool of_host) {
  if (memory == nullptr) return cudaSuccess;
  std::vector<CUstream_st*> all;
  {
    const std::lock_guard lock(world().mutex);
    all = streams;
  }
  for (CUstream_st* stream : all) {
    if (!hangs(stream->card)) stream->work_off();  // the real one waits too
  }
  World& w = world();
  std::unique_lock lock(w.mutex);
  const auto found = w.blocks.find(static_cast<const std::byte*>(memory));
  if (found == w.blocks.end() || (found->second.card < 0) != of_host) {
    lock.unlock();
    return misuse("memory given back that was never had, or the wrong way");
  }
  const auto [bytes, card] = found->second;
  lock.unlock();
  if (hangs(card)) return misuse("memory given back while a kernel hangs: that waits for ever");
  lock.lock();
  (card < 0 ? w.page_locked : w.used[static_cast<std::size_t>(card)]) -= bytes;
  --(card < 0 ? w.seen.live_host_memory : w.seen.live_memory);
  w.blocks.erase(found);
  lock.unlock();
  std::free(memory);
  return card < 0 ? cudaSuccess : touch(card);
}

}  // namespace

namespace fiberloom::standin {

void reset(const Options& options) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  streams.clear();  // of a card that hung there are some left
  w.options = options;
  w.seen = {};
  w.seen.launches.assign(static_cast<std::size_t>(options.cards), 0);
  w.used.assign(static_cast<std::size_t>(options.cards), 0);
  w.fails_after.assign(static_cast<std::size_t>(options.cards), -1);
  w.hangs_after.assign(static_cast<std::size_t>(options.cards), -1);
}
void lose(int card, long after) {
  const std::lock_guard lock(world().mutex);
  world().fails_after[static_cast<std::size_t>(card)] = after;
}
void hang(int card, long after) {
  const std::lock_guard lock(world().mutex);
  world().hangs_after[static_cast<std::size_t>(card)] = after;
}
Seen seen() {
  const std::lock_guard lock(world().mutex);
  return world().seen;
}

}  // namespace fiberloom::standin

extern "C" {
// what nvcc's own code calls

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  kernels()[host] = wrapped_kernel(name);
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     struct CUstream_st* stream) {
  configured = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = configured.grid;
  *block = configured.block;
  *shared = configured.shared;
  *static_cast<cudaStream_t*>(stream) = configured.stream;
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void** args,
                               size_t shared, cudaStream_t stream) {
  const auto found = kernels().find(static_cast<const void*>(handle));
  if (found == kernels().end()) return misuse("an unknown kernel", cudaErrorInvalidDeviceFunction);
  const std::string& name = found->second;
  if (stream == nullptr) return misuse(name + " on the default stream");
  if (stream->card != current_card) {
    return misuse(name + " on a stream of another card than the current one",
                  cudaErrorInvalidResourceHandle);
  }
  if (const cudaError_t error = touch(stream->card)) return error;
  if (grid.x == 0 || grid.x > 0x7fffffff || block.x == 0 || block.x > 1024 || grid.y != 1 ||
      grid.z != 1) {
    return misuse(name + " with an impossible grid", cudaErrorInvalidConfiguration);
  }
  {
    const std::lock_guard lock(world().mutex);
    ++world().seen.launches[static_cast<std::size_t>(stream->card)];
  }
  const KernelBody* body = find_body(name);
  if (body == nullptr) return cudaSuccess;  // measures the card, computes nothing
  {
    const std::lock_guard lock(world().mutex);
    const auto asked = shared_asked.find(handle);
    const std::size_t most = asked == shared_asked.end() ? 48 << 10 : asked->second;
    if (shared > most) return fail(cudaErrorInvalidValue);
  }
  if (shared != body->shared_bytes(args[0])) return misuse(name + ": its shared memory");
  long threads = grid.x;
  if (!body->of_blocks) {
    threads = *static_cast<const long*>(args[1]);
    if (threads > static_cast<long>(grid.x) * block.x) return misuse(name + ": a short grid");
  }
  const auto* first = static_cast<const std::byte*>(args[0]);
  auto copy = std::make_shared<std::vector<std::byte>>(first, first + body->bytes);
  return later(stream, [copy, threads, run = body->run] { run(copy->data(), threads); });
}

// what the project calls

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize ||
      static_cast<std::size_t>(value) != kSharedBytes) {
    return misuse("a limit on a block's memory that another thread's launch may exceed");
  }
  if (const cudaError_t error = touch(current_card)) return error;
  const std::lock_guard lock(world().mutex);
  shared_asked[host] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    default:
      return "refused by the stand-in";
  }
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = world().options.cards;
  return *count > 0 ? cudaSuccess : fail(cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int card) {
  if (card < 0 || card >= world().options.cards)
    return misuse("no such card", cudaErrorInvalidDevice);
  current_card = card;
  return touch(card);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int card) {
  *properties = {};
  std::strncpy(properties->name, "stand-in for a card", sizeof properties->name - 1);
  properties->multiProcessorCount = 2;
  properties->major = 9;
  properties->sharedMemPerBlockOptin = kSharedBytes;
  return touch(card);
}
cudaError_t cudaGetDevice(int* card) {
  *card = current_card;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? static_cast<int>(kSharedBytes)
                                                                : 1000000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  if (const cudaError_t error = touch(current_card)) return error;
  const std::lock_guard lock(world().mutex);
  *total = world().options.memory_bytes;
  *free_bytes = *total - world().used[static_cast<std::size_t>(current_card)];
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, size_t bytes) {
  if (const cudaError_t error = touch(current_card)) return error;
  return take(memory, bytes, current_card);
}
cudaError_t cudaFree(void* memory) { return give(memory, false); }
cudaError_t cudaMallocHost(void** memory, size_t bytes) { return take(memory, bytes, -1); }
cudaError_t cudaFreeHost(void* memory) { return give(memory, true); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t error = touch(current_card)) return error;
  if (flags != cudaStreamNonBlocking) return misuse("a stream that waits for the default stream");
  *stream = new CUstream_st;
  (*stream)->card = current_card;
  const std::lock_guard lock(world().mutex);
  streams.push_back(*stream);
  ++world().seen.live_streams;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return misuse("the default stream destroyed");
  const int card = stream->card;
  if (hangs(card)) return misuse("a stream destroyed while a kernel hangs: that waits for ever");
  stream->work_off();
  {
    const std::lock_guard lock(world().mutex);
    std::erase(streams, stream);
    --world().seen.live_streams;
  }
  delete stream;
  return touch(card);
}
/// What was given is done when it has been asked about a second time.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t error = touch(stream->card)) return error;
  if (hangs(stream->card)) return fail(cudaErrorNotReady);
  {
    const std::lock_guard lock(CUstream_st::mutex());
    if (!stream->queue.empty() && !std::exchange(stream->asked, true))
      return fail(cudaErrorNotReady);
  }
  stream->work_off();
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (stream == nullptr) return misuse("a copy on the default stream");
  if (const cudaError_t error = touch(stream->card)) return error;
  const int a = owner_of(to, bytes), b = owner_of(from, bytes);
  const bool in = kind == cudaMemcpyHostToDevice, out = kind == cudaMemcpyDeviceToHost;
  if (a != (out ? -1 : stream->card) || b != (in ? -1 : stream->card)) {
    return misuse("a copy from or to memory that is neither this card's nor page-locked");
  }
  {
    const std::lock_guard lock(world().mutex);
    ++world().seen.copies;
  }
  return later(stream, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind) {
  return misuse("a copy that waits");  // only the baseline makes one, and it needs a card
}
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = touch(stream->card)) return error;
  if (owner_of(memory, bytes) != stream->card) return misuse("memory of another card cleared");
  return later(stream, [=] { std::memset(memory, value, bytes); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  if (const cudaError_t error = touch(current_card)) return error;
  *event = new CUevent_st;
  (*event)->card = current_card;
  const std::lock_guard lock(world().mutex);
  ++world().seen.live_events;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (flags != cudaEventDisableTiming) return misuse("an event with other flags");
  const cudaError_t error = cudaEventCreate(event);
  if (error == cudaSuccess) (*event)->timed = false;
  return error;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  if (stream == nullptr || event == nullptr || !event->recorded || flags != 0)
    return misuse("a stream that waits for nothing");
  if (const cudaError_t error = touch(stream->card)) return error;
  return later(stream, [first = event->stream, told = event->told] { first->work_off(told); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return misuse("no event destroyed");
  const int card = event->card;
  if (event->stream != nullptr) {
    const std::lock_guard lock(world().mutex);
    // the stream may be gone: then nothing of it is left to do
    if (std::find(streams.begin(), streams.end(), event->stream) == streams.end())
      event->stream = nullptr;
  }
  if (event->stream != nullptr && !hangs(card)) event->stream->work_off();
  delete event;
  {
    const std::lock_guard lock(world().mutex);
    --world().seen.live_events;
  }
  return touch(card);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (stream == nullptr) return misuse("an event on the default stream");
  if (event->card != stream->card) {
    return misuse("an event on a stream of another card", cudaErrorInvalidResourceHandle);
  }
  if (const cudaError_t error = touch(stream->card)) return error;
  event->recorded = true;
  event->stream = stream;
  const std::lock_guard lock(CUstream_st::mutex());
  event->told = stream->told;
  if (!event->timed) return cudaSuccess;
  return later(stream, [event] { event->at = std::chrono::steady_clock::now(); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (!event->recorded) return misuse("a wait for an event that was never recorded");
  if (hangs(event->card)) return misuse("a wait for an event while a kernel hangs");
  event->stream->work_off();
  return touch(event->card);
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->recorded || !end->recorded || !begin->timed || !end->timed) {
    return misuse("a time between events that were never recorded, or take none",
                  cudaErrorInvalidResourceHandle);
  }
  const std::chrono::duration<float, std::milli> took = end->at - begin->at;
  *ms = took.count() > 0 ? took.count() : 1e-6F;
  return touch(begin->card);
}

}  // extern "C"
