// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/spectrograph.hpp"

#include <cctype>
#include <string>

namespace fiberloom {

std::optional<std::int64_t> spectrograph_of(const HeaderCards& header) {
  if (const auto number = header.integer("SPECGRPH")) return number;
  const std::string camera = header.text("CAMERA").value_or("");
  const bool numbered =
      camera.size() == 2 && std::isdigit(static_cast<unsigned char>(camera[1])) != 0;
  return numbered ? std::optional<std::int64_t>(camera[1] - '0') : std::nullopt;
}

}  // namespace fiberloom
