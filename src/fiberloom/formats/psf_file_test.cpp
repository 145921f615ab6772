// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>

#include "fiberloom/formats/formats_test_support.hpp"

namespace fiberloom {
namespace {

using fits::FitsWriter;
using fits::PixelType;
using test::thrown_by;

void expect_same(const LegendreSeries& a, const LegendreSeries& b) {
  EXPECT_EQ(a.wave_min, b.wave_min);
  EXPECT_EQ(a.wave_max, b.wave_max);
  ASSERT_EQ(a.coef.rows(), b.coef.rows());
  for (std::size_t f = 0; f < a.coef.rows(); ++f) {
    for (std::size_t k = 0; k < a.coef.cols(); ++k) ASSERT_EQ(a.coef(f, k), b.coef(f, k));
  }
}

/// Bytes of a version 3 file, to be damaged.
std::vector<std::uint8_t> psf_bytes(const PsfFile& psf = test::sample_psf()) {
  const test::TempFolder folder;
  write_psf(folder.file("psf.fits"), psf, Overwrite::kYes);
  return test::read_bytes(folder.file("psf.fits"));
}

/// Replaces text of equal length everywhere in the bytes.
std::vector<std::uint8_t> with(std::vector<std::uint8_t> bytes, const std::string& from,
                               const std::string& to) {
  EXPECT_EQ(from.size(), to.size());
  bool found = false;
  for (auto it = bytes.begin();; ++it) {
    it = std::search(it, bytes.end(), from.begin(), from.end());
    if (it == bytes.end()) break;
    std::copy(to.begin(), to.end(), it);
    found = true;
  }
  EXPECT_TRUE(found) << from;
  return bytes;
}

PsfFile parse(const std::vector<std::uint8_t>& bytes, const PsfReadOptions& options = {}) {
  return formats::parse_psf(fits::FitsReader::from_memory(bytes, "psf.fits"), options);
}
test::Thrown parsing_psf(const std::vector<std::uint8_t>& bytes,
                         const PsfReadOptions& options = {}) {
  return thrown_by([&] { (void)parse(bytes, options); });
}

/// A version 1 or 2 file: empty primary, everything in one table, a domain in each row.
std::vector<std::uint8_t> old_psf(const std::string& version, std::size_t n = 3) {
  std::vector<std::string> names{"X", "Y", "GHSIGX", "GHSIGY", "GH-0-0", "GH-1-0"};
  std::vector<double> low, high, coeff;
  for (std::size_t r = 0; r < names.size(); ++r) {
    low.push_back(5000 + static_cast<double>(r));
    high.push_back(6000);
    for (std::size_t i = 0; i < n * 2; ++i) coeff.push_back(static_cast<double>(10 * r + i));
  }
  RawTable t = fits::TableBuilder(names.size())
                   .add("PARAM", names, 8)
                   .add("WAVEMIN", low)
                   .add("WAVEMAX", high)
                   .add_vector("COEFF", coeff, n * 2)
                   .build();
  t.header.set("PSFTYPE", "GAUSS-HERMITE");
  t.header.set("PSFVER", version);
  for (const char* key : {"NPIX_X", "NPIX_Y"}) t.header.set(key, 50);
  for (const char* key : {"HSIZEX", "HSIZEY"}) t.header.set(key, 4);
  t.header.set("GHDEGX", 1);
  t.header.set("GHDEGY", 0);
  t.header.set("FIBERMIN", 0);
  t.header.set("FIBERMAX", static_cast<std::int64_t>(n) - 1);
  MemorySink sink;
  FitsWriter(sink).table("", t);
  return sink.bytes();
}

TEST(PsfFile, ComesBackAsItWasWritten) {
  const PsfFile psf = test::sample_psf();

  const PsfFile back = parse(psf_bytes(psf));

  const PsfModel &a = psf.model, &b = back.model;
  EXPECT_EQ(b.npix_x, 40);
  EXPECT_EQ(b.npix_y, 24);
  EXPECT_EQ(b.stamp_nx(), 9);
  EXPECT_EQ(b.stamp_ny(), 7);
  EXPECT_EQ(b.psferr, 0.02);
  EXPECT_EQ(b.bundle, a.bundle);
  EXPECT_EQ(b.status, a.status);
  EXPECT_FALSE(b.has_tails);
  expect_same(a.x, b.x);
  expect_same(a.y, b.y);
  expect_same(a.sigma_x, b.sigma_x);
  ASSERT_EQ(b.gh.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) expect_same(a.gh[i], b.gh[i]);
  EXPECT_EQ(back.header.text("CAMERA"), "r3");
}

/// The file at `path` with its first fibre a tenth of a pixel further and wider by a twentieth.
TraceChange small_change(const PsfModel& psf) {
  TraceChange change;
  change.domain = {psf.x(0, 5500), psf.x(2, 5500), 5000, 6000};
  change.coef[0] = {0.1};
  change.coef[3] = {0.05};
  return change;
}

TEST(MovedPsf, HasItsTracesAndWidthsChangedAndEveryOtherHduAsItWas) {
  const test::TempFolder folder;
  MemorySink sink;  // as desispec leaves it: an empty primary, more behind
  {
    FitsWriter writer(sink);
    HeaderCards primary;
    primary.set("FLAVOR", "arc");
    writer.primary(primary);
    const auto bytes = psf_bytes();
    const auto source = fits::FitsReader::from_memory(bytes, "psf.fits");
    for (const char* name : {"XTRACE", "YTRACE"}) {
      const fits::Hdu& hdu = source.require(name);
      std::vector<double> pixels(hdu.pixels());
      source.read_pixels<double>(hdu, {pixels.data(), pixels.size()});
      writer.image(name, std::span<const double>(pixels), hdu.axes, PixelType::kFloat64,
                   hdu.user_header());
    }
    writer.table("PSF", source.read_table(source.require("PSF")));
    const std::vector<double> more{1, 2, 3, 4};
    writer.image("MORE", std::span<const double>(more), {2, 2}, PixelType::kFloat32);
  }
  test::write_bytes(folder.file("in.fits"), sink.bytes());
  const PsfModel before = read_psf(folder.file("in.fits")).model;
  HeaderCards notes;
  notes.set("MEANDX", 0.1);

  write_moved_psf(folder.file("out.fits"), folder.file("in.fits"), Verify::kYes,
                  small_change(before), notes, Overwrite::kYes);

  const PsfFile after = read_psf(folder.file("out.fits"));
  EXPECT_NEAR(after.model.x(1, 5500) - before.x(1, 5500), 0.1, 1e-12);
  EXPECT_EQ(after.model.y(1, 5500), before.y(1, 5500));
  EXPECT_NEAR(after.model.sigma_y(1, 5500) - before.sigma_y(1, 5500), 0.05, 1e-12);
  expect_same(after.model.sigma_x, before.sigma_x);
  expect_same(after.model.gh[1], before.gh[1]);
  EXPECT_EQ(after.model.bundle, before.bundle);
  EXPECT_EQ(after.header.number("MEANDX"), 0.1);
  const auto in = fits::FitsReader::open(folder.file("in.fits"));
  const auto out = fits::FitsReader::open(folder.file("out.fits"));
  ASSERT_EQ(out.hdus().size(), in.hdus().size());
  for (std::size_t i = 0; i < in.hdus().size(); ++i) {
    EXPECT_EQ(out.hdus()[i].name, in.hdus()[i].name);
    EXPECT_EQ(out.hdus()[i].bitpix, in.hdus()[i].bitpix);
    EXPECT_EQ(out.hdus()[i].axes, in.hdus()[i].axes);
  }
  EXPECT_EQ(out.hdus()[0].header.text("FLAVOR"), "arc");
  std::vector<double> more(4);
  out.read_pixels<double>(out.require("MORE"), {more.data(), 4});
  EXPECT_EQ(more, (std::vector<double>{1, 2, 3, 4}));
}

TEST(MovedPsf, OfAnOlderVersionHasRowsChangedAsFarAsTheyHaveRoom) {
  const test::TempFolder folder;
  test::write_bytes(folder.file("in.fits"), old_psf("2"));
  const PsfModel before = read_psf(folder.file("in.fits")).model;
  TraceChange change = small_change(before);
  const auto move = [&] {
    write_moved_psf(folder.file("out.fits"), folder.file("in.fits"), Verify::kYes, change, {},
                    Overwrite::kYes);
  };

  move();

  const PsfModel after = read_psf(folder.file("out.fits")).model;
  EXPECT_NEAR(after.x(2, 5500) - before.x(2, 5500), 0.1, 1e-12);
  EXPECT_NEAR(after.sigma_y(2, 5500) - before.sigma_y(2, 5500), 0.05, 1e-12);
  expect_same(after.y, before.y);
  change.degree = 2;
  change.coef[0].resize(trace_terms(2).size(), 0.01);
  change.coef[3].clear();
  EXPECT_EQ(thrown_by(move).status, Status::kUnsupported) << "two coefficients a fibre";
}

TEST(PsfFile, Gh00OneSetsTheSeriesToExactlyOne) {
  const auto model = parse(psf_bytes(), {.gh00 = Gh00::kOne}).model;

  for (std::size_t f = 0; f < 6; ++f) {
    EXPECT_EQ(model.gh[0].coef(f, 0), 1.0);
    EXPECT_EQ(model.gh[0].coef(f, 1), 0.0);
  }
  EXPECT_NE(model.gh[1].coef(0, 1), 0.0);
}

TEST(PsfFile, ParametersMayBePaddedWithNul) {
  const auto bytes = with(psf_bytes(), "GHSIGX  ", std::string("GHSIGX\0\0", 8));

  EXPECT_EQ(parse(bytes).model.sigma_x.coef(0, 0), 1.1);
}

TEST(PsfFile, TdimMayHaveBlanksOrBeMissing) {
  EXPECT_EQ(parse(with(psf_bytes(), "'(2,6)   '", "'( 2, 6) '")).model.gh[0].coef.cols(), 2U);
  EXPECT_EQ(parse(with(psf_bytes(), "TDIM2   ", "XDIM2   ")).model.gh[0].coef.cols(), 2U);
}

TEST(PsfFile, DoublyQuotedCameraIsReadWithoutTheInnerQuotes) {
  PsfFile psf = test::sample_psf();
  psf.header.set("CAMERA", "'r3      '");

  EXPECT_EQ(parse(psf_bytes(psf)).header.text("CAMERA"), "r3");
}

TEST(PsfFile, TailsAreReadAndOnlyOnDemandSwitchedOn) {
  PsfFile psf = test::sample_psf();
  psf.model.tails = {psf.model.sigma_x, psf.model.sigma_x, psf.model.sigma_x, psf.model.sigma_x,
                     psf.model.sigma_x};
  const auto bytes = psf_bytes(psf);

  EXPECT_FALSE(parse(bytes).model.has_tails);
  const auto on = parse(bytes, {.tails = true}).model;
  EXPECT_TRUE(on.has_tails);
  expect_same(on.tails.index, psf.model.sigma_x);
}

TEST(PsfFile, PsferrIsOnePercentWithoutKeyword) {
  EXPECT_EQ(parse(with(psf_bytes(), "PSFERR  ", "PSFERROR")).model.psferr, 0.01);
}

TEST(PsfFile, BundleAndStatusRowsMayBeMissing) {
  PsfFile psf = test::sample_psf();
  psf.model.bundle.clear();
  psf.model.status.clear();

  const auto model = parse(psf_bytes(psf)).model;

  EXPECT_TRUE(model.bundle.empty());
  EXPECT_TRUE(model.status.empty());
}

TEST(PsfFile, AFibreWithNanIsSwitchedOffAndTheOthersStay) {
  PsfFile psf = test::sample_psf();
  psf.model.gh[2].coef(4, 1) = std::nan("");
  psf.model.x.coef(5, 0) = std::numeric_limits<double>::infinity();

  const auto model = parse(psf_bytes(psf)).model;

  EXPECT_EQ(model.status, (std::vector<int>{0, 0, 0, 0, 3, 3}));
  EXPECT_EQ(model.sigma_x.coef(4, 0), 0.0);
  EXPECT_EQ(model.x.coef(5, 0), 0.0);
  EXPECT_EQ(model.sigma_x.coef(3, 0), psf.model.sigma_x.coef(3, 0));
  for (const double v : spot_reference(model, 4, 5500).value) EXPECT_EQ(v, 0.0);
}

TEST(PsfFile, VersionsOneAndTwoHaveADomainInEachRow) {
  for (const char* version : {"1", "2"}) {
    const PsfFile psf = parse(old_psf(version));

    EXPECT_EQ(psf.model.nfiber(), 3);
    EXPECT_EQ(psf.model.x.wave_min, 5000);
    EXPECT_EQ(psf.model.sigma_x.wave_min, 5002);
    EXPECT_EQ(psf.model.gh.at(1).wave_min, 5005);
    EXPECT_EQ(psf.model.gh.at(1).coef(2, 1), 55);
  }
}

TEST(PsfFile, OtherKindsAndVersionsAreUnsupported) {
  const auto kind = parsing_psf(with(psf_bytes(), "GAUSS-HERMITE", "ELLIPSES     "));
  const auto version = parsing_psf(old_psf("7"));

  EXPECT_EQ(kind.status, Status::kUnsupported);
  EXPECT_TRUE(kind.says("PSFTYPE is ELLIPSES, supported are GAUSS-HERMITE")) << kind.message;
  EXPECT_EQ(version.status, Status::kUnsupported);
  EXPECT_TRUE(version.says("PSFVER is 7"));
}

TEST(PsfFile, MissingPartsAreNamed) {
  const auto good = psf_bytes();
  const auto expect = [](const test::Thrown& t, Status status, const std::string& part) {
    EXPECT_EQ(t.status, status) << t.message;
    EXPECT_TRUE(t.says(part)) << t.message;
  };

  expect(parsing_psf(with(good, "YTRACE", "WTRACE")), Status::kMissingHdu, "no HDU YTRACE");
  expect(parsing_psf(with(good, "GHSIGY  ", "OTHER   ")), Status::kMissingKeyword, "no row GHSIGY");
  expect(parsing_psf(with(good, "GH-2-1  ", "OTHER   ")), Status::kMissingKeyword, "no row GH-2-1");
  expect(parsing_psf(with(good, "NPIX_X", "XPIX_X")), Status::kMissingKeyword, "no keyword NPIX_X");
  expect(parsing_psf(with(good, "WAVEMIN ", "XAVEMIN ")), Status::kMissingKeyword,
         "WAVEMIN is missing");
  expect(parsing_psf(with(good, "'PARAM   '", "'PARAMS  '")), Status::kMissingKeyword, "PARAM");
  expect(parsing_psf(with(good, "'COEFF   '", "'COEFFS  '")), Status::kMissingKeyword, "COEFF");
  expect(parsing_psf(with(good, "PSFTYPE ", "XSFTYPE ")), Status::kMissingKeyword, "PSFTYPE");
  expect(parsing_psf(with(good, "TAILAMP ", "OTHER   "), {.tails = true}), Status::kMissingKeyword,
         "no row TAILAMP");
}

TEST(PsfFile, NonsenseInKeywordsIsCorruptAndNamed) {
  const auto good = psf_bytes();

  const auto hsize =
      parsing_psf(with(good, "HSIZEX  =                    4", "HSIZEX  =                  nan"));
  const auto wave =
      parsing_psf(with(good, "WAVEMAX =               6001.0", "WAVEMAX =                5.0E0"));
  const auto fibers =
      parsing_psf(with(good, "FIBERMAX=                    5", "FIBERMAX=                    4"));

  EXPECT_EQ(hsize.status, Status::kCorrupt);
  EXPECT_TRUE(hsize.says("HSIZEX is nan, expected 1 to 200")) << hsize.message;
  EXPECT_EQ(wave.status, Status::kCorrupt);
  EXPECT_TRUE(wave.says("WAVEMAX is 5.0E0, no range")) << wave.message;
  EXPECT_EQ(fibers.status, Status::kWrongShape);
}

TEST(PsfFile, CoefficientsThatAreNoMultipleOfTheFibresAreTheWrongShape) {
  const auto bytes = with(psf_bytes(), "TFORM2  = '12D     '", "TFORM2  = '11D     '");
  const auto swapped = with(psf_bytes(), "'(2,6)   '", "'(6,2)   '");

  EXPECT_EQ(parsing_psf(bytes).status, Status::kCorrupt);  // the row does not add up
  EXPECT_EQ(parsing_psf(swapped).status, Status::kWrongShape);
}

TEST(PsfParity, ReadsTheRealPsf) {
  const std::string path = test::parity_file("psf-r0-00067784.fits");
  if (path.empty()) GTEST_SKIP() << "FIBERLOOM_PARITY_DIR is not set";

  const PsfFile psf = read_psf(path);

  EXPECT_EQ(psf.model.nfiber(), 500);
  EXPECT_EQ(psf.model.npix_x, 4114);
  EXPECT_EQ(psf.model.npix_y, 4128);
  EXPECT_EQ(psf.model.stamp_nx(), 17);
  EXPECT_EQ(psf.model.stamp_ny(), 11);
  EXPECT_EQ(psf.model.x.wave_max, 7826);
  EXPECT_EQ(psf.model.sigma_x.wave_max, 7827);
  EXPECT_EQ(psf.model.psferr, 0.01);
  EXPECT_EQ(psf.header.text("CAMERA"), "r0");
  EXPECT_EQ(psf.model.bundle.size(), 500U);
  EXPECT_EQ(psf.model.bundle[499], 19);
}

}  // namespace
}  // namespace fiberloom
