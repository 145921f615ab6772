// SPDX-License-Identifier: BSD-3-Clause
// CPU detection.
#include "loom/simd/isa.hpp"

#include <cstdlib>
#include <string>

#include "loom/base/error.hpp"

namespace loom {

std::string_view isa_name(Isa isa) noexcept {
  switch (isa) {
    case Isa::kGeneric:
      return "generic";
    case Isa::kV2:
      return "v2";
    case Isa::kV3:
      return "v3";
    case Isa::kV4:
      return "v4";
  }
  return "?";
}

Isa detect_isa() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::kV4;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::kV3;
  if (__builtin_cpu_supports("x86-64-v2")) return Isa::kV2;
#endif
  return Isa::kGeneric;
}

std::vector<Isa> available_isas() {
  std::vector<Isa> all;
  for (int i = 0; i <= static_cast<int>(detect_isa()); ++i) all.push_back(static_cast<Isa>(i));
  return all;
}

Isa active_isa() {
  const char* wish = std::getenv("FIBERLOOM_ISA");
  if (wish == nullptr || *wish == '\0') return detect_isa();
  for (const Isa isa : available_isas()) {
    if (isa_name(isa) == wish) return isa;
  }
  throw Error(Status::kUsage, std::string("FIBERLOOM_ISA=") + wish +
                                  ": expected generic, v2, v3 or v4, at most " +
                                  std::string(isa_name(detect_isa())) + " on this processor");
}

}  // namespace loom
