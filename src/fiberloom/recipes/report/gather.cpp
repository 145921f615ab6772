// SPDX-License-Identifier: BSD-3-Clause
// Reads what is given, says in a note what is not.
#include "fiberloom/recipes/report/gather.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/recipes/compare_truth.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/files/input_file.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::report {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kWidthSamples = 600;  // of the resolution's width along a spectrum
constexpr std::size_t kMaxSummary = 16U << 20;
constexpr std::int64_t kUsualBundle = 25;
constexpr std::size_t kMaxDepth = 8;
constexpr std::size_t kMargin = 8;         // pixels around what is lit
constexpr double kSpotReach = 8;           // columns: half a spot
constexpr std::size_t kTraceSamples = 17;  // a trace is smooth: straight between them to 0.1 pixel
constexpr std::size_t kLeastPulls = 100;   // for a width
constexpr double kUsualPixels = 5.5;       // of a bin of 0.8 Angstrom, where no PSF tells

/// The member of nested objects, or null.
Json member(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* name : path) {
    if (!at->is_object() || !at->contains(name)) return {};
    at = at->find(name);
  }
  return *at;
}

std::string text_member(const Json& json, std::initializer_list<const char*> path) {
  const Json value = member(json, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::int64_t> integer_member(const Json& json,
                                           std::initializer_list<const char*> path) {
  const Json value = member(json, path);
  if (!value.is_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

Json read_summary(const std::string& path) {
  const std::string text = read_text(path, kMaxSummary);
  // Nothing deeper than what extract writes.
  Json json = Json::parse(text, kMaxDepth).value_or(Json());
  if (text_member(json, {"program"}) != "fiberloom extract") {
    throw Error(Status::kCorrupt, path + ": is no summary as `fiberloom extract --json` writes it");
  }
  return json;
}

void check_summary(const std::string& path, const FrameReport& report) {
  const auto nspec = integer_member(report.summary, {"spectra", "nspec"});
  const auto nwave = integer_member(report.summary, {"spectra", "nwave"});
  const auto rows = static_cast<std::int64_t>(report.frame.flux.rows());
  const auto cols = static_cast<std::int64_t>(report.frame.flux.cols());
  if (nspec.value_or(rows) == rows && nwave.value_or(cols) == cols) return;
  throw Error(kSizeMismatch, path + ": is of " + std::to_string(nspec.value_or(rows)) + " x " +
                                 std::to_string(nwave.value_or(cols)) + " bins, but " +
                                 report.frame.path + " has " + std::to_string(rows) + " x " +
                                 std::to_string(cols));
}

void check_wave(const FrameFile& frame) {
  for (std::size_t j = 0; j < frame.wave.size(); ++j) {
    const bool good = std::isfinite(frame.wave[j]) && (j == 0 || frame.wave[j] > frame.wave[j - 1]);
    if (good) continue;
    throw Error(Status::kCorrupt, frame.path + ": HDU WAVELENGTH: bin " + std::to_string(j) +
                                      " is " + std::to_string(frame.wave[j]) +
                                      ", expected increasing wavelengths");
  }
}

/// `given`, else the file that the summary names, as it stands or beside the summary.
std::string find_file(const std::string& given, const std::string& named,
                      const std::string& summary, const char* what, FrameReport& report) {
  if (!given.empty() || named.empty()) return given;
  std::error_code ignored;
  const fs::path beside = fs::path(summary).parent_path() / fs::path(named).filename();
  for (const fs::path& path : {fs::path(named), beside}) {
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  report.notes.push_back(std::string("The summary names ") + what + " " + named +
                         ", which is not there.");
  return {};
}

/// From the lowest to the highest value, with some room, within [0, limit).
std::pair<std::size_t, std::size_t> span_of(const Array2D<float>& values, std::size_t limit) {
  const auto [low, high] = std::minmax_element(values.data(), values.data() + values.size());
  const double room = kMargin + kSpotReach, last = static_cast<double>(limit);
  return {static_cast<std::size_t>(std::clamp(*low - room, 0.0, last)),
          static_cast<std::size_t>(std::clamp(*high + room + 1, 0.0, last))};
}

/// The part of the CCD that belongs to the frame's fibres: where the model puts light and where the
/// traces run (a dead amplifier has traces, but no light); all of it where neither is known.
Region fiber_part(const CcdImages& ccd, const std::optional<Traces>& traces) {
  const Array2D<float>& any = ccd.any();
  const Region all{0, 0, any.rows(), any.cols()};
  const Region lit = ccd.model.empty() ? all : lit_region(ccd.model, kMargin);
  if (!traces || traces->x.empty()) return lit;
  const auto [c0, c1] = span_of(traces->x, any.cols());
  const auto [r0, r1] = span_of(traces->y, any.rows());
  if (c1 <= c0 || r1 <= r0) return lit;
  if (ccd.model.empty()) return {r0, c0, r1 - r0, c1 - c0};
  const std::size_t row = std::min(r0, lit.row), col = std::min(c0, lit.col);
  return {row, col, std::max(r1, lit.row + lit.rows) - row, std::max(c1, lit.col + lit.cols) - col};
}

/// Files of one size fit each other whatever they are of: where `header`, that of the file at
/// `path`, says another thing than the frame's, the page does too.
void note_other(const std::string& path, const HeaderCards& header, const char* key,
                FrameReport& report) {
  const auto ours = report.frame.header.text(key), its = header.text(key);
  if (!ours || !its || loom::same_but_for_case(*ours, *its)) return;
  const auto number = header.number(key);
  if (number && number == report.frame.header.number(key)) return;
  report.notes.push_back(path + " is of " + key + " " + *its + ", the frame of " + *ours + ".");
}

/// The same of what belongs to one exposure.
void note_other_exposure(const std::string& path, const HeaderCards& header, FrameReport& report) {
  for (const char* key : {"CAMERA", "NIGHT", "EXPID"}) note_other(path, header, key, report);
}

/// What a PSF adds: traces, the residual along them, the noise that a bin must have.
void add_traces(FrameReport& report, const CcdImages& ccd, const ReportInput& in) {
  const std::string& path = in.psf;
  const std::size_t nspec = report.fibers.size();
  double pixels = kUsualPixels;
  if (path.empty()) {
    report.notes.emplace_back("No PSF was given (--psf, or --summary that names it): no traces.");
  } else {
    const PsfFile file = read_psf(path, {.verify = in.verify});
    const PsfModel& psf = file.model;
    note_other(path, file.header, "CAMERA", report);
    const auto first = static_cast<std::size_t>(std::max<std::int64_t>(report.first_fiber, 0));
    const Array2D<float>& any = ccd.any();
    if (!any.empty() && (any.cols() != static_cast<std::size_t>(psf.npix_x) ||
                         any.rows() != static_cast<std::size_t>(psf.npix_y))) {
      throw Error(kSizeMismatch, path + ": is for a CCD of " + std::to_string(psf.npix_y) + " x " +
                                     std::to_string(psf.npix_x) + " pixels, but the images have " +
                                     std::to_string(any.rows()) + " x " +
                                     std::to_string(any.cols()));
    }
    if (first + nspec > static_cast<std::size_t>(psf.nfiber())) {
      throw Error(kSizeMismatch, path + ": has " + std::to_string(psf.nfiber()) +
                                     " fibres, but the frame's are " + std::to_string(first) +
                                     " to " + std::to_string(first + nspec - 1));
    }
    const std::vector<double>& wave = report.frame.wave;
    report.traces = sample_traces(psf, first, nspec, wave.front(), wave.back(), kTraceSamples);
    if (ccd.complete()) {
      report.model_pull =
          residual_along_traces(psf, first, nspec, wave, ccd.residual, ccd.model, ccd.ivar);
    }
    if (wave.size() > 1) pixels = effective_pixels(psf, first, nspec, wave);
  }
  const HeaderCards& header = report.frame.header;
  const auto noise = header.number("RDNOISE");
  const std::string unit = header.text("BUNIT").value_or("");
  if (noise && *noise > 0 && unit.find("electron") != std::string::npos) {
    report.noise = noise_ratio(report.frame, report.flags, *noise, pixels);
  }
}

/// (flux - expected) / sigma of each bin, NaN where either is unknown.
Array2D<float> pull_of_bins(const FrameReport& report, const Array2D<double>& expected) {
  Array2D<float> out(expected.rows(), expected.cols());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool known = (report.flags.data()[i] & kUnusable) == 0;
    out.data()[i] = known ? static_cast<float>((report.frame.flux.data()[i] - expected.data()[i]) *
                                               std::sqrt(report.frame.ivar.data()[i]))
                          : std::numeric_limits<float>::quiet_NaN();
  }
  return out;
}

void add_truth_pulls(FrameReport& report, const ReportInput& in) {
  const TruthFile truth = read_truth(in.truth, in.verify);
  note_other_exposure(in.truth, truth.header, report);
  add_truth(report.targets, report.fibers, truth.fibermap);
  const Array2D<double> expected = expected_flux(report.frame, truth);
  report.truth_pull = pull_of_bins(report, expected);
  report.pulls.push_back(
      {PullKind::kTruth, "Pulls against the truth",
       "(flux - R truth) / sigma of the bins without a flag; light that is finer than a bin, as "
       "bright sky lines are, cannot be told from bin averages and makes the tails",
       truth_pulls(report.frame, report.flags, expected)});
  const Histogram quiet =
      truth_pulls(report.frame, flag_bright(report.frame, report.flags), expected);
  if (quiet.size() >= kLeastPulls) report.truth_core = quiet.core_width();
}

void add_pulls(FrameReport& report, const CcdImages& ccd, const ReportInput& in) {
  if (!in.truth.empty()) add_truth_pulls(report, in);
  if (ccd.complete()) {
    report.wild = wild_pixels(ccd.residual, ccd.model, ccd.ivar);
    report.pulls.push_back(
        {PullKind::kPixels, "Pulls of pixels",
         "(image - model) / sigma of the pixels that the model lights; sigma is the image's "
         "alone, errors of the PSF (psferr) are not in it, and fitted parameters make it narrower "
         "than 1",
         pixel_pulls(ccd.residual, ccd.model, ccd.ivar)});
  }
  report.pulls.push_back(
      {PullKind::kNeighbours, "Pulls of neighbouring bins",
       "(flux - mean of the two neighbours) / sigma, of the quietest third of each spectrum (by "
       "sigma, so without bright sky lines): noise makes the core, structure that is left widens "
       "it",
       neighbour_pulls(report.frame, report.flags)});
  std::vector<std::size_t> sky;
  for (std::size_t s = 0; s < report.fibers.size(); ++s) {
    if (report.targets.is_sky(s) && !report.targets.is_known_bad(s)) sky.push_back(s);
  }
  Histogram pulls = sky_pulls(report.frame, report.flags, sky);
  if (pulls.size() == 0) return;
  report.pulls.push_back(
      {PullKind::kSky, "Pulls of sky fibres",
       "(flux - mean of the " + std::to_string(sky.size()) +
           " sky fibres, scaled to this one) / sigma, of the quietest third of each spectrum: "
           "what is wider than 1 is left after a perfect sky subtraction",
       std::move(pulls)});
}

void add_facts(FrameReport& report, const ReportInput& in) {
  const HeaderCards& header = report.frame.header;
  for (const char* key :
       {"CAMERA", "NIGHT", "EXPID", "TILEID", "FLAVOR", "PROGRAM", "EXPTIME", "AIRMASS", "SPECTER",
        "EXMETHOD", "EXGH00", "EXTAILS", "EXMASK", "IN_IMG", "IN_PSF", "ORIG_PSF"}) {
    if (const auto value = header.text(key)) report.facts.emplace_back(key, *value);
  }
  for (int i = 0; i < 100; ++i) {
    const std::string number = {static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10)};
    const auto name = header.text("DEPNAM" + number), version = header.text("DEPVER" + number);
    if (name && version) report.facts.emplace_back("uses " + *name, *version);
  }
  const std::pair<const char*, const std::string*> files[] = {
      {"frame file", &report.frame.path}, {"image file", &in.image}, {"model file", &in.model},
      {"residual file", &in.residual},    {"PSF file", &in.psf},     {"truth file", &in.truth},
      {"summary file", &in.summary}};
  for (const auto& [what, path] : files) {
    if (!path->empty()) report.facts.emplace_back(what, *path);
  }
}

void note_absences(FrameReport& report) {
  const FrameFile& frame = report.frame;
  if (frame.resolution.empty()) {
    report.notes.emplace_back("The frame has no RESOLUTION: no resolution width.");
  }
  if (frame.chi2pix.empty()) report.notes.emplace_back("The frame has no CHI2PIX: no chi2 map.");
  if (frame.mask.empty()) {
    report.notes.emplace_back(
        "The frame has no MASK: a bin counts as rejected where its ivar is 0.");
  }
  if (!frame.fibermap) {
    report.notes.emplace_back("The frame has no FIBERMAP: fibres are counted from FIBERMIN, or 0.");
  }
}

/// The largest error bound of the summary's bundles.
std::optional<double> largest_bound(const Json& summary) {
  std::optional<double> out;
  const Json bundles = member(summary, {"bundles"});
  if (!bundles.is_array()) return out;
  for (const Json& bundle : bundles.elements()) {
    const Json bound = member(bundle, {"bound_sigma"});
    if (bound.is_number()) out = std::max(out.value_or(0.0), bound.get<double>());
  }
  return out;
}

void add_statistics(FrameReport& report, std::int64_t bundle_size) {
  const std::string option = text_member(report.summary, {"options", "--bundlesize"});
  report.bundle_size = bundle_size > 0 ? bundle_size : std::atoll(option.c_str());
  if (report.bundle_size <= 0) report.bundle_size = kUsualBundle;
  report.first_fiber = integer_member(report.summary, {"spectra", "specmin"})
                           .value_or(report.fibers.front() % kFibersOfSpectrograph);
  report.bundles =
      bundle_statistics(report.frame, report.flags, report.first_fiber, report.bundle_size);
  report.runs = bad_runs(report.flags);
  report.ivar = ivar_histogram(report.frame);
  report.largest_bound = largest_bound(report.summary);
  if (report.frame.resolution.empty()) return;
  report.stride = (report.flags.cols() + kWidthSamples - 1) / kWidthSamples;
  report.sigma = resolution_sigma(report.frame, report.flags, report.stride);
}

/// Band and exposure of CAMERA ("r3"), EXPID and NIGHT: cameras that differ in the band alone saw
/// the same fibres.
void add_exposure(FrameReport& report) {
  const HeaderCards& header = report.frame.header;
  const std::string camera = header.text("CAMERA").value_or("");
  const std::string expid = header.text("EXPID").value_or("");
  const bool named = camera.size() > 1 && std::isalpha(static_cast<unsigned char>(camera[0])) != 0;
  if (!named || expid.empty()) return;
  report.band = loom::small_letter(camera[0]);
  report.exposure = header.text("NIGHT").value_or("") + "/" + expid + "/" + camera.substr(1);
}

}  // namespace

std::vector<std::string> files_of(const ReportJob& job) {
  std::vector<std::string> files;
  FrameReport unused;  // notes of what is not there
  for (const ReportInput& in : job.inputs) {
    files.insert(files.end(),
                 {in.frame, in.image, in.model, in.residual, in.psf, in.summary, in.truth});
    if (in.summary.empty()) continue;
    const Json summary = read_summary(in.summary);
    const auto add = [&](const std::string& given, const char* group, const char* name) {
      files.push_back(
          find_file(given, text_member(summary, {group, name}), in.summary, name, unused));
    };
    add(in.image, "input", "image");
    add(in.psf, "input", "psf");
    add(in.model, "output", "model");
    add(in.residual, "output", "residual");
  }
  return files;
}

FrameReport gather(const ReportInput& input, std::int64_t bundle_size) {
  FrameReport report;
  report.frame = read_frame(input.frame, input.verify);
  check_wave(report.frame);
  ReportInput in = input;
  if (!in.summary.empty()) {
    report.summary = read_summary(in.summary);
    check_summary(in.summary, report);
    const auto find = [&](std::string& path, const char* group, const char* name) {
      path = find_file(path, text_member(report.summary, {group, name}), in.summary, name, report);
    };
    find(in.image, "input", "image");
    find(in.psf, "input", "psf");
    find(in.model, "output", "model");
    find(in.residual, "output", "residual");
  }
  const std::optional<Table>& fibermap = report.frame.fibermap;
  report.fibers = fiber_numbers(fibermap, report.frame.header, report.frame.flux.rows());
  report.targets = read_targets(fibermap, report.fibers.size());
  report.flags = bin_flags(report.frame);
  note_absences(report);
  add_exposure(report);
  add_statistics(report, bundle_size);
  report.fiber_table = fiber_statistics(report.frame, report.flags, report.sigma);
  const CcdImages ccd = read_images(in, report.frame.header, report.fibers.size());
  if (ccd.any().empty()) {
    report.notes.emplace_back(
        "No CCD images were given (--image, --model, --residual, or --summary that names them).");
  }
  for (const auto& [path, header] : ccd.headers) note_other_exposure(path, header, report);
  add_traces(report, ccd, in);
  if (!ccd.any().empty()) report.pictures = make_pictures(ccd, fiber_part(ccd, report.traces));
  add_pulls(report, ccd, in);
  add_facts(report, in);
  report.verdict = judge(report);
  return report;
}

}  // namespace fiberloom::report
