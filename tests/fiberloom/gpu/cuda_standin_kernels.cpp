// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fiberloom/gpu/cuda_standin_kernels.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <typeinfo>
#include <vector>

#include "fiberloom/extract/exact/gpu/kernel_table.hpp"
#include "fiberloom/redshift/gpu/scan_device_kernels.hpp"

namespace fiberloom::standin {
namespace {

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(text.get()) : std::string(mangled);
}

std::map<std::string, KernelBody>& bodies() {
  static std::map<std::string, KernelBody> all;
  return all;
}
bool put(const std::type_info& kernel, const KernelBody& body) {
  return bodies().emplace(readable(kernel.name()), body).second;
}
template <class K>
struct Registered {
  static void run(const void* args, long n) {
    const auto& a = *static_cast<const typename K::Args*>(args);
    for (long i = 0; i < n; ++i) K::run(i, a);
  }
  static std::size_t shared_bytes(const void*) { return 0; }
  static inline const bool done =
      put(typeid(K), {&run, sizeof(typename K::Args), false, &shared_bytes});
};
template <class K>
struct RegisteredBlocks {
  static void run(const void* args, long n) {
    const auto& a = *static_cast<const typename K::Args*>(args);
    std::vector<double> shared((K::shared_bytes(a) + 7) / 8);
    for (long block = 0; block < n; ++block) {
      for (int phase = 0; phase < K::phases(a); ++phase) {
        for (int t = 0; t < K::kThreads; ++t) K::run(phase, block, t, a, shared.data());
      }
    }
  }
  static std::size_t shared_bytes(const void* args) {
    return K::shared_bytes(*static_cast<const typename K::Args*>(args));
  }
  static inline const bool done =
      put(typeid(K), {&run, sizeof(typename K::Args), true, &shared_bytes});
};
template <class K>
struct RegisteredStates {
  static void run(const void* args, long n) {
    const auto& a = *static_cast<const typename K::Args*>(args);
    std::vector<double> shared((K::shared_bytes(a) + 7) / 8);
    for (long block = 0; block < n; ++block) {
      std::vector<typename K::State> states(K::kThreads);
      for (int phase = 0; phase < K::phases(a); ++phase) {
        for (int t = 0; t < K::kThreads; ++t) {
          K::run(phase, block, t, a, shared.data(), states[static_cast<std::size_t>(t)]);
        }
      }
    }
  }
  static std::size_t shared_bytes(const void* args) {
    return K::shared_bytes(*static_cast<const typename K::Args*>(args));
  }
  static inline const bool done =
      put(typeid(K), {&run, sizeof(typename K::Args), true, &shared_bytes});
};
/// Stands where a body's launcher stands, and gives each kernel's name away.
struct Collect {
  template <class K>
  static void launch(Stream&, long, const typename K::Args&) {
    (void)Registered<K>::done;
  }
  template <class K>
  static void launch_blocks(Stream&, long, const typename K::Args&) {
    (void)RegisteredBlocks<K>::done;
  }
  template <class K>
  static void launch_crowd(Stream&, long, const typename K::Args&) {
    (void)RegisteredBlocks<K>::done;
  }
  template <class K>
  static void launch_states(Stream&, long, const typename K::Args&) {
    (void)RegisteredStates<K>::done;
  }
};
const exact::gpu::DeviceKernels kCollected = [] {
  exact::gpu::DeviceKernels k{};
  exact::gpu::fill_common<Collect>(k);
  exact::gpu::fill_bands<Collect>(k);
  return k;
}();
const redshift::gpu::ScanDeviceKernels kCollectedOfScans = [] {
  redshift::gpu::ScanDeviceKernels k{};
  redshift::gpu::fill_kernels<Collect>(k);
  return k;
}();

}  // namespace

std::string wrapped_kernel(const char* mangled) {
  const std::string full = readable(mangled), head = "_kernel<";
  const std::size_t begin = full.find(head), end = full.find(">(");
  if (begin == std::string::npos || end == std::string::npos) return full;
  std::string inner = full.substr(begin + head.size(), end - begin - head.size());
  while (!inner.empty() && inner.back() == ' ') inner.pop_back();
  return inner;
}
const KernelBody* find_body(const std::string& name) {
  const auto found = bodies().find(name);
  return found == bodies().end() ? nullptr : &found->second;
}

}  // namespace fiberloom::standin
