// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/extract_option_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

ExtractJob full_job() {
  ExtractJob job;
  job.wave = {{5760, 5780, 0.8}};
  job.options.spec_min = 1;
  job.options.nspec = 2;
  job.options.bundle_size = 5;
  job.options.psferr = 0.02;
  job.options.regularize = 0.001;
  job.options.ndiag = 9;
  job.mask_bits = 255;
  job.psf_options.gh00 = Gh00::kOne;
  job.psf_options.tails = true;
  job.scores = false;
  job.options.tolerance = 1e-5;
  return job;
}

TEST(OptionsText, IsThatOfReceiptsOfTheVersionBefore) {  // written by it
  ExtractJob job;
  job.wave = {{5760, 5780, 0.8}};
  job.options.nspec = 2;
  job.options.psferr = 0.01;
  EXPECT_EQ(options_text(job),
            "method=exact wave=5760,5780,0.80000000000000004 fibres=0+2 "
            "bundle=25 psferr=0.01 "
            "ridge=0 ndiag=11 mask=767 gh00=file tails=off scores=on "
            "tolerance=0.0001");
  EXPECT_EQ(options_text(full_job()),
            "method=exact wave=5760,5780,0.80000000000000004 fibres=1+2 "
            "bundle=5 psferr=0.02 "
            "ridge=0.001 ndiag=9 mask=255 gh00=one tails=on scores=off "
            "tolerance=1.0000000000000001e-05");
  job.options.nspec = 1;
  job.method = Method::kPatch;
  job.options.patch = {3, 20, 5, 0.3, 0.7};
  EXPECT_EQ(options_text(job),
            "method=patch wave=5760,5780,0.80000000000000004 fibres=0+1 "
            "bundle=25 psferr=0.01 "
            "ridge=0 ndiag=11 mask=767 gh00=file tails=off scores=on "
            "patch=3,20,5,0.29999999999999999,0.69999999999999996");
}

TEST(OptionsText, HasWhatIsYoungerThanReceiptsOnlyWhereItIsChanged) {
  ExtractJob job;
  const std::string before = options_text(job);
  job.barycentric = true;
  job.options.max_iterations = 40;
  job.options.model_variance = true;
  job.options.reject_nsig = 6;
  EXPECT_EQ(options_text(job).find("method=exact barycentric=on fibres="), 0U);
  EXPECT_TRUE(
      options_text(job).ends_with(" tolerance=0.0001 iterations=40 model_variance=on reject=6"));
  EXPECT_EQ(before.find("iterations"), std::string::npos);
}

TEST(OptionsEntries, NameTheOptionsOfEachKey) {
  std::vector<std::string> keys;
  for (const auto& [key, names, initial] : options_entries()) {
    keys.push_back(key);
    if (key == "fibres") {
      EXPECT_EQ(names, "--specmin and --nspec");
    }
    if (key == "patch") {
      EXPECT_EQ(names,
                "--nsubbundles, --nwavestep, --wavepad, --wavepad-frac "
                "or --pixpad-frac");
    }
    if (key == "barycentric") {
      EXPECT_EQ(initial, "off");
    }
    if (key == "scores") {
      EXPECT_EQ(names, "--no-scores");
    }
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"method",
                                            "wave",
                                            "barycentric",
                                            "fibres",
                                            "bundle",
                                            "psferr",
                                            "ridge",
                                            "ndiag",
                                            "mask",
                                            "gh00",
                                            "tails",
                                            "scores",
                                            "tolerance",
                                            "patch",
                                            "iterations",
                                            "model_variance",
                                            "reject",
                                            "psf_status",
                                            "decorrelate_fibers",
                                            "wave_log10",
                                            "barycentric_fibers",
                                            "max_leak",
                                            "oversample",
                                            "trace_shifts",
                                            "trace_widths",
                                            "wings",
                                            "fiber_correlation"}));
}

TEST(ExtractOptionRows, HaveKeysAndNamesOfTheirOwn) {
  std::set<std::string> keys, names;
  for (const ExtractOptionRow& row : extract_option_rows()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_TRUE(names.insert(row.long_name()).second) << row.names;
    EXPECT_EQ(&extract_option_row(row.key), &row);
  }
  EXPECT_EQ(extract_option_row("nspec").long_name(), "--nspec");
  EXPECT_EQ(extract_option_row("wavelength").long_name(), "--wavelength");
  EXPECT_EQ(extract_option_row("wavepad").help(), "patch only: padding bins at both ends");
  EXPECT_FALSE(extract_option_row("wavelength").in_job_file());
  EXPECT_THROW((void)extract_option_row("nothing"), Error);
}

