// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/sdss_plates.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

namespace fs = std::filesystem;

/// More exposures than any plate has; a keyword that claims more is no number of exposures.
constexpr std::int64_t kMostExposures = 999;
/// "b1-00123456" of an EXPID.
constexpr std::size_t kFrameName = 11;

bool is_plate(const std::string& path) {
  return fs::path(path).filename().string().starts_with("spPlate");
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// photoPosPlate-3586-55181.fits of spPlate-3586-55181.fits.
std::string photo_of(const std::string& plate) {
  const fs::path path(plate);
  const std::string rest = path.filename().string().substr(std::string_view("spPlate").size());
  return (path.parent_path() / ("photoPosPlate" + rest)).string();
}

std::vector<std::int64_t> thing_ids(const std::string& plate) {
  const std::string path = photo_of(plate);
  const auto file = fits::FitsReader::open(path);
  if (file.hdus().size() < 2 || file.hdus()[1].kind != fits::HduKind::kTable) {
    throw file.error(Status::kMissingHdu, "HDU 1 is no table, expected THING_ID of each fibre");
  }
  const fits::Hdu& hdu = file.hdus()[1];
  const auto ids = file.read_table(hdu).integers("THING_ID", -1);
  if (ids) return *ids;
  throw file.error(Status::kMissingKeyword, hdu, "no column THING_ID");
}

/// A frame's file, or the packed one.
std::string frame_file(const fs::path& folder, const std::string& name) {
  const std::string path = (folder / ("spCFrame-" + name + ".fits")).string();
  return !is_there(path) && is_there(path + ".gz") ? path + ".gz" : path;
}

std::int64_t mjd_of(const std::string& plate) {
  const auto file = fits::FitsReader::open(plate);
  const auto mjd = file.hdus().front().header.integer("MJD");
  if (mjd) return *mjd;
  throw file.error(Status::kMissingKeyword, file.hdus().front(), "no integer MJD");
}

}  // namespace

std::vector<std::string> frames_of_plate(const std::string& path) {
  const auto file = fits::FitsReader::open(path);
  const fits::Hdu& hdu = file.hdus().front();
  std::int64_t total = 0;
  for (const char* key : {"NEXP_B1", "NEXP_R1", "NEXP_B2", "NEXP_R2"}) {
    const std::int64_t count = hdu.header.integer(key).value_or(0);
    if (count < 0 || count > kMostExposures) {
      throw file.error(Status::kCorrupt, hdu,
                       std::string(key) + " is " + std::to_string(count) + ", expected 0 to " +
                           std::to_string(kMostExposures));
    }
    total += count;
  }
  if (total == 0) {
    throw file.error(
        Status::kMissingKeyword, hdu,
        "no exposures in NEXP_B1, NEXP_R1, NEXP_B2, NEXP_R2, which --use-frames needs");
  }
  std::vector<std::string> out;
  for (std::int64_t k = 1; k <= total; ++k) {
    const std::string key = print("EXPID%02lld", static_cast<long long>(k));
    const std::string name = hdu.header.text(key).value_or("");
    if (name.size() < kFrameName || name.find('/') != std::string::npos) {
      throw file.error(Status::kMissingKeyword, hdu,
                       "no " + key + " with the name of a frame (b1-00123456 ...)");
    }
    out.push_back(frame_file(fs::path(path).parent_path(), name.substr(0, kFrameName)));
  }
  return out;
}

std::vector<SdssInput> sdss_inputs(const RedshiftJob& job, const Observer& observer) {
  const auto& inputs = job.inputs;
  const bool plates = inputs.size() > 1 && std::all_of(inputs.begin(), inputs.end(), is_plate);
  const bool known = plates && std::all_of(inputs.begin(), inputs.end(), [](const auto& path) {
                       return is_there(photo_of(path));
                     });
  if (!known && !job.options.use_thing_id) {
    observer.warn(
        "--no-thing-id is ignored: these are not several spPlate files with their photoPosPlate");
  }
  const bool things = known && job.options.use_thing_id;
  if (things) observer.info("targets of several plates are known by their THING_ID");
  std::vector<SdssInput> out;
  for (const std::string& path : inputs) {
    const std::vector<std::int64_t> ids = things ? thing_ids(path) : std::vector<std::int64_t>{};
    if (job.options.use_frames && !is_plate(path)) {
      throw Error(Status::kUsage, "--use-frames: " + path + " is no spPlate");
    }
    if (!job.options.use_frames) {
      out.push_back({path, std::nullopt, ids});
      continue;
    }
    const std::int64_t mjd = mjd_of(path);
    for (std::string& frame : frames_of_plate(path)) out.push_back({std::move(frame), mjd, ids});
  }
  return out;
}

void tell_of_and_mask(const RedshiftJob& job, const std::deque<SpectraReader>& files,
                      const Observer& observer) {
  if (!job.options.use_and_mask) return;
  if (std::any_of(files.begin(), files.end(), [](const auto& file) { return file.is_sdss(); })) {
    return;
  }
  observer.warn("--use-andmask is ignored: none of these files is SDSS's");
}

std::vector<std::string> frames_behind(const RedshiftJob& job) {
  std::vector<std::string> out;
  for (const std::string& path : job.inputs) {
    if (!job.options.use_frames) continue;
    try {
      const std::vector<std::string> frames = frames_of_plate(path);
      out.insert(out.end(), frames.begin(), frames.end());
    } catch (const Error&) {  // whoever opens the file says what is wrong with it
    }
  }
  return out;
}

void name_targets(const SdssInput& input, SpectraReader& file) {
  if (!file.fibermap || (!input.mjd && input.thing_id.empty())) return;
  const auto plate = file.fibermap->integers("PLATE", 0);
  const auto fiber = file.fibermap->integers("FIBER", 0);
  auto ids = file.fibermap->integers("TARGETID", -1);
  if (!plate || !fiber || !ids) return;
  std::vector<std::int32_t> things(ids->size(), -1);
  for (std::size_t r = 0; r < ids->size(); ++r) {
    if (input.mjd) (*ids)[r] = sdss_target_id((*plate)[r], *input.mjd, (*fiber)[r]);
    const auto at = static_cast<std::size_t>((*fiber)[r] - 1);  // of fibre 0: beyond the end
    if (at >= input.thing_id.size() || input.thing_id[at] <= 0) continue;
    (*ids)[r] = input.thing_id[at];
    things[r] = static_cast<std::int32_t>(std::min<std::int64_t>(input.thing_id[at], INT32_MAX));
  }
  Table named;
  named.add("TARGETID", std::span(*ids), "", "THING_ID, or PLATE 1e9 + MJD 1e4 + FIBER");
  for (const Column& column : file.fibermap->columns) {
    if (column.name != "TARGETID") named.columns.push_back(column);
  }
  if (!input.thing_id.empty()) named.add("THING_ID", std::span(things));
  file.fibermap = std::move(named);
}

}  // namespace fiberloom
