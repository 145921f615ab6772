// SPDX-License-Identifier: BSD-3-Clause
// write_seeds FOLDER: one corpus folder a fuzzer, to start libFuzzer from.
#include <cstdio>
#include <filesystem>

#include "fiberloom/formats/formats_test_support.hpp"
#include "tests/fiberloom/fuzz/targets.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_seeds FOLDER\n");
    return 2;
  }
  for (const auto& seed : fiberloom::fuzz::seeds()) {
    const std::string stem = seed.name.substr(0, seed.name.find('_'));
    const auto folder = std::filesystem::path(argv[1]) / stem;
    std::filesystem::create_directories(folder);
    fiberloom::test::write_bytes((folder / seed.name).string(), seed.bytes);
  }
  return 0;
}
