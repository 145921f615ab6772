// SPDX-License-Identifier: BSD-3-Clause
// One frame on the device, step by step: the host side of the kernels. Says which arrays there are,
// launches, and decides what depends on results. Knows no CUDA: kernels and stream are handed in.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fiberloom/extract/exact/gpu/kernels.hpp"
#include "fiberloom/extract/exact/gpu/mailbox.hpp"
#include "fiberloom/extract/exact/gpu/problem.hpp"
#include "loom/device/device_stage.hpp"

namespace fiberloom::exact::gpu {

/// Bytes of device memory that a frame needs: what stays, and what steps use in turn.
struct FrameNeeds {
  std::size_t fixed = 0;
  std::size_t least_scratch = 0;  ///< one bundle at a time, the widest band
  std::size_t full_scratch = 0;   ///< everything at once, the sweeps beside the solve
  // where roots have their own: of all else, and what they take at least to be worth it
  std::size_t beside_roots = 0, roots = 0;
  std::size_t upload = 0;  ///< page-locked host memory beside the pixels
  std::size_t mail = 0;    ///< the same for the mailbox
};
[[nodiscard]] FrameNeeds frame_needs(const Problem& problem, bool pixels_are_double,
                                     bool want_model);

/// Results by device bundle.
struct BundleOutcome {
  BundleReport report;
  std::string to_cpu;  ///< not empty: the device gave up, and why
};

class RootStage;

/// Sweeps need the normal equations alone, roots need no diagnostics. So where the memory holds
/// both, sweeps run on the stream's side beside the solve, and diagnostics there beside the roots;
/// else one after the other.
class DeviceFrame {
 public:
  /// `needs`: frame_needs(). `memory` of `bytes`: at least fixed + least_scratch; `mail`:
  /// page-locked, FrameNeeds::mail.
  /// All must outlive this. `observer` is asked for a stop between launches. `shared_bytes`: what
  /// the threads of a block may share.
  DeviceFrame(const Problem& problem, bool pixels_are_double, bool want_model, Stream& stream,
              const DeviceKernels& kernels, const Observer& observer, const FrameNeeds& needs,
              void* memory, std::size_t bytes, std::span<std::byte> mail, std::size_t shared_bytes);
  ~DeviceFrame();

  /// Copies pixels ([npix_y][npix_x]) and geometry. All three point to page-locked memory that
  /// stays until the next synchronization; `spare` has upload_bytes().
  void upload(const void* image, const void* ivar, void* spare);
  [[nodiscard]] std::size_t upload_bytes() const;
  void assemble();
  void solve();
  void diagnose();
  /// Sweeps and roots; fills in the reports.
  void decorrelate();
  /// Goodness of fit into the reports; after diagnose(), waits.
  void report_fits();

  [[nodiscard]] const std::vector<BundleOutcome>& outcomes() const { return outcomes_; }
  [[nodiscard]] const ResultView& result() const { return result_; }
  [[nodiscard]] std::size_t result_values() const;
  /// [nbundle][rows][strip_pitch], where a model is wanted.
  [[nodiscard]] const float* model() const { return model_; }
  [[nodiscard]] std::size_t strip_values() const;
  [[nodiscard]] std::size_t chi2_values() const;

 private:
  friend FrameNeeds frame_needs(const Problem&, bool, bool);
  friend class RootStage;
  DeviceFrame(const Problem& problem, bool pixels_are_double, bool want_model);
  DeviceFrame(const DeviceFrame&) = delete;

  void lay_out(Arena& arena);
  void clear(Stream& on, const Packs& array, long lanes);
  [[nodiscard]] std::size_t image_bytes() const;
  void upload_image(void* columns, const void* host);
  [[nodiscard]] SpotStore store_of(int first_bundle, int last_bundle, Arena& scratch) const;
  void make_spots(Stream& on, const SpotStore& store);
  void multiply(const SpotStore& store, int first_bundle, int last_bundle);
  /// Bundles [first, last) of the group that begins at `first`.
  [[nodiscard]] int group_end(int first) const;
  [[nodiscard]] std::size_t group_bytes(int first, int last) const;
  [[nodiscard]] std::size_t solve_bytes() const;
  [[nodiscard]] std::size_t full_bytes() const;
  CgArgs solve_arrays(Arena& scratch) const;
  void conjugate_gradients();
  MedianArgs median_arrays(Arena& scratch) const;
  void add_prior();
  void lay_out_fits(Arena& arena);
  [[nodiscard]] DiagnoseArgs diagnose_arrays(int first, int last, const SpotStore& store,
                                             Arena& scratch) const;
  [[nodiscard]] FitArgs fit_arrays(const DiagnoseArgs& args, Arena& scratch) const;
  [[nodiscard]] std::size_t fit_parts(int bundles) const;
  void solve_own(CgArgs& args, const Slots& fibers, const Packs& from, const Packs& to);
  void dot(CgArgs& args, const Packs& a, const Packs& b);
  bool any_active(const CgArgs& args, std::vector<CgState>& states);

  const Problem& p_;
  bool double_pixels_, want_model_;
  Stream *stream_ = nullptr, *side_ = nullptr;  ///< the same where nothing goes beside
  const DeviceKernels* k_ = nullptr;
  const Observer* observer_ = nullptr;
  std::size_t shared_bytes_ = 0;
  Mailbox mail_;
  Arena scratch_, root_scratch_;  ///< the same as well
  Shape shape_;
  CcdView ccd_{};
  TraceView trace_{};
  NormalView n_;
  Packs x_, roots_;  ///< solution; what roots are by bin, as TakeArgs has them
  ResultView result_{};
  double* median_ = nullptr;
  SpotArgs spot_args_{};
  double* width_ = nullptr;
  int *live_first_ = nullptr, *live_last_ = nullptr, *direction_ = nullptr, *strip_x_ = nullptr;
  int *solve_fiber_ = nullptr, *solve_step_ = nullptr;
  int *fit_first_ = nullptr, *fit_last_ = nullptr;
  unsigned* fit_counts_ = nullptr;  ///< [nbundle][kFitBins]
  double* fit_sums_ = nullptr;      ///< [nbundle][kFitSums]
  float* model_ = nullptr;
  void *image_ = nullptr, *ivar_ = nullptr;
  SpotStore kept_{};  ///< spots of the whole frame, where there is room for them
  Arena after_spots_;
  std::vector<BundleOutcome> outcomes_;
  std::unique_ptr<RootStage> roots_stage_;
};

/// A pack array taken from an arena.
[[nodiscard]] inline Packs take_packs(Arena& arena, long lanes, long rows, int width) {
  return {arena.take<double>(static_cast<std::size_t>(Packs::size(lanes, rows, width))), rows,
          width};
}
/// Index into the tables of bands.
[[nodiscard]] int band_index(int band);

}  // namespace fiberloom::exact::gpu
