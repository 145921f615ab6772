// SPDX-License-Identifier: BSD-3-Clause
// Sweeps and roots of a frame on the device: which bundles with which band, in batches that fit the
// memory; the rules are those of recipe.hpp.
#pragma once

#include "fiberloom/extract/exact/gpu/frame.hpp"

namespace fiberloom::exact::gpu {

class RootStage {
 public:
  explicit RootStage(DeviceFrame& frame);
  void run();
  [[nodiscard]] static std::size_t least_bytes(const DeviceFrame& frame);
  [[nodiscard]] static std::size_t full_bytes(const DeviceFrame& frame);

 private:
  /// What one bundle is to be tried with next.
  struct Attempt {
    int bundle, band, skirt;
  };
  /// One fibre of a batch.
  struct Place {
    int fiber, bundle;  ///< of the frame; index into the batch's attempts
    double high = 0, low = 0, signal = 0;
    double allowed = 0;              ///< of what bands may cut off
    std::vector<double> truncation;  ///< for each kept band
    int root_band = 0;               ///< 0: not decided
    double chosen = 0;               ///< truncation of the root's band
  };
  struct Batch {
    std::vector<Attempt> attempts;
    std::vector<Place> places;
    std::vector<int> kept;  ///< candidates, the last is the band itself
    Cut cut;
    int band = 0;
  };
  [[nodiscard]] static Cut root_cut(const Problem& problem, int skirt);
  [[nodiscard]] std::vector<Attempt> take_batch(std::vector<Attempt>& pending) const;
  [[nodiscard]] static std::size_t batch_bytes(const DeviceFrame& frame,
                                               const std::vector<int>& bundles, int band,
                                               int skirt);
  static SweepArgs sweep_arrays(const DeviceFrame& frame, const std::vector<int>& bundles, int band,
                                Arena& arena, Arena* after_s);
  static RootArgs root_arrays(const DeviceFrame& frame, int count, int band, const Cut& cut,
                              Arena& arena);
  static std::size_t pole_bytes(const DeviceFrame& frame, int band, const Cut& cut, long tasks);
  static int row_count(const Cut& cut, int* first);

  void attempt(std::vector<Attempt> attempts, std::vector<Attempt>& again);
  Packs sweep(const Batch& batch, Arena& scratch);
  std::vector<RootState> prove(const RootArgs& root);
  void judge(Batch& batch, const RootArgs& root, std::vector<Attempt>& again);
  void narrow(Batch& batch, const Packs& s, Arena scratch);
  struct Poles;
  Poles choose_poles(const Batch& batch, int band, const std::vector<std::size_t>& place_of);
  void take_poles(Batch& batch, const RootArgs& root, const std::vector<std::size_t>& place_of,
                  Arena scratch);
  void finish(Batch& batch, std::vector<Attempt>& again);

  struct Sums {
    double kappa = 1, truncation = 0, root_error = 0, seam = 0;
    int poles = 0;
    bool out = false;  ///< given up: tried again or left to the CPU
  };
  DeviceFrame& f_;
  const Problem& p_;
  Stream& stream_;
  const DeviceKernels& k_;
  std::vector<Sums> sums_;           ///< of the batch's attempts
  std::vector<double> solve_error_;  ///< by bundle
};

}  // namespace fiberloom::exact::gpu
