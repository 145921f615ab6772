// SPDX-License-Identifier: BSD-3-Clause
// A FrameReport as data of the page: small things as JSON, arrays packed.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "fiberloom/recipes/page_texts.hpp"
#include "fiberloom/recipes/report/encode.hpp"
#include "fiberloom/recipes/report/gather.hpp"
#include "fiberloom/recipes/report/page_json.hpp"
#include "fiberloom/recipes/version.hpp"
#include "fiberloom/simulate/sky_lines.hpp"
#include "loom/base/error.hpp"
#include "loom/json/json.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::report {
namespace {

constexpr std::size_t kMaxRuns = 400, kMaxLines = 400;
constexpr int kSigmaBits = 6;  // of sigma: 0.8 %
constexpr double kLargestHalf = 60000;
constexpr std::uint8_t kNone = 255;
constexpr double kChi2Low = -8, kChi2Step = 0.08;  // log2 of chi2 in steps of 5.7 %
constexpr int kPaletteStops = 32;
constexpr double kPullStep = 16, kPullSoft = 0.5;
constexpr double kFwhmOfSigma = 2.35482;

Json histogram_json(const Histogram& h) {
  return {{"low", h.low()},
          {"high", h.high()},
          {"counts", h.counts()},
          {"below", h.below()},
          {"above", h.above()},
          {"n", h.size()},
          {"median", brief(h.quantile(0.5))},
          {"core", brief(h.core_width())}};
}

/// The strongest lines within the grid.
Json lines_json(const std::vector<double>& wave) {
  std::vector<SkyLine> lines;
  for (const SkyLine& line : night_sky_lines()) {
    if (line.wave_aa >= wave.front() && line.wave_aa <= wave.back()) lines.push_back(line);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const SkyLine& a, const SkyLine& b) { return a.strength > b.strength; });
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) {
    out.push_back({std::round(100 * lines[i].wave_aa) / 100, lines[i].name});
  }
  return out;
}

Json bundles_json(const FrameReport& report) {
  Json out = Json::array();
  for (const BundleStatistics& b : report.bundles) {
    out.push_back({{"row", b.first_row},
                   {"index", report.first_fiber + static_cast<std::int64_t>(b.first_row)},
                   {"rows", b.rows},
                   {"bins", b.bins},
                   {"somebad", b.some_bad},
                   {"allbad", b.all_bad},
                   {"badfit", b.bad_fit},
                   {"noivar", b.no_ivar},
                   {"snr", brief(b.median_snr)},
                   {"chi2", brief(b.median_chi2)}});
  }
  return out;
}

Json runs_json(const std::vector<BadRun>& runs) {
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(runs.size(), kMaxRuns); ++i) {
    out.push_back({runs[i].row, runs[i].first, runs[i].last, runs[i].flags});
  }
  return out;
}

Json pictures_json(const std::vector<Picture>& pictures) {
  Json out = Json::array();
  for (const Picture& p : pictures) {
    out.push_back({{"name", p.name},
                   {"unit", p.unit},
                   {"width", p.width},
                   {"height", p.height},
                   {"block", {p.block.cols, p.block.rows}},
                   {"region", {p.region.col, p.region.row, p.region.cols, p.region.rows}},
                   {"low", brief(p.stretch.low)},
                   {"high", brief(p.stretch.high)},
                   {"soft", brief(p.stretch.soft)},
                   {"palette", p.scale == Scale::kDiverging ? "diverging" : "sequential"},
                   {"src", "data:image/png;base64," + base64(p.png)}});
  }
  return out;
}

/// Figures of the head of the page; null where there is nothing to tell.
Json headline_json(const FrameReport& report) {
  std::vector<float> snr, chi2, sigma;
  for (const BundleStatistics& b : report.bundles) {
    if (b.no_ivar < b.bins) snr.push_back(static_cast<float>(b.median_snr));
    if (b.no_ivar < b.bins) chi2.push_back(static_cast<float>(b.median_chi2));
  }
  for (std::size_t i = 0; i < report.sigma.size(); ++i) {
    if (std::isfinite(report.sigma.data()[i])) sigma.push_back(report.sigma.data()[i]);
  }
  const auto flagged =
      std::accumulate(report.runs.begin(), report.runs.end(), std::size_t{0},
                      [](std::size_t sum, const BadRun& run) { return sum + run.bins(); });
  Json out{{"flagged", flagged}, {"snr", nullptr}, {"chi2", nullptr}, {"sigma", nullptr}};
  if (!snr.empty()) out["snr"] = brief(median(snr));
  if (!report.frame.chi2pix.empty() && !chi2.empty()) out["chi2"] = brief(median(chi2));
  if (!sigma.empty()) out["sigma"] = brief(median(sigma));
  return out;
}

