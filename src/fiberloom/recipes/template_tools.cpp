// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/template_tools.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "fiberloom/status.hpp"
#include "fiberloom/templates/basis.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom {
namespace {

using redshift::Template;

/// What DESI's cameras see.
constexpr double kFirstWave = 3600, kLastWave = 9824;

std::string describe(const Template& t) {
  double low = HUGE_VAL, high = -1;
  for (const double z : t.redshifts) {
    if (t.wave.front() * (1 + z) > kFirstWave || t.wave.back() * (1 + z) < kLastWave) continue;
    low = std::min(low, z);
    high = std::max(high, z);
  }
  const std::string covered = high < low ? "none of them" : print("%.4f to %.4f", low, high);
  return print(
             "%s: %s, %zu vectors, %s, IGM %s, %.1f-%.1f Angstrom, %zu redshifts %.4f to %.4f "
             "(3600-9824 Angstrom covered: %s), %zu training spectra, version %s",
             t.file.empty() ? "built in" : t.file.c_str(), t.full_type().c_str(), t.nbasis(),
             std::string(redshift::name_of(t.method)).c_str(),
             std::string(redshift::name_of(t.igm)).c_str(), t.wave.front(), t.wave.back(),
             t.redshifts.size(), t.redshifts.front(), t.redshifts.back(), covered.c_str(),
             t.training.rows(), t.version.c_str()) +
         (t.hash.empty() ? "" : ", SHA-256 " + t.hash.substr(0, 16));
}

std::string describe(const redshift::Archetypes& a) {
  const double low = kLastWave / a.wave.back() - 1, high = kFirstWave / a.wave.front() - 1;
  const std::string covered = high < low ? "nowhere" : print("%.4f to %.4f", low, high);
  return print(
      "%s: archetypes of %s, %zu spectra, %.1f-%.1f Angstrom (3600-9824 Angstrom covered: "
      "%s), version %s, SHA-256 %.16s",
      a.file.c_str(), a.spectype.c_str(), a.flux.rows(), a.wave.front(), a.wave.back(),
      covered.c_str(), a.version.c_str(), a.hash.c_str());
}

std::string describe_file(const std::string& path) {
  const bool archetypes = fits::FitsReader::open(path).find("ARCHETYPES") != nullptr;
  return archetypes ? describe(templates::read_archetypes(path))
                    : describe(templates::read_template(path));
}

/// TARGETID -> z of the targets of one type.
std::map<std::int64_t, double> known_redshifts(const MakeTemplateJob& job) {
  std::map<std::int64_t, double> out;
  for (const std::string& path : job.redshifts) {
    const fits::FitsReader file = fits::FitsReader::open(path);
    const fits::Hdu* hdu = file.find("REDSHIFTS");
    if (hdu == nullptr) hdu = file.find("TRUTH");
    if (hdu == nullptr) {
      throw Error(Status::kMissingHdu, path + ": neither HDU REDSHIFTS nor TRUTH");
    }
    const RawTable table = file.read_table(*hdu);
    const auto ids = table.integers("TARGETID", -1);
    const auto types = table.text_column("SPECTYPE");
    const auto z = table.column("Z");
    const auto warnings = table.column("ZWARN");
    if (!ids || !types || !z) {
      throw file.error(kBadTemplate, *hdu, "expected columns TARGETID, SPECTYPE and Z");
    }
    for (std::size_t i = 0; i < table.rows; ++i) {
      if ((*types)[i] != job.spectype || (warnings && (*warnings)[i] != 0)) continue;
      if (std::isfinite((*z)[i]) && (*z)[i] > -0.5) out[(*ids)[i]] = (*z)[i];
    }
  }
  return out;
}

class RestGrid {
 public:
  explicit RestGrid(double step) : step_(step) {}
  [[nodiscard]] long bin(double wave) const {
    return static_cast<long>(std::floor(std::log10(wave) / step_ + 0.5));
  }
  [[nodiscard]] double wave(long bin) const {
    return std::pow(10.0, step_ * static_cast<double>(bin));
  }

