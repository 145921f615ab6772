// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/places.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "loom/batch/normal_path.hpp"
#include "loom/fits/fits_name.hpp"

namespace fiberloom::chain {

namespace fs = std::filesystem;

std::string absolute(const std::string& path) {
  if (path.empty()) return path;
  std::string out = loom::batch::normal_path(path);
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

std::vector<std::string> passbands_in(const std::string& folder) {
  std::set<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".ecsv") out.insert(absolute(entry.path().string()));
  }
  return {out.begin(), out.end()};
}

Places::Places(std::string output, night::Compress compress, const ChainRequest& request)
    : output_(std::move(output)),
      ending_(compress == night::Compress::kYes ? ".fits.gz" : ".fits"),
      request_(request) {}

/// NAME-EXPID.fits beside the frame.
std::string Places::beside(const Frame& f, const std::string& name) const {
  return f.folder + "/" + name + "-" + f.number + ending_;
}

std::string Places::lamp_flat(const Frame& f) const { return beside(f, "fiberflat-" + f.camera()); }
std::string Places::sky(const Frame& f) const { return beside(f, "sky-" + f.camera()); }
std::string Places::flux(const Frame& f) const { return beside(f, "fluxcalib-" + f.camera()); }
std::string Places::cframe(const Frame& f) const { return beside(f, "cframe-" + f.camera()); }
std::string Places::quality(const Frame& f) const { return beside(f, "exposure-qa"); }

std::string Places::picture(const Frame& f) const {
  return f.folder + "/exposure-" + f.number + ".png";
}

std::string Places::stars(const Frame& f) const {
  if (request_.stars.empty()) return beside(f, "stdstars-" + f.petal);
  return absolute(request_.stars + "/stdstars-" + f.petal + "-" + f.number + ".fits");
}

std::string Places::night_flat(const std::string& night, const std::string& camera) const {
  return (fs::path(output_) / "calibnight" / night /
          ("fiberflatnight-" + camera + "-" + night + ending_))
      .string();
}

std::string Places::flat(const Frame& f) {
  if (request_.flats.empty()) return night_flat(f.night(), f.camera());
  const std::string of_nights = "fiberflatnight-" + f.camera() + "-";
  for (const std::string& prefix :
       {of_nights + f.night() + ".", of_nights, "fiberflat-" + f.camera() + "-"}) {
    std::string path = newest(request_.flats, prefix);
    if (!path.empty()) return path;
  }
  return absolute(request_.flats + "/fiberflatnight-" + f.camera() + "-" + f.night() + ".fits");
}

std::string Places::average(const Frame& f) {
  return newest(request_.averages, "fluxcalib-" + f.camera() + "-");
}

std::string Places::coadd(const std::string& tile, const std::string& night,
                          const std::string& rest) const {
  return (fs::path(output_) / "tiles" / tile / night / ("coadd-" + rest + ending_)).string();
}

/// The last by name of a folder's PREFIX*.fits[.gz]; empty: none.
std::string Places::newest(const std::string& folder, const std::string& prefix) {
  if (folder.empty()) return {};
  const auto [known, fresh] = newest_.try_emplace(folder + "/" + prefix);
  if (!fresh) return known->second;
  std::string last;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (loom::fits::is_fits_name(name) && name.starts_with(prefix)) last = std::max(last, name);
  }
  if (!last.empty()) known->second = absolute(folder + "/" + last);
  return known->second;
}

}  // namespace fiberloom::chain
