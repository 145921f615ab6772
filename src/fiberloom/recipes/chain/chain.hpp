// SPDX-License-Identifier: BSD-3-Clause
// From a night's frames to its catalogue: which steps follow from the exposures that are there.
// The tree is made of files and exposure types alone; how a step is done stands in step_kind.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/calibrate_frame.hpp"
#include "fiberloom/recipes/chain/step_options.hpp"
#include "fiberloom/recipes/chain/steps.hpp"
#include "fiberloom/recipes/night/night.hpp"
#include "fiberloom/recipes/redshift/redshift_job.hpp"

namespace fiberloom::chain {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): a chain is a batch of steps

/// What a night does beyond its frames.
struct ChainRequest {
  Step until = Step::kExtract;
  std::optional<Step> only;        ///< this step alone, of files that are there
  std::vector<std::string> tasks;  ///< of the tree these alone; empty: all
  std::string flats;  ///< folder of fiberflatnight-CAM-*.fits or fiberflat-CAM-*.fits that
                      ///< take the place of the night's own; empty: none
  std::string stars;  ///< folder of stdstars-PETAL-EXPID.fits; empty: they are fitted
  std::string models, passbands;  ///< of standard stars, as `stdstars` takes them
  std::string averages;   ///< folder of fluxcalib-CAM-*.fits that are scaled where stars are too
                          ///< faint; empty: none
  std::string desimodel;  ///< folder: depth, and what fibres lose of light; empty: neither
  bool desimodel_asked = false;  ///< by name; else it is $DESIMODEL, and what it lacks a warning
  std::string catalogue;         ///< path or URL of a database; empty: OUT/catalogue.sqlite
  bool writes = true;            ///< not where only the tree is shown
  RedshiftJob redshift;          ///< templates; its paths of spectra are not used
  AllStepOptions options;        ///< of the steps, beside those of frames
};

/// The database of the last step, a URL or an absolute path.
[[nodiscard]] std::string database_of(const ChainRequest& request, const std::string& output);

/// Whether the chain that is asked for has such a step: not one whose files come from elsewhere.
[[nodiscard]] bool has_step(const ChainRequest& request, Step step);

/// Throws kUsage where a step lacks what it needs from elsewhere.
void check(const ChainRequest& request);

/// Tasks of the frames, which were found in `output`, and of all that is made of them, as the
/// request has it. A lamp's frames become flats, those of a field go on to redshifts; others are
/// passed over with a line. Reads headers of images; one that cannot be read is a field's, and its
/// extraction says what is wrong.
[[nodiscard]] std::vector<Task> plan_chain(std::vector<Task> frames, const std::string& output,
                                           night::Compress compress, const ChainRequest& request,
                                           const Observer& observer);

/// The same for a folder that fills: exposures of which a frame is still `arriving` are left out
/// until it is there. What is said once is not said again.
[[nodiscard]] night::GrowingSource::Grow grow_chain(const std::string& output,
                                                    night::Compress compress,
                                                    const ChainRequest& request,
                                                    const Observer& observer);

/// The night as such a chain. What it prints of its plan goes to `observer`.
void extend(night::NightJob& job, const ChainRequest& request, const Observer& observer);

}  // namespace fiberloom::chain
