// SPDX-License-Identifier: BSD-3-Clause
// Device kernels as functions on the CPU, by the names that nvcc gives them.
#pragma once

#include <cstddef>
#include <string>

namespace fiberloom::standin {

/// Threads [0, n) of a kernel, or its blocks, and the size of its arguments.
struct KernelBody {
  void (*run)(const void* args, long n);
  std::size_t bytes;
  bool of_blocks;
  std::size_t (*shared_bytes)(const void* args);
};

/// The struct that a CUDA kernel of cuda_launch.cuh wraps, by the kernel's mangled name.
[[nodiscard]] std::string wrapped_kernel(const char* mangled);
/// Null for a kernel that is none of the table's.
[[nodiscard]] const KernelBody* find_body(const std::string& name);

}  // namespace fiberloom::standin
