// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/coadd/coadd_spectra.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "fiberloom/calibrate/coadd.hpp"
#include "fiberloom/calibrate/resample.hpp"
#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/recipes/calibration_steps.hpp"
#include "fiberloom/recipes/flux_unit.hpp"
#include "fiberloom/recipes/frame_header.hpp"
#include "fiberloom/recipes/redshift/copied_light.hpp"
#include "fiberloom/recipes/redshift/exposure_rows.hpp"
#include "fiberloom/recipes/redshift/exposure_status.hpp"
#include "fiberloom/recipes/redshift/lost_columns.hpp"
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"
#include "fiberloom/recipes/version.hpp"
#include "fiberloom/spectrum/same_wave.hpp"
#include "fiberloom/spectrum/scores.hpp"
#include "fiberloom/spectrum/whole_ids.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

template <class T>
void append(Array2D<T>& to, const Array2D<T>& from) {
  Array2D<T> both(to.rows() + from.rows(), from.cols());
  std::copy(to.data(), to.data() + to.size(), both.data());
  std::copy(from.data(), from.data() + from.size(), both.data() + to.size());
  to = std::move(both);
}

Array2D<std::uint32_t> mask_or_none(const Spectra& s) {
  return s.mask.empty() ? Array2D<std::uint32_t>(s.nspec(), s.nwave(), 0U) : s.mask;
}

/// Rows of one camera of another file below those that are there.
void append(Spectra& to, const Spectra& from, const std::string& path, const std::string& camera) {
  if (to.nwave() != from.nwave() || to.resolution.rows() != from.resolution.rows()) {
    throw Error(Status::kWrongShape,
                print("%s: %s_FLUX: %zu bins from %.4f Angstrom, %zu diagonals of RESOLUTION, "
                      "expected those of the first file: %zu from %.4f, %zu",
                      path.c_str(), camera.c_str(), from.nwave(), from.wave.front(),
                      from.resolution.rows(), to.nwave(), to.wave.front(), to.resolution.rows()));
  }
  if (const std::size_t i = first_other_bin(to.wave, from.wave); i < to.nwave()) {
    throw Error(Status::kWrongShape,
                print("%s: %s_WAVELENGTH: bin %zu lies at %.4f Angstrom, expected that of the "
                      "first file, %.4f",
                      path.c_str(), camera.c_str(), i, from.wave[i], to.wave[i]));
  }
  to.mask = mask_or_none(to);
  append(to.mask, mask_or_none(from));
  if (!to.resolution.empty()) {
    Array3D<float> both(to.nspec() + from.nspec(), to.resolution.rows(), to.nwave());
    const std::size_t size = to.resolution.size();
    std::copy(to.resolution.data(), to.resolution.data() + size, both.data());
    std::copy(from.resolution.data(), from.resolution.data() + from.resolution.size(),
              both.data() + size);
    to.resolution = std::move(both);
  }
  append(to.flux, from.flux);
  append(to.ivar, from.ivar);
}

const Table& fibermap_of(const SpectraFile& file) {
  if (file.fibermap) require_whole_ids(*file.fibermap, file.path);
  if (file.fibermap && file.fibermap->column("TARGETID")) return *file.fibermap;
  throw Error(Status::kMissingKeyword,
              file.path + ": FIBERMAP: no column of numbers TARGETID to tell targets by");
}

/// What a file's spectra are exposures of, or are made of.
const Table& exposures_of(const SpectraFile& file) {
  if (file.exp_fibermap) require_whole_ids(*file.exp_fibermap, file.path, "EXP_FIBERMAP");
  const bool coadd = file.exp_fibermap && file.exp_fibermap->column("TARGETID");
  return coadd ? *file.exp_fibermap : *file.fibermap;
}

/// All files as one, exposures below exposures; of each file its scores, where it has them.
/// exp_fibermap is there where one is a coadd, and of all.
struct AllSpectra : SpectraFile {
  std::vector<std::optional<Table>> scores_of;
  std::vector<std::size_t> rows_of;
  std::vector<std::string> paths;  ///< of each row
  FibermapColumns columns, exposure_columns{"EXP_FIBERMAP"};
};

/// Cameras in the order of their wavelengths.
void sort_cameras(SpectraFile& file) {
  std::sort(file.cameras.begin(), file.cameras.end(), [](const auto& a, const auto& b) {
    return a.spectra.wave.front() < b.spectra.wave.front();
  });
}

