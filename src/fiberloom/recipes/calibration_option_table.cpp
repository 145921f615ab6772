// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/calibration_option_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

using Field = CalibrationOptionField;

constexpr auto kFlat = static_cast<unsigned>(CalibrationStep::kFiberFlat);
constexpr auto kSky = static_cast<unsigned>(CalibrationStep::kSky);
constexpr auto kApply = static_cast<unsigned>(CalibrationStep::kCalibrate);
constexpr auto kFlux = static_cast<unsigned>(CalibrationStep::kFluxCalib);
constexpr unsigned kAll = kFlat | kSky | kApply | kFlux;

const CalibrationOptionRow kRows[] = {
    {.key = "infile",
     .names = "-i,--infile",
     .steps = kFlat,
     .text = "frame of a lamp (ours, desispec's)",
     .field = [](CalibrationJob& j) -> Field { return &j.input; },
     .value = "FRAME",
     .required = true},
    {.key = "infile",
     .names = "-i,--infile",
     .steps = kSky | kApply | kFlux,
     .text = "frame of an exposure",
     .field = [](CalibrationJob& j) -> Field { return &j.input; },
     .value = "FRAME",
     .required = true},
    {.key = "fiberflat",
     .names = "--fiberflat",
     .steps = kSky | kFlux,
     .text = "what to divide it by first; none: it has been",
     .field = [](CalibrationJob& j) -> Field { return &j.flat; },
     .value = "FIBERFLAT"},
    {.key = "fiberflat",
     .names = "--fiberflat",
     .steps = kApply,
     .text = "what to divide it by",
     .field = [](CalibrationJob& j) -> Field { return &j.flat; },
     .value = "FIBERFLAT"},
    {.key = "sky",
     .names = "--sky",
     .steps = kApply,
     .text = "what to take away",
     .field = [](CalibrationJob& j) -> Field { return &j.sky; },
     .value = "SKY"},
    {.key = "sky",
     .names = "--sky",
     .steps = kFlux,
     .text = "what to take away first; none: it has been",
     .field = [](CalibrationJob& j) -> Field { return &j.sky; },
     .value = "SKY"},
    {.key = "models",
     .names = "--models",
     .steps = kFlux,
     .text = "standard stars of known spectrum: FLUX, WAVELENGTH, FIBERS",
     .field = [](CalibrationJob& j) -> Field { return &j.models; },
     .value = "STDSTARS",
     .required = true},
    {.key = "average",
     .names = "--average",
     .steps = kFlux,
     .text = "flux calibration that is scaled where stars are too faint; none: an error then",
     .field = [](CalibrationJob& j) -> Field { return &j.average; },
     .value = "FLUXCALIB"},
    {.key = "fluxcalib",
     .names = "--fluxcalib",
     .steps = kApply,
     .text = "what makes flux of it",
     .field = [](CalibrationJob& j) -> Field { return &j.flux; },
     .value = "FLUXCALIB"},
    {.key = "outfile",
     .names = "-o,--outfile",
     .steps = kFlux,
     .text = "flux calibration to write",
     .field = [](CalibrationJob& j) -> Field { return &j.output; },
     .value = "FLUXCALIB",
     .required = true},
    {.key = "outfile",
     .names = "-o,--outfile",
     .steps = kFlat,
     .text = "fibre flat to write",
     .field = [](CalibrationJob& j) -> Field { return &j.output; },
     .value = "FIBERFLAT",
     .required = true},
    {.key = "outfile",
     .names = "-o,--outfile",
     .steps = kSky,
     .text = "sky to write",
     .field = [](CalibrationJob& j) -> Field { return &j.output; },
     .value = "SKY",
     .required = true},
    {.key = "outfile",
     .names = "-o,--outfile",
     .steps = kApply,
     .text = "frame to write",
     .field = [](CalibrationJob& j) -> Field { return &j.output; },
     .value = "FRAME",
     .required = true},
    {.key = "nsig",
     .names = "--nsig",
     .steps = kFlat,
     .text = "pixels farther from the smooth flat are rejected, sigma",
     .field = [](CalibrationJob& j) -> Field { return &j.clip_nsig; },
     .interval = above(0),
     .shows_default = true,
     .is_setting = true},
    {.key = "acc",
     .names = "--acc",
     .steps = kFlat,
     .text = "largest change of the last iteration",
     .field = [](CalibrationJob& j) -> Field { return &j.accuracy; },
     .interval = above(0),
     .shows_default = true,
     .is_setting = true},
    {.key = "smoothing_resolution",
     .names = "--smoothing-resolution",
     .steps = kFlat,
     .text = "Angstrom between knots",
     .field = [](CalibrationJob& j) -> Field { return &j.spacing_aa; },
     .interval = above(0),
     .shows_default = true,
     .is_setting = true},
    {.key = "nsig_flux_scale",
     .names = "--nsig-flux-scale",
     .steps = kFlux,
     .text = "stars brighter or fainter than the others by more are left out, sigma",
     .field = [](CalibrationJob& j) -> Field { return &j.scale_nsig; },
     .interval = above(0),
     .shows_default = true,
     .is_setting = true},
    {.key = "method",
     .names = "--method",
     .steps = kAll,
     .text = "whose rules where they differ",
     .field = [](CalibrationJob& j) -> Field { return &j.method; },
     .shows_default = true,
     .is_setting = true},
    {.key = "clobber",
     .names = "--no-clobber",
     .steps = kAll,
     .text = "refuse to replace an existing file",
     .field = [](CalibrationJob& j) -> Field { return &j.overwrite; }},
    {.key = "verify",
     .names = "--no-verify",
     .steps = kAll,
     .text = "do not compare the checksums of inputs (CHECKSUM, DATASUM), where they have them",
     .field = [](CalibrationJob& j) -> Field { return &j.verify; }},
};

