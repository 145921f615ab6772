// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom compare`: two frames, or a frame and the truth that it was simulated from.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/recipes/compare_truth.hpp"
#include "fiberloom/recipes/redshift/compare_redshifts.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/program/standard_output.hpp"

namespace fiberloom::cli {
namespace {

struct CompareCommand {
  std::string a, b, truth;
  Verify verify = Verify::kYes;
  CompareOptions options;
  double max_pull = 0.1, max_mask_percent = 0.1, max_other_percent = 1;
  std::optional<double> max_ivar, max_resolution, max_mean, max_width_error;
  int bundle_size = 25;
};

/// Prints one judged figure; false when it is beyond its limit.
bool judge(const char* name, double value, std::optional<double> limit, const char* unit) {
  const bool good = !limit || value <= *limit;
  put(print("%-34s %10.3g %s", name, value, unit));
  if (limit) put(print("  (limit %g: %s)", *limit, good ? "ok" : "EXCEEDED"));
  put("\n");
  return good;
}

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_list(const char* side, const std::vector<BinName>& bins) {
  for (const BinName& bin : bins) {
    put(print("  only %s: fibre %lld at %.3f\n", side, static_cast<long long>(bin.fiber),
              bin.wave_aa));
  }
}

void print_hint(const std::string& line) {
  if (!line.empty()) put(line + "\n");
}

/// What compares nothing is within no limit.
bool is_any(std::size_t count, const char* what) {
  if (count == 0) put(print("no %s: nothing was compared\n", what));
  return count > 0;
}

int compare_two(const CompareCommand& command) {
  const FrameFile a = read_frame(command.a, command.verify);
  const FrameFile b = read_frame(command.b, command.verify);
  CompareOptions options = command.options;
  options.far_pull = command.max_pull;
  const FrameComparison c = compare_frames(a, b, options);
  const std::size_t all = c.nspec * c.nwave;
  put(print("A %s\nB %s\n", a.path.c_str(), b.path.c_str()));
  put(print("%zu spectra x %zu bins, %zu good on both sides (%.3f %%)\n", c.nspec, c.nwave, c.good,
            percent(c.good, all)));
  const std::size_t lone_a = a.flux.rows() - c.nspec, lone_b = b.flux.rows() - c.nspec;
  if (lone_a + lone_b > 0) {  // else a frame that lost fibres would look like the whole one
    put(print("not compared: %zu spectra only in A, %zu only in B\n", lone_a, lone_b));
  }
  put("\n|flux_a - flux_b| / sqrt(var_a + var_b)\n");
  for (std::size_t t = 0; t < FrameComparison::kThresholds.size(); ++t) {
    put(print("  < %-6g %9.4f %%\n", FrameComparison::kThresholds[t],
              percent(c.pulls_below[t], c.good)));
  }
  bool good = judge("max pull", c.max_pull, command.max_pull, "sigma");
  put(print("  at fibre %lld, %.3f\n", static_cast<long long>(c.max_pull_at.fiber),
            c.max_pull_at.wave_aa));
  print_hint(seam_hint(a, b, c));
  for (const std::string& line : unlike_hints(a, b)) print_hint(line);
  good &= judge("max ivar difference", c.max_ivar, command.max_ivar, "relative");
  if (c.max_resolution) {
    good &= judge("max resolution difference", *c.max_resolution, command.max_resolution, "");
  } else {
    put(print("%-34s not in both files\n", "resolution"));
  }
  put(print("\nmasked in A %zu, in B %zu; only in A %zu, only in B %zu\n", c.masked_a, c.masked_b,
            c.only_a, c.only_b));
  good &=
      judge("masked on one side only", 100 * c.mask_difference(), command.max_mask_percent, "%");
  print_list("A", c.list_only_a);
  print_list("B", c.list_only_b);
  good &= is_any(c.good, "bin is good on both sides");
  return static_cast<int>(good ? Status::kOk : Status::kDifferent);
}

void print_pulls(const TruthComparison::Row& row) {
  const PullStatistics& p = row.pulls;
  if (p.count() == 0) return;
  put(print("  %-18s %10zu  %+8.4f  %7.4f  %8zu\n", row.name.c_str(), p.count(), p.mean(),
            p.width(), p.beyond_5()));
}

int compare_with_truth(const CompareCommand& command, const std::string& truth_path) {
  const FrameFile frame = read_frame(command.a, command.verify);
  const TruthComparison c = compare_truth(frame, read_truth(truth_path, command.verify),
                                          command.options, command.bundle_size);
  put(print("frame %s\ntruth %s\n", frame.path.c_str(), truth_path.c_str()));
  put(print("%zu spectra x %zu bins, %.3f %% masked; pull = (flux - R truth) / sigma\n\n", c.nspec,
            c.nwave, percent(c.masked, c.nspec * c.nwave)));
  put(print("  %-18s %10s  %8s  %7s  %8s\n", "", "bins", "mean", "width", "> 5"));
  print_pulls(c.all);
  for (const auto& row : c.by_brightness) print_pulls(row);
  for (const auto& row : c.by_bundle) print_pulls(row);
  put("\n");
  bool good = judge("mean pull", std::abs(c.all.pulls.mean()), command.max_mean, "sigma");
  good &= judge("width of pulls - 1", std::abs(c.all.pulls.width() - 1), command.max_width_error,
                "sigma");
  print_hint(width_hint(c));
  good &= is_any(c.all.pulls.count(), "bin is good and covered by the truth");
  return static_cast<int>(good ? Status::kOk : Status::kDifferent);
}

bool is_truth(const std::string& path) {
  const auto hdus = list_hdus(path, Verify::kNo);
  const auto has = [&](const char* name) {
    return std::any_of(hdus.begin(), hdus.end(),
                       [&](const HduSummary& hdu) { return hdu.name == name; });
  };
  return has("FLUX") && has("WAVELENGTH") && !has("IVAR");
}

int compare_two_redshifts(const CompareCommand& command, const std::string& other) {
  const RedshiftAnswers a = read_answers(command.a, command.verify);
  const RedshiftAnswers b = read_answers(other, command.verify);
  const RedshiftComparison c =
      compare_redshifts(a, b, std::max<std::size_t>(command.options.list, 5));
  if (c.both == 0) {
    throw Error(Status::kWrongShape, b.path +
                                         print(": none of its %zu targets is one of the %zu of ",
                                               b.id.size(), a.id.size()) +
                                         a.path);
  }
  put(print("A %s\n%s %s\n", a.path.c_str(), b.is_truth ? "truth" : "B", b.path.c_str()));
  put(print("%zu targets in both, only in A %zu, only in B %zu\n", c.both, c.only_a, c.only_b));
  if (c.repeated_a + c.repeated_b > 0) {
    put(print("not compared: %zu rows of A, %zu of B with a TARGETID that a row before them has\n",
              c.repeated_a, c.repeated_b));
  }
  put("\n");
  put(print("same SPECTYPE %33zu  %8.3f %%\n", c.same_type, percent(c.same_type, c.both)));
  for (std::size_t t = 0; t < c.nearer.size(); ++t) {
    put(print("  and |velocity| < %6g km/s %17zu  %8.3f %%\n", RedshiftComparison::kThresholds[t],
              c.nearer[t], percent(c.nearer[t], c.both)));
  }
  put(print("same type and redshift (1000 km/s, QSO 3000) %zu of %zu\n", c.agree, c.both));
  put(print("ZWARN 0: in A %zu, in B %zu, in both %zu, of which the same %zu\n", c.sure_a, c.sure_b,
            c.sure, c.sure_agree));
  for (const RedshiftDifference& d : c.list) {
    put(print("  %lld: %s %.6f, %s %.6f\n", static_cast<long long>(d.id), d.spectype_a.c_str(),
              d.z_a, d.spectype_b.c_str(), d.z_b));
  }
  const bool good =
      judge("other answers with ZWARN 0", 100 * c.difference(), command.max_other_percent, "%");
  return static_cast<int>(good ? Status::kOk : Status::kDifferent);
}

enum class Compared { kFrames, kTruth, kRedshifts };

struct Use {
  const char* name;
  std::vector<Compared> of;
  const char* text;
};

/// A limit that nothing is held to is a mistake, not a pass.
void check_options(const Given& given, Compared kind) {
  using enum Compared;
  const Use uses[] = {{"--max-pull", {kFrames}, "two frames"},
                      {"--max-mask-diff", {kFrames}, "two frames"},
                      {"--max-ivar", {kFrames}, "two frames"},
                      {"--max-resolution", {kFrames}, "two frames"},
                      {"--max-mean", {kTruth}, "a frame and its truth"},
                      {"--max-width-error", {kTruth}, "a frame and its truth"},
                      {"--bundlesize", {kTruth}, "a frame and its truth"},
                      {"--max-other", {kRedshifts}, "redshifts"},
                      {"--mask-bits", {kFrames, kTruth}, "frames"},
                      {"--list", {kFrames, kRedshifts}, "two frames or redshifts"}};
  for (const Use& use : uses) {
    if (std::ranges::find(use.of, kind) != use.of.end() || !given.has(use.name)) continue;
    throw Error(Status::kUsage, std::string(use.name) + " is of " + use.text);
  }
}

int run_compare(const Given& given, const CompareCommand& command) {
  if (command.b.empty() == command.truth.empty()) {
    throw Error(Status::kUsage, "give a second file or --truth (see: fiberloom compare --help)");
  }
  const std::string& other = command.b.empty() ? command.truth : command.b;
  if (has_redshifts(command.a) && has_redshifts(other)) {
    check_options(given, Compared::kRedshifts);
    return compare_two_redshifts(command, other);
  }
  const std::string& truth =
      !command.truth.empty() || !is_truth(command.b) ? command.truth : command.b;
  check_options(given, truth.empty() ? Compared::kFrames : Compared::kTruth);
  return truth.empty() ? compare_two(command) : compare_with_truth(command, truth);
}

void add_limits(Options& options, CompareCommand& c) {
  options.group("Limits (exit 1 beyond one)");
  options.add("--max-pull", &c.max_pull, "largest pull, sigma",
              {.interval = any_number(), .shows_default = true});
  options.add("--max-mask-diff", &c.max_mask_percent, "bins masked on one side only, percent",
              {.interval = any_number(), .shows_default = true});
  options.add("--max-ivar", &c.max_ivar, "relative difference of ivar", {.interval = any_number()});
  options.add("--max-resolution", &c.max_resolution, "difference of RESOLUTION entries",
              {.interval = any_number()});
  options.add(
      "--max-other", &c.max_other_percent,
      "of redshifts: targets with ZWARN 0 in both that are another type or redshift, percent",
      {.interval = any_number(), .shows_default = true});
  options.add("--max-mean", &c.max_mean, "with a truth: |mean pull|", {.interval = any_number()});
  options.add("--max-width-error", &c.max_width_error, "with a truth: |width of pulls - 1|",
              {.interval = any_number()});
}

}  // namespace

Command make_compare() {
  Command command{
      .name = "compare",
      .text =
          "compare two frames or two files of redshifts, or one with the truth it was simulated "
          "from",
      .footer =
          "Examples:\n  fiberloom compare ours.fits theirs.fits --max-pull 0.01 --list 20\n"
          "  fiberloom compare frame-r0-00000001.fits truth-r0-00000001.fits\n"
          "  fiberloom compare redrock-0000.fits truth-0000.fits\n\n" +
          exit_codes_of(
              {.reads = true, .matches = true, .writes = true, .more = {Status::kDifferent}})};
  const auto state = std::make_shared<CompareCommand>();
  Options& options = command.options;
  options.add("A", &state->a, "frame, or redshifts", {.required = true});
  options.add("B", &state->b, "the same, or truth as `simulate` writes it");
  options.add("--truth", &state->truth, "truth file");
  options.add("--list", &state->options.list, "name so many bins masked on one side only",
              {.shows_default = true});
  options.add("--mask-bits", &state->options.mask_bits,
              "MASK bits that make a bin bad, where both files have a MASK; default: all");
  options.add("--bundlesize", &state->bundle_size, "with a truth: fibres a line of the table",
              {.interval = above(0), .shows_default = true});
  add_verify_option(options, state->verify);
  add_limits(options, *state);
  command.run = [state](const Invocation& call) { return run_compare(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
