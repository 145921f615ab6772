// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/heap.hpp"

#if defined(__GLIBC__)
#include <malloc.h>

#include <climits>
#endif

namespace loom {

#if defined(__GLIBC__)

namespace {
constexpr int kLargeBlock = 4 << 20;  // what Buffer asks huge pages for
}

void keep_freed_memory() noexcept {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

void return_large_blocks() noexcept {
  mallopt(M_MMAP_MAX, 1 << 16);
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  mallopt(M_ARENA_MAX, 1);  // what one thread frees is there for the next
}

#else

void keep_freed_memory() noexcept {}
void return_large_blocks() noexcept {}

#endif

}  // namespace loom
