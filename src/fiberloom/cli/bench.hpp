// SPDX-License-Identifier: BSD-3-Clause
// The benchmarks of `fiberloom bench`, one file each.
#pragma once

#include "fiberloom/cli/command.hpp"

namespace fiberloom::cli {

[[nodiscard]] Command add_bench_night(CLI::App& bench);
[[nodiscard]] Command add_bench_gpu(CLI::App& bench);

}  // namespace fiberloom::cli
