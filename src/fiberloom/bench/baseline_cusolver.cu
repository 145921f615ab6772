// SPDX-License-Identifier: BSD-3-Clause
// The peers' dense algebra on this card: for each patch of 7 fibres x 74 bins a Cholesky factor,
// the inverse (two triangular solves with the identity), and the eigen-decomposition of each core
// fibre's block of it, all batched by the vendor's libraries. Matrices with the band structure of
// the real ones; their values are made up. Projection, assembly and back-multiplication are left
// out, which favours the baseline.
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "loom/device/cuda_launch.cuh"
#include "fiberloom/bench/gpu_bench.hpp"

namespace fiberloom {
namespace {

constexpr int kFibers = 7, kBins = 74, kUnknowns = kFibers * kBins;  // 518
constexpr int kCore = 5;  // fibres whose blocks are decomposed; the others are padding

void check(int status, const char* what) {
  if (status != 0)
    throw Error(Status::kDevice,
                std::string("GPU: ") + what + ": status " + std::to_string(status));
}

/// A thing of the CUDA runtime, which gives itself back; what that answers no longer matters.
template <class T, auto kCreate, auto kDestroy>
class Handle {
 public:
  explicit Handle(const char* what) { check(kCreate(&handle_), what); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { (void)kDestroy(handle_); }
  [[nodiscard]] T get() const noexcept { return handle_; }

 private:
  T handle_ = nullptr;
};

/// A library, opened when it is wanted: these two bring 0.7 GB along, which the start of the program
/// must not wait for, nor need.
class Library {
 public:
  /// As found when this was compiled, or of that name wherever the loader finds it.
  explicit Library(const std::string& path) {
    handle_ = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle_ == nullptr) {
      handle_ = dlopen(path.substr(path.rfind('/') + 1).c_str(), RTLD_LAZY | RTLD_LOCAL);
    }
    if (handle_ == nullptr) throw Error(Status::kDevice, std::string("GPU: ") + dlerror());
  }
  template <class Function>
  [[nodiscard]] Function* get(const char* name) const {
    void* found = dlsym(handle_, name);
    if (found == nullptr) throw Error(Status::kDevice, std::string("GPU: ") + dlerror());
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* handle_;
};
// in two steps, since some of the names are macros
#define FL_FUNCTION(library, name) FL_FUNCTION_NAMED(library, name)
#define FL_FUNCTION_NAMED(library, name) decltype(::name)* const name = library.get<decltype(::name)>(#name)

struct Vendor {
  const Library blas_library{FIBERLOOM_CUBLAS}, solver_library{FIBERLOOM_CUSOLVER};
  FL_FUNCTION(blas_library, cublasCreate);
  FL_FUNCTION(blas_library, cublasDestroy);
  FL_FUNCTION(blas_library, cublasDtrsmBatched);
  FL_FUNCTION(solver_library, cusolverDnCreate);
  FL_FUNCTION(solver_library, cusolverDnDestroy);
  FL_FUNCTION(solver_library, cusolverDnDpotrfBatched);
#if CUSOLVER_VERSION >= 11701
  FL_FUNCTION(solver_library, cusolverDnCreateParams);
  FL_FUNCTION(solver_library, cusolverDnDestroyParams);
  FL_FUNCTION(solver_library, cusolverDnXsyevBatched_bufferSize);
  FL_FUNCTION(solver_library, cusolverDnXsyevBatched);
  cusolverDnParams_t params = nullptr;
#endif
  cublasHandle_t blas = nullptr;
  cusolverDnHandle_t solver = nullptr;

