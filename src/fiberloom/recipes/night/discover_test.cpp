// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/discover.hpp"

#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/night/job_file.hpp"
#include "loom/base/error.hpp"
#include "loom/testing/scratch_folder.hpp"
#include "loom/testing/test_files.hpp"

namespace fiberloom::night {
namespace {

class DiscoverTest : public ScratchFolder {
 protected:
  [[nodiscard]] FrameRequest request(const std::string& input = "in") const {
    FrameRequest r;
    r.input = path(input);
    r.output = path("out");
    return r;
  }
  void put_tree() const {
    for (const char* exposure : {"20261121/00000011", "20261121/00000012"}) {
      for (const char* camera : {"b0", "r0", "z9"}) {
        const std::string expid = std::string(exposure).substr(9);
        put(std::string("in/") + exposure + "/preproc-" + camera + "-" + expid + ".fits.gz");
        put(std::string("in/") + exposure + "/psf-" + camera + "-" + expid + ".fits");
      }
      put(std::string("in/") + exposure + "/fibermap-00000011.fits");
    }
  }
};

TEST(FrameName, IsTakenApart) {
  const FrameName name = parse_frame_name("preproc-r3-00012345.fits.gz");
  EXPECT_EQ(name.camera, "r3");
  EXPECT_EQ(name.expid, "00012345");
  EXPECT_EQ(parse_frame_name("preproc-r3-00012345.FITS.FZ").expid, "00012345");
  for (const char* other : {"preproc-q3-00012345.fits", "preproc-r3-0001x345.fits", "psf-r3.fits",
                            "preproc-r3-00012345.fits.tmp-12-0", "preproc-r3.fits", "preproc-"}) {
    EXPECT_EQ(parse_frame_name(other).camera, "") << other;
  }
}

TEST_F(DiscoverTest, FindsATreeInTheOrderOfExposures) {
  put_tree();
  const auto tasks = find_frames(request());
  ASSERT_EQ(tasks.size(), 6U);
  EXPECT_EQ(tasks[0].expid, 11);
  EXPECT_EQ(tasks[5].expid, 12);
  EXPECT_EQ(tasks[0].night, "20261121");
  EXPECT_GE(tasks[0].cost_s, tasks[2].cost_s);
  for (const FrameTask& task : tasks) {
    EXPECT_EQ(task.job.output, path("out/20261121/000000") + std::to_string(task.expid) +
                                   "/frame-" + task.name + ".fits");
    EXPECT_TRUE(std::filesystem::exists(task.job.psf)) << task.job.psf;
  }
}

TEST_F(DiscoverTest, LinksToWhatIsThereAreNoOtherImages) {
  put_tree();
  std::filesystem::create_symlink("20261121", path("in/00-latest"));
  std::filesystem::create_directories(path("in/links"));
  std::filesystem::create_symlink("../20261121/00000011/preproc-b0-00000011.fits.gz",
                                  path("in/links/preproc-b0-00000011.fits.gz"));
  const auto tasks = find_frames(request());
  ASSERT_EQ(tasks.size(), 6U);
  for (const FrameTask& task : tasks) {
    EXPECT_EQ(task.night, "20261121");
    EXPECT_EQ(task.twin, "");
  }
}

TEST_F(DiscoverTest, TakesTheGridAndPsfErrorOfTheBand) {
  put_tree();
  for (const FrameTask& task : find_frames(request())) {
    const bool blue = task.camera[0] == 'b';
    EXPECT_EQ((*task.job.wave)[0], blue ? 3600 : task.camera[0] == 'r' ? 5760 : 7520);
    EXPECT_EQ(task.job.options.psferr, blue ? 0.04 : 0.01);
  }
  FrameRequest own = request();
  own.job.wave = {5000, 5100, 1};
  own.job.options.psferr = 0.5;
  EXPECT_EQ((*find_frames(own)[0].job.wave)[2], 1);
  EXPECT_EQ(find_frames(own)[0].job.options.psferr, 0.5);
}

TEST_F(DiscoverTest, FindsAFlatFolderWithOnePsfACamera) {
  put("in/preproc-r0-00000001.fits");
  put("in/preproc-r0-00000002.fits");
  put("in/psf-r0.fits");
  const auto tasks = find_frames(request());
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].night, "");
  EXPECT_EQ(tasks[0].job.output, path("out/frame-r0-00000001.fits"));
  EXPECT_EQ(tasks[1].job.psf, path("in/psf-r0.fits"));
}

TEST_F(DiscoverTest, ChoosesCamerasAndExposures) {
  put_tree();
  FrameRequest some = request();
  some.cameras = {"r0", "z9"};
  some.exposures = {12};
  EXPECT_EQ(find_frames(some).size(), 2U);
}

