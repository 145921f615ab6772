// SPDX-License-Identifier: BSD-3-Clause
// SIGINT and SIGTERM as a question that the work asks between tasks.
#pragma once

namespace fiberloom {

/// From now on the first SIGINT or SIGTERM only sets a flag; the second of its kind ends the
/// process.
void catch_stop_signals() noexcept;

/// Has one come? Safe from any thread; meant for Observer::stop_requested.
[[nodiscard]] bool stop_signal_received() noexcept;

}  // namespace fiberloom
