// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/wave_file.hpp"

#include <gtest/gtest.h>

#include "fiberloom/formats/formats_test_support.hpp"
#include "loom/base/error.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace {

std::string refusal_of_grid(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(WaveFile, TextHasANumberALine) {
  const Array2D<double> grid =
      parse_wave_text("# my grid\n6000.5\n\n6001.25 # a comment\n6003 more words\n", "g.txt");
  ASSERT_EQ(grid.rows(), 1U);
  ASSERT_EQ(grid.cols(), 3U);
  EXPECT_EQ(grid(0, 1), 6001.25);
}

TEST(WaveFile, TextThatIsNoGridIsNamedByItsLine) {
  const auto of = [](const char* text) {
    return refusal_of_grid([&] { (void)parse_wave_text(text, "g.txt"); });
  };
  EXPECT_EQ(of("6000\n5999\n"),
            "g.txt: line 2: '5999', expected a wavelength (Angstrom) above the one before");
  EXPECT_NE(of("6000\nnan\n").find("line 2"), std::string::npos);
  EXPECT_NE(of("6000x\n").find("line 1"), std::string::npos);
  EXPECT_EQ(of("# nothing\n"), "g.txt: no wavelengths");
}

TEST(WaveFile, FitsHasOneGridOrOneAFibre) {
  const test::TempFolder folder;
  const std::vector<double> two{6000, 6001, 6002, 6000.5, 6001.5, 6003};
  const auto write = [&](const std::vector<double>& values, std::vector<std::size_t> axes) {
    fits::write_fits(folder.file("w.fits"), Overwrite::kYes, [&](fits::FitsWriter& writer) {
      writer.image("WAVELENGTH", std::span<const double>(values), std::move(axes),
                   fits::PixelType::kFloat64);
    });
  };
  write(two, {3, 2});
  EXPECT_EQ(read_wave_file(folder.file("w.fits"))(1, 2), 6003);
  write({6000, 6001}, {2});
  EXPECT_EQ(read_wave_file(folder.file("w.fits")).rows(), 1U);
  write({6000, 6001, 6001, 6002}, {2, 2});
  EXPECT_EQ(read_wave_file(folder.file("w.fits")).rows(), 2U);
  write({6000, 6001, 6002, 6001}, {2, 2});
  EXPECT_NE(
      refusal_of_grid([&] { (void)read_wave_file(folder.file("w.fits")); }).find("bin 1 of row 1"),
      std::string::npos);
}

}  // namespace
}  // namespace fiberloom
