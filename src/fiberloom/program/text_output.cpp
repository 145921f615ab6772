// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/program/text_output.hpp"

#include <array>

#include "fiberloom/fits/atomic_file.hpp"
#include "fiberloom/program/standard_output.hpp"

namespace fiberloom {

void check_text_outputs(std::span<const fits::NamedFile> files) {
  for (const fits::NamedFile& file : files) {
    if (file.path.empty() || file.path == "-") continue;
    fits::check_stream(file.path);
    fits::check_place(file.path);
  }
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") return put(text);
  fits::make_folder_of(path);
  fits::remove_dead_temporaries(std::array{path});
  fits::write_whole(path, text, Overwrite::kYes);
}

}  // namespace fiberloom
