// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/affinity.hpp"

#include <sched.h>

namespace loom {
namespace {

void set_affinity(const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<std::size_t>(processor), &set);
  static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

}  // namespace

std::vector<int> affinity_list() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> list;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return list;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) list.push_back(i);
  }
  return list;
}

Confinement::Confinement(std::size_t count) : before_(affinity_list()) {
  if (count == 0 || count >= before_.size()) {
    before_.clear();
    return;
  }
  set_affinity({before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(count)});
}

Confinement::~Confinement() {
  if (!before_.empty()) set_affinity(before_);
}

}  // namespace loom
