// SPDX-License-Identifier: BSD-3-Clause
// write_tiff_seeds FOLDER: FOLDER/tiff, to start libFuzzer from.
#include <cstdio>
#include <filesystem>

#include "loom/testing/test_files.hpp"
#include "tests/tomoloom/fuzz/tiff_target.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_tiff_seeds FOLDER\n");
    return 2;
  }
  const auto folder = std::filesystem::path(argv[1]) / "tiff";
  std::filesystem::create_directories(folder);
  for (const auto& seed : tomoloom::fuzz::tiff_seeds()) {
    loom::test::write_bytes((folder / seed.name).string(), seed.bytes);
  }
  return 0;
}