TEST_F(DiscoverTest, PutsNightExposureAndCameraIntoThePattern) {
  put_tree();
  FrameRequest r = request();
  r.psf_pattern = "/calib/{night}/psf-{camera}-{expid}.fits";
  r.cameras = {"r0"};
  EXPECT_EQ(find_frames(r)[0].job.psf, "/calib/20261121/psf-r0-00000011.fits");
}

TEST_F(DiscoverTest, AWordOfThePatternThatStandsForNothingIsRefused) {
  put_tree();
  FrameRequest r = request();
  r.psf_pattern = "/calib/{night}/psf-{camra}.fits";
  try {
    (void)find_frames(r);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_NE(std::string(error.what()).find("found {camra}, expected {night}"), std::string::npos);
  }
  r.psf_pattern = "/calib/{2026}/psf-{camera}.fits";  // a name may have braces
  EXPECT_TRUE(find_frames(r)[0].job.psf.starts_with("/calib/{2026}/psf-"));
}

TEST_F(DiscoverTest, CompressedOutputsEndInGz) {
  put_tree();
  FrameRequest r = request();
  r.compress = Compress::kYes;
  EXPECT_TRUE(find_frames(r)[0].job.output.ends_with(".fits.gz"));
}

TEST_F(DiscoverTest, TheSameFramePackedAndUnpackedIsOneFrame) {
  put("in/preproc-r0-00000001.fits");
  put("in/preproc-r0-00000001.fits.gz");
  const auto tasks = find_frames(request());
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_TRUE(tasks[0].job.image.ends_with(".fits"));
}

TEST_F(DiscoverTest, TwoImagesOfOneFrameAreSetAsideWhereAFolderHasThemAndAnErrorWhereTheyAreNamed) {
  const std::string a = put("in/a/preproc-r0-00000001.fits");
  const std::string b = put("in/b/preproc-r0-00000001.fits");
  put("in/b/preproc-r0-00000002.fits");
  const auto tasks = find_frames(request());
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].job.image, a);
  EXPECT_EQ(tasks[0].twin, b);
  EXPECT_EQ(to_task(tasks[0]).inputs.back(), b) << "tried again where it is gone";
  EXPECT_EQ(tasks[1].twin, "");
  put("list.txt", a + "\n" + b + "\n");
  EXPECT_THROW((void)find_frames(request("list.txt")), Error);
}

TEST_F(DiscoverTest, ReadsAList) {
  const std::string image = put("x/preproc-b1-00000007.fits");
  put("list.txt", "# frames\n" + image + "  /psf.fits\n\n");
  const auto tasks = find_frames(request("list.txt"));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].job.psf, "/psf.fits");
  EXPECT_THROW((void)find_frames(request("nothing.txt")), Error);
}

TEST_F(DiscoverTest, AnImageIsNoList) {
  using std::string_literals::operator""s;
  for (const std::string& text :
       {"SIMPLE  =                    T / FITS"s, "\x1f\x8b\0\0 packed\n"s}) {
    put("preproc-b1-00000007.fits", text);
    const auto thrown =
        loom::test::thrown_by([&] { (void)find_frames(request("preproc-b1-00000007.fits")); });
    EXPECT_EQ(thrown.status, Status::kUsage);
    EXPECT_TRUE(thrown.says("preproc-b1-00000007.fits: is no text: expected a folder"))
        << thrown.message;
  }
}

TEST_F(DiscoverTest, AListMayQuoteItsPaths) {
  const std::string image = put("a b#c/preproc-b1-00000007.fits");
  put("list.txt", '"' + image + "\" \"/a psf.fits\" /out.fits # \"comment\n");
  const auto tasks = find_frames(request("list.txt"));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].job.image, image);
  EXPECT_EQ(tasks[0].job.psf, "/a psf.fits");
  EXPECT_EQ(tasks[0].job.output, "/out.fits");
}

TEST_F(DiscoverTest, ALineOfAListThatCannotBeUnderstoodIsNotPassedOver) {
  const std::string image = put("x/preproc-b1-00000007.fits");
  for (const std::string& line :
       std::vector<std::string>{'"' + image, image + " a b c", image + " \"p.fits"}) {
    put("list.txt", "# frames\n" + line + "\n");
    try {
      (void)find_frames(request("list.txt"));
      FAIL() << "no error for: " << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_NE(std::string(error.what()).find("list.txt, line 2: "), std::string::npos);
    }
  }
}