/// Linear in 255 steps from the smallest to the largest; 255: none.
struct ByteScale {
  double low = 0, high = 1;
};

std::string pack_widths(const Array2D<float>& sigma, ByteScale& scale) {
  scale = {INFINITY, -INFINITY};
  for (std::size_t i = 0; i < sigma.size(); ++i) {
    if (!std::isfinite(sigma.data()[i])) continue;
    scale.low = std::min<double>(scale.low, sigma.data()[i]);
    scale.high = std::max<double>(scale.high, sigma.data()[i]);
  }
  if (!(scale.high > scale.low))
    scale.high = (scale.low = std::isfinite(scale.low) ? scale.low : 0) + 1;
  std::vector<std::uint8_t> bytes(sigma.size(), kNone);
  for (std::size_t i = 0; i < sigma.size(); ++i) {
    if (!std::isfinite(sigma.data()[i])) continue;
    bytes[i] = static_cast<std::uint8_t>(
        std::lround((sigma.data()[i] - scale.low) / (scale.high - scale.low) * (kNone - 1)));
  }
  return pack_bytes(bytes);
}

std::string pack_chi2(const Array2D<double>& chi2) {
  std::vector<std::uint8_t> bytes(chi2.size(), kNone);
  for (std::size_t i = 0; i < chi2.size(); ++i) {
    const double v = chi2.data()[i];
    if (!(v > 0)) continue;
    bytes[i] = static_cast<std::uint8_t>(
        std::lround(std::clamp((std::log2(v) - kChi2Low) / kChi2Step, 0.0, kNone - 1.0)));
  }
  return pack_bytes(bytes);
}

/// The power of two by which the largest value is a half near the top of their range: all that is
/// not a billion times smaller keeps its eleven bits, whatever the unit of the flux.
double half_scale(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1.0;
  return std::exp2(std::ceil(std::log2(largest / kLargestHalf)));
}

double sigma_of(double ivar) { return ivar > 0 && std::isfinite(ivar) ? 1 / std::sqrt(ivar) : 0.0; }

/// Largest |value(i)| of the bins that have information.
template <class Value>
double largest(const Array2D<std::uint8_t>& flags, Value value) {
  double out = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if ((flags.data()[i] & (kFlagNoIvar | kFlagAllBad)) != 0) continue;
    out = std::max(out, std::abs(value(i)));
  }
  return out;
}

std::string pack_flux(const Array2D<double>& flux, double scale) {
  std::vector<std::uint16_t> halves(flux.size());
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = to_half(flux.data()[i] / scale);
  return pack_halves(halves);
}

/// 1 / sqrt(ivar), 0 where there is no information.
std::string pack_sigma(const Array2D<double>& ivar, double scale) {
  std::vector<std::uint16_t> halves(ivar.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = to_half(keep_bits(sigma_of(ivar.data()[i]) / scale, kSigmaBits));
  }
  return pack_halves(halves);
}

/// Pulls as bytes: 127 + 16 asinh(pull / 0.5), so that 0.03 sigma can be told near 0 and a hundred
/// sigma still fits; 255: none.
std::string pack_pulls(const Array2D<float>& pulls) {
  std::vector<std::uint8_t> bytes(pulls.size(), kNone);
  for (std::size_t i = 0; i < pulls.size(); ++i) {
    const double p = pulls.data()[i];
    if (!std::isfinite(p)) continue;
    bytes[i] = static_cast<std::uint8_t>(
        std::lround(std::clamp(127 + kPullStep * std::asinh(p / kPullSoft), 0.0, 254.0)));
  }
  return pack_bytes(bytes);
}

