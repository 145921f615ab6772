// SPDX-License-Identifier: BSD-3-Clause
// Template and archetype files as the field has them (redrock-templates, redrock-archetypes), and
// what a path of the user stands for: a file, a list, a folder, $RR_TEMPLATE_DIR. A room of its
// own, since it wants FITS, which redshift/ must not know, and none of what formats/ stands on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fiberloom/redshift/grid.hpp"
#include "fiberloom/redshift/template.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom::templates {

using redshift::Archetypes;
using redshift::GridRules;
using redshift::Template;
using redshift::TemplateSet;

/// One template file. Throws kNotFound, kCorrupt as every reader, and kBadTemplate: HDU
/// BASIS_VECTORS or a keyword missing, numbers that are not finite, wavelengths or redshifts that
/// do not increase, an unknown RRMETHOD or RRIGM.
[[nodiscard]] Template read_template(const std::string& path, const GridRules& rules = {});
[[nodiscard]] Archetypes read_archetypes(const std::string& path);
/// The same on an open file, without name and hash: for fuzzers and tests.
[[nodiscard]] Template parse_template(const fits::FitsReader& file, const GridRules& rules = {});
[[nodiscard]] Archetypes parse_archetypes(const fits::FitsReader& file);

/// The template files that `paths` stand for: several files as they are; or one path, which is a
/// FITS file, a list (.txt: a name a line, # begins a comment, relative to the list's folder) or a
/// folder (its templates-default.txt, else all its rrtemplate-*.fits in order of their names).
/// None: $RR_TEMPLATE_DIR, or one of `folders`, what the installation brings. Throws kNotFound with
/// what was looked for, kBadTemplate for a list that names nothing.
[[nodiscard]] std::vector<std::string> find_templates(std::span<const std::string> paths,
                                                      std::span<const std::string> folders = {});
/// Archetypes: a file, or a folder's rrarchetype-*.fits; none: $RR_ARCHETYPE_DIR.
[[nodiscard]] std::vector<std::string> find_archetypes(const std::string& path);

/// All of them, read. Two of the same type and subtype are an error (kBadTemplate): the second
/// would silently take the place of the first.
[[nodiscard]] TemplateSet load_templates(std::span<const std::string> files,
                                         const GridRules& rules = {});

/// Is there nothing but the built-in set? No path, no folder, and $RR_TEMPLATE_DIR not set.
[[nodiscard]] bool falls_back(std::span<const std::string> paths,
                              std::span<const std::string> folders = {});
/// The line that says so and names the set as what it is.
[[nodiscard]] std::string fallback_note();

/// What to fit with, and a line for the user where that is not what was asked for.
struct ChosenTemplates {
  TemplateSet set;
  std::string note;  ///< empty, or that no template was named and the built-in set is used
};

/// load_templates(find_templates(paths, folders)); but built_in_set() where `paths` and `folders`
/// are empty and $RR_TEMPLATE_DIR is not set: the program does something real without any file.
[[nodiscard]] ChosenTemplates choose_templates(std::span<const std::string> paths,
                                               std::span<const std::string> folders = {},
                                               const GridRules& rules = {});

/// A template as files have it: BASIS_VECTORS (float64), REDSHIFTS where they are not those of
/// `rules`, ARCHETYPE_COEFF where it has training. Wavelengths must be equally spaced, they or
/// their log10 (kInternal). Byte-reproducible, atomic, as every writer.
void write_template(const std::string& path, const Template& t, loom::Overwrite overwrite,
                    const GridRules& rules = {});

}  // namespace fiberloom::templates
