// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/template.hpp"

namespace fiberloom::redshift {

std::string_view name_of(Method method) noexcept { return method == Method::kPca ? "PCA" : "NMF"; }

std::string_view name_of(Igm igm) noexcept {
  switch (igm) {
    case Igm::kCalura12:
      return "Calura12";
    case Igm::kKamble20:
      return "Kamble20";
    case Igm::kInoue14:
      return "Inoue14";
    case Igm::kNone:
      break;
  }
  return "None";
}

}  // namespace fiberloom::redshift