[[noreturn]] void fail(const CalibrationOptionRow& row, const std::string& text,
                       const std::string& expected) {
  throw Error(Status::kUsage, row.long_name() + " " + text + ": expected " + expected);
}

/// Visits every kind of member.
struct SetMember {
  const CalibrationOptionRow& row;
  const std::string& text;
  void operator()(double* to) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
      fail(row, text, "a number");
    }
    if (row.interval && !row.interval->contains(value)) {
      fail(row, text, "a number " + row.interval->words());
    }
    *to = value;
  }
  void operator()(std::string* to) const { *to = text; }
  void operator()(CalibrationMethod* to) const {
    const auto& words = calibration_methods();
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) fail(row, text, "fiberloom or desispec");
    *to = static_cast<CalibrationMethod>(found - words.begin());
  }
  void operator()(Verify* to) const { *to = yes() ? Verify::kYes : Verify::kNo; }
  void operator()(Overwrite* to) const { *to = yes() ? Overwrite::kYes : Overwrite::kNo; }

 private:
  [[nodiscard]] bool yes() const {
    if (text != "true" && text != "false") fail(row, text, "true or false");
    return text == "true";
  }
};

struct TellMember {
  std::string operator()(const double* v) const { return print("%.17g", *v); }
  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(const CalibrationMethod* v) const {
    return calibration_methods()[static_cast<std::size_t>(*v)];
  }
  std::string operator()(const Verify* v) const { return *v == Verify::kYes ? "true" : "false"; }
  std::string operator()(const Overwrite* v) const {
    return *v == Overwrite::kYes ? "true" : "false";
  }
};

}  // namespace

std::string CalibrationOptionRow::long_name() const {
  const std::string all(names);
  const std::size_t start = all.find("--");
  return all.substr(start, all.find(',', start) - start);
}

std::span<const CalibrationOptionRow> calibration_option_rows() { return kRows; }

const std::vector<std::string>& calibration_methods() {
  static const std::vector<std::string> words{"fiberloom", "desispec"};
  return words;
}

void set_calibration_option(const CalibrationOptionRow& row, CalibrationJob& job,
                            const std::string& text) {
  std::visit(SetMember{row, text}, row.field(job));
}

std::vector<std::pair<std::string, std::string>> calibration_settings(const CalibrationJob& job) {
  CalibrationJob copy = job;
  std::vector<std::pair<std::string, std::string>> out;
  for (const CalibrationOptionRow& row : kRows) {
    if (!row.is_setting || !row.belongs_to(job.step)) continue;
    out.emplace_back(row.key, std::visit(TellMember{}, row.field(copy)));
  }
  return out;
}

}  // namespace fiberloom