/// Pixel coordinates as 16 bits over their range, in planes of bytes.
Json pack_traces(std::string& out, const std::string& prefix, const Traces& traces) {
  Json json{{"samples", traces.wave.size()}, {"wave", {traces.wave.front(), traces.wave.back()}}};
  for (const auto& [name, values] : {std::pair{"x", &traces.x}, std::pair{"y", &traces.y}}) {
    const auto [low, high] = std::minmax_element(values->data(), values->data() + values->size());
    const double first = *low, range = std::max<double>(*high - first, 1e-3);
    std::vector<std::uint16_t> codes(values->size());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<std::uint16_t>(
          std::lround(std::clamp((values->data()[i] - first) / range, 0.0, 1.0) * 65535));
    }
    out += data_html(prefix + "trace-" + name, pack_halves(codes));
    json[name] = {first, range};
  }
  return json;
}

/// Numbers with null for what is unknown, a column a list.
template <class Value>
Json column_json(std::size_t n, Value value) {
  Json out = Json::array();
  for (std::size_t i = 0; i < n; ++i) {
    const double v = value(i);
    out.push_back(std::isfinite(v) ? Json(brief(v)) : Json(nullptr));
  }
  return out;
}

Json fiber_table_json(const FrameReport& report) {
  const auto& table = report.fiber_table;
  const auto column = [&](double FiberStatistics::*member) {
    return column_json(table.size(), [&](std::size_t i) { return table[i].*member; });
  };
  Json out{{"snr", column(&FiberStatistics::snr)},
           {"chi2", column(&FiberStatistics::chi2)},
           {"flux", column(&FiberStatistics::flux)},
           {"light", column(&FiberStatistics::light)}};
  const double step = report.frame.wave.size() < 2
                          ? 1.0
                          : (report.frame.wave.back() - report.frame.wave.front()) /
                                static_cast<double>(report.frame.wave.size() - 1);
  out["fwhm"] = column_json(table.size(),
                            [&](std::size_t i) { return kFwhmOfSigma * step * table[i].width; });
  out["flagged"] = column_json(table.size(), [&](std::size_t i) {
    const FiberStatistics& f = table[i];
    return static_cast<double>(std::max({f.rejected, f.low, f.bad_fit})) /
           static_cast<double>(report.flags.cols());
  });
  return out;
}

Json targets_json(const Targets& targets) {
  Json out{{"types", targets.types}, {"ids", targets.ids}, {"status", targets.status}};
  out["redshifts"] =
      column_json(targets.redshifts.size(), [&](std::size_t i) { return targets.redshifts[i]; });
  out["x"] = column_json(targets.x.size(), [&](std::size_t i) { return targets.x[i]; });
  out["y"] = column_json(targets.y.size(), [&](std::size_t i) { return targets.y[i]; });
  out["unit"] = targets.place_unit;
  return out;
}

Json verdict_json(const Verdict& verdict) {
  Json findings = Json::array();
  for (const Finding& f : verdict.findings) {
    Json place = nullptr;
    if (f.place) place = {f.place->row, f.place->last_row, f.place->first, f.place->last};
    findings.push_back(
        {{"level", level_name(f.level)}, {"check", f.check}, {"text", f.text}, {"place", place}});
  }
  return {{"level", level_name(verdict.level)},
          {"words", verdict.words},
          {"findings", std::move(findings)}};
}

/// What is told of a frame in words and numbers, beside its arrays.
void add_findings(Json& json, const FrameReport& report) {
  json["lines"] = lines_json(report.frame.wave);
  json["headline"] = headline_json(report);
  json["bundle_size"] = report.bundle_size;
  json["bundles"] = bundles_json(report);
  json["runs"] = runs_json(report.runs);
  json["run_count"] = report.runs.size();
  json["ivar"] = histogram_json(*report.ivar);
  json["pulls"] = Json::array();
  for (const Pulls& p : report.pulls) {
    Json pull = histogram_json(p.histogram);
    pull["title"] = p.title;
    pull["note"] = p.note;
    json["pulls"].push_back(std::move(pull));
  }
  json["pictures"] = pictures_json(report.pictures);
  json["facts"] = Json::array();
  for (const auto& [name, value] : report.facts) {
    json["facts"].push_back(Json::array({name, value}));
  }
  json["notes"] = report.notes;
  json["summary"] = report.summary;
}

