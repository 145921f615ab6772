// SPDX-License-Identifier: BSD-3-Clause
// Reads what is given, says in a note what is not.
#include "fiberloom/pipeline/report/gather.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "fiberloom/base/error.hpp"
#include "fiberloom/fits/input_file.hpp"
#include "fiberloom/pipeline/compare_truth.hpp"

namespace fiberloom::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kPictureSize = 700;   // blocks; three of them are a fifth of a page
constexpr std::size_t kWidthSamples = 600;  // of the resolution's width along a spectrum
constexpr std::size_t kMaxSummary = 16U << 20;
constexpr std::int64_t kUsualBundle = 25, kFibersPerSpectrograph = 500;
constexpr int kMaxDepth = 8;
constexpr double kSignificanceRange = 5;

/// The member of nested objects, or null.
Json member(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* name : path) {
    if (!at->is_object() || !at->contains(name)) return nullptr;
    at = &(*at)[name];
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
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

Json read_summary(const std::string& path) {
  const std::string text = fits::read_text(path, kMaxSummary);
  // Nothing deeper than what extract writes: the writer of JSON goes down by recursion.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kMaxDepth; };
  Json json = Json::parse(text, shallow, false);
  if (json.is_discarded() || text_member(json, {"program"}) != "fiberloom extract") {
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
  throw Error(Status::kSizeMismatch, path + ": is of " + std::to_string(nspec.value_or(rows)) +
                                         " x " + std::to_string(nwave.value_or(cols)) +
                                         " bins, but " + report.frame.path + " has " +
                                         std::to_string(rows) + " x " + std::to_string(cols));
}

void check_wave(const FrameData& frame) {
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

struct CcdImages {
  Array2D<float> image, ivar, model, residual;  ///< image and ivar masked
};

Array2D<float> narrow(const PixelArray& pixels) {
  Array2D<float> out(pixels.rows(), pixels.cols());
  std::visit(
      [&](const auto& a) {
        for (std::size_t i = 0; i < out.size(); ++i)
          out.data()[i] = static_cast<float>(a.data()[i]);
      },
      pixels.data());
  return out;
}

void require_same_size(const std::string& path, const Array2D<float>& a, const std::string& other,
                       const Array2D<float>& b) {
  if (a.empty() || b.empty() || (a.rows() == b.rows() && a.cols() == b.cols())) return;
  const auto size = [](const Array2D<float>& m) {
    return std::to_string(m.rows()) + " x " + std::to_string(m.cols());
  };
  throw Error(Status::kSizeMismatch,
              path + ": image of " + size(a) + " pixels, but " + other + " has " + size(b));
}

/// A file of another kind may hold images too (traces of a PSF): a CCD has a column for each fibre.
void require_room(const std::string& path, const Array2D<float>& image, std::size_t nspec) {
  if (image.empty() || image.cols() >= nspec) return;
  throw Error(Status::kSizeMismatch, path + ": image of " + std::to_string(image.rows()) + " x " +
                                         std::to_string(image.cols()) + " pixels, too small for " +
                                         std::to_string(nspec) + " spectra");
}

/// Image, model and residual: any two give the third, where the pixel was used.
void complete(CcdImages& ccd) {
  if (ccd.model.empty() == ccd.residual.empty()) return;
  const Array2D<float>& known = ccd.model.empty() ? ccd.residual : ccd.model;
  Array2D<float> other(ccd.image.rows(), ccd.image.cols());
  for (std::size_t i = 0; i < other.size(); ++i) {
    const bool used = ccd.ivar.data()[i] > 0;
    other.data()[i] = used ? ccd.image.data()[i] - known.data()[i] : 0.0F;
  }
  (ccd.model.empty() ? ccd.model : ccd.residual) = std::move(other);
}

CcdImages read_images(const ReportInput& in, const HeaderCards& header, std::size_t nspec) {
  CcdImages ccd;
  if (!in.image.empty()) {
    PreprocFile file = read_preproc(in.image, in.verify);
    const auto bits = header.integer("EXMASK");
    apply_mask(file.ccd, file.mask, bits ? static_cast<std::uint32_t>(*bits) : kDefaultMaskBits);
    ccd.image = narrow(file.ccd.image);
    ccd.ivar = narrow(file.ccd.ivar);
  }
  if (!in.model.empty()) ccd.model = read_image(in.model, "MODEL", in.verify);
  if (!in.residual.empty()) ccd.residual = read_image(in.residual, "RESIDUAL", in.verify);
  require_room(in.image, ccd.image, nspec);
  require_room(in.model, ccd.model, nspec);
  require_room(in.residual, ccd.residual, nspec);
  require_same_size(in.model, ccd.model, in.image, ccd.image);
  require_same_size(in.residual, ccd.residual, in.image, ccd.image);
  require_same_size(in.residual, ccd.residual, in.model, ccd.model);
  if (!ccd.image.empty()) complete(ccd);
  return ccd;
}

void add_picture(FrameReport& report, const std::string& name, const std::string& unit,
                 const Array2D<double>& blocks, std::size_t side, const Stretch& stretch,
                 Scale scale) {
  Picture out{name, unit, {}, blocks.cols(), blocks.rows(), side, stretch, scale};
  out.png = draw(blocks, stretch,
                 scale == Scale::kDiverging ? diverging_palette() : sequential_palette());
  report.pictures.push_back(std::move(out));
}

void add_pictures(FrameReport& report, const CcdImages& ccd) {
  const Array2D<float>& any = !ccd.image.empty()   ? ccd.image
                              : !ccd.model.empty() ? ccd.model
                                                   : ccd.residual;
  if (any.empty()) {
    report.notes.emplace_back(
        "No CCD images were given (--image, --model, --residual, or --summary that names them).");
    return;
  }
  const std::size_t side = block_side(any.rows(), any.cols(), kPictureSize);
  const std::string unit = "electron a pixel";
  std::optional<Stretch> shared;  // image and model look alike where they are
  if (!ccd.image.empty()) {
    const Array2D<double> blocks = block_mean(ccd.image, ccd.ivar, side);
    shared = image_stretch(blocks);
    add_picture(report, "Image", unit, blocks, side, *shared, Scale::kSequential);
  }
  if (!ccd.model.empty()) {
    const Array2D<double> blocks = block_mean(ccd.model, {}, side);
    add_picture(report, "Model", unit, blocks, side, shared ? *shared : image_stretch(blocks),
                Scale::kSequential);
  }
  if (ccd.residual.empty()) return;
  if (!ccd.ivar.empty()) {
    const Stretch range{-kSignificanceRange, kSignificanceRange, 0};
    add_picture(report, "Residual", "sum over a dot's lit pixels / its sigma",
                block_significance(ccd.residual, ccd.model, ccd.ivar, side), side, range,
                Scale::kDiverging);
    return;
  }
  const Array2D<double> blocks = block_mean(ccd.residual, {}, side);
  const Stretch range = image_stretch(blocks);
  const double limit = std::max({std::abs(range.low), std::abs(range.high), 1e-30});
  add_picture(report, "Residual", unit, blocks, side, {-limit, limit, 0}, Scale::kDiverging);
}

void add_pulls(FrameReport& report, const CcdImages& ccd, const ReportInput& in) {
  if (!in.truth.empty()) {
    const TruthFile truth = read_truth(in.truth, in.verify);
    report.pulls.push_back(
        {"Pulls against the truth",
         "(flux - R truth) / sigma of the bins without a flag; light that is finer than a bin, as "
         "bright sky lines are, cannot be told from bin averages and makes the "
         "tails",
         truth_pulls(report.frame, report.flags, expected_flux(report.frame, truth))});
  }
  if (!ccd.ivar.empty() && !ccd.model.empty()) {
    report.pulls.push_back(
        {"Pulls of pixels",
         "(image - model) / sigma of the pixels that the model lights; sigma is the image's alone, "
         "errors of the PSF (psferr) are not in it, and fitted parameters make it narrower than 1",
         pixel_pulls(ccd.residual, ccd.model, ccd.ivar)});
  }
  report.pulls.push_back(
      {"Pulls of neighbouring bins",
       "(flux - mean of the two neighbours) / sigma, of the quietest third of each spectrum (by "
       "sigma, "
       "so without bright sky lines): noise makes the core, structure that is left widens it",
       neighbour_pulls(report.frame, report.flags)});
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
      {"residual file", &in.residual},    {"truth file", &in.truth}, {"summary file", &in.summary}};
  for (const auto& [what, path] : files) {
    if (!path->empty()) report.facts.emplace_back(what, *path);
  }
}

void note_absences(FrameReport& report) {
  const FrameData& frame = report.frame;
  if (!frame.resolution) {
    report.notes.emplace_back("The frame has no RESOLUTION: no resolution width.");
  }
  if (!frame.chi2pix) report.notes.emplace_back("The frame has no CHI2PIX: no chi2 map.");
  if (frame.mask.empty()) {
    report.notes.emplace_back(
        "The frame has no MASK: a bin counts as rejected where its ivar is 0.");
  }
  if (!frame.fibermap) {
    report.notes.emplace_back("The frame has no FIBERMAP: fibres are counted from FIBERMIN, or 0.");
  }
}

void add_statistics(FrameReport& report, std::int64_t bundle_size) {
  const std::string option = text_member(report.summary, {"options", "--bundlesize"});
  report.bundle_size = bundle_size > 0 ? bundle_size : std::atoll(option.c_str());
  if (report.bundle_size <= 0) report.bundle_size = kUsualBundle;
  report.first_fiber = integer_member(report.summary, {"spectra", "specmin"})
                           .value_or(report.fibers.front() % kFibersPerSpectrograph);
  report.bundles =
      bundle_statistics(report.frame, report.flags, report.first_fiber, report.bundle_size);
  report.runs = bad_runs(report.flags);
  report.ivar = ivar_histogram(report.frame);
  if (!report.frame.resolution) return;
  report.stride = (report.flags.cols() + kWidthSamples - 1) / kWidthSamples;
  report.sigma = resolution_sigma(report.frame, report.flags, report.stride);
}

}  // namespace

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
    find(in.model, "output", "model");
    find(in.residual, "output", "residual");
  }
  report.fibers =
      fiber_numbers(report.frame.fibermap, report.frame.header, report.frame.flux.rows());
  if (report.frame.fibermap && report.frame.fibermap->rows == report.fibers.size()) {
    report.targets =
        report.frame.fibermap->text_column("OBJTYPE").value_or(std::vector<std::string>());
  }
  report.flags = bin_flags(report.frame);
  note_absences(report);
  add_statistics(report, bundle_size);
  const CcdImages ccd = read_images(in, report.frame.header, report.fibers.size());
  add_pictures(report, ccd);
  add_pulls(report, ccd, in);
  add_facts(report, in);
  return report;
}

}  // namespace fiberloom::report
