// SPDX-License-Identifier: BSD-3-Clause
// A hint to the kernel about large fresh buffers. A frame fills 300 MB of new memory: page faults
// of 4 KiB cost as much as reading and converting it; 2 MiB ones a third of that.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace loom {

/// Asks for huge pages inside [p, p + bytes); nothing happens where there are none.
inline void advise_huge_pages(void* p, std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kHuge = std::uintptr_t{2} << 20;
  if (bytes < 2 * kHuge) return;
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t first = (address + kHuge - 1) / kHuge * kHuge;
  const std::uintptr_t last = (address + bytes) / kHuge * kHuge;
  if (last > first) {
    (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  }
#else
  (void)p;
  (void)bytes;
#endif
}

}  // namespace loom
