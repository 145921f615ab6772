// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom bench`: what this machine gives.
#include "fiberloom/cli/bench.hpp"

namespace fiberloom::cli {

Command make_bench() {
  return {.name = "bench",
          .text = "measure what this machine gives",
          .parts = {make_bench_night(), make_bench_gpu()}};
}

}  // namespace fiberloom::cli
