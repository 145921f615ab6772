// SPDX-License-Identifier: BSD-3-Clause
// The benchmarks of `fiberloom bench`, one file each.
#pragma once

#include "fiberloom/cli/command.hpp"

namespace fiberloom::cli {

[[nodiscard]] Command make_bench_night();
[[nodiscard]] Command make_bench_gpu();

}  // namespace fiberloom::cli