  Vendor() {
    check(cublasCreate(&blas), "cublas");
    check(cusolverDnCreate(&solver), "cusolver");
#if CUSOLVER_VERSION >= 11701
    check(cusolverDnCreateParams(&params), "parameters");
#endif
  }
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;
  ~Vendor() {
#if CUSOLVER_VERSION >= 11701
    (void)cusolverDnDestroyParams(params);
#endif
    (void)cusolverDnDestroy(solver);
    (void)cublasDestroy(blas);
  }
};

/// A factor or decomposition that failed half-way takes no time and proves nothing.
void check_info(const DeviceMemory& info, std::size_t n, const char* what) {
  std::vector<int> host(n, -1);
  check_cuda(cudaMemcpy(host.data(), info.data(), n * sizeof(int), cudaMemcpyDeviceToHost), "copy");
  const auto bad = std::count_if(host.begin(), host.end(), [](int i) { return i != 0; });
  if (bad > 0) {
    throw Error(Status::kDevice, std::string("GPU: ") + what + ": " + std::to_string(bad) + " of " +
                                     std::to_string(n) + " matrices failed");
  }
}

/// Own block: a band like a spot's products; neighbours couple weakly.
__global__ void fill_kernel(double* a, double* inverse, long patches) {
  const long at = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  constexpr long kSize = static_cast<long>(kUnknowns) * kUnknowns;
  if (at >= patches * kSize) return;
  const int row = static_cast<int>(at % kUnknowns),
            column = static_cast<int>(at / kUnknowns % kUnknowns);
  const int f = row / kBins, g = column / kBins, d = row % kBins - column % kBins;
  const double height = f == g ? 1.0 : (f - g == 1 || g - f == 1 ? 1e-4 : 0.0);
  double v = d < 8 && d > -8 ? height * exp(-0.25 * d * d) : 0.0;
  if (row == column) v *= 1.0 + 0.1 * static_cast<double>((at / kSize + row) % 10);
  a[at] = v;
  inverse[at] = row == column ? 1.0 : 0.0;
}

/// Blocks [fibre] of the inverse, side by side.
__global__ void take_blocks_kernel(const double* inverse, double* blocks, long patches) {
  const long at = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  constexpr long kBlock = static_cast<long>(kBins) * kBins;
  if (at >= patches * kCore * kBlock) return;
  const long patch = at / (kCore * kBlock);
  const int f = 1 + static_cast<int>(at / kBlock % kCore), i = static_cast<int>(at % kBlock);
  blocks[at] =
      inverse[patch * kUnknowns * kUnknowns + static_cast<long>(f * kBins + i / kBins) * kUnknowns +
              f * kBins + i % kBins];
}

unsigned grid(long threads) { return static_cast<unsigned>((threads + 255) / 256); }

class Timer {
 public:
  void start() { check_cuda(cudaEventRecord(begin_.get()), "event"); }
  double stop() {
    check_cuda(cudaEventRecord(end_.get()), "event");
    check_cuda(cudaEventSynchronize(end_.get()), "synchronize");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "event");
    return 1e-3 * static_cast<double>(ms);
  }

