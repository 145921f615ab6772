// SPDX-License-Identifier: BSD-3-Clause
// From a folder, a list or a job file to the frames of an exposure or a night. Looks at names and
// sizes, opens one PSF a camera for its number of fibres; decides nothing about what is done.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/frame_task.hpp"

namespace fiberloom::night {

/// Grid and PSF error of a band in production.
struct BandSetup {
  std::array<double, 3> wave{};  ///< wmin, wmax, step, Angstrom
  double psferr = 0.01;
  bool own_psferr = false;  ///< a job file says it of this band: more than what it says of all
};

enum class Compress { kNo, kYes };

/// A page of each frame (`fiberloom report`) beside it, made with the frame?
enum class Reports { kNo, kYes };

/// A frame named one by one, in a job file or a list. Empty members follow the rules.
struct NamedFrame {
  std::string image, psf, output, camera, night;
  long expid = -1;
};

/// What to look for, and how each frame is to be made.
struct FrameRequest {
  std::string input;   ///< folder (tree or flat), or a text file of image paths
  std::string output;  ///< folder
  /// {night} {expid} {camera}; empty: psf-CAM-EXPID.fits or psf-CAM.fits[.gz] beside the image or
  /// one folder up
  std::string psf_pattern;
  std::vector<std::string> cameras;  ///< empty: all
  std::vector<long> exposures;       ///< empty: all
  Compress compress = Compress::kNo;
  Reports reports = Reports::kNo;
  ExtractJob job;  ///< options of every frame; its paths are not used; wave and psferr (< 0) unset:
                   ///< those of the band
  std::map<char, BandSetup> bands = production_bands();
  std::vector<NamedFrame> frames;  ///< beside what `input` holds
  std::set<std::string> skip;      ///< names of frames to leave out
  std::set<std::string> fixed;     ///< keys that a job file does not set: "options.nspec"

  [[nodiscard]] static std::map<char, BandSetup> production_bands();
};

/// Frames by exposure, and within one by cost, dearest first. Two images of one frame in a folder
/// are one task that will fail (FrameTask::twin). Throws kNotFound when the input is not there,
/// kUsage when two named frames are one or a name cannot be understood.
[[nodiscard]] std::vector<FrameTask> find_frames(const FrameRequest& request);

/// preproc-CAM-EXPID.fits[.gz|.fz] taken apart; camera empty when the name is no such.
struct FrameName {
  std::string camera, expid;
};
[[nodiscard]] FrameName parse_frame_name(const std::string& file_name);

/// Is an input of this name a job file (.toml), no list of images?
[[nodiscard]] bool is_job_file(const std::string& path);

}  // namespace fiberloom::night
