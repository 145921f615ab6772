// SPDX-License-Identifier: BSD-3-Clause
// Phase retrieval from one distance: what fringes a body of one material adds to a transmission on
// the way to the detector is taken away by a low-pass filter (Paganin et al. 2002).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/fft/any_plan.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

enum class Phase {
  kNone,
  kPaganin,  ///< frequencies of the transform, padded as far as the filter reaches
  kTomopy,   ///< TomoPy's: frequencies half a step off, padded to a power of two
};

/// H(f) = alpha / (lambda z f^2 / (4 pi) + alpha), f in cycles a centimetre. Of a body of one
/// material with refractive index 1 - delta + i beta, alpha = beta / (4 pi^2 delta).
struct PhaseChoice {
  Phase method = Phase::kNone;
  double energy_kev = 20;
  double distance_cm = 50;  ///< from body to detector
  double pixel_cm = 1e-4;
  double alpha = 1e-3;
  double delta_beta = 0;  ///< above 0: alpha follows from it
  bool unpadded = false;  ///< of kTomopy
};

/// beta / (4 pi^2 delta), or what was given for it.
[[nodiscard]] double phase_alpha(const PhaseChoice& choice);
/// lambda z / (4 pi), square centimetres.
[[nodiscard]] double fringe_area(const PhaseChoice& choice);

/// Pixels beyond which the filter's kernel is below 1e-7 of its sum; at most `most`.
[[nodiscard]] std::size_t phase_reach(const PhaseChoice& choice, std::size_t most);

/// An axis of projections as it is transformed: padded with what is at its ends.
struct PhaseAxis {
  std::size_t size = 0, before = 0, padded = 0;
  /// lambda z f^2 / (4 pi) of frequency k, and of frequency -k.
  std::vector<float> plus, minus;
  [[nodiscard]] float least() const;
};
/// Throws kUsage where the padding has no bounds.
[[nodiscard]] PhaseAxis phase_axis(const PhaseChoice& choice, std::size_t size, std::size_t reach);

/// What makes the filter 1 where it is largest, with the factor of the transforms.
[[nodiscard]] float phase_scale(const PhaseAxis& along, const PhaseAxis& across, float alpha);

/// Projections of one size, two at a time. O(n log n) of the padded size.
class PhaseFilter {
 public:
  PhaseFilter(const PhaseChoice& choice, std::size_t rows, std::size_t columns,
              Isa isa = active_isa());

  /// Rows [first, first + count) of both, filtered, from whole projections [row][column]; `in` and
  /// `out` may be the same. `second` may be empty. The same bytes for any executor.
  struct Images {
    std::span<const float> first_in, second_in;
    std::span<float> first_out, second_out;
  };
  void run(const Images& images, std::size_t first, std::size_t count, Executor& executor);

  /// What it takes, all threads together.
  [[nodiscard]] static std::uint64_t bytes(const PhaseChoice& choice, std::size_t rows,
                                           std::size_t columns, std::size_t threads);

 private:
  void rows_there(const Images& images, std::size_t group);
  void columns_filtered(std::size_t group);
  void rows_back(const Images& images, std::size_t first, std::size_t count, std::size_t group);
  /// Where row `row` of a group of frequencies stands.
  [[nodiscard]] float* spectrum(std::size_t group, std::size_t row) noexcept;

  float alpha_;
  PhaseAxis row_axis_, column_axis_;  ///< along the columns of a projection; along its rows
  fft::AnyPlan<float> along_, along_back_, across_, across_back_;
  std::size_t groups_;           ///< of kBatch frequencies along a row
  std::vector<float> spectrum_;  ///< [group][row] elements
};

/// The same by plain sums in double precision: O(n) for each pixel and axis.
void retrieve_phase_plainly(const PhaseChoice& choice, std::size_t rows, std::size_t columns,
                            std::span<float> projection);

}  // namespace tomoloom