 private:
  double step_;
};

using Sums = std::map<long, std::pair<double, double>>;  ///< bin -> weight x flux, weight

Sums at_rest(const SpectraFile& file, std::size_t row, double z, const RestGrid& grid) {
  Sums sums;
  for (const SpectraFile::Camera& camera : file.cameras) {
    const Spectra& s = camera.spectra;
    for (std::size_t i = 0; i < s.nwave(); ++i) {
      const double w = s.ivar(row, i), f = s.flux(row, i);
      if (!(w > 0) || !std::isfinite(w) || !std::isfinite(f)) continue;
      if (!s.mask.empty() && s.mask(row, i) != 0) continue;
      auto& sum = sums[grid.bin(s.wave[i] / (1 + z))];
      sum.first += w * f;
      sum.second += w;
    }
  }
  std::vector<double> values;
  for (const auto& [bin, sum] : sums) values.push_back(sum.first / sum.second);
  if (values.empty()) return {};
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  const double level = values[values.size() / 2];
  if (!(level > 0)) return {};
  for (auto& [bin, sum] : sums) {  // flux / level has weight x level^2
    sum.first *= level;
    sum.second *= level * level;
  }
  return sums;
}

std::vector<Sums> training_of(const MakeTemplateJob& job, const RestGrid& grid) {
  const std::map<std::int64_t, double> known = known_redshifts(job);
  std::vector<Sums> out;
  for (const std::string& path : job.spectra) {
    const SpectraFile file = read_spectra(path);
    const auto ids = file.fibermap ? file.fibermap->integers("TARGETID", -1) : std::nullopt;
    if (!ids) throw Error(Status::kMissingHdu, path + ": no FIBERMAP with TARGETID");
    for (std::size_t row = 0; row < file.nspec(); ++row) {
      const auto z = known.find((*ids)[row]);
      if (z == known.end()) continue;
      Sums sums = at_rest(file, row, z->second, grid);
      if (!sums.empty()) out.push_back(std::move(sums));
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> describe_templates(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  if (templates::falls_back(paths)) {
    out.push_back(templates::fallback_note());
    for (const Template& t : templates::choose_templates(paths).set) out.push_back(describe(t));
    return out;
  }
  for (const std::string& path : templates::find_templates(paths)) {
    out.push_back(describe_file(path));
  }
  return out;
}

std::string make_template(const MakeTemplateJob& job) {
  std::vector<NamedFile> inputs;
  for (const std::string& path : job.spectra) inputs.push_back({"spectra", path});
  for (const std::string& path : job.redshifts) inputs.push_back({"redshifts", path});
  check_distinct(std::array{NamedFile{"template", job.output}}, inputs);
  check_output(job.output, job.overwrite);
  const RestGrid grid(job.step_log10);
  const std::vector<Sums> training = training_of(job, grid);
  if (training.size() < job.nbasis) {
    throw Error(Status::kUsage, print("%zu spectra of type %s with a redshift, expected one a "
                                      "vector or more (%zu)",
                                      training.size(), job.spectype.c_str(), job.nbasis));
  }
  long first = training.front().begin()->first, last = first;
  for (const Sums& sums : training) {
    first = std::min(first, sums.begin()->first);
    last = std::max(last, sums.rbegin()->first);
  }
  const auto n = static_cast<std::size_t>(last - first + 1);
  templates::TrainingSpectra spectra{Array2D<double>(training.size(), n, 0.0),
                                     Array2D<double>(training.size(), n, 0.0)};
  for (std::size_t t = 0; t < training.size(); ++t) {
    for (const auto& [bin, sum] : training[t]) {
      const auto j = static_cast<std::size_t>(bin - first);
      spectra.flux(t, j) = sum.first / sum.second;
      spectra.weight(t, j) = sum.second;
    }
  }
  const templates::BasisOptions options{.nbasis = job.nbasis};
  templates::Basis basis = job.method == redshift::Method::kPca
                               ? templates::weighted_pca(spectra, options)
                               : templates::weighted_nmf(spectra, options);
  Template t;
  t.spectype = job.spectype;
  t.subtype = job.subtype;
  t.version = job.version;
  t.method = job.method;
  for (std::size_t j = 0; j < n; ++j) t.wave.push_back(grid.wave(first + static_cast<long>(j)));
  t.flux = std::move(basis.vectors);
  t.training = std::move(basis.coefficients);
  t.redshifts = redshift::default_grid(t.spectype, {});
  if (t.redshifts.empty()) {
    throw Error(Status::kUsage, "--type " + t.spectype + ": expected GALAXY, QSO or STAR");
  }
  const FolderOf folder(job.output);
  templates::write_template(job.output, t, job.overwrite);
  return print("%s: %zu vectors of %zu spectra, %.1f-%.1f Angstrom, chi2 %.4g", job.output.c_str(),
               job.nbasis, training.size(), t.wave.front(), t.wave.back(), basis.chi2);
}

}  // namespace fiberloom