 private:
  static cudaError_t create(cudaEvent_t* event) { return cudaEventCreate(event); }
  using Event = Handle<cudaEvent_t, create, cudaEventDestroy>;
  const Event begin_{"event"}, end_{"event"};
};

/// One batch on the default stream; adds to `out`.
void time_batch(Device& device, const Vendor& vendor, int n, GpuBaseline& out) {
  const std::size_t matrix = static_cast<std::size_t>(kUnknowns) * kUnknowns;
  const std::size_t block = static_cast<std::size_t>(kBins) * kBins;
  const auto count = static_cast<std::size_t>(n);
  const DeviceMemory a(device, count * matrix * 8), inverse(device, count * matrix * 8);
  const DeviceMemory blocks(device, count * kCore * block * 8);
  const DeviceMemory values(device, count * kCore * kBins * 8);
  const DeviceMemory pa(device, count * 8), pi(device, count * 8);
  const DeviceMemory info(device, count * kCore * sizeof(int));
  std::vector<double*> ha(count), hi(count);
  for (std::size_t i = 0; i < count; ++i) {
    ha[i] = static_cast<double*>(a.data()) + i * matrix;
    hi[i] = static_cast<double*>(inverse.data()) + i * matrix;
  }
  check_cuda(cudaMemcpy(pa.data(), ha.data(), count * 8, cudaMemcpyHostToDevice), "copy");
  check_cuda(cudaMemcpy(pi.data(), hi.data(), count * 8, cudaMemcpyHostToDevice), "copy");
  fill_kernel<<<grid(static_cast<long>(count * matrix)), 256>>>(
      static_cast<double*>(a.data()), static_cast<double*>(inverse.data()), n);
  check_cuda(cudaGetLastError(), "launch");
  Timer timer;
  timer.start();
  check(vendor.cusolverDnDpotrfBatched(vendor.solver, CUBLAS_FILL_MODE_LOWER, kUnknowns,
                                static_cast<double**>(pa.data()), kUnknowns,
                                static_cast<int*>(info.data()), n),
        "potrfBatched");
  out.cholesky_s += timer.stop();
  check_info(info, count, "potrfBatched");
  const double one = 1.0;
  timer.start();
  for (const cublasOperation_t side : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    check(vendor.cublasDtrsmBatched(vendor.blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, side,
                             CUBLAS_DIAG_NON_UNIT, kUnknowns, kUnknowns, &one,
                             static_cast<double**>(pa.data()), kUnknowns,
                             static_cast<double**>(pi.data()), kUnknowns, n),
          "trsmBatched");
  }
  out.inverse_s += timer.stop();
  take_blocks_kernel<<<grid(static_cast<long>(count * kCore * block)), 256>>>(
      static_cast<double*>(inverse.data()), static_cast<double*>(blocks.data()), n);
  check_cuda(cudaGetLastError(), "launch");
#if CUSOLVER_VERSION >= 11701  // else XsyevBatched is not there: what remains favours the baseline
  std::size_t on_device = 0, on_host = 0;
  const auto batch = static_cast<std::int64_t>(count * kCore);
  check(vendor.cusolverDnXsyevBatched_bufferSize(vendor.solver, vendor.params, CUSOLVER_EIG_MODE_VECTOR,
                                          CUBLAS_FILL_MODE_LOWER, kBins, CUDA_R_64F, blocks.data(),
                                          kBins, CUDA_R_64F, values.data(), CUDA_R_64F, &on_device,
                                          &on_host, batch),
        "syevBatched size");
  const DeviceMemory work(device, std::max<std::size_t>(on_device, 8));
  std::vector<char> host_work(on_host + 8);
  timer.start();
  check(vendor.cusolverDnXsyevBatched(vendor.solver, vendor.params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER,
                               kBins, CUDA_R_64F, blocks.data(), kBins, CUDA_R_64F, values.data(),
                               CUDA_R_64F, work.data(), on_device, host_work.data(), on_host,
                               static_cast<int*>(info.data()), batch),
        "syevBatched");
  out.eigen_s += timer.stop();
  check_info(info, count * kCore, "syevBatched");
#endif
}

}  // namespace

GpuBaseline time_dense_baseline(int patches) {
  GpuBaseline out;
  const std::string why = why_no_cuda();
  if (!why.empty()) {
    out.note = why;
    return out;
  }
  const std::unique_ptr<Device> device = open_cuda_device(0);
  const Vendor vendor;
  // as many patches at a time as a quarter of the free memory holds
  const std::size_t each = static_cast<std::size_t>(kUnknowns) * kUnknowns * 8 * 4;
  const int batch = static_cast<int>(std::clamp<std::size_t>(device->info().free_bytes / 4 / each,
                                                             1, static_cast<std::size_t>(patches)));
  // the libraries choose by the size of a batch, and load what they have chosen at first use
  GpuBaseline warm;
  time_batch(*device, vendor, batch, warm);
  for (int done = 0; done < patches; done += batch) {
    time_batch(*device, vendor, std::min(batch, patches - done), out);
  }
  out.patches = patches;
  out.unknowns = kUnknowns;
  out.note = out.eigen_s > 0
                 ? "potrfBatched, trsmBatched x 2, XsyevBatched of 5 blocks of 74; assembly left out"
                 : "potrfBatched, trsmBatched x 2; this cuSOLVER has no XsyevBatched; assembly left out";
  return out;
}

}  // namespace fiberloom