/// A camera that an exposure lacks, in files of frames: spectra without information.
SpectraFile::Camera blank_like(const SpectraFile::Camera& like, std::size_t nspec) {
  const Spectra& s = like.spectra;
  SpectraFile::Camera out{like.name, like.header, {}};
  out.spectra.wave = s.wave;
  out.spectra.flux = out.spectra.ivar = Array2D<double>(nspec, s.nwave(), 0.0);
  out.spectra.mask = Array2D<std::uint32_t>(nspec, s.nwave(), 0U);
  if (!s.resolution.empty()) {
    out.spectra.resolution = Array3D<float>(nspec, s.resolution.rows(), s.nwave());
    std::fill_n(out.spectra.resolution.data(), out.spectra.resolution.size(), 0.0F);
  }
  return out;
}

/// The frame joins the exposure that it is of, as a further camera.
void join_exposure(SpectraFile& exposure, SpectraFile frame) {
  SpectraFile::Camera& camera = frame.cameras.front();
  for (const SpectraFile::Camera& c : exposure.cameras) {
    if (c.name != camera.name) continue;
    throw Error(Status::kUsage, frame.path + ": a second frame of camera " + camera.name +
                                    " of one exposure, beside " + exposure.path);
  }
  const auto ids = [](const SpectraFile& f) { return fibermap_of(f).integers("TARGETID", -1); };
  if (ids(frame) != ids(exposure)) {
    throw Error(Status::kWrongShape, frame.path + ": FIBERMAP: other TARGETIDs than " +
                                         exposure.path +
                                         ", expected those of the same spectrograph and exposure");
  }
  // what is wrong with one camera, an amplifier say, its own frame says alone
  if (const auto status = frame.fibermap->integers("FIBERSTATUS", 0)) {
    join_status(*status, *exposure.fibermap);
  }
  exposure.cameras.push_back(std::move(camera));
  sort_cameras(exposure);
  join_columns(std::move(frame.scores), exposure.scores);
}

/// Files of spectra as they are; frames as exposures with their cameras side by side.
std::vector<SpectraFile> read_files(const CoaddJob& job, FibermapColumns& columns,
                                    const Observer& observer) {
  FluxUnits units;
  std::vector<SpectraFile> out;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> exposures;
  for (const std::string& path : job.inputs) {
    SpectraFile file = read_spectra(path, job.verify);
    for (SpectraFile::Camera& camera : file.cameras) {
      units.add(path, camera.header.text("BUNIT").value_or(""));
      calibration::drop_and_tell(path, file.is_frame ? "" : camera.name + "_", camera.spectra,
                                 observer);
    }
    if (!job.pixels.numbers.empty()) {
      const std::vector<std::size_t> rows = rows_in(job.pixels, file);
      if (rows.empty()) continue;
      keep_rows(rows, file);
    }
    if (file.is_frame) {
      if (file.cameras.front().name.empty()) {
        throw Error(Status::kMissingKeyword,
                    path + ": FLUX: no CAMERA, expected one to name the camera of the coadd by");
      }
      Table fibermap = fibermap_of(file);
      add_exposure_columns(file.header, fibermap);
      file.fibermap = std::move(fibermap);
      file.scores = tsnr2_of_camera(file.scores, file.cameras.front().name);
      columns.add(path, *file.fibermap);
      const std::pair key{file.header.integer("EXPID").value_or(-1),
                          spectrograph_of(file.header).value_or(-1)};
      const auto [known, is_new] = exposures.emplace(key, out.size());
      if (!is_new) {
        join_exposure(out[known->second], std::move(file));
        continue;
      }
    } else {
      columns.add(path, fibermap_of(file));
    }
    out.push_back(std::move(file));
  }
  units.tell(observer);
  std::map<std::string, SpectraFile::Camera> blanks;
  for (const SpectraFile& file : out) {
    for (const auto& c : file.cameras) {
      if (file.is_frame) blanks.try_emplace(c.name, blank_like(c, 1));
    }
  }
  for (SpectraFile& file : out) {
    for (const auto& [name, like] : blanks) {
      const bool has = std::any_of(file.cameras.begin(), file.cameras.end(),
                                   [&wanted = name](const auto& c) { return c.name == wanted; });
      if (file.is_frame && !has) file.cameras.push_back(blank_like(like, file.nspec()));
    }
    if (file.is_frame) sort_cameras(file);
  }
  return out;
}

/// What a coadd of frames says of itself.
HeaderCards header_of_frames(const HeaderCards& frame) {
  HeaderCards out;
  for (const char* key : {"NIGHT", "TILEID"}) {
    if (const auto value = frame.integer(key)) out.set(key, *value);
  }
  if (const auto petal = spectrograph_of(frame).value_or(-1); petal >= 0) out.set("PETAL", petal);
  for (const char* key : {"SURVEY", "PROGRAM"}) {
    if (const auto value = frame.text(key)) out.set(key, *value);
  }
  return out;
}

