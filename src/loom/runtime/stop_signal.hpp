// SPDX-License-Identifier: BSD-3-Clause
// SIGINT, SIGTERM and SIGHUP as a question that the work asks between tasks.
#pragma once

namespace loom {

/// From now on the first SIGINT, SIGTERM or SIGHUP only sets a flag; the second of its kind ends
/// the process. A SIGHUP that is ignored (nohup) stays so.
void catch_stop_signals() noexcept;

/// From now on a write to a pipe whose reader has gone, or beyond a file size limit, fails with its
/// own error and ends nothing: files in work are finished, or their temporaries removed.
void ignore_write_signals() noexcept;

/// Has one come? Safe from any thread; meant for Observer::stop_requested.
[[nodiscard]] bool stop_signal_received() noexcept;

}  // namespace loom
