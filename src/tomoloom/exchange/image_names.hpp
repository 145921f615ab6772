// SPDX-License-Identifier: BSD-3-Clause
// Names of the images of a folder: their order, and what is odd about them. Knows no files.
#pragma once

#include <span>
#include <string>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Numbers by value: a2 before a10, and both before b1.
[[nodiscard]] bool in_order(const std::string& a, const std::string& b);

/// Where names are of several kinds, with anything else in them but their numbers, which: flats or
/// darks may lie among projections. Empty: of one, or each name is a kind of its own.
[[nodiscard]] std::string kinds_of_names(std::span<const std::string> names);

/// Where names, in_order(), count in even steps by one number in them but for some that are left
/// out, which: an image may be missing. Empty: none is, or they do not count so.
[[nodiscard]] std::string numbers_left_out(std::span<const std::string> names);

}  // namespace tomoloom
