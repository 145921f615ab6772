// SPDX-License-Identifier: BSD-3-Clause
// What a reconstruction is asked for, and what it says afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loom/device/backend.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/runtime/usage.hpp"
#include "tomoloom/exchange/frame_source.hpp"
#include "tomoloom/exchange/image_stack.hpp"
#include "tomoloom/exchange/scan_window.hpp"
#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/prepare/phase.hpp"
#include "tomoloom/prepare/rings.hpp"
#include "tomoloom/prepare/stripe.hpp"
#include "tomoloom/reconstruct/filter.hpp"
#include "tomoloom/reconstruct/ray_engine.hpp"

namespace tomoloom {

enum class Method {
  kExact,
  kGridrec,
  kFbp,
  kSirt,
  kCgls,
  kMlem,
  kOsem,
  kTv,
  kTikh,
  kGrad,
  kPmlQuad,
  kPmlHybrid,
  kOspmlQuad,
  kOspmlHybrid,
  kBart,
  kArt
};
/// What the numbers of the scan are.
enum class InputKind { kCounts, kTransmissions, kIntegrals };

/// Whether each projection sees the whole body, or half of it with the axis near an end of the row.
enum class Acquisition { kFull, kHalf };

enum class VolumeFormat { kHdf5, kTiff, kZarr };

/// How the axis is looked for: in the transform of the whole turn, or in pairs of projections.
/// kLean: kTurn in bands of rows, and a line through what is found. kEntropy: the slice that has
/// the fewest different values.
enum class AxisSearch { kNone, kTurn, kPairs, kLean, kEntropy };

struct ReconJob {
  std::string scan, group = "exchange", output;
  std::string flats = {}, darks = {};  ///< stacks of images beside a scan that is one
  StackKind stack = StackKind::kProjections;
  std::string theta = {};  ///< degrees: FIRST:LAST or a file of them; empty: what the scan says
  std::string shifts = {}, weights = {};   ///< files of a number a projection
  std::string centres = {};                ///< file of the axis' column, a number a row
  std::vector<std::size_t> flats_at = {};  ///< projections that the sets of flats were taken before
  WindowChoice window = {};
  VolumeFormat format = VolumeFormat::kHdf5;
  int zarr_level = 0;  ///< of zlib in chunks of kZarr; 0: not packed
  Method method = Method::kExact;
  FilterChoice filter = {};                   ///< of kExact, kGridrec, kFbp
  std::string filter_weights = {};            ///< file of the weights of kCustom, kCustom2d
  std::size_t iterations = 100;               ///< of all but kExact, kGridrec, kFbp
  std::size_t blocks = 1;                     ///< of kOsem, kOspml..., kBart
  std::vector<std::size_t> block_order = {};  ///< of theirs, RayChoice's; of arrays alone
  double reg_par = 0;       ///< of kTv, kTikh, kPml..., kOspml...; length of kGrad's steps
  double reg_edge = 1;      ///< of kPmlHybrid, kOspmlHybrid
  Gram gram = Gram::kRays;  ///< of kSirt, kCgls, kTikh, kGrad, kTv
  /// Column of the axis on the detector; none: the middle of the row. Of a leaning axis where the
  /// detector's first row sees it, and where its last one does.
  std::optional<double> centre = {}, centre_last = {};
  AxisSearch search = AxisSearch::kNone;  ///< instead of a column
  double tilt_deg = 0;  ///< of the axis along the beam; of those that slice_plan.cpp names
  Acquisition acquisition = Acquisition::kFull;
  std::size_t first_row = 0;
  std::optional<std::size_t> end_row = {};  ///< none: all
  InputKind input = InputKind::kCounts;
  Averaging averaging = Averaging::kMean;
  bool dark_zero = false;  ///< the scan's darks are not read, and 0
  std::size_t air = 0;     ///< pixels at either end of a row that nothing is before; 0: not used
  double outlier = 0;      ///< of transmissions above their surroundings; 0: zingers stay
  std::size_t outlier_size = 3;
  PhaseChoice phase = {};  ///< of transmissions, before the logarithm
  StripeChoice stripe = {};
  RingChoice rings = {};            ///< removed from slices
  double mask = 1;                  ///< of the circle within a slice; 0: none
  std::uint64_t memory = 0;         ///< bytes; 0: what the machine grants
  Backend backend = Backend::kCpu;  ///< what prepares, and makes slices of kExact and kGridrec
  Overwrite overwrite = Overwrite::kYes;
  bool resume = false;  ///< keep what is done of an interrupted run, and go on from there
};

/// Pixels of the rows whose flats say little or nothing, rows of projections that do.
struct PixelFlaws {
  std::size_t blind = 0;      ///< flat not above dark
  std::size_t saturated = 0;  ///< flats at the end of the camera's range
  std::size_t unlit = 0;      ///< rows of projections that hold 0 alone where flats do not
  std::size_t no_number = 0;  ///< values of projections that are none, or beyond any sum
  /// Values of some projections: all of them, those not above their dark, those far above their
  /// flat.
  std::size_t looked_at = 0, dim = 0, bright = 0;

  PixelFlaws& operator+=(const PixelFlaws& other) noexcept {
    blind += other.blind;
    saturated += other.saturated;
    unlit += other.unlit;
    no_number += other.no_number;
    looked_at += other.looked_at;
    dim += other.dim;
    bright += other.bright;
    return *this;
  }
};

struct ReconSummary {
  ScanLayout layout;
  WindowChoice window;
  /// Rows and columns of the window.
  std::size_t first_row = 0, slices = 0, width = 0, grid = 0;
  PixelFlaws flaws;
  double centre = 0;
  StageTime read, compute, write;
  StageTime phase;           ///< of reading: what phase retrieval took, all threads together
  std::uint64_t memory = 0;  ///< bound that was held against the grant
  bool overlap = true;       ///< reading, computing and writing went on at the same time
  bool spooled = false;      ///< rows went through a temporary file
  std::size_t resumed = 0;   ///< slices that an earlier run had left

  // of the detector
  [[nodiscard]] double axis() const noexcept { return window.to_detector(centre); }
  [[nodiscard]] std::size_t row() const noexcept { return first_row * window.bin; }
};

}  // namespace tomoloom
