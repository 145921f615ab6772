// SPDX-License-Identifier: BSD-3-Clause
// Which database a catalogue is, and whether it is still the one that was filled.
#pragma once

#include <string>
#include <vector>

namespace fiberloom {

/// A SQLite file, which processes of one machine alone may write to?
[[nodiscard]] bool is_catalogue_file(const std::string& url);

/// The file of a catalogue and those that SQLite keeps beside it; of a server none.
[[nodiscard]] std::vector<std::string> files_of_catalogue(const std::string& url);

/// A server's URL as it is; of a file the path, a relative one as seen from `folder`.
[[nodiscard]] std::string catalogue_at(const std::string& url, const std::string& folder);

/// Without a password.
[[nodiscard]] std::string shown_catalogue(const std::string& url);

/// Writes which database it is to `file`, where that says something else: name, identity and
/// schema, so that one that was deleted and made anew is another one. Makes the catalogue where
/// there is none. Throws what opening does, with the catalogue's exit codes.
void note_catalogue(const std::string& database, const std::string& file);
/// Is it that one still? Writes nothing; throws where a server does not answer.
[[nodiscard]] bool is_noted(const std::string& database, const std::string& file);

/// For the locks of others, where nobody has said how long.
inline constexpr double kCatalogueWaitS = 60;

}  // namespace fiberloom