TEST_F(DiscoverTest, MemoryGrowsWithTheImageAndTheGrid) {
  put("in/preproc-r0-00000001.fits", std::string(200000, 'x'));
  put("in/preproc-z0-00000001.fits", std::string(100000, 'x'));
  const auto tasks = find_frames(request());
  EXPECT_EQ(tasks[0].camera, "z0");  // dearer: more bins
  EXPECT_EQ(tasks[0].image_bytes, 100000U);
  EXPECT_GT(tasks[0].memory_bytes, tasks[1].memory_bytes);
  EXPECT_EQ(tasks[0].staging_bytes - 100000 / 10 * 16, 500U * 2881 * (5 * 8 + 11 * 4));
}

class JobFileTest : public DiscoverTest {
 protected:
  void SetUp() override {
    DiscoverTest::SetUp();
    FrameRequest probe;
    try {
      read_job_file(put("probe.toml", ""), probe);
    } catch (const Error& error) {
      if (error.status() == Status::kUnsupported) GTEST_SKIP() << error.what();
      throw;
    }
  }
  void expect_fault(const std::string& text, const std::string& words) const {
    FrameRequest r;
    try {
      read_job_file(put("bad.toml", text), r);
      FAIL() << "no error for: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
};

TEST_F(JobFileTest, SaysEverythingThatTheCommandLineCan) {
  const std::string file = put("job/night.toml",
                               "input = 'in'\noutput = 'out'\npsf = 'psf-{camera}.fits'\n"
                               "cameras = ['r0']\nexposures = [1, 2]\ncompress = true\n"
                               "[options]\nmethod = 'exact'\nnspec = 50\ngh00 = 'one'\n"
                               "scores = false\n"
                               "[r]\nwave = [5800.0, 7600, 1.0]\npsferr = 0.03\n"
                               "[[frame]]\nimage = 'odd.fits'\ncamera = 'b3'\nexpid = 9\n");
  FrameRequest r;
  read_job_file(file, r);
  EXPECT_EQ(r.input, path("job/in"));
  EXPECT_EQ(r.output, path("job/out"));
  EXPECT_EQ(r.psf_pattern, path("job/psf-{camera}.fits"));
  EXPECT_EQ(r.cameras, std::vector<std::string>{"r0"});
  EXPECT_EQ(r.exposures, (std::vector<long>{1, 2}));
  EXPECT_EQ(r.compress, Compress::kYes);
  EXPECT_EQ(r.job.options.nspec, 50);
  EXPECT_EQ(r.job.psf_options.gh00, Gh00::kOne);
  EXPECT_FALSE(r.job.scores);
  EXPECT_EQ(r.bands['r'].wave[0], 5800);
  EXPECT_EQ(r.bands['r'].psferr, 0.03);
  EXPECT_EQ(r.bands['b'].wave[0], 3600);
  ASSERT_EQ(r.frames.size(), 1U);
  EXPECT_EQ(r.frames[0].image, path("job/odd.fits"));
  EXPECT_EQ(r.frames[0].expid, 9);
}

TEST_F(JobFileTest, HandsOnTheTablesOfOthersAsTexts) {
  FrameRequest r;
  const std::string file = put("steps.toml",
                               "input = 'in'\n[sky]\nmethod = 'desispec'\n[fluxcalib]\n"
                               "nsig_flux_scale = 2.5\n[redshift]\nskymask = false\n"
                               "candidates = 3\ntargetids = [5, 7]\n");
  const std::vector<JobSetting> all = read_job_file(file, r, {"sky", "fluxcalib", "redshift"});
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].table + "." + all[0].key + "=" + all[0].text, "sky.method=desispec");
  EXPECT_EQ(all[0].where, file + ", line 3");
  EXPECT_EQ(all[1].text, "2.5");
  EXPECT_EQ(all[2].text, "false");
  EXPECT_EQ(all[3].text, "3");
  EXPECT_EQ(all[4].text, "5,7");
  expect_fault("[sky]\nmethod = 'desispec'\n", "unknown key sky");
  for (const char* list : {"[[5], 7]", "[5, [7]]", "[]"}) {
    const std::string bad = put("lists.toml", std::string("input = 'in'\n[sky]\nids = ") + list);
    FrameRequest any;
    EXPECT_THROW((void)read_job_file(bad, any, {"sky"}), Error) << list;
  }
}

TEST_F(JobFileTest, TheCommandLineWins) {
  FrameRequest r;
  r.output = "mine";
  r.job.options.nspec = 3;
  r.fixed = {"options.nspec"};
  read_job_file(put("a.toml", "output = 'theirs'\n[options]\nnspec = 50\nspecmin = 5\n"), r);
  EXPECT_EQ(r.output, "mine");
  EXPECT_EQ(r.job.options.nspec, 3);
  EXPECT_EQ(r.job.options.spec_min, 5);
}

