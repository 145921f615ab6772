// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/repeated_exposures.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "fiberloom/recipes/redshift/copied_light.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {
namespace {

/// Light of one fibre: camera by its name, exposure, fibre, target; and the file that has it.
using Seen = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::size_t>;

void add_exposures(const SpectraReader& file, std::size_t number, std::vector<Seen>& all) {
  const std::optional<Table>& table = file.exp_fibermap ? file.exp_fibermap : file.fibermap;
  if (!table) return;
  const auto ids = table->integers("TARGETID", -1), fibers = table->integers("FIBER", -1);
  if (!ids || !fibers) return;
  const auto exposures = exposure_numbers(*table, file.header().integer("EXPID"));
  for (std::size_t r = 0; r < table->rows; ++r) {
    if (exposures[r] < 0 || (*fibers)[r] < 0) continue;
    for (const SpectraReader::Camera& camera : file.cameras()) {
      all.emplace_back(camera.name, exposures[r], (*fibers)[r], (*ids)[r], number);
    }
  }
}

}  // namespace

void require_different_files(std::span<const std::string> paths) {
  std::map<FileIdentity, std::string> known;
  for (const std::string& path : paths) {
    const auto [first, is_new] = known.emplace(file_identity(find_path(path).value_or(path)), path);
    if (is_new) continue;
    throw Error(Status::kUsage,
                path + ": is the same file as " + first->second + ", expected each file once");
  }
}

void require_different_exposures(const std::deque<SpectraReader>& files) {
  if (files.size() < 2) return;
  std::vector<std::string> paths;
  std::vector<Seen> all;
  for (std::size_t f = 0; f < files.size(); ++f) {
    paths.push_back(files[f].path());
    add_exposures(files[f], f, all);
  }
  require_different_files(paths);
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end(), [](const Seen& a, const Seen& b) {
    return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b) &&
           std::get<2>(a) == std::get<2>(b) && std::get<3>(a) == std::get<3>(b) &&
           std::get<4>(a) != std::get<4>(b);
  });
  if (twice == all.end()) return;
  const auto& [camera, exposure, fiber, id, file] = *twice;
  throw Error(
      Status::kUsage,
      files[std::get<4>(*(twice + 1))].path() +
          print(": camera %s of fibre %lld in exposure %lld, target %lld, is in %s too, "
                "expected all light once",
                camera.c_str(), static_cast<long long>(fiber), static_cast<long long>(exposure),
                static_cast<long long>(id), files[file].path().c_str()));
}

std::vector<std::vector<std::int64_t>> unsure_exposures(const std::deque<SpectraReader>& files) {
  std::vector<std::vector<std::int64_t>> out;
  bool sure = true;
  for (const SpectraReader& file : files) {
    const auto of_header = file.header().integer("EXPID");
    const std::optional<Table>& told = file.exp_fibermap ? file.exp_fibermap : file.fibermap;
    sure = sure && told && tells_exposures(*told, of_header);
    out.push_back(file.fibermap ? exposure_numbers(*file.fibermap, of_header)
                                : std::vector<std::int64_t>(file.nspec(), of_header.value_or(-1)));
  }
  if (sure) out.clear();
  return out;
}

void require_comparable_ids(const std::deque<SpectraReader>& files) {
  const auto named = [](const SpectraReader& file) {
    return file.fibermap && file.fibermap->integers("TARGETID", -1);
  };
  const auto with = std::find_if(files.begin(), files.end(), named);
  const auto without = std::find_if_not(files.begin(), files.end(), named);
  if (with == files.end() || without == files.end()) return;
  throw Error(Status::kMissingKeyword,
              without->path() + ": no column TARGETID in a FIBERMAP, which " + with->path() +
                  " has: cannot tell which spectra are of one target");
}

}  // namespace fiberloom
