// SPDX-License-Identifier: BSD-3-Clause
// Sweeps and roots of a frame on the device: which bundles with which band, in batches that fit the
// memory, over the whole axis and then over the parts of it that ask for a wider band; the rules
// are those of recipe.hpp and parts.hpp.
#pragma once

#include <optional>

#include "fiberloom/extract/exact/gpu/frame.hpp"
#include "fiberloom/extract/exact/parts.hpp"

namespace fiberloom::exact::gpu {

class RootStage {
 public:
  explicit RootStage(DeviceFrame& frame);
  /// The first sweeps, on the frame's side; needs its normal equations.
  void begin();
  /// The rest, and the first sweeps where they have not begun; needs the frame's solution, with
  /// which they were waited for.
  void run();
  [[nodiscard]] static std::size_t least_bytes(const DeviceFrame& frame);
  /// All bundles at once, and so many poles of each window.
  [[nodiscard]] static std::size_t full_bytes(const DeviceFrame& frame, int poles);

 private:
  /// What one bundle is to be tried with next.
  struct Attempt {
    int bundle, band, skirt;
    BinRange part{0, 0};  ///< of the axis; empty: all of it
    int length = 0;       ///< bins of the part's own axis, with its skirts; 0: not known yet
    [[nodiscard]] bool is_part() const { return part.last > part.first; }
    /// Bins that it needs of its axis.
    [[nodiscard]] int own_length() const { return part.last - part.first + 2 * skirt; }
    /// Where its axis begins.
    [[nodiscard]] int origin() const { return is_part() ? part.first - skirt : 0; }
  };
  /// One fibre of a batch.
  struct Place {
    int fiber, attempt;  ///< of the frame; index into the batch's attempts
    double high = 0, low = 0, signal = 0;
    double allowed = 0;                 ///< of what bands may cut off
    double truncation[kMostKept] = {};  ///< for each kept band
    double widest_truncation = 0;       ///< for the last of them
    double left_truncation = 0;         ///< of bins that were left out
    int root_band = 0;                  ///< 0: not decided
    double chosen = 0;                  ///< truncation of the root's band
  };
  /// What sweeps and roots work on: the frame, or parts of it beside each other.
  struct Axis {
    Shape shape;
    Cut sweep;
    Packs x, ones;  ///< by place
  };
  /// Places are in the order of PlaceView.
  struct Batch {
    std::vector<Attempt> attempts;
    std::vector<Place> places;
    std::vector<int> fibers;    ///< of each attempt
    std::vector<int> place_of;  ///< as PlaceView has it
    std::vector<int> kept;      ///< candidates, the last is the band itself
    Axis axis;
    Cut cut;
    int band = 0;
  };
  /// A batch whose S is there, or will be.
  struct Swept {
    Batch batch;
    SweepBeginArgs args{};
    Arena scratch;  ///< behind it
  };
  /// What is known of an attempt, or of a bundle.
  struct Sums {
    double kappa = 1, truncation = 0, root_error = 0, seam = 0;
    int poles = 0, band = 0;
    bool out = false;  ///< given up: tried again or left to the CPU
    BinRanges left;    ///< bins that were left out
    double left_truncation = 0;
    void add(const Sums& part);
  };
  /// How far a bundle has come.
  struct Progress {
    bool may_leave = false;  ///< bins may be left out
    Attempt whole{};         ///< the last over the whole axis
    Sums sums, with_parts;
    int part_try = 0, parts_open = 0;
  };

  [[nodiscard]] static Cut root_cut(const Problem& problem, const Attempt& attempt);
  [[nodiscard]] static Axis axis_of(const DeviceFrame& frame, int length);
  [[nodiscard]] std::vector<Attempt> take_batch(std::vector<Attempt>& pending) const;
  /// Whether two may be in one batch.
  [[nodiscard]] bool alike(const Attempt& a, const Attempt& b) const;
  /// Of sweeps; `rest`: where what comes later begins.
  [[nodiscard]] static std::size_t sweep_bytes(const DeviceFrame& frame,
                                               const std::vector<Attempt>& attempts, Arena* rest);
  [[nodiscard]] static std::size_t batch_bytes(const DeviceFrame& frame,
                                               const std::vector<Attempt>& attempts);
  static SweepBeginArgs sweep_arrays(const DeviceFrame& frame, const Axis& axis,
                                     const std::vector<Attempt>& attempts, Arena& arena,
                                     Arena* after_s);
  static RootArgs root_arrays(const DeviceFrame& frame, const Axis& axis, int count, int band,
                              const Cut& cut, Arena& arena);
  static TakeArgs take_arrays(const DeviceFrame& frame, std::size_t count, Arena& arena);
  static std::size_t pole_bytes(const DeviceFrame& frame, int band, const Cut& cut, long tasks);
  static int row_count(const Cut& cut, int* first);

  [[nodiscard]] Batch make_batch(std::vector<Attempt> attempts) const;
  void arrange();
  void attempt(Swept& swept);
  [[nodiscard]] Swept sweep(Stream& on, std::vector<Attempt> attempts, Arena scratch);
  void send_sweep(const Batch& batch, const SweepBeginArgs& args);
  [[nodiscard]] SweepMergeArgs send_merge(const Batch& batch, const SweepArgs& args,
                                          Arena& scratch);
  std::vector<RootState> prove(const RootArgs& root);
  void bound(Batch& batch, const RootArgs& root);
  void bound_again(Batch& batch, const RootArgs& root, const std::vector<char>& who);
  void note_bounds(const RootState& state, Place& place) const;
  void measure(Batch& batch, const RootArgs& root);
  [[nodiscard]] bool is_too_narrow(const Batch& batch, const Place& place) const;
  void judge(const Batch& batch);
  void narrow(Batch& batch, const RootArgs& wide, Arena scratch);
  std::vector<int> choose_poles(const Batch& batch, const RootArgs& root,
                                const std::vector<std::size_t>& place_of, PoleArgs& poles,
                                Arena& scratch);
  void take_poles(Batch& batch, const RootArgs& root, const std::vector<std::size_t>& place_of,
                  Arena scratch);
  void send_lengths(const Batch& batch, PoleArgs& poles, Arena& scratch);
  void send_places(const Batch& batch, const std::vector<std::size_t>& place_of,
                   const TakeArgs& take);
  void finish(const Batch& batch);
  void report(int bundle, const Sums& sums);
  void widen(const Attempt& a, double truncation);
  void scatter();

  // root_parts.cpp
  [[nodiscard]] std::vector<char> may_leave(const Batch& batch) const;
  void leave(Batch& batch, const RootArgs& root, const PlaceView& places, Arena scratch);
  void note_left(const Batch& batch, const LeaveArgs& args, Arena scratch);
  void ask_for_parts(const Batch& batch);
  void sweep_ahead(const Batch& now, Arena& scratch);
  void begin_parts(int bundle, int attempt);
  void end_part(int bundle, const Sums& sums);
  [[nodiscard]] static int part_length(int bins);
  [[nodiscard]] bool has_band(const Attempt& a) const;
  void ask(const Attempt& next);
  static void set_lengths(std::vector<Attempt>& pending);

  DeviceFrame& f_;
  const Problem& p_;
  Stream& stream_;
  const DeviceKernels& k_;
  std::vector<Sums> sums_;  ///< of the batch's attempts
  std::vector<Progress> progress_;
  std::vector<Attempt> pending_;
  std::optional<Swept> begun_;
  std::vector<double> solve_error_;  ///< by bundle
};

}  // namespace fiberloom::exact::gpu
