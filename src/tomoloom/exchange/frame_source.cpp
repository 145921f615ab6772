// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/frame_source.hpp"

#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {

void FrameSource::give_angles(std::vector<double> theta_deg) {
  if (theta_deg.size() != layout_.angles) {
    throw Error(kScanMismatch,
                print("%s: --theta: found %zu angles, expected %zu, one a projection",
                      layout_.path.c_str(), theta_deg.size(), layout_.angles));
  }
  layout_.theta_deg = std::move(theta_deg);
  layout_.source = AngleSource::kGiven;
}

void FrameSource::assume_angles() {
  const std::size_t n = layout_.angles;
  const double step = n > 1 ? 180.0 / static_cast<double>(n - 1) : 0;
  layout_.theta_deg.resize(n);
  for (std::size_t a = 0; a < n; ++a) layout_.theta_deg[a] = step * static_cast<double>(a);
  layout_.source = AngleSource::kAssumed;
}

std::string file_stamp(const std::string& path) {
  const auto when = std::filesystem::last_write_time(path).time_since_epoch().count();
  return "size=" + std::to_string(std::filesystem::file_size(path)) +
         " time=" + std::to_string(when);
}

std::string sizes_of(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

}  // namespace tomoloom
