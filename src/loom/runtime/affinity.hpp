// SPDX-License-Identifier: BSD-3-Clause
// The processors that a thread, and what it starts, may run on.
#pragma once

#include <cstddef>
#include <vector>

namespace loom {

/// Numbers of the processors in the calling thread's affinity mask; none where the system does not
/// say.
[[nodiscard]] std::vector<int> affinity_list();

/// Keeps the calling thread, and the threads that it starts meanwhile, to the first `count` of its
/// processors, until destroyed. To all of them where there are no more, or where the system
/// refuses.
class Confinement {
 public:
  explicit Confinement(std::size_t count);
  Confinement(const Confinement&) = delete;
  Confinement& operator=(const Confinement&) = delete;
  ~Confinement();

 private:
  std::vector<int> before_;
};

}  // namespace loom