/// As the version before read it, and what receipts of the frames then said.
TEST_F(JobFileTest, AFileOfTheVersionBeforeMeansTheSame) {
  FrameRequest r;
  read_job_file(put("before.toml",
                    "input = '.'\n[options]\nmethod = \"exact\"\ngh00 = \"one\"\n"
                    "psf_tails = true\nbundlesize = 5\nspecmin = 1\nnspec = 2\npsferr = 0.02\n"
                    "regularize = 1e-3\ntolerance = 1e-5\nndiag = 9\nmask_bits = 255\n"
                    "verify = false\nscores = false\nbarycentric_correction = true\n"),
                r);
  EXPECT_EQ(options_text(r.job),
            "method=exact barycentric=on fibres=1+2 bundle=5 psferr=0.02 ridge=0.001 ndiag=9 "
            "mask=255 gh00=one tails=on scores=off tolerance=1.0000000000000001e-05");
  EXPECT_EQ(r.job.verify, Verify::kNo);
  FrameRequest all;  // of the fibres, as a file may say it
  read_job_file(put("all.toml", "[options]\nnspec = -1\npsferr = -1\n"), all);
  EXPECT_NO_THROW(validate(all.job));
}

TEST_F(JobFileTest, WhatItSaysOfABandIsMoreThanWhatItSaysOfAllAndLessThanTheCommandLine) {
  put("in/preproc-b0-00000001.fits");
  put("in/preproc-r0-00000001.fits");
  const std::string file = put("bands.toml", "[options]\npsferr = 0.03\n[b]\npsferr = 0.05\n");
  FrameRequest both = request();
  read_job_file(file, both);
  const auto psferr_of = [](const FrameRequest& r) {
    std::map<std::string, double> by_camera;
    for (const FrameTask& task : find_frames(r)) by_camera[task.camera] = task.job.options.psferr;
    return by_camera;
  };
  EXPECT_EQ(psferr_of(both), (std::map<std::string, double>{{"b0", 0.05}, {"r0", 0.03}}));
  FrameRequest told = request();
  told.job.options.psferr = 0.1;
  told.fixed = {"options.psferr"};
  read_job_file(file, told);
  EXPECT_EQ(psferr_of(told), (std::map<std::string, double>{{"b0", 0.1}, {"r0", 0.1}}));
}

TEST_F(JobFileTest, TakesEveryOptionOfTheTableButTheGrid) {
  FrameRequest r;
  read_job_file(put("a.toml",
                    "[options]\nmethod = 'patch'\nnwavestep = 20\nwavepad_frac = 0.5\n"
                    "max_iterations = 40\n"),
                r);
  EXPECT_EQ(r.job.options.patch.nwavestep, 20);
  EXPECT_EQ(r.job.options.patch.wavepad_frac, 0.5);
  EXPECT_EQ(r.job.options.max_iterations, 40);
  expect_fault("[options]\nwavelength = [1, 2, 3]\n", "unknown key options.wavelength");
}

TEST_F(JobFileTest, AnIntegerThatItsOptionCannotHoldIsAFault) {  // it lost its upper bits
  expect_fault("[options]\nnspec = 4294967301\n",
               "line 2: options.nspec: expected an integer from -2147483648 to 2147483647");
  expect_fault("[options]\nmask_bits = -1\n",
               "options.mask_bits: expected an integer from 0 to 4294967295");
}

TEST_F(JobFileTest, AFaultNamesItsLine) {
  expect_fault("input = 'a'\nouput = 'b'\n", "line 2: unknown key ouput");
  expect_fault("cameras = 'r0'\n", "cameras: expected a list of texts");
  expect_fault("[options]\nmethod = 'magic'\n", "line 2: options.method: expected exact or patch");
  expect_fault("[r]\nwave = [1, 2]\n", "r.wave: expected [wmin, wmax, step]");
  expect_fault("[r]\npsferr = -3\n", "line 2: r.psferr: expected a number of at least 0");
  expect_fault("[r]\npsferr = inf\n", "line 2: r.psferr: expected a number of at least 0");
  expect_fault("[[frame]]\nexpid = -17\n", "line 2: frame.expid: expected an integer of at");
  expect_fault("[[frame]]\ncamera = 'b/../x'\n", "frame.camera: expected a name without /");
  expect_fault("input = \n", "line 1");
}

}  // namespace
}  // namespace fiberloom::night
