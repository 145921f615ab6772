// SPDX-License-Identifier: BSD-3-Clause
// Texts that a user asks for by an option: summaries, timelines, pages. "-" is standard output.
#pragma once

#include <span>
#include <string>

#include "loom/files/output_files.hpp"

namespace loom {

/// Before any work. Throws kUnwritable where one of these could not be written. What killed runs of
/// this machine left of them goes (remove_dead_temporaries()), with one look at each folder.
void check_text_outputs(std::span<const NamedFile> files);

/// Writes a text file whole, its folder too where there is none. Throws kUnwritable, kDiskFull.
void write_text(const std::string& path, const std::string& text);

}  // namespace loom