/// What is sent to other ranks is the rows and the members named here: a new
/// member does not compile until it is given a row, or is listed and sent
/// (wire.cpp).
TEST(ExtractOptionRows, LeaveNoMemberOut) {
  ExtractJob job;
  std::set<const void*> in_rows;
  each_extract_option(job, [&](const ExtractOptionRow&, const auto& m) { in_rows.insert(&m); });
  auto& [image, psf, fibermap, output, model, residual, pixmask, shifted_psf, wave, wave_log10,
         wave_file, barycentric, barycentric_fibers, method, trace_shifts, trace_widths, wings,
         max_leak, realisations, report_leak, options, mask_bits, psf_options, verify, scores,
         overwrite] = job;
  auto& [grid, fiber_grid, spec_min, nspec, bundle_size, psferr, regularize, ndiag, want_model,
         tolerance, max_iterations, model_variance, reject, decorrelate_fibers, fiber_correlation,
         oversample, fluxes_only, patch] = options;
  auto& [nsubbundles, nwavestep, wavepad, wavepad_frac, pixpad_frac] = patch;
  auto& [gh00, tails, psf_status, psf_verify] = psf_options;
  const std::set<const void*> wanted{&wave,
                                     &barycentric,
                                     &method,
                                     &mask_bits,
                                     &verify,
                                     &scores,
                                     &spec_min,
                                     &nspec,
                                     &bundle_size,
                                     &psferr,
                                     &regularize,
                                     &ndiag,
                                     &tolerance,
                                     &max_iterations,
                                     &model_variance,
                                     &reject,
                                     &nsubbundles,
                                     &nwavestep,
                                     &wavepad,
                                     &wavepad_frac,
                                     &pixpad_frac,
                                     &gh00,
                                     &tails,
                                     &psf_status,
                                     &decorrelate_fibers,
                                     &fiber_correlation,
                                     &oversample,
                                     &wave_log10,
                                     &barycentric_fibers,
                                     &max_leak,
                                     &trace_shifts,
                                     &trace_widths,
                                     &wings};
  EXPECT_EQ(in_rows, wanted);
}

TEST(ValidateJob, NamesTheOptionThatIsOutsideItsRange) {
  const auto refusal = [](const auto& change) {
    ExtractJob job;
    change(job);
    try {
      validate(job);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](ExtractJob&) {}), "");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.nspec = 0; }),
            "nspec 0: expected a number above 0");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.nspec = -1; }), "");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.regularize = -1; }),
            "regularize -1: expected a number of at least 0");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.psferr = std::nan(""); }),
            "psferr nan: expected a number of at least 0");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.psferr = HUGE_VAL; }),
            "psferr inf: expected a finite number of at least 0");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.reject_nsig = HUGE_VAL; }),
            "reject inf: expected a finite number of at least 3");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.tolerance = 2; }),
            "tolerance 2: expected a number from 1e-12 to 1");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.max_iterations = 0; }),
            "max_iterations 0: expected a number from 1 to 1e+06");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.reject_nsig = 2; }),
            "reject 2: expected a number of at least 3");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.reject_nsig = -1; }), "");
  const auto wings = [](int reach, bool tails, int oversample) {
    return [=](ExtractJob& j) {
      j.wings = reach;
      j.psf_options.tails = tails;
      j.options.oversample = oversample;
    };
  };
  EXPECT_EQ(refusal(wings(50, true, 1)), "");
  EXPECT_EQ(refusal(wings(-1, false, 2)), "");
  EXPECT_EQ(refusal(wings(5, true, 1)), "wings 5: expected a number from 10 to 500");
  EXPECT_EQ(refusal(wings(50, false, 1)),
            "wings: they are the PSF's tails beyond the stamps; expected psf_tails, too");
  EXPECT_EQ(refusal(wings(50, true, 2)), "wings and oversample: expected one of the two");
  EXPECT_EQ(refusal([](ExtractJob& j) { j.options.patch.nwavestep = 0; }),
            "nwavestep 0: expected a number of at least 1");
}

TEST(FiberCount, IsAllThatAreLeftWhereNoneIsAskedFor) {
  ExtractOptions options;
  options.spec_min = 3;
  EXPECT_EQ(fiber_count(options, 25), 22);
  options.nspec = 4;
  EXPECT_EQ(fiber_count(options, 25), 4);
}

}  // namespace
}  // namespace fiberloom
