// SPDX-License-Identifier: BSD-3-Clause
// What a night would take on many nodes: measured stage times of one node, the real Dispatcher, and
// fluid models of what is shared (the file system by all, the cores by the frames of a node). Knows
// no clock but its own.
#pragma once

#include <vector>

namespace fiberloom::bench {

/// One kind of frame (a camera), as measured.
struct FrameKind {
  double compute_core_s = 1;
  double io_core_s = 0.2;  ///< reading and writing: unpacking, copying, packing
  double bytes_in = 200e6, bytes_out = 100e6;
  int bundles = 20;
};

struct Cluster {
  int nodes = 8;
  double cores = 64;             ///< of a node
  double shared_bytes_s = 1e11;  ///< the file system, all nodes together
  double node_bytes_s = 5e9;     ///< what one node can take from it
  int frames_in_flight = 8;      ///< of a node: its memory
  double message_s = 3e-5;       ///< rank 0 on one message
  double latency_s = 3e-3;       ///< an ask and its answer, polling included
  double part_overhead_s = 0.1;  ///< DispatchOptions
  double start_s = 0.5;          ///< until the ranks know each other
};

struct Forecast {
  double wall_s = 0;
  double cores_busy = 0;    ///< fraction
  double storage_busy = 0;  ///< fraction of shared_bytes_s
  double desk_busy = 0;     ///< fraction of rank 0's main thread
  long units = 0, frames = 0;
};

/// `frames`: kinds by index, in the order in which they would be found.
[[nodiscard]] Forecast forecast(const Cluster& cluster, const std::vector<FrameKind>& kinds,
                                const std::vector<int>& frames);

}  // namespace fiberloom::bench
