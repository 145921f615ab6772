// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/frame_depth.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "fiberloom/formats/desimodel_file.hpp"
#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/recipes/calibration_steps.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

/// Pixels of the CCD that one amplifier reads.
struct Amplifier {
  double x_begin, x_end, y_begin, y_end, noise;
  [[nodiscard]] bool has(double x, double y) const {
    return x >= x_begin && x < x_end && y >= y_begin && y < y_end;
  }
};

/// "[1:2057,1:2064]", from 1, the last one in it.
std::optional<Amplifier> parse_section(const std::string& text, double noise) {
  long value[4];
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 4; ++i) {
    while (at != end && (*at == ' ' || *at == (i == 0 ? '[' : i == 2 ? ',' : ':'))) ++at;
    const auto [next, error] = std::from_chars(at, end, value[i]);
    if (error != std::errc()) return std::nullopt;
    at = next;
  }
  const auto to = [&](int i) { return static_cast<double>(value[i]); };
  return Amplifier{to(0) - 1, to(1), to(2) - 1, to(3), noise};
}

std::vector<Amplifier> amplifiers_of(const std::string& where, const HeaderCards& header) {
  std::vector<Amplifier> out;
  for (const char letter : std::string("ABCD1234")) {
    const std::string noise = std::string("OBSRDN") + letter,
                      section = std::string("CCDSEC") + letter;
    const auto value = header.number(noise);
    const auto text = header.text(section);
    if (!value || !text) continue;
    const auto one = parse_section(*text, *value);
    if (!one || !(*value > 0)) {
      throw Error(Status::kMissingKeyword, where + ": " + section + " is '" + *text + "' and " +
                                               noise + print(" %g", *value) +
                                               ", expected [X:X,Y:Y] and a noise above 0");
    }
    out.push_back(*one);
  }
  if (!out.empty()) return out;
  const auto noise = header.number("RDNOISE");
  constexpr double kAnywhere = 1e9;
  if (noise && *noise > 0) return {{-kAnywhere, kAnywhere, -kAnywhere, kAnywhere, *noise}};
  throw Error(Status::kMissingKeyword,
              where + ": no read noise, expected OBSRDNA, CCDSECA and so on, or RDNOISE");
}

void put_score(Table& scores, const std::string& name, const std::vector<double>& values) {
  scores.drop(name).add(name, std::span<const double>(values), "",
                        "squared S/N of typical targets");
}

}  // namespace

std::string find_desimodel(const std::string& asked) {
  if (!asked.empty()) return asked;
  const char* const folder = std::getenv("DESIMODEL");
  std::error_code ignored;
  if (folder == nullptr || *folder == '\0' ||
      !std::filesystem::is_directory(std::string(folder) + "/data/tsnr", ignored))
    return "";
  return folder;
}

std::vector<std::size_t> fibers_of_spectrograph(const Spectra& spectra, int first) {
  std::vector<std::size_t> out;
  const auto fiber = spectra.fibermap ? spectra.fibermap->integers("FIBER", -1) : std::nullopt;
  for (std::size_t s = 0; s < spectra.nspec(); ++s) {
    const bool known = fiber && (*fiber)[s] >= 0;
    const std::int64_t number =
        known ? (*fiber)[s] : static_cast<std::int64_t>(s) + std::max(0, first);
    out.push_back(static_cast<std::size_t>(number % kFibersOfSpectrograph));
  }
  return out;
}

Array2D<double> read_noise_of(const std::string& where, const HeaderCards& header,
                              std::span<const double> wave, std::span<const std::size_t> fibers,
                              const PsfFile& psf) {
  const std::vector<Amplifier> amplifiers = amplifiers_of(where, header);
  const auto first = static_cast<std::size_t>(std::max(0, psf.model.fiber_min)) %
                     static_cast<std::size_t>(kFibersOfSpectrograph);
  constexpr double kOffAmplifiers = 1000;
  Array2D<double> out(fibers.size(), wave.size(), kOffAmplifiers);
  for (std::size_t s = 0; s < fibers.size(); ++s) {
    const std::size_t row = fibers[s] - first;
    if (fibers[s] < first || row >= psf.model.x.coef.rows()) {
      throw Error(kFiberRange, psf.path + print(": no trace of fibre %zu of ", fibers[s]) + where);
    }
    for (std::size_t i = 0; i < wave.size(); ++i) {
      const double x = psf.model.x(row, wave[i]), y = psf.model.y(row, wave[i]);
      for (const Amplifier& a : amplifiers) {
        if (a.has(x, y)) out(s, i) = a.noise;
      }
    }
  }
  return out;
}

calibrate::GuideShares guide_shares_of(const HeaderCards& header) {
  const auto point = header.number("ETCFRACP"), elg = header.number("ETCFRACE"),
             bgs = header.number("ETCFRACB");
  if (!point || !elg || !bgs || !(*point > 0) || !(*elg > 0) || !(*bgs > 0))
    return calibrate::usual_shares();
  return calibrate::measured_shares(*point, *elg, *bgs);
}

calibrate::Depth measure_depth(const DepthSteps& steps, const Spectra& calibrated,
                               const DepthFacts& facts, const std::string& desimodel) {
  const std::vector<SnrTemplate> templates = read_snr_templates(desimodel, facts.camera.at(0));
  const FocalPlane plane = read_focal_plane(desimodel);
  const NoiseArea area = read_noise_area(desimodel, facts.camera);
  for (const std::size_t fiber : facts.fibers) {
    if (fiber < area.pixels.rows()) continue;
    throw Error(Status::kWrongShape,
                desimodel + print(": the noise of %s has %zu fibres, expected fibre %zu too",
                                  facts.camera.c_str(), area.pixels.rows(), fiber));
  }
  return calibration::about(desimodel, [&] {
    return calibrate::depth_of({steps.raw, calibrated, steps.flat, steps.sky, steps.flux,
                                facts.read_noise, area, facts.fibers, plane, facts.shares},
                               templates);
  });
}

std::vector<std::string> model_files(const std::string& desimodel, const std::string& camera) {
  return desimodel_files(desimodel, camera);
}

void add_depth(FrameFile& frame, const DepthSteps& steps, const std::string& desimodel,
               const CalibrationJob& job, const Observer& observer) {
  if (job.psf.empty()) {
    throw Error(Status::kUsage,
                "TSNR2: expected --psf, the PSF that the frame was extracted with, or --no-tsnr");
  }
  const std::string camera = calibration::require_camera(job.input, "FLUX", frame.header);
  const PsfFile psf = read_psf(job.psf, {.verify = job.verify});
  DepthFacts facts{
      camera, fibers_of_spectrograph(frame, frame.spec_min), {}, guide_shares_of(frame.header)};
  facts.read_noise =
      read_noise_of(job.input + ": FLUX", frame.header, frame.wave, facts.fibers, psf);
  const calibrate::Depth depth = measure_depth(steps, frame, facts, desimodel);
  if (depth.scale_was_raised) {
    observer.warn(
        print("%s: the sky fibres' errors ask for less read noise than there is; "
              "TSNRALPH is %g",
              job.input.c_str(), depth.read_noise_scale));
  }
  if (!frame.scores) frame.scores.emplace();
  for (const auto& [kind, values] : depth.snr2) {
    put_score(*frame.scores, "TSNR2_" + loom::in_capitals(kind + "_" + camera[0]), values);
  }
  frame.header.set("TSNRALPH", depth.read_noise_scale,
                   "Scale on the read noise's variance (TSNR2)");
}

}  // namespace fiberloom
