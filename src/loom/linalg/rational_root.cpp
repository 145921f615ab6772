// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/rational_root.hpp"

namespace loom {

RationalRoot rational_root(double low, double high, int poles) {
  RationalRoot root;
  const RootNodes nodes(low, high, poles);
  for (int i = 0; i < poles; ++i) {
    const RootPole pole = nodes[i];
    root.t.push_back(pole.t);
    root.c.push_back(pole.c);
  }
  root.error = root_error(high / low, poles);
  return root;
}

}  // namespace loom
