// SPDX-License-Identifier: BSD-3-Clause
// The coarse scan: chi2 of every target, template and redshift.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fiberloom/redshift/fitter.hpp"
#include "fiberloom/redshift/grid.hpp"
#include "fiberloom/redshift/prior.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::redshift {

enum class ScanMode {
  kExact,  ///< each fibre's own resolution at every redshift
  kFast,   ///< the targets' mean resolution folded into the templates: products of matrices (of
           ///< three targets or fewer: kExact, which costs less)
};

/// What becomes of redshifts at which a template does not reach over all wavelengths.
enum class Coverage {
  kRequire,  ///< kTemplateRange, as the peer
  kTrim,     ///< they are left out; a template without any is left out
  /// Where a template reaches ScanOptions::least_coverage of the pixels it is fitted to these; a
  /// smooth spectrum stands for it on the others. Wants add_smooth_reference().
  kPartial,
};

struct ScanOptions {
  ScanMode mode = ScanMode::kFast;
  Coverage coverage = Coverage::kTrim;
  double least_coverage = 0.5;  ///< of kPartial
  FitOptions fit{};
  /// Steps wider than this get redshifts in between; 0: the template's own grid.
  double step_kms = 0;
  bool keep_coefficients = false;  ///< Curve::coefficients
};

/// One template's share of a scan.
struct Curve {
  std::unique_ptr<Fitter> fitter;
  std::vector<double> z;
  Array2D<double> chi2, penalty;  ///< [target][z]
  Array3D<float> coefficients;    ///< [target][z][vector]; empty unless they were asked for
  Array2D<double> evidence;       ///< likewise; empty where it is not asked for
};

/// Who makes the values of a fast scan instead of the CPU (gpu/device_scan.hpp). Thread-safe.
class FastScanner {
 public:
  FastScanner() = default;
  FastScanner(const FastScanner&) = delete;
  FastScanner& operator=(const FastScanner&) = delete;
  virtual ~FastScanner() = default;
  /// Fills the curves' values, whose arrays have their sizes; false: the CPU has to. Throws
  /// kDevice.
  [[nodiscard]] virtual bool scan(const TargetSet& set, std::span<Curve> curves,
                                  Executor& executor) = 0;
};

/// One curve a template, in the order of the set. The values do not depend on the executor; those
/// of kFast depend on who is in the set, by less than `refine` has to care about, and are made by
/// `scanner` where it is not null. `templates` and `set` must outlive the curves. Throws
/// kTemplateRange, kUnsupported, and what the scanner throws.
[[nodiscard]] std::vector<Curve> scan(const TargetSet& set, const TemplateSet& templates,
                                      const ScanOptions& options, Executor& executor,
                                      FastScanner* scanner = nullptr);

/// Puts a fit of a target at the redshifts from `first` on into the curve.
void store(const PackFit& fit, std::size_t target, std::size_t first, Curve& curve);

/// Fitters and grids without values: where chi2 comes from elsewhere.
[[nodiscard]] std::vector<Curve> empty_curves(const TargetSet& set, const TemplateSet& templates,
                                              const ScanOptions& options, Executor& executor);

}  // namespace fiberloom::redshift