/// The frame's elements: packed arrays as text, then everything else as JSON.
std::string frame_html(const FrameReport& report, std::size_t number) {
  const FrameFile& frame = report.frame;
  std::string prefix("f");
  prefix.append(std::to_string(number)).append("-");
  const double flux_scale =
      half_scale(largest(report.flags, [&](std::size_t i) { return frame.flux.data()[i]; }));
  const double sigma_scale = half_scale(
      largest(report.flags, [&](std::size_t i) { return sigma_of(frame.ivar.data()[i]); }));
  std::string out;
  out += data_html(prefix + "flux", pack_flux(frame.flux, flux_scale));
  out += data_html(prefix + "sigma", pack_sigma(frame.ivar, sigma_scale));
  out += data_html(prefix + "flags", pack_bytes({report.flags.data(), report.flags.size()}));
  if (!frame.chi2pix.empty()) out += data_html(prefix + "chi2", pack_chi2(frame.chi2pix));
  Json json{{"name", std::filesystem::path(frame.path).filename().string()},
            {"nspec", frame.flux.rows()},
            {"nwave", frame.flux.cols()},
            {"wave", wave_json(frame.wave)},
            {"fibers", report.fibers},
            {"band", report.band},
            {"exposure", report.exposure},
            {"unit", frame.header.text("BUNIT").value_or("electron/Angstrom")},
            {"verdict", verdict_json(report.verdict)},
            {"targets", targets_json(report.targets)},
            {"table", fiber_table_json(report)},
            {"flux_scale", flux_scale},
            {"sigma_scale", sigma_scale},
            {"chi2",
             frame.chi2pix.empty() ? Json(nullptr) : Json{{"low", kChi2Low}, {"step", kChi2Step}}},
            {"width", nullptr},
            {"traces", nullptr},
            {"pull", {{"step", kPullStep}, {"soft", kPullSoft}}}};
  if (!report.sigma.empty()) {
    ByteScale range;
    out += data_html(prefix + "width", pack_widths(report.sigma, range));
    json["width"] = {{"low", range.low}, {"high", range.high}, {"stride", report.stride}};
  }
  if (!report.model_pull.empty()) {
    out += data_html(prefix + "model", pack_pulls(report.model_pull));
  }
  if (!report.truth_pull.empty()) {
    out += data_html(prefix + "truth", pack_pulls(report.truth_pull));
  }
  if (report.traces) json["traces"] = pack_traces(out, prefix, *report.traces);
  add_findings(json, report);
  out += "<script type=\"application/json\" id=\"" + prefix + "data\">" +
         page::escape_script(json.dump(-1, JsonText::kAscii)) + "</script>\n";
  return out;
}

std::string palettes_json() {
  const Json json{{"sequential", palette_stops(sequential_palette(), kPaletteStops)},
                  {"diverging", palette_stops(diverging_palette(), kPaletteStops + 1)}};
  return json.dump();
}

}  // namespace

std::string report_html(const ReportJob& job) {
  std::string frames, title;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    const FrameReport report = gather(job.inputs[i], job.bundle_size);
    if (i == 0) title = std::filesystem::path(report.frame.path).filename().string();
    frames += frame_html(report, i);
  }
  if (job.inputs.size() > 1) title += " and " + std::to_string(job.inputs.size() - 1) + " more";
  title = page::escape_html(title);
  const std::string css = std::string(page::common_css()) + std::string(texts::report_css());
  std::string js(page::common_js());
  for (const std::string_view part :
       {texts::report_unpack_js(), texts::report_data_js(), texts::report_arms_js(),
        texts::report_axes_js(), texts::report_spectrum_js(), texts::report_figures_js(),
        texts::report_ccd_js(), texts::report_focal_js(), texts::report_verdict_js(),
        texts::report_tables_js(), texts::report_search_js(), texts::report_export_js(),
        texts::report_link_js(), texts::report_keys_js(), texts::report_js()}) {
    js += part;
  }
  const std::string program = "fiberloom " + std::string(version());
  const std::string palettes = palettes_json();
  return page::fill(texts::report_html(), {{"title", title},
                                           {"program", program},
                                           {"css", css},
                                           {"palettes", palettes},
                                           {"frames", frames},
                                           {"js", js}});
}

}  // namespace fiberloom::report