AllSpectra read_all(const CoaddJob& job, const Observer& observer) {
  if (job.inputs.empty()) throw Error(Status::kUsage, "no input: give -i");
  FibermapColumns columns;
  std::vector<SpectraFile> files = read_files(job, columns, observer);
  if (files.empty()) {
    throw Error(Status::kUsage, print("--healpix: no target of the %zu files lies in these pixels",
                                      job.inputs.size()));
  }
  AllSpectra all{std::move(files.front()), {}, {}, {}, std::move(columns)};
  if (all.is_frame) all.header = header_of_frames(all.header);
  std::vector<Table> fibermaps{fibermap_of(all)}, exposures{exposures_of(all)};
  all.exposure_columns.add(all.path, exposures.front());
  bool coadds = all.exp_fibermap.has_value();
  all.scores_of.push_back(all.scores), all.rows_of.push_back(all.nspec());
  all.paths.assign(all.nspec(), all.path);
  for (std::size_t f = 1; f < files.size(); ++f) {
    const SpectraFile& next = files[f];
    keep_common_group(next.is_frame ? header_of_frames(next.header) : next.header, all.header);
    fibermaps.push_back(fibermap_of(next)), exposures.push_back(exposures_of(next));
    all.exposure_columns.add(next.path, exposures.back());
    coadds = coadds || next.exp_fibermap;
    all.scores_of.push_back(next.scores), all.rows_of.push_back(next.nspec());
    all.paths.insert(all.paths.end(), next.nspec(), next.path);
    if (next.cameras.size() != all.cameras.size()) {
      throw Error(Status::kWrongShape,
                  print("%s: %zu cameras, expected those of %s, %zu", next.path.c_str(),
                        next.cameras.size(), all.path.c_str(), all.cameras.size()));
    }
    for (SpectraFile::Camera& to : all.cameras) {
      const auto from = std::find_if(next.cameras.begin(), next.cameras.end(),
                                     [&](const auto& c) { return c.name == to.name; });
      if (from == next.cameras.end()) {
        throw Error(Status::kMissingHdu, next.path + ": no HDU " + to.name +
                                             "_FLUX, expected the cameras of " + all.path);
      }
      append(to.spectra, from->spectra, next.path, to.name);
    }
  }
  all.fibermap = fibermaps.size() == 1 ? fibermaps.front() : stack(fibermaps);
  all.exp_fibermap = coadds ? std::optional(stack(exposures)) : std::nullopt;
  return all;
}

/// The camera that stands for all; named by theirs, in the order of wavelength: "BRZ".
SpectraFile::Camera joint_camera(SpectraFile& file) {
  sort_cameras(file);
  SpectraFile::Camera joint{"", file.cameras.front().header, {}};
  for (const SpectraFile::Camera& c : file.cameras) joint.name += c.name;
  return joint;
}

void join_cameras(SpectraFile& file) {
  SpectraFile::Camera joint = joint_camera(file);
  std::vector<Spectra> cameras;
  for (SpectraFile::Camera& c : file.cameras) cameras.push_back(std::move(c.spectra));
  joint.spectra = calibrate::coadd_cameras(cameras);
  file.cameras.clear();
  file.cameras.push_back(std::move(joint));
}

/// What was made of all cameras and exposures, and how many exposures of each target counted.
struct Sums {
  std::vector<SpectraFile::Camera> cameras;
  std::vector<std::size_t> exposures;  ///< [target] of any camera
  std::size_t cosmics = 0;

  void add(SpectraFile::Camera camera, calibrate::Coadd sum) {
    cosmics += sum.cosmics;
    exposures.resize(sum.exposures.size(), 0);
    for (std::size_t t = 0; t < exposures.size(); ++t) {
      exposures[t] = std::max(exposures[t], sum.exposures[t]);
    }
    camera.spectra = std::move(sum);
    cameras.push_back(std::move(camera));
  }
};

using Targets = std::vector<std::vector<std::size_t>>;

/// Camera by camera; what has been summed is let go of.
Sums sum_cameras(const CoaddJob& job, AllSpectra& all, const Targets& targets, Executor& executor) {
  Sums out;
  for (SpectraFile::Camera& camera : all.cameras) {
    camera.spectra.fibermap = all.fibermap;  // for FIBERSTATUS
    out.add({camera.name, camera.header, {}},
            calibrate::coadd_exposures(camera.spectra, targets, band_of_camera(camera.name),
                                       {.cosmic_nsig = job.cosmic_nsig}, executor));
    camera.spectra = {};
  }
  return out;
}

