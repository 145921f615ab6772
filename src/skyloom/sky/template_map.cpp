// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/template_map.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/status.hpp"

namespace skyloom {

TemplateMap read_template_map(const std::string& path, std::size_t columns) {
  const MapTable file(path);
  if (file.image() != nullptr) {
    throw Error(kPixelisation,
                path + ": a flat map (" + file.grid().text() + "): expected HEALPix");
  }
  if (file.names().size() < columns) {
    throw Error(Status::kWrongShape, path + print(": %zu columns of values: expected %zu or more",
                                                  file.names().size(), columns));
  }
  TemplateMap out{.pixels = file.pixels(), .columns = {}, .frame = file.frame()};
  std::vector<bool> lacking(static_cast<std::size_t>(out.pixels.pixels()));
  for (std::size_t c = 0; c < columns; ++c) {
    const std::vector<double> values = file.column(c);
    std::vector<float>& to = out.columns.emplace_back(values.size(), 0.0F);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) {
        lacking[i] = true;
      } else {
        to[i] = static_cast<float>(values[i]);
      }
    }
  }
  out.unseen = static_cast<std::size_t>(std::count(lacking.begin(), lacking.end(), true));
  return out;
}

}  // namespace skyloom
