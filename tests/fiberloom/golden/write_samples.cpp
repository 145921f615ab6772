// SPDX-License-Identifier: BSD-3-Clause
// write_samples FOLDER: one small file of each kind that we write, always the same bytes.
#include <cstdio>
#include <filesystem>

#include "fiberloom/formats/formats_test_support.hpp"

int main(int argc, char** argv) {
  using namespace fiberloom;
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_samples FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  write_frame((folder / "frame.fits").string(), fiberloom::test::sample_frame(), Overwrite::kYes);
  write_frame((folder / "frame.fits.gz").string(), fiberloom::test::sample_frame(),
              Overwrite::kYes);
  write_preproc((folder / "preproc.fits").string(), fiberloom::test::sample_preproc(),
                Overwrite::kYes);
  write_psf((folder / "psf.fits").string(), fiberloom::test::sample_psf(), Overwrite::kYes);
  write_spectra((folder / "coadd.fits").string(),
                formats::parse_spectra(fiberloom::test::in_memory(fiberloom::test::add_coadd)),
                Overwrite::kYes);
  return 0;
}
