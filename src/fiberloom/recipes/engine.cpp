// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/engine.hpp"

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/extract/oversample.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

bool needs_cpu(const PsfModel& psf, const ExtractOptions& options) {
  return refines(options) || options.fluxes_only || options.decorrelate_fibers ||
         options.fiber_correlation || !options.fiber_wave.empty() || psf.shape;
}

ExtractResult Engine::extract(const CcdFrame& ccd, const PsfModel& psf,
                              const ExtractOptions& options, Executor& executor,
                              const Observer& observer, Tracer* tracer) const {
  if (refines(options) && method_ == Method::kPatch) {
    throw Error(
        Status::kUnsupported,
        "--model-variance and --reject are of the exact method; --method patch has neither");
  }
  if (options.fiber_correlation && method_ == Method::kPatch) {
    throw Error(Status::kUnsupported,
                "--fiber-correlation is of the exact method; --method patch has none");
  }
  if (!options.fiber_wave.empty() && method_ == Method::kPatch) {
    throw Error(Status::kUnsupported,
                "a grid for each fibre is of the exact method; --method patch has one grid");
  }
  if (options.oversample > 1) {
    return coarser_result(extract(ccd, psf, finer_options(options), executor, observer, tracer),
                          options);
  }
  if (device_ != nullptr && !needs_cpu(psf, options))
    return device_->extract(ccd, psf, options, executor, observer, tracer);
  if (device_ != nullptr) {
    observer.info(
        "done by the CPU: --model-variance, --reject, --decorrelate-fibers, "
        "--fiber-correlation, grids of each fibre and PSFs other than GAUSS-HERMITE have no device "
        "code");
  }
  const auto engine = method_ == Method::kExact ? extract_exact : extract_patch;
  return engine(ccd, psf, options, executor, observer, tracer);
}

}  // namespace fiberloom
