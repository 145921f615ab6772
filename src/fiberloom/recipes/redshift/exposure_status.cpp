// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/exposure_status.hpp"

#include <algorithm>
#include <map>

#include "fiberloom/calibrate/usable.hpp"
#include "loom/base/letter_case.hpp"

namespace fiberloom {

std::vector<Exposure> exposures_of(const SpectraReader& file) {
  const Table& map = *file.fibermap;
  const auto column = [&](const char* name) {
    auto values = map.integers(name, -1);
    return values ? *values
                  : std::vector<std::int64_t>(map.rows, file.header().integer(name).value_or(-1));
  };
  const auto ids = column("TARGETID"), exposures = column("EXPID"), tiles = column("TILEID"),
             fibers = column("FIBER");
  std::vector<Exposure> out;
  for (std::size_t r = 0; r < map.rows; ++r) {
    out.push_back({ids[r], exposures[r], tiles[r], fibers[r]});
  }
  return out;
}

std::vector<std::vector<std::int64_t>> status_of_exposures(const std::deque<SpectraReader>& files) {
  std::vector<std::vector<std::int64_t>> status;
  std::vector<std::vector<Exposure>> keys(files.size());
  std::map<Exposure, std::int64_t> all;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const std::vector<std::int64_t> none(files[f].nspec(), 0);
    const bool known = files[f].fibermap && has_exposures(files[f]);
    status.push_back(known ? files[f].fibermap->integers("FIBERSTATUS", 0).value_or(none) : none);
    if (!known || files.size() == 1) continue;
    keys[f] = exposures_of(files[f]);
    for (std::size_t r = 0; r < keys[f].size(); ++r) {
      if (keys[f][r].expid >= 0) all[keys[f][r]] |= status[f][r];
    }
  }
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t r = 0; r < keys[f].size(); ++r) {
      if (keys[f][r].expid >= 0) status[f][r] = all.at(keys[f][r]);
    }
  }
  return status;
}

char band_of_camera(const std::string& name) noexcept {
  return name.empty() ? '\0' : loom::small_letter(name[0]);
}

bool is_forbidden(std::int64_t status, const std::string& camera) noexcept {
  return (status & calibrate::fatal_bits(calibrate::Purpose::kFlux, band_of_camera(camera))) != 0;
}

void leave_out(const std::vector<std::int64_t>& status_of_file, std::span<const std::size_t> rows,
               const std::string& camera, Spectra& spectra) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (!is_forbidden(status_of_file[rows[r]], camera)) continue;
    std::fill_n(spectra.ivar.row(r), spectra.nwave(), 0.0);
  }
}

bool has_exposures(const SpectraReader& file) {
  return !file.exp_fibermap &&
         (!file.fibermap || file.fibermap->find("COADD_FIBERSTATUS") == nullptr);
}

}  // namespace fiberloom
