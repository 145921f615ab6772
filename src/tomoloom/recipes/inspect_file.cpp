// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/inspect_file.hpp"

#include <algorithm>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "loom/tiff/tiff.hpp"
#include "tomoloom/exchange/image_stack.hpp"
#include "tomoloom/exchange/scan_reader.hpp"
#include "tomoloom/exchange/zarr_reader.hpp"
#include "tomoloom/exchange/zarr_volume.hpp"

namespace tomoloom {
namespace {

std::string frames(std::size_t count, bool has_value, double value) {
  if (count > 0) return std::to_string(count);
  return has_value ? print("none, but the value %g", value) : "none";
}

FileReport report_volume(const std::string& path, const hdf5::Reader& reader,
                         const std::string& data) {
  FileReport report{.path = path, .kind = "volume", .facts = {}};
  const auto shape = reader.extent(data);
  report.facts.emplace_back("slices", std::to_string(shape.at(0)));
  if (shape.size() == 3) {
    report.facts.emplace_back("rows x columns", print("%zu x %zu", shape[1], shape[2]));
  }
  for (const std::string& name : reader.children("process/tomoloom")) {
    const auto text = reader.text("process/tomoloom/" + name);
    if (text) report.facts.emplace_back(name, *text);
  }
  return report;
}

FileReport report_zarr(const std::string& path) {
  const ZarrReader reader(path);
  const ScanLayout& layout = reader.layout();
  FileReport report{.path = path, .kind = "OME-Zarr volume", .facts = {}};
  report.facts.emplace_back("slices", std::to_string(layout.angles));
  report.facts.emplace_back("rows x columns", print("%zu x %zu", layout.rows, layout.columns));
  for (const VolumeNote& fact : ZarrVolume::describe(path)) {
    report.facts.emplace_back(fact.name, fact.value);
  }
  return report;
}

/// Of slices what was done is in the description of each.
FileReport report_stack(const std::string& path) {
  const ImageStack stack(path);
  const ImageStack::Image& first = stack.images()[0];
  const std::string text = tiff::Reader(first.path).page(first.page).description;
  const bool slices = text.find("\nmethod=") != std::string::npos;
  FileReport report{.path = path, .kind = slices ? "volume" : "stack of images", .facts = {}};
  report.facts.emplace_back(slices ? "slices" : "images", std::to_string(stack.images().size()));
  report.facts.emplace_back("rows x columns", print("%zu x %zu, %s", stack.height(), stack.width(),
                                                    stack.type().c_str()));
  for (std::size_t at = 0; slices && at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t sign = line.find('=');
    if (sign != std::string::npos) {
      report.facts.emplace_back(line.substr(0, sign), line.substr(sign + 1));
    }
    at = end + 1;
  }
  return report;
}

}  // namespace

FileReport inspect_file(const std::string& path, const std::string& group) {
  if (is_zarr(path)) return report_zarr(path);
  if (is_stack(path)) return report_stack(path);
  {
    const hdf5::Reader reader(path);
    const std::string data = group + "/data";
    if (reader.has("process/tomoloom") && reader.has(data)) {
      return report_volume(path, reader, data);
    }
  }
  const ScanReader scan(path, group);
  const ScanLayout& layout = scan.layout();
  FileReport report{.path = path, .kind = "scan", .facts = {}};
  report.facts.emplace_back("projections", print("%zu of %zu rows x %zu columns, %s", layout.angles,
                                                 layout.rows, layout.columns, layout.type.c_str()));
  const auto [low, high] = std::minmax_element(layout.theta_deg.begin(), layout.theta_deg.end());
  const char* const from = layout.source == AngleSource::kTheta      ? ""
                           : layout.source == AngleSource::kRotation ? " (start and step)"
                                                                     : " (assumed)";
  report.facts.emplace_back("angles", print("%.6g to %.6g degrees%s", *low, *high, from));
  report.facts.emplace_back("flats",
                            frames(layout.flats, layout.has_flat_value, layout.flat_value));
  report.facts.emplace_back("darks",
                            frames(layout.darks, layout.has_dark_value, layout.dark_value));
  return report;
}

}  // namespace tomoloom
