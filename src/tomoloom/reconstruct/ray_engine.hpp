// SPDX-License-Identifier: BSD-3-Clause
// Reconstruction of a group of slices by the pair A, A^T: filtered back projection, and methods
// that iterate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "loom/base/array.hpp"
#include "tomoloom/reconstruct/filter.hpp"
#include "tomoloom/reconstruct/ray_pair.hpp"
#include "tomoloom/reconstruct/ray_rows.hpp"

namespace tomoloom {

enum class RayMethod {
  kFbp,   ///< angles weighted by what they stand for, filtered on twice the line
  kSirt,  ///< x += C A^T R (b - A x), C and R one over the sums of A's columns and rows
  kCgls,  ///< conjugate gradients for min |A x - b|, from 0 on
  kMlem,  ///< x *= A^T (b / A x) / A^T 1: likelihood of counts b, from 1 on; negative b count as 0
  kOsem,  ///< the same with some of the angles after the other
  kArt,   ///< x += a (b_i - a x) / |a|^2 for one ray a of A after the other, from 0 on: Kaczmarz
  kBart,  ///< kSirt with some of the angles after the other
  kTikh,  ///< kCgls for min |A x - b|^2 + weight |x|^2
  kGrad,  ///< down the gradient of |A x - b|^2, from 0 on; weight: length of a step, 0: found
  kPmlQuad,      ///< kMlem with weight times the squares of differences between neighbours
  kPmlHybrid,    ///< with squares of small differences, absolute values of those beyond edge
  kOspmlQuad,    ///< with some of the angles after the other
  kOspmlHybrid,  ///< both
  kTv,           ///< min |A x - b|^2 / 2 + weight |gradient x|, by Chambolle and Pock, from 0 on
};

/// How A^T A is applied: ray by ray, or, of takes_convolution(), as a convolution.
enum class Gram { kRays, kFft };

struct RayChoice {
  RayMethod method = RayMethod::kFbp;
  std::size_t iterations = 100;
  FilterChoice filter = {};  ///< of kFbp
  std::size_t blocks =
      1;  ///< of kOsem, kOspml..., kBart: angles k, k + blocks, k + 2 blocks ... go together
  /// All angles, block after block, of which the first angles % blocks have one more; none: as
  /// above.
  std::vector<std::size_t> order = {};
  double weight = 0;        ///< of kTv, in the units of b; kTikh, kGrad, kPml...
  double edge = 1;          ///< of kPmlHybrid, kOspmlHybrid
  Gram gram = Gram::kRays;  ///< kFft: ConvolvedEngine's; RayEngine has kRays alone
};

/// With weights of angles the squares, or the likelihoods, of each angle's rays count so much; kFbp
/// as angle_shares() has it; kArt goes so far of each step, 0 to 1. Holds the memory of one group
/// at a time. Results depend neither on the executor nor, but for rounding, on which slices share a
/// group.
///
/// With an axis tilted along the beam the slices of a group are solved as one stack, as RayPair has
/// it, of all rows that see them (beyond the last row there is: of that one); what other rows would
/// see asks for nothing. Not kFbp, which TiltedEngine does, nor kArt, nor likelihoods.
template <class Real>
class RayEngine {
 public:
  /// Called before each iteration, from the caller's thread; what it throws ends the method.
  using BeforeRound = std::function<void(std::size_t iteration)>;

  RayEngine(const Geometry& geometry, const RayChoice& choice, Isa isa = active_isa());

  /// Of elements as RayPair has them. `sinogram` is used up. O(iterations) applications of A, A^T.
  void solve(Real* sinogram, Real* slice, Executor& executor, const BeforeRound& before = {});
  /// Up to kRaySlices slices; with the rows beside them, where the axis is tilted.
  void reconstruct(const StackView& projections, const VolumeView& slices, Executor& executor,
                   const BeforeRound& before = {});
  /// Memory of a group, beside what each thread takes.
  [[nodiscard]] static std::size_t group_bytes(const Geometry& geometry,
                                               const RayChoice& choice) noexcept;
  [[nodiscard]] static std::size_t thread_bytes(const Geometry& geometry) noexcept;

  [[nodiscard]] const RayPair<Real>& pair() const noexcept { return pair_; }

 private:
  RayEngine(const Geometry& geometry, std::vector<double> shares, const RayChoice& choice, Isa isa);
  void filter(Real* sinogram, Executor& executor) const;
  void find_sums(Executor& executor);
  /// line = A slice, 0 in rows that are not solved for.
  void see(const RayPair<Real>& pair, const Real* slice, Real* line, Executor& executor) const;
  void sirt(const Real* sinogram, Real* slice, Executor& executor, const BeforeRound& before);
  void art(const Real* sinogram, Real* slice, Executor& executor, const BeforeRound& before);
  void cgls(Real* sinogram, Real* slice, Executor& executor, const BeforeRound& before);
  void gradient(const Real* sinogram, Real* slice, Executor& executor, const BeforeRound& before);
  /// One over what each pixel sends to the rays of each block.
  std::vector<std::vector<Real>> block_scales(Executor& executor);
  void penalised(Real* slice, const std::vector<Real>& scale, Executor& executor);
  void likelihood(const Real* sinogram, Real* slice, Executor& executor, const BeforeRound& before);
  void total_variation(const Real* sinogram, Real* slice, Executor& executor,
                       const BeforeRound& before);

  RayChoice choice_;
  std::vector<std::size_t> order_;  ///< angles as they lie in sinograms: block after block
  RayPair<Real> pair_;
  std::vector<RayPair<Real>> parts_;  ///< of each block
  std::vector<double> scale_;         ///< of each angle as they lie: sinograms are multiplied by it
  std::vector<double> share_;         ///< of each angle: of the half turn (kFbp), of a step (kArt)
  std::optional<FilterResponse> response_;  ///< of kFbp
  const RayKernels<Real>& kernels_;
  fft::Plan<Real> forward_, back_;
  std::size_t seen_begin_ = 0, seen_end_;       ///< places in the stack, of rows solved for
  std::vector<Real> row_scale_, column_scale_;  ///< R and C, found when they are first wanted
  Buffer<Real> sinogram_, slice_, line_, step_, direction_;
  std::unique_ptr<RayRows<Real>> rays_;  ///< of kArt, made by its first group
  Buffer<Real> dual_, down_, right_;     ///< of kTv: of each ray, of each difference
};

extern template class RayEngine<float>;
extern template class RayEngine<double>;

}  // namespace tomoloom