/// All exposures of all cameras at once, on the grid that was asked for.
Sums resample_cameras(const CoaddJob& job, AllSpectra& all, const Targets& targets,
                      Executor& executor) {
  SpectraFile::Camera joint = joint_camera(all);
  std::vector<calibrate::ResampledCamera> cameras;
  double first = all.cameras.front().spectra.wave.front(), last = first;
  for (SpectraFile::Camera& camera : all.cameras) {
    camera.spectra.fibermap = all.fibermap;
    cameras.push_back({&camera.spectra, band_of_camera(camera.name)});
    last = std::max(last, camera.spectra.wave.back());
  }
  Sums out;
  out.add(std::move(joint),
          calibrate::resample_exposures(cameras, targets, stepped_wave_grid(job.grid, first, last),
                                        {.cosmic_nsig = job.cosmic_nsig}, executor));
  return out;
}

/// Sums and medians of each camera of the result, and TSNR2 of the exposures that it is made of.
Table scores_of(const SpectraFile& result, const AllSpectra& all,
                std::span<const std::vector<std::size_t>> targets) {
  const std::vector<std::int64_t> ids = result.fibermap->integers("TARGETID", -1).value();
  Table out;
  out.add("TARGETID", std::span<const std::int64_t>(ids));
  for (const SpectraFile::Camera& c : result.cameras) {
    for (const char camera : {'B', 'R', 'Z'}) {
      if (c.name.find(camera) != std::string::npos) append_coadd_scores(out, c.spectra, camera);
    }
  }
  std::vector<const Table*> tables;
  std::vector<ScoreRow> at;  // of each row of all
  for (std::size_t f = 0; f < all.scores_of.size(); ++f) {
    tables.push_back(all.scores_of[f] ? &*all.scores_of[f] : nullptr);
    for (std::size_t r = 0; r < all.rows_of[f]; ++r) at.push_back({f, r});
  }
  std::vector<std::vector<ScoreRow>> rows(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    for (const std::size_t row : targets[t]) rows[t].push_back(at[row]);
  }
  const std::optional<Table> tsnr2 = sum_tsnr2(tables, ids, rows);
  for (std::size_t c = 1; tsnr2 && c < tsnr2->columns.size(); ++c) {
    out.columns.push_back(tsnr2->columns[c]);  // the first is TARGETID
  }
  return out;
}

}  // namespace

CoaddSummary coadd_spectra(const CoaddJob& job, Executor& executor, const Observer& observer) {
  AllSpectra all = read_all(job, observer);
  const std::vector<std::vector<std::size_t>> targets = rows_of_targets(*all.fibermap);
  const Table& exposures = all.exp_fibermap ? *all.exp_fibermap : *all.fibermap;
  if (!tells_exposures(exposures)) {
    for (const auto& c : all.cameras) {
      require_no_copies(c.spectra, *all.fibermap, all.paths, targets);
    }
  }
  check_exposure_rows(exposures, rows_of_targets(exposures), observer);
  CoaddSummary out;
  out.spectra = all.nspec();
  out.targets = targets.size();
  SpectraFile result;
  result.header = all.header;
  label_group(job.pixels, result.header);
  if (job.through_night) {
    result.header.set("SPGRP", "cumulative", "how spectra are grouped");
    result.header.set("SPGRPVAL", *job.through_night, "last night of the group");
    result.header.set("NIGHT", *job.through_night);
  }
  set_dependency(result.header, "fiberloom", std::string(version()));
  Sums sums = job.grid.wanted() ? resample_cameras(job, all, targets, executor)
                                : sum_cameras(job, all, targets, executor);
  result.cameras = std::move(sums.cameras);
  out.cosmics = sums.cosmics;
  out.without =
      static_cast<std::size_t>(std::count(sums.exposures.begin(), sums.exposures.end(), 0U));
  if (out.without > 0) {
    observer.warn(print("%zu of %zu targets have no exposure that FIBERSTATUS allows: ivar 0",
                        out.without, out.targets));
  }
  if (job.across_cameras && result.cameras.size() > 1) join_cameras(result);
  for (SpectraFile::Camera& c : result.cameras)  // sums may be more than a float holds
    calibration::drop_and_tell(job.output, c.name + "_", c.spectra, observer);
  CoaddedFibermap tables = all.exp_fibermap ? coadd_fibermap(*all.fibermap, targets, exposures)
                                            : coadd_fibermap(*all.fibermap, targets);
  result.fibermap = std::move(tables.targets);
  result.exp_fibermap = std::move(tables.exposures);
  all.columns.tell({&*all.fibermap, &exposures, &*result.fibermap, &*result.exp_fibermap},
                   observer);
  if (all.exp_fibermap) {
    all.exposure_columns.tell({&exposures, &*all.fibermap, &*result.fibermap}, observer);
  }
  result.scores = scores_of(result, all, targets);
  for (const SpectraFile::Camera& c : result.cameras) out.cameras.push_back(c.name);
  const FolderOf folder(job.output);
  write_spectra(job.output, result, job.overwrite);
  return out;
}

}  // namespace fiberloom
