// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/ccd/ccd_frame.hpp"

namespace fiberloom {

std::size_t PixelArray::rows() const {
  return std::visit([](const auto& a) { return a.rows(); }, data_);
}
std::size_t PixelArray::cols() const {
  return std::visit([](const auto& a) { return a.cols(); }, data_);
}
double PixelArray::at(std::size_t r, std::size_t c) const {
  return std::visit([&](const auto& a) { return static_cast<double>(a(r, c)); }, data_);
}

}  // namespace fiberloom
